package main

import (
	"context"
	"encoding/json"

	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
)

type mailList struct{ ofOrg }

func (c *mailList) Run(s *config.Settings, out *streams) error { return c.list(s, out, "mailbox.list") }

type mailShow struct {
	ID string `arg:"" help:"The mail."`
	ofOrg
}

func (c *mailShow) Run(s *config.Settings, out *streams) error {
	return do(s, out, admin.Request{Operation: "mailbox.get", Noun: "organization", Ref: c.Org},
		map[string]any{"id": c.ID})
}

type mailDNS struct{}

func (c *mailDNS) Run(s *config.Settings, out *streams) error {
	var data json.RawMessage
	err := with(s, out, func(ctx context.Context, doer admin.Doer) (err error) {
		data, err = doer.Run(ctx, "mail.dns", struct{}{}, out.say)
		return err
	})
	if err != nil {
		return err
	}
	return printAnswer(out, data)
}
