package main

import (
	"context"
	"encoding/json"
	"fmt"

	"frontdesk/internal/app"
	"frontdesk/internal/kernel/config"
)

type doctorCommand struct {
	JSON bool `help:"Print JSON." name:"json"`
}

// Run prints a line per check, and fails when one did.
func (c *doctorCommand) Run(s *config.Settings, out *streams) error {
	out.json = c.JSON
	var findings []app.Finding
	if err := s.FillAndValidate(false); err != nil {
		findings = []app.Finding{{Check: "configuration", Status: "fail", Text: err.Error(),
			Remedy: "Fix the setting; nothing else was checked."}}
	} else {
		findings = app.RunDoctor(context.Background(), *s)
	}
	failed := 0
	for _, f := range findings {
		if f.Status == "fail" {
			failed++
		}
	}
	if out.json {
		data, err := json.Marshal(findings)
		if err != nil {
			return err
		}
		if err := printAnswer(out, data); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintf(out.out, "%-4s  %-14s %s", f.Status, f.Check, f.Text)
			if f.Remedy != "" {
				fmt.Fprintf(out.out, " → %s", f.Remedy)
			}
			fmt.Fprintln(out.out)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(findings))
	}
	return nil
}
