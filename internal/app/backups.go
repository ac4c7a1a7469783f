package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/archive"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/backup"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/resource/notification"
)

// How long a backup may take, and when one that failed is tried again.
const (
	backupTime  = 12 * time.Hour
	backupTries = 4
	backupPause = 10 * time.Minute
)

// declareBackupJob declares the job that sends an encrypted backup away, if the settings
// want that.
func (a *App) declareBackupJob() error {
	c := a.Settings.Backup
	if c.To == "" {
		return nil
	}
	if _, err := archive.ParseRecipient(c.Recipient); err != nil {
		return fmt.Errorf("--backup-recipient: %w", err)
	}
	job.HandleFlow(a.Jobs, "backups.send", func(ctx context.Context, j job.Job, _ struct{}) (job.Outcome, error) {
		_, err := a.sendBackup(ctx, nil)
		if err == nil {
			return nil, nil
		}
		a.Log.ErrorContext(ctx, "no backup was sent", "to", c.To, "err", err)
		if !j.IsLastAttempt() {
			return nil, err
		}
		return func(ctx context.Context, tx *db.Tx) error { return a.notifyBackupFailed(ctx, tx, err) }, err
	}, job.Every(c.Every), job.RunTimeout(backupTime), job.Attempts(backupTries),
		job.RetryBackoff(func(int) time.Duration { return backupPause }), job.InLane("backups", 1))
	return nil
}

// notifyBackupFailed mails the owners of the organization that runs the server.
func (a *App) notifyBackupFailed(ctx context.Context, tx *db.Tx, why error) error {
	org, err := account.OperatorOrganization(ctx, tx)
	if err != nil || org == "" {
		return err
	}
	about := notification.News{Kind: notification.BackupFailed, ResourceType: "organization", ResourceID: org,
		Cause: event.Event{Organization: org}}
	return a.notifyOwners(ctx, tx, about, account.Notice{Subject: "The backup of your Frontdesk server failed",
		Text: []string{
			fmt.Sprintf("The server could not send its backup to %s, although it tried %d times. The reason: %v.",
				a.Settings.Backup.To, backupTries, why),
			"It tries again when the next backup is due. Earlier backups are still there. On the server, frontdesk " +
				"backup send makes one now and says what is wrong.",
		}})
}

// SentBackup is a backup that was sent to its shelf.
type SentBackup struct {
	*BackupResult
	Name    string `json:"name"`
	To      string `json:"to"`
	Removed int    `json:"removed"` // older ones
}

// sendBackup makes a backup in a temporary folder, encrypts it, puts it on the shelf,
// reads it there again, and removes those that are too old. Nothing old is removed
// before the new one is known to be there.
func (a *App) sendBackup(ctx context.Context, say db.ProgressFunc) (out *SentBackup, err error) {
	c := a.Settings.Backup
	if c.To == "" {
		return nil, errors.New("--backup-to: say where backups go")
	}
	to, err := archive.ParseRecipient(c.Recipient)
	if err != nil {
		return nil, fmt.Errorf("--backup-recipient: %w", err)
	}
	shelf, err := archive.OpenShelf(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := removeLeftovers(a.Settings.Data, time.Now()); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(a.Settings.Data, backupFolderPrefix)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	rows := filepath.Join(temp, "rows")
	sum, err := a.writeBackup(ctx, rows, say)
	if err != nil {
		return nil, err
	}
	name := archive.NameAt(sum.CreatedAt)
	if say != nil {
		say("sending " + name)
	}
	// A pipe encrypts while the shelf receives, so that no second copy is needed here.
	written := &hashingWriter{sum: sha256.New()}
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(archive.WriteEncrypted(io.MultiWriter(w, written), to, rows, filesFolderOf(rows)))
	}()
	err = shelf.Put(ctx, name, r)
	r.CloseWithError(errors.New("nobody reads on"))
	if err != nil {
		return nil, fmt.Errorf("cannot send the backup to %s: %w", c.To, err)
	}
	if err := verifySentBackup(ctx, shelf, name, written); err != nil {
		return nil, fmt.Errorf("%s at %s: %w", name, c.To, err)
	}
	removed, err := shelf.Prune(ctx, c.Keep)
	if err != nil {
		return nil, err
	}
	sum.File, sum.Bytes = name, written.n
	a.Log.InfoContext(ctx, "backup sent", "name", name, "to", c.To, "rows", sum.Rows, "files", sum.Files, "bytes",
		written.n, "removed", removed)
	return &SentBackup{BackupResult: sum, Name: name, To: c.To, Removed: removed}, nil
}

// backupFolderPrefix begins the name of the folder in which a backup is made.
const backupFolderPrefix = "backup-"

// removeLeftovers removes the folders of processes that were killed while they made a
// backup. One that is younger than a backup may take could be in use.
func removeLeftovers(data string, now time.Time) error {
	folders, err := filepath.Glob(filepath.Join(data, backupFolderPrefix+"*"))
	for _, folder := range folders {
		if info, e := os.Stat(folder); e == nil && info.IsDir() && now.Sub(info.ModTime()) > backupTime {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}
	return err
}

// hashingWriter counts and hashes what is written to it.
type hashingWriter struct {
	n   int64
	sum hash.Hash
}

func (s *hashingWriter) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	return s.sum.Write(p)
}

