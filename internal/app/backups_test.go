package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/adapter/s3/s3test"
	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/archive"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/backup"
	"frontdesk/internal/kernel/db/dbtest"
)

// keyPair is the file of a private key, and its recipient.
func keyPair(t *testing.T) (file, recipient string) {
	t.Helper()
	text, recipient, err := archive.NewIdentity(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, recipient
}

// task runs what the operator's command asks the server for.
func task[Out any](t *testing.T, a *apptest.App, name, input string) *Out {
	t.Helper()
	out, err := a.Admin.Tasks[name](t.Context(), json.RawMessage(input), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return out.(*Out)
}

// A backup is sent away, found there, verified and restored, with the bytes of
// files; one that was changed or cut is refused, and so is the wrong key. Old ones go,
// and what others put there stays.
func TestSentBackup(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		for _, where := range []string{"folder", "bucket"} {
			t.Run(where, func(t *testing.T) {
				key, recipient := keyPair(t)
				s := apptest.Settings(t, e)
				s.Backup = config.Backup{To: t.TempDir(), Every: 24 * time.Hour, Keep: 2, Recipient: recipient}
				if where == "bucket" {
					b := s3test.NewBucket(t)
					s.Backup.To, s.Backup.Endpoint, s.Backup.Region = "s3://"+b.Bucket+"/desk/", b.Endpoint, b.Region
					s.Backup.AccessKey, s.Backup.SecretKey = b.AccessKey, b.SecretKey
				}
				a := apptest.StartWith(t, s)
				a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", `{"lastName": "Lovelace"}`).OK(t, 201)
				large := strings.Repeat("bytes of a file that needs several parts. ", 150_000)
				a.UploadForm(t, a.Key, "/v1/files",
					apptest.Part{Name: "file", FileName: "large.txt", Text: large}).OK(t, 201)
				shelf, err := archive.OpenShelf(t.Context(), s.Backup)
				if err != nil {
					t.Fatal(err)
				}
				if err := shelf.Put(t.Context(), "frontdesk-notes.txt", strings.NewReader("mine")); err != nil {
					t.Fatal(err)
				}
				old := archive.NameAt(time.Now().Add(-48 * time.Hour))
				older := archive.NameAt(time.Now().Add(-72 * time.Hour))
				for _, name := range []string{old, older} {
					if err := shelf.Put(t.Context(), name, strings.NewReader("cut off")); err != nil {
						t.Fatal(err)
					}
				}
				sent := task[app.SentBackup](t, a, "backup.send", "{}")
				if sent.Files != 1 || sent.Removed != 1 || sent.Rows == 0 {
					t.Errorf("sent %+v", sent)
				}
				all, err := shelf.List(t.Context())
				if err != nil || len(all) != 2 || all[0].Name != sent.Name || all[1].Name != old {
					t.Fatalf("the shelf has %v, %v", all, err)
				}
				if r, err := shelf.Open(t.Context(), "frontdesk-notes.txt"); err != nil {
					t.Errorf("what somebody else put there: %v", err)
				} else if err := r.Close(); err != nil {
					t.Error(err)
				}
				left, err := filepath.Glob(filepath.Join(s.Data, "backup-*"))
				if err != nil || len(left) > 0 {
					t.Errorf("left behind: %v %v", left, err)
				}

				temp := t.TempDir()
				verify := func(what, identity string) error {
					source := app.BackupSource{What: what, Identity: identity, Temp: temp}
					from, err := app.OpenBackup(t.Context(), s, source, nil)
					if err != nil {
						return err
					}
					_, err = app.VerifyBackup(t.Context(), from.Path, temp, nil)
					return errors.Join(err, from.Close())
				}
				if err := verify("latest", key); err != nil {
					t.Errorf("the last one: %v", err)
				}
				other, _ := keyPair(t)
				for _, c := range []struct{ what, identity, want string }{
					{sent.Name, "", "give --identity"},
					{sent.Name, other, "for another key"},
					{old, key, "damaged"},
					{"frontdesk-19700101T000000Z.tar.age", key, "there is no backup"},
				} {
					if err := verify(c.what, c.identity); err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("verify %s: %v, want %q", c.what, err, c.want)
					}
				}
				if where == "folder" {
					whole, err := os.ReadFile(filepath.Join(s.Backup.To, sent.Name))
					if err != nil {
						t.Fatal(err)
					}
					if bytes.Contains(whole, []byte("Lovelace")) || bytes.Contains(whole, []byte("several parts")) {
						t.Error("the archive can be read without the key")
					}
					changed := filepath.Join(t.TempDir(), "changed")
					for at := 0; at < len(whole); at += len(whole)/40 + 1 {
						flipped := bytes.Clone(whole)
						flipped[at] ^= 1
						for name, text := range map[string][]byte{"flipped": flipped, "cut": whole[:at],
							"cut at the end": whole[:len(whole)-1-at%100]} {
							if err := os.WriteFile(changed, text, 0o600); err != nil {
								t.Fatal(err)
							}
							if err := verify(changed, key); err == nil {
								t.Errorf("%s at %d of %d: it passes", name, at, len(whole))
							}
						}
					}
				}

				back := apptest.Settings(t, db.SQLite)
				if err := os.RemoveAll(back.Data); err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(back.Data, 0o700); err != nil {
					t.Fatal(err)
				}
				source := app.BackupSource{What: sent.Name, Identity: key, Temp: temp}
				from, err := app.OpenBackup(t.Context(), s, source, nil)
				if err != nil {
					t.Fatal(err)
				}
				restored, err := app.Restore(t.Context(), back, from.Path, nil)
				if err := errors.Join(err, from.Close()); err != nil {
					t.Fatal(err)
				}
				if restored.Rows != sent.Rows || restored.Files != 1 || restored.FileBytes != int64(len(large)) {
					t.Errorf("restored %+v of %+v", restored, sent)
				}
				if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
					t.Errorf("decrypted rows are left: %v %v", left, err)
				}
			})
		}
	})
}

