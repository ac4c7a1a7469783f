package main

import (
	"fmt"

	"frontdesk/internal/app"
)

type toolsCommand struct {
	Query string `arg:"" optional:"" help:"As in the address: tools=compact, toolsets=mail,invoices or readonly=1."`
}

// Run prints the tools that an agent's client with every right is told of.
func (c toolsCommand) Run(out *streams) error {
	text, err := app.Tools(c.Query)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out.out, string(text))
	return err
}
