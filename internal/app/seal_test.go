package app_test

import (
	"log/slog"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// A server whose key file is not the database's does not start; an operator's
// command without it still works, but seals nothing.
func TestSealingKeyBelongs(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		t.Run("first", func(t *testing.T) { apptest.StartWith(t, s) })
		if e == db.SQLite {
			return // its key file lies beside it
		}
		s.Data = t.TempDir() // another machine
		a, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if _, err := a.Runner.Seal.Seal([]byte("x"), "y"); err == nil {
			t.Error("it seals with a key that nobody knows")
		}
		if err := a.Serve(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "sealing key") {
			t.Errorf("it serves: %v", err)
		}
	})
}
