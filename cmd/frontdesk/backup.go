package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"syscall"

	"frontdesk/internal/app"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
)

type backupCommand struct {
	Path string `arg:"" help:"A new file for the rows. Stored files go into the folder PATH.files."`
	JSON bool   `help:"Print JSON." name:"json"`
}

// say shows the progress of long work.
func (o *streams) say(line string) { fmt.Fprintln(o.err, line) }

// Run copies the database and its files through the running server, or itself.
// The schema stays as it is, so that a backup can be made before an upgrade.
func (c *backupCommand) Run(s *config.Settings, out *streams) error {
	out.json = c.JSON
	if err := s.Settle(false); err != nil {
		return err
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	sum, err := app.Backup(ctx, *s, path, out.say)
	if errors.Is(err, db.ErrOwned) {
		var data json.RawMessage
		if data, err = admin.Dial(s.SocketPath()).Run(ctx, "backup", app.BackupTask{Path: path}, out.say); err == nil {
			err = json.Unmarshal(data, &sum)
		}
	}
	if err != nil {
		return err
	}
	if err := printSummary(out, sum); err != nil {
		return err
	}
	out.say("The sealing key is not in the backup. Keep a copy of " + s.KeyPath() +
		" elsewhere: without it, sealed data cannot be read after a restore.")
	return nil
}

// printSummary prints what a backup holds and how long it took.
func printSummary(out *streams, sum *app.Copied) error {
	if out.json {
		data, err := json.Marshal(sum)
		if err != nil {
			return err
		}
		return printAnswer(out, data)
	}
	fmt.Fprintf(out.out, "%s: %d rows, %d bytes, %.1f s\n", sum.File, sum.Rows, sum.Bytes, sum.Seconds)
	if sum.Files > 0 {
		fmt.Fprintf(out.out, "%s.files: %d files, %d bytes\n", sum.File, sum.Files, sum.FileBytes)
	}
	return nil
}

type restoreCommand struct {
	Path string `arg:"" help:"The backup, with its folder PATH.files beside it if there is one." type:"existingfile"`
	JSON bool   `help:"Print JSON." name:"json"`
}

// Run fills an empty database, of either kind, and brings it up to date.
func (c *restoreCommand) Run(s *config.Settings, out *streams) error {
	out.json = c.JSON
	if err := s.Settle(false); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	sum, err := app.Restore(ctx, *s, c.Path, out.say)
	if errors.Is(err, db.ErrOwned) {
		return errors.New("a server runs on this database; stop it first")
	}
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, *s, logger(s, out.err))
	if err != nil {
		return fmt.Errorf("the rows are restored, but the schema is not up to date: %w", err)
	}
	key := "The sealing key in " + s.KeyPath() + " fits this database."
	if a.SealProblem() != nil {
		key = "Before you start the server, copy sealing.key from the original server, or from where you keep it, to " +
			s.KeyPath() + "."
	}
	if err := errors.Join(a.Close(), printSummary(out, sum)); err != nil {
		return err
	}
	out.say(key)
	return nil
}
