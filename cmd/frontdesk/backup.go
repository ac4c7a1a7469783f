package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/archive"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
)

type backupCommand struct {
	Create backupCreate `cmd:"" default:"withargs" help:"Write a backup to a file: frontdesk backup PATH."`
	Send   backupSend   `cmd:"" help:"Send an encrypted backup to --backup-to now."`
	List   backupList   `cmd:"" help:"List the backups at --backup-to."`
	Verify backupVerify `cmd:"" help:"Restore a backup into a temporary folder and compare."`
	Key    backupKey    `cmd:"" help:"Make the key pair that sent backups are encrypted with."`
}

type backupCreate struct {
	Path string `arg:"" help:"A new file for the rows. Stored files go into the folder PATH.files."`
	JSON bool   `help:"Print JSON." name:"json"`
}

// printProgress shows the progress of long work. It goes to the error stream, so that the output
// has the answer alone.
func (o *streams) printProgress(line string) { fmt.Fprintln(o.err, line) }

// Run copies the database and its files by itself, or through the server that has it
// open. The schema stays as it is, so that a backup can be made before an upgrade.
func (c *backupCreate) Run(s *config.Settings, out *streams) error {
	out.json = c.JSON
	if err := s.FillAndValidate(false); err != nil {
		return err
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	sum, err := app.Backup(ctx, *s, path, out.printProgress)
	if errors.Is(err, db.ErrOwned) {
		var data json.RawMessage
		if data, err = admin.Dial(s.SocketPath()).RunTask(ctx, "backup", app.BackupTask{Path: path},
			out.printProgress); err == nil {
			err = json.Unmarshal(data, &sum)
		}
	}
	if err != nil {
		return err
	}
	if err := printSummary(out, sum); err != nil {
		return err
	}
	out.printProgress("The sealing key is not in the backup. Keep a copy of " + s.SealingKeyPath() +
		" elsewhere: without it, sealed data cannot be read after a restore.")
	return nil
}

// printSummary prints what a backup holds and how long it took.
func printSummary(out *streams, sum *app.BackupResult) error {
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

type backupSend struct {
	JSON bool `help:"Print JSON." name:"json"`
}

// Run has the server send a backup, or does it itself.
func (c *backupSend) Run(s *config.Settings, out *streams) error {
	out.json = c.JSON
	var data json.RawMessage
	err := withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) (err error) {
		data, err = doer.RunTask(ctx, "backup.send", struct{}{}, out.printProgress)
		return err
	})
	if err != nil || out.json {
		return errors.Join(err, printAnswer(out, data))
	}
	var sent app.SentBackup
	if err := json.Unmarshal(data, &sent); err != nil {
		return err
	}
	fmt.Fprintf(out.out, "%s: %d rows, %d files, %d bytes, %.1f s; %d older ones removed\n", sent.Name, sent.Rows,
		sent.Files, sent.Bytes, sent.Seconds, sent.Removed)
	return nil
}

type backupList struct {
	JSON bool `help:"Print JSON." name:"json"`
}

func (c *backupList) Run(s *config.Settings, out *streams) error {
	if err := s.FillAndValidate(false); err != nil {
		return err
	}
	if s.Backup.To == "" {
		return errors.New("--backup-to: say where backups are")
	}
	shelf, err := archive.OpenShelf(context.Background(), s.Backup)
	if err != nil {
		return err
	}
	all, err := shelf.List(context.Background())
	if err != nil {
		return err
	}
	if c.JSON {
		out.json = true
		data, err := json.Marshal(all)
		return errors.Join(err, printAnswer(out, data))
	}
	for _, e := range all {
		fmt.Fprintf(out.out, "%s  %s\n", e.At.Format(time.RFC3339), e.Name)
	}
	if len(all) == 0 {
		out.printProgress("There are no backups at " + s.Backup.To + " yet.")
	}
	return nil
}

type backupVerify struct {
	What     string `arg:"" optional:"" default:"latest" help:"A backup's file, or the name of one at --backup-to."`
	Identity string `help:"The private key, for an encrypted one." type:"existingfile" placeholder:"FILE"`
	Temp     string `help:"Folder with room for the restored data." type:"existingdir" placeholder:"DIR"`
	JSON     bool   `help:"Print JSON." name:"json"`
}

// Run restores the backup for a test, and removes the copy again.
func (c *backupVerify) Run(s *config.Settings, out *streams) (err error) {
	out.json = c.JSON
	if err := s.FillAndValidate(false); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	source := app.BackupSource{What: c.What, Identity: c.Identity, Temp: c.Temp}
	from, err := app.OpenBackup(ctx, *s, source, out.printProgress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	sum, err := app.VerifyBackup(ctx, from.Path, c.Temp, out.printProgress)
	if err != nil {
		return fmt.Errorf("the backup cannot be relied on: %w", err)
	}
	sum.File = from.Name
	if err := printSummary(out, sum); err != nil {
		return err
	}
	out.printProgress("It was restored, and every row and file is as it was.")
	return nil
}

type backupKey struct {
	File string `arg:"" help:"A new file for the private key. Keep it away from the server." type:"path"`
}

// Run writes the private key to a new file, and prints the public key alone, so that
// the output can be used as it is.
func (c *backupKey) Run(out *streams) error {
	text, recipient, err := archive.NewIdentity(time.Now())
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	fmt.Fprintln(out.out, recipient)
	out.printProgress("Set --backup-recipient to the line above. Keep " + c.File +
		" where the server is not: without it no backup can be read, and with it every one.")
	return nil
}

type restoreCommand struct {
	Path     string `arg:"" help:"The backup, with its folder PATH.files beside it; or the name of one at --backup-to."`
	Identity string `help:"The private key, for an encrypted one." type:"existingfile" placeholder:"FILE"`
	JSON     bool   `help:"Print JSON." name:"json"`
}

// Run fills an empty database, of either engine, and brings it up to date. It says
// whether the sealing key fits, which no backup contains.
func (c *restoreCommand) Run(s *config.Settings, out *streams) (err error) {
	out.json = c.JSON
	if err := s.FillAndValidate(false); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	source := app.BackupSource{What: c.Path, Identity: c.Identity}
	from, err := app.OpenBackup(ctx, *s, source, out.printProgress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	sum, err := app.Restore(ctx, *s, from.Path, out.printProgress)
	if errors.Is(err, db.ErrOwned) {
		return errors.New("a server runs on this database; stop it first")
	}
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, *s, newLogger(s, out.err))
	if err != nil {
		return fmt.Errorf("the rows are restored, but the schema is not up to date: %w", err)
	}
	key := "The sealing key in " + s.SealingKeyPath() + " fits this database."
	if a.SealProblem() != nil {
		key = "Before you start the server, copy sealing.key from the original server, or from where you keep it, to " +
			s.SealingKeyPath() + "."
	}
	if err := errors.Join(a.Close(), printSummary(out, sum)); err != nil {
		return err
	}
	out.printProgress(key)
	return nil
}
