package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"frontdesk/internal/app"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/id"
)

type orgExport struct {
	ID  string `arg:"" help:"The organization."`
	Out string `required:"" help:"The folder to write; it must be empty or not be there." placeholder:"DIR"`
}

func (c *orgExport) Run(s *config.Settings, out *streams) error {
	org, ok := id.Parse(c.ID)
	if !ok {
		return fmt.Errorf("%q is not the id of an organization; it is a UUID", c.ID)
	}
	folder, err := filepath.Abs(c.Out)
	if err != nil {
		return err
	}
	var data json.RawMessage
	err = with(s, out, func(ctx context.Context, doer admin.Doer) (err error) {
		data, err = doer.Run(ctx, "organizations.export", app.ExportTask{ID: org, Out: folder}, out.say)
		return err
	})
	if err != nil {
		return err
	}
	return print(out, data)
}

type contactErase struct {
	ID string `arg:"" help:"The contact."`
}

func (c *contactErase) Run(s *config.Settings, out *streams) error {
	data, err := ask(s, out, admin.Request{Operation: "contacts.erase", Noun: "contact", Ref: c.ID}, map[string]any{"id": c.ID})
	if err != nil {
		return err
	}
	if err := print(out, data); err != nil {
		return err
	}
	var erased struct{ Customers, Tasks, Messages int }
	if err := json.Unmarshal(data, &erased); err != nil {
		return err
	}
	if erased.Customers > 0 {
		out.say(fmt.Sprintf("%d customers named this contact. They are records of their own, with names of their own: they stay, and no longer name it.", erased.Customers))
	}
	if erased.Tasks > 0 {
		out.say(fmt.Sprintf("%d tasks named this contact. They stay, without title, description and comments.", erased.Tasks))
	}
	if erased.Messages > 0 {
		out.say(fmt.Sprintf("%d messages were to or from this contact. They stay, without their words and without its addresses; those that had not left are canceled.", erased.Messages))
	}
	out.say("Backups made before still hold the person.")
	return nil
}

type secretsRotate struct {
	Retire bool `help:"Add no key; seal anew what is stored, and take the old ones out. For PostgreSQL, once every server has the new file."`
}

func (c *secretsRotate) Run(s *config.Settings, out *streams) error {
	var data json.RawMessage
	err := with(s, out, func(ctx context.Context, doer admin.Doer) (err error) {
		data, err = doer.Run(ctx, "secrets.rotate", app.RotateTask{Retire: c.Retire}, out.say)
		return err
	})
	if err != nil {
		return err
	}
	if err := print(out, data); err != nil {
		return err
	}
	var done app.Rotated
	if err := json.Unmarshal(data, &done); err != nil {
		return err
	}
	if !c.Retire || len(done.Removed) > 0 {
		out.say("Keep a new copy of " + s.KeyPath() + " elsewhere; the one you have is out of date.")
	} else {
		out.say(s.KeyPath() + " is as it was: it has no older key that nothing is sealed with.")
	}
	if len(done.Kept) > 0 {
		out.say("Older keys stay in the file for now. Copy it to every server's data folder at once, then run: frontdesk admin secrets rotate --retire")
	}
	return nil
}
