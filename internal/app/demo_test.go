package app_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// Who stops the first start of the demonstration finds it whole at the next.
func TestDemoThatWasStopped(t *testing.T) {
	a, err := app.Open(t.Context(), apptest.Settings(t, db.SQLite), slog.New(slog.DiscardHandler))
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
	ctx, stop := context.WithCancel(t.Context())
	began := make(chan struct{})
	go func() {
		defer close(began)
		for count("organizations") == 0 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	if _, err := a.OpenDemo(ctx); err == nil {
		t.Error("it was not stopped")
	}
	<-began
	if _, err := a.OpenDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, last := range []string{"automations", "files", "messages WHERE direction = 'inbound'"} {
		if count(last) == 0 {
			t.Errorf("there are no %s", last)
		}
	}
}
