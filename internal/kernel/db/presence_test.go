package db_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"

	"github.com/jackc/pgx/v5"
)

func TestPresence(t *testing.T) {
	o := dbtest.CreateOptions(t, db.Postgres)
	o.URL = dbtest.DirectURL(t, o.URL)
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	a, b := d.NewPresence(), d.NewPresence()
	defer a.ReleaseNumber()
	defer b.ReleaseNumber()
	absent := func(p *db.Presence, numbers ...int64) []int64 {
		t.Helper()
		text := "SELECT NULL::bigint"
		for _, n := range numbers {
			text += fmt.Sprint(" UNION SELECT ", n)
		}
		out, err := p.FindAbsent(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if a.HeldNumber() != nil {
		t.Error("a number is held before anybody looked")
	}
	absent(a)
	absent(b)
	mine, theirs := *a.HeldNumber(), *b.HeldNumber()
	otherRun := theirs ^ 1<<40
	if got := absent(a, mine, theirs, otherRun); len(got) != 0 {
		t.Errorf("%d are absent, of %d, %d and %d", got, mine, theirs, otherRun)
	}
	b.ReleaseNumber()
	for !slices.Equal(absent(a, mine, theirs, otherRun), []int64{theirs}) {
		time.Sleep(time.Millisecond) // the server needs a moment; if for ever, the test times out
	}
	if b.HeldNumber() != nil {
		t.Error("a number is held by nobody")
	}
	absent(b)
	if got := absent(a, theirs); *b.HeldNumber() != theirs || len(got) != 0 {
		t.Errorf("after its connection broke, %d came back as %d; %d are absent", theirs, *b.HeldNumber(), got)
	}

	// The server ends the connection; the process notices and comes back.
	admin, err := pgx.Connect(t.Context(), o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	if _, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks
		WHERE locktype = 'advisory' AND ((classid::bigint << 32) | objid::bigint) = $1`, theirs); err != nil {
		t.Fatal(err)
	}
	for len(absent(a, theirs)) == 0 {
		time.Sleep(time.Millisecond)
	}
	absent(b)
	if got := absent(a, theirs); len(got) != 0 {
		t.Errorf("%d are absent", got)
	}
	if _, err := b.FindAbsent(t.Context(), "SELECT nonsense"); err == nil || b.HeldNumber() != nil {
		t.Errorf("a query that fails: %v; %v is held", err, b.HeldNumber())
	}
}

func TestPresenceNeedsSessions(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	if p := d.NewPresence(); p.IsPossible() || p.HeldNumber() != nil {
		t.Error("one process owns a SQLite file")
	}
}
