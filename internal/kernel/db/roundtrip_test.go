package db_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// distance stands between a client and its server. A round trip begins when the
// client speaks after the server did; it takes a ticket, and waits for one.
type distance struct {
	net.Listener
	server  string
	tickets chan struct{}
	trips   atomic.Int64
}

func (f *distance) serve() {
	for {
		client, err := f.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", f.server) //nolint:noctx // ends with the listener's clients
		if err != nil {
			client.Close()
			return
		}
		var answered atomic.Bool
		answered.Store(true)
		go relay(server, client, func() {
			if answered.Swap(false) {
				<-f.tickets
				f.trips.Add(1)
			}
		})
		go relay(client, server, func() { answered.Store(true) })
	}
}

func relay(to io.WriteCloser, from io.Reader, before func()) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			before()
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// On PostgreSQL a transaction begins with its first statement, in one round
// trip, and who reads does not wait for its end.
func TestRoundTrips(t *testing.T) {
	o := dbtest.Options(t, db.Postgres, table)
	u, err := url.Parse(o.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's own
	if err != nil {
		t.Fatal(err)
	}
	f := &distance{Listener: l, server: u.Host, tickets: make(chan struct{}, 1000)}
	go f.serve()
	give := func(n int) {
		for range n {
			f.tickets <- struct{}{}
		}
	}
	give(500)
	u.Host = l.Addr().String()
	o.URL, o.MaxConns = u.String(), 1
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); l.Close() })
	count := func(ctx context.Context, tx *db.Tx) error {
		_, err := db.One[int](ctx, tx, "SELECT count(*) FROM t WHERE who = $1", "x")
		return err
	}
	change := func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "UPDATE t SET pad = $1 WHERE who = $1", "x")
		return err
	}
	nothing := func(context.Context, *db.Tx) error { return nil }
	for name, c := range map[string]struct {
		run         func(context.Context) error
		heard, ends int // round trips until the answer, and until the transaction has ended
	}{
		"read":           {func(ctx context.Context) error { return d.Read(ctx, count) }, 1, 2},
		"write":          {func(ctx context.Context) error { return d.Write(ctx, change) }, 2, 2},
		"read nothing":   {func(ctx context.Context) error { return d.Read(ctx, nothing) }, 0, 0},
		"change nothing": {func(ctx context.Context) error { return d.Write(ctx, nothing) }, 0, 0},
	} {
		for range 2 { // the first time, statements are prepared
			if err := c.run(t.Context()); err != nil {
				t.Fatal(name, err)
			}
		}
		time.Sleep(100 * time.Millisecond) // the transaction that nobody waits for ends
		for len(f.tickets) > 0 {
			<-f.tickets
		}
		before := f.trips.Load()
		give(c.heard)
		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := c.run(soon); err != nil {
			t.Errorf("%s: not answered after %d round trips: %v", name, c.heard, err)
		}
		cancel()
		give(500)
		time.Sleep(100 * time.Millisecond)
		if n := f.trips.Load() - before; n != int64(c.ends) {
			t.Errorf("%s: %d round trips, want %d", name, n, c.ends)
		}
	}
}

// A transaction that could not begin does nothing, whoever minds or not.
func TestNeverBegun(t *testing.T) {
	d := dbtest.Open(t, db.Postgres, table)
	err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if _, err := db.Exec(ctx, tx, "UPDATE nowhere SET x = $1", 1); err == nil {
			t.Error("a table that is not there was changed")
		}
		if _, err := db.Exec(ctx, tx, "INSERT INTO t (who) VALUES ($1)", "a"); err == nil {
			t.Error("it went on")
		}
		return nil
	})
	if err == nil || rows(t, d) != "" {
		t.Errorf("%v, and there is %q", err, rows(t, d))
	}
	if err := d.Write(t.Context(), insert("b")); err != nil || rows(t, d) != "b" {
		t.Errorf("%v, and there is %q", err, rows(t, d))
	}
}

// However long the work of a transaction took, its end has its own time.
func TestLongWork(t *testing.T) {
	t.Cleanup(db.SetPatience(2 * time.Second))
	dbtest.Each(t, func(t *testing.T, e db.Engine) {
		d := dbtest.Open(t, e, table)
		err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if err := insert("a")(ctx, tx); err != nil {
				return err
			}
			time.Sleep(2500 * time.Millisecond)
			return nil
		})
		if err != nil || rows(t, d) != "a" {
			t.Errorf("%v, and there is %q", err, rows(t, d))
		}
	})
}
