package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"frontdesk/internal/app"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
)

type domainZone struct {
	Name string `arg:"" help:"The domain, such as example.com."`
}

// Run prints the zone as a file that other DNS servers read.
func (c *domainZone) Run(s *config.Settings, out *streams) error {
	name := strings.TrimSuffix(strings.ToLower(c.Name), ".")
	var data json.RawMessage
	err := withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) (err error) {
		data, err = doer.RunTask(ctx, "domains.zone", app.ZoneTask{Name: name}, out.printProgress)
		return err
	})
	if err != nil {
		return err
	}
	if out.json {
		return printAnswer(out, data)
	}
	var zone app.Zone
	if err := json.Unmarshal(data, &zone); err != nil {
		return err
	}
	_, err = fmt.Fprint(out.out, zone.File)
	return err
}
