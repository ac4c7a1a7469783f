package app_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// Who stops the first start of the demonstration finds it whole at the next.
func TestDemoThatWasStopped(t *testing.T) {
	settings := apptest.Settings(t, db.SQLite)
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, stop)
	if err := app.SeedDemo(ctx, settings, slog.New(slog.DiscardHandler)); err != nil && !errors.Is(err,
		context.Canceled) {
		t.Fatal(err)
	}
	if err := app.SeedDemo(t.Context(), settings, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	count := func(what string) (n int) {
		t.Helper()
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+what)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if _, err := a.OpenDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, least := range map[string]int{"contacts": 40, "customers": 12, "files": 2,
		"invoices WHERE status = 'paid'":    50,
		"invoices WHERE status = 'overdue'": 3, "invoices WHERE currency = 'eur'": 6, "threads": 15, "automations": 2,
		"messages WHERE direction = 'inbound'": 10, "messages WHERE sent_at IS NOT NULL AND created_at = updated_at": 0,
		"proposals WHERE status = 'pending'": 3, "property_values WHERE status = 'suggested'": 3,
		"automation_executions WHERE status = 'succeeded'": 3} {
		if n := count(what); n < least {
			t.Errorf("there are %d %s, want at least %d", n, what, least)
		}
	}
}