// verifySentBackup reads an archive from the shelf, and insists that it is what was sent.
func verifySentBackup(ctx context.Context, shelf *archive.Shelf, name string, want *hashingWriter) error {
	r, err := shelf.Open(ctx, name)
	if err != nil {
		return err
	}
	got := &hashingWriter{sum: sha256.New()}
	_, err = io.Copy(got, r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	if got.n != want.n || string(got.sum.Sum(nil)) != string(want.sum.Sum(nil)) {
		return errors.New("what is there is not what was sent")
	}
	return nil
}

// OpenedBackup is a backup that a restore can read, decrypted out of an archive or as it is.
type OpenedBackup struct {
	Name    string
	Path    string
	cleanUp func() error
}

// Close removes what was decrypted.
func (o *OpenedBackup) Close() error { return o.cleanUp() }

// BackupSource says which backup to open.
type BackupSource struct {
	What     string // a file that the backup command wrote, an archive in a file, or one on the shelf, or "latest"
	Identity string // the file of the private key, for an archive
	Temp     string // an archive is decrypted into a folder below it
}

// OpenBackup finds a backup, and decrypts it if it is an archive.
func OpenBackup(ctx context.Context, s config.Settings, from BackupSource, say db.ProgressFunc) (*OpenedBackup,
	error) {
	source, name, err := findBackup(ctx, s, from.What)
	if err != nil {
		return nil, err
	}
	if source == nil {
		return &OpenedBackup{name, name, func() error { return nil }}, nil
	}
	defer source.Close()
	if from.Identity == "" {
		return nil, fmt.Errorf("%s is encrypted; give --identity, the file that frontdesk backup key made", name)
	}
	keys, err := archive.ReadIdentities(from.Identity)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(from.Temp, "frontdesk-backup-")
	if err != nil {
		return nil, err
	}
	if say != nil {
		say("decrypting " + name)
	}
	path, err := archive.Extract(source, keys, folder)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), os.RemoveAll(folder))
	}
	return &OpenedBackup{name, path, func() error { return os.RemoveAll(folder) }}, nil
}

// findBackup returns the reader of an archive, or nil for a file that is not encrypted.
// A file wins over a name on the shelf.
func findBackup(ctx context.Context, s config.Settings, what string) (source io.ReadCloser, name string, err error) {
	if f, err := os.Open(what); err == nil {
		head := make([]byte, len(archiveMagic))
		n, err := io.ReadFull(f, head)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return nil, "", errors.Join(err, f.Close())
		}
		if string(head[:n]) != archiveMagic {
			return nil, what, f.Close()
		}
		_, err = f.Seek(0, io.SeekStart)
		return f, what, err
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, "", err
	}
	if s.Backup.To == "" {
		return nil, "", fmt.Errorf("there is no file %s, and no --backup-to where it could be", what)
	}
	shelf, err := archive.OpenShelf(ctx, s.Backup)
	if err != nil {
		return nil, "", err
	}
	all, err := shelf.List(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, e := range all {
		if what == "latest" || e.Name == what {
			r, err := shelf.Open(ctx, e.Name)
			return r, e.Name, err
		}
	}
	return nil, "", fmt.Errorf("there is no backup %s at %s", what, s.Backup.To)
}

// archiveMagic begins every file in the format of age.
const archiveMagic = "age-encryption.org/v1"

// VerifyBackup restores a backup into a new folder below temp, as a restore would,
// backs that up again, and insists that both have the same rows. The bytes of files
// are compared with the checksums in their rows.
func VerifyBackup(ctx context.Context, path, temp string, say db.ProgressFunc) (out *BackupResult, err error) {
	folder, err := os.MkdirTemp(temp, "frontdesk-verify-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	s := config.Settings{Data: filepath.Join(folder, "data")}
	if err := os.Mkdir(s.Data, 0o700); err != nil {
		return nil, err
	}
	if out, err = Restore(ctx, s, path, say); err != nil {
		return nil, err
	}
	again := filepath.Join(folder, "again")
	if _, err := backup.WriteUnopened(ctx, DatabaseOptions(s), again, say); err != nil {
		return nil, err
	}
	return out, backup.Compare(path, again)
}

// checkBackups checks that the last backup is where it should be, and new enough.
func (d *doctor) checkBackups(ctx context.Context) {
	c := d.settings.Backup
	if c.To == "" {
		d.addFinding("backups", statusWarn,
			"Set --backup-to and --backup-recipient, or make them yourself: docs/guide/backup.md.",
			"The server sends none.")
		return
	}
	_, err := archive.ParseRecipient(c.Recipient)
	var shelf *archive.Shelf
	var all []archive.Entry
	if err == nil {
		shelf, err = archive.OpenShelf(ctx, c)
	}
	if err == nil {
		all, err = shelf.List(ctx)
	}
	switch {
	case err != nil:
		d.addFinding("backups", statusFail, "Check the --backup- settings.", "%v.", err)
	case len(all) == 0:
		d.addFinding("backups", statusWarn, "frontdesk backup send makes the first.", "There is none at %s yet.", c.To)
	case time.Since(all[0].At) > 2*c.Every+time.Hour:
		d.addFinding("backups", statusFail, "frontdesk backup send says what is wrong.",
			"The last one at %s is of %s.", c.To, all[0].At.Format(time.RFC3339))
	default:
		d.addFinding("backups", statusOK, "", "%d at %s, the last one of %s. frontdesk backup verify tries it.",
			len(all), c.To, all[0].At.Format(time.RFC3339))
	}
}