// A backup that was damaged after it was decrypted is refused too: rows that do not
// come back as they were, and a file whose bytes are other ones.
func TestVerifyFindsADifference(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	a.UploadForm(t, a.Key, "/v1/files", apptest.Part{Name: "file", FileName: "a.txt", Text: "four"}).OK(t, 201)
	path := filepath.Join(t.TempDir(), "backup")
	sum := task[app.BackupResult](t, a, "backup", fmt.Sprintf(`{"path": %q}`, path))
	temp := t.TempDir()
	if _, err := app.VerifyBackup(t.Context(), path, temp, nil); err != nil {
		t.Fatal(err)
	}
	a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", `{"lastName": "Late"}`).OK(t, 201)
	later := filepath.Join(t.TempDir(), "later")
	task[app.BackupResult](t, a, "backup", fmt.Sprintf(`{"path": %q}`, later))
	if err := backup.Compare(path, later); err == nil {
		t.Error("two different backups are called the same")
	}
	files, err := filepath.Glob(path + ".files/*/*")
	if err != nil || len(files) == 0 {
		files, err = filepath.Glob(path + ".files/*")
	}
	if err != nil || len(files) != sum.Files {
		t.Fatalf("%v %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("fuor"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := app.VerifyBackup(t.Context(), path, temp, nil); err == nil {
		t.Error("a file with other bytes passes")
	}
}

// When a backup failed for good, the owners of the first organization get a mail, and the desk tells them.
func TestFailedBackupIsTold(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		_, recipient := keyPair(t)
		s := apptest.Settings(t, e)
		s.Backup = config.Backup{To: "/dev/null/nowhere", Every: 24 * time.Hour, Keep: 2, Recipient: recipient}
		a := apptest.StartWith(t, s)
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error { // the last try comes
			n, err := db.Exec(ctx, tx,
				"UPDATE jobs SET run_at = 0, attempt = max_attempts - 1 WHERE kind = 'backups.send'")
			if err == nil && n != 1 {
				err = fmt.Errorf("%d jobs", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			found := a.SendREST(t, a.Key, http.MethodGet, "/v1/messages?query=backup", "").OK(t, 200)
			if text := found.String(); strings.Contains(text, "The backup of your Frontdesk server failed") {
				if !strings.Contains(text, a.Owner) || !strings.Contains(text, "/dev/null/nowhere") {
					t.Errorf("the mail: %s", text)
				}
				break
			}
			if time.Now().After(end) {
				t.Fatal("nobody was told")
			}
		}
		told := a.SendREST(t, a.Key, http.MethodGet, "/v1/notifications", "").OK(t, 200)
		told.Same("0.kind", "backup_failed")
		told.Same("0.subject", "The backup of your Frontdesk server failed")
		if told.Len() != 1 {
			t.Errorf("%s", told)
		}
	})
}

func TestBackupSettings(t *testing.T) {
	_, recipient := keyPair(t)
	good := config.Backup{To: "/somewhere", Every: 24 * time.Hour, Keep: 14, Recipient: recipient}
	for want, change := range map[string]func(*config.Backup){
		"":                     func(*config.Backup) {},
		"--backup-to: say":     func(b *config.Backup) { b.To = "" },
		"name of a bucket":     func(b *config.Backup) { b.To = "s3://" },
		"neither the whole":    func(b *config.Backup) { b.To = "backups" },
		"only encrypted":       func(b *config.Backup) { b.Recipient = "" },
		"between 1h and 744h":  func(b *config.Backup) { b.Every = time.Minute },
		"between 1 and 1000":   func(b *config.Backup) { b.Keep = 0 },
		"give both or neither": func(b *config.Backup) { b.AccessKey = "a" },
		"not an http or https": func(b *config.Backup) { b.Endpoint = "there" },
	} {
		s := apptest.Settings(t, db.SQLite)
		s.Backup = good
		change(&s.Backup)
		err := s.FillAndValidate(false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", s.Backup, err, want)
		}
	}
	s := apptest.Settings(t, db.SQLite)
	s.Backup = good
	s.Backup.Recipient = "age1nobody"
	_, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "--backup-recipient") {
		t.Errorf("a recipient that is none: %v", err)
	}
}
