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
	Out string `required:"" help:"The folder to write to, new or empty." placeholder:"DIR"`
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
	err = withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) (err error) {
		data, err = doer.RunTask(ctx, "organizations.export", app.ExportTask{ID: org, Out: folder}, out.printProgress)
		return err
	})
	if err != nil {
		return err
	}
	return printAnswer(out, data)
}

type contactErase struct {
	ID string `arg:"" help:"The contact."`
}

// Run erases a person, and tells what stays: records that are not the person's own, and
// backups.
func (c *contactErase) Run(s *config.Settings, out *streams) error {
	data, err := runRequest(s, out, admin.Request{Operation: "contacts.erase", Noun: "contact", Ref: c.ID},
		map[string]any{"id": c.ID})
	if err != nil {
		return err
	}
	if err := printAnswer(out, data); err != nil {
		return err
	}
	var erased struct {
		Rows struct{ Customers, Tasks, Messages int }
	}
	if err := json.Unmarshal(data, &erased); err != nil {
		return err
	}
	if erased.Rows.Customers > 0 {
		out.printProgress(fmt.Sprintf("%d customers referred to this contact. They are separate records with their "+
			"own names: they stay, and no longer refer to it.", erased.Rows.Customers))
	}
	if erased.Rows.Tasks > 0 {
		out.printProgress(fmt.Sprintf("%d tasks referred to this contact. They stay, without title, description and "+
			"comments.",
			erased.Rows.Tasks))
	}
	if erased.Rows.Messages > 0 {
		out.printProgress(fmt.Sprintf("%d messages were to or from this contact. They stay, without their text and "+
			"its addresses; those not yet sent are canceled.", erased.Rows.Messages))
	}
	out.printProgress("Earlier backups still contain the person.")
	return nil
}

type secretsRotate struct {
	// Retire is for PostgreSQL, once every server has the new file.
	Retire bool `help:"Add no key; seal stored secrets with the newest one and remove the old ones."`
}

func (c *secretsRotate) Run(s *config.Settings, out *streams) error {
	var data json.RawMessage
	err := withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) (err error) {
		data, err = doer.RunTask(ctx, "secrets.rotate", app.RotateTask{Retire: c.Retire}, out.printProgress)
		return err
	})
	if err != nil {
		return err
	}
	if err := printAnswer(out, data); err != nil {
		return err
	}
	var done app.RotationResult
	if err := json.Unmarshal(data, &done); err != nil {
		return err
	}
	if !c.Retire || len(done.Removed) > 0 {
		out.printProgress("Keep a new copy of " + s.SealingKeyPath() + " elsewhere; your old copy is out of date.")
	} else {
		out.printProgress(s.SealingKeyPath() +
			" is unchanged: every older key in it is still in use, or there is none.")
	}
	if len(done.Kept) > 0 {
		out.printProgress("Older keys stay in the file for now. Copy it to every server's data folder now, then " +
			"run: frontdesk admin secrets rotate --retire")
	}
	return nil
}
