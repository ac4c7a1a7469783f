package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/apptest/probe"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/secret"
)

func rotate(t *testing.T, a *apptest.App, retire bool) app.RotationResult {
	t.Helper()
	data, err := a.Admin.RunTask(t.Context(), "secrets.rotate", app.RotateTask{Retire: retire}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out app.RotationResult
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// keysInUse counts the sealed answers by the key that they name.
func keysInUse(t *testing.T, a *apptest.App) map[byte]int {
	t.Helper()
	out := map[byte]int{}
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.QueryAll[[]byte](ctx, tx, "SELECT body FROM idempotency WHERE sealed")
		for _, r := range rows {
			out[r[0]]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A rotation can be killed after any of its steps: nothing that was sealed is
// lost, the service starts again, and the next rotation ends with one key.
func TestRotateSealingKey(t *testing.T) {
	const secrets = 3
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		extra := probe.NewExtra(&probe.Provider{})
		s := apptest.Settings(t, e, extra)
		var apiKey string
		shown := map[string]string{}
		show := func(t *testing.T, a *apptest.App, key string) apptest.Result {
			t.Helper()
			r := a.SendREST(t, apiKey, http.MethodPost, "/v1/probe-secrets", `{}`, "Idempotency-Key", key)
			r.OK(t, 201)
			return r
		}
		replays := func(t *testing.T, a *apptest.App) {
			t.Helper()
			for key, want := range shown {
				if r := show(t, a, key); r.Header.Get("Idempotency-Replay") != "true" || string(r.Body) != want {
					t.Errorf("%s: %s, want %s", key, r.Body, want)
				}
			}
		}
		start := func(t *testing.T) *apptest.App {
			t.Helper()
			a := apptest.StartWith(t, s, extra)
			if err := a.SealProblem(); err != nil {
				t.Fatal(err)
			}
			return a
		}
		t.Run("before", func(t *testing.T) {
			a := start(t)
			apiKey = a.Key
			for i := range secrets {
				key := fmt.Sprintf("before-%d", i)
				shown[key] = string(show(t, a, key).Body)
			}
		})
		old, err := os.ReadFile(s.SealingKeyPath())
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []string{"added", "proved", "batch", "resealed", "forgotten"} {
			t.Run("killed when "+step, func(t *testing.T) {
				a := start(t)
				a.AfterStep(func(now string) {
					if now == step {
						panic("killed")
					}
				})
				func() {
					defer func() {
						if v := recover(); v != "killed" {
							t.Errorf("%v, want to be killed when %s", v, step)
						}
					}()
					// On PostgreSQL only a run with retire seals anew.
					rotate(t, a, step == "forgotten" || e == db.Postgres && (step == "batch" || step == "resealed"))
				}()
				key := "killed-" + step
				shown[key] = string(show(t, a, key).Body)
				replays(t, a)
			})
			t.Run("again", func(t *testing.T) { replays(t, start(t)) })
		}
		t.Run("whole", func(t *testing.T) {
			a := start(t)
			done := rotate(t, a, false)
			if e == db.Postgres {
				if len(done.Kept) == 0 || len(done.Removed) > 0 {
					t.Errorf("other servers may still use the old keys: %+v", done)
				}
				done = rotate(t, a, true)
			}
			if len(done.Kept) > 0 || len(done.Removed) == 0 {
				t.Errorf("%+v", done)
			}
			if used := keysInUse(t, a); len(used) != 1 || used[byte(done.Key)] != len(shown) {
				t.Errorf("sealed by key: %v, want %d with %d", used, len(shown), done.Key)
			}
			replays(t, a)
			box, err := secret.ReadBox(s.SealingKeyPath())
			if err != nil || len(box.KeyNumbers()) != 1 || int(box.NewestKey()) != done.Key {
				t.Errorf("the file holds %v, %v", box.KeyNumbers(), err)
			}
			if info, err := os.Stat(s.SealingKeyPath()); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			if strings.Contains(a.Logs.String(), "hush-") {
				t.Error("a secret is in the log")
			}
		})
		t.Run("after", func(t *testing.T) { replays(t, start(t)) })
		if e == db.Postgres {
			t.Run("two servers", func(t *testing.T) {
				a, b := start(t), start(t)
				replays(t, b)
				done := rotate(t, a, false)
				replays(t, b) // it finds the new key in the file
				shown["second server"] = string(show(t, b, "second server").Body)
				if used := keysInUse(t, a); used[byte(done.Key)] != 1 {
					t.Errorf("the second server does not seal with key %d: %v", done.Key, used)
				}
				rotate(t, a, true)
				replays(t, b)
			})
			t.Run("two machines", func(t *testing.T) {
				file, err := os.ReadFile(s.SealingKeyPath())
				if err != nil {
					t.Fatal(err)
				}
				other := s
				other.Data = t.TempDir()
				if err := os.WriteFile(other.SealingKeyPath(), file, 0o600); err != nil {
					t.Fatal(err)
				}
				a, b := start(t), apptest.StartWith(t, other, extra)
				done := rotate(t, a, false)
				replays(t, b) // it has not got the new file yet
				if file, err = os.ReadFile(s.SealingKeyPath()); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(other.SealingKeyPath(), file, 0o600); err != nil {
					t.Fatal(err)
				}
				rotate(t, a, true)
				replays(t, a)
				replays(t, b)
				if used := keysInUse(t, a); len(used) != 1 || used[byte(done.Key)] != len(shown) {
					t.Errorf("sealed by key: %v, want %d with %d", used, len(shown), done.Key)
				}
			})
		}
		// The file of before is no longer the database's.
		if err := os.WriteFile(s.SealingKeyPath(), old, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler), extra)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if a.SealProblem() == nil {
			t.Error("an old key file passes")
		}
	})
}

// Bytes in the database are hashes, the mailbox's mail, public parts of passkeys, or
// they are sealed and rotated.
func TestEverySealedColumnIsRotated(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	sealed := func(table, column string) bool {
		return slices.ContainsFunc(db.SealedColumns(),
			func(s db.SealedColumn) bool { return s.Table == table && s.Column == column })
	}
	plain := map[string]bool{"hash": true, "fingerprint": true, "proof": true, "content": true,
		"credential_id": true, "credential": true, "data": true} // a passkey's public key, and what it is asked to sign
	err := a.DB.Snapshot(t.Context(), func(s *db.Snapshot) error {
		for _, r := range s.Tables {
			for _, c := range r.Columns {
				if c.Type == db.TypeBytes && !plain[c.Name] && !sealed(r.Name, c.Name) {
					t.Errorf("%s.%s: if it is sealed, the table's life must say so; if not, say so here", r.Name,
						c.Name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
