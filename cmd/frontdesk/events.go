package main

import (
	"fmt"

	"frontdesk/internal/app"
	"frontdesk/internal/door/docs"
)

type eventsCommand struct{}

// Run prints the list of events that webhooks and automations can listen to.
func (eventsCommand) Run(out *streams) error {
	_, err := fmt.Fprint(out.out, docs.EventsMarkdown(app.Describe()))
	return err
}
