package main

import (
	"context"
	"encoding/json"

	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
)

type mailList struct{ ofOrg }

func (c *mailList) Run(s *config.Settings, out *streams) error {
	return c.listAllPages(s, out, "mailbox.list")
}

type mailShow struct {
	ID string `arg:"" help:"The mail."`
	ofOrg
}

func (c *mailShow) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "mailbox.get", Noun: "organization", Ref: c.Org},
		map[string]any{"id": c.ID})
}

type mailDNS struct{}

func (c *mailDNS) Run(s *config.Settings, out *streams) error {
	var data json.RawMessage
	err := withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) (err error) {
		data, err = doer.RunTask(ctx, "mail.dns", struct{}{}, out.printProgress)
		return err
	})
	if err != nil {
		return err
	}
	return printAnswer(out, data)
}
