package main

import (
	"fmt"

	"frontdesk/internal/app"
)

type toolsCommand struct {
	Query  string `arg:"" optional:"" help:"As in the address: tools=compact, toolsets=mail,invoices or readonly=1."`
	Preset string `default:"all" enum:"all,helper,read,none" help:"What the agent may do: all, helper, read or none."`
}

// Run prints the tools that an agent's client is told of.
func (c toolsCommand) Run(out *streams) error {
	text, err := app.DescribeTools(c.Query, c.Preset)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out.out, string(text))
	return err
}
