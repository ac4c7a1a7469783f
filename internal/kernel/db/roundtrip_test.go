package db_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// distance stands between a client and its server. A round trip begins when the
// client speaks after the server did; it takes a ticket, and waits for one.
type distance struct {
	net.Listener
	server  string
	tickets chan struct{}
	trips   atomic.Int64
	open    sync.Map // the connections there are
}

// cut ends them, as a server does that loses its power.
func (f *distance) cut() {
	f.open.Range(func(c,
		_ any) bool {
		c.(net.Conn).Close() //nolint:errcheck // one that is closed is cut, too
		return true
	})
}

func (f *distance) serve() {
	for {
		client, err := f.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", f.server) //nolint:noctx // ends with the listener's clients
		if err != nil {
			client.Close() //nolint:errcheck // its reader says so
			return
		}
		f.open.Store(client, nil)
		f.open.Store(server, nil)
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

// distant is a fresh database behind a distance with n tickets.
func distant(t *testing.T, n int) (*db.DB, *distance) {
	t.Helper()
	return distantPool(t, n, 1)
}

func distantPool(t *testing.T, n, connections int) (*db.DB, *distance) {
	t.Helper()
	o := dbtest.CreateOptions(t, db.Postgres, table)
	u, err := url.Parse(o.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &distance{Listener: l, server: u.Host, tickets: make(chan struct{}, max(n, 1000))}
	go f.serve()
	f.give(n)
	u.Host = l.Addr().String()
	o.URL, o.MaxConns = u.String(), connections
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); l.Close() })
	return d, f
}

func (f *distance) give(n int) {
	for range n {
		f.tickets <- struct{}{}
	}
}

// On PostgreSQL a transaction begins with its first statement, in one round
// trip, and who reads does not wait for its end.
func TestRoundTrips(t *testing.T) {
	d, f := distant(t, 500)
	count := func(ctx context.Context, tx *db.Tx) error {
		_, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM t WHERE who = $1", "x")
		return err
	}
	change := func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "UPDATE t SET pad = $1 WHERE who = $1", "x")
		return err
	}
	nothing := func(context.Context, *db.Tx) error { return nil }
	known := &db.StatementGuess{}
	guessed := func(ctx context.Context) error { return d.Read(db.WithStatementGuess(ctx, known), count) }
	for range 8 {
		if err := guessed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	one := 1
	if os.Getenv("FRONTDESK_TEST_POOLER") != "" {
		one = 2 // a transaction, which begins with the settings
	}
	for name, c := range map[string]struct {
		run         func(context.Context) error
		heard, ends int // round trips until the answer, and until the transaction has ended
	}{
		"read": {func(ctx context.Context) error { return d.Read(ctx, count) }, 1, 2},
		"one statement": {func(ctx context.Context) error { return d.Read(db.WithSingleStatement(ctx), count) }, 1,
			one},
		"known as one":   {guessed, 1, one},
		"write":          {func(ctx context.Context) error { return d.Write(ctx, change) }, 2, 2},
		"read nothing":   {func(ctx context.Context) error { return d.Read(ctx, nothing) }, 0, 0},
		"change nothing": {func(ctx context.Context) error { return d.Write(ctx, nothing) }, 0, 0},
	} {
		for try := 1; ; try++ {
			for range 2 { // the first time, statements are prepared
				if err := c.run(t.Context()); err != nil {
					t.Fatal(name, err)
				}
			}
			ended(t, d)
			for len(f.tickets) > 0 {
				<-f.tickets
			}
			began, before := time.Now(), f.trips.Load()
			f.give(c.heard)
			soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			err := c.run(soon)
			cancel()
			took := time.Since(began)
			f.give(500)
			ended(t, d)
			n := f.trips.Load() - before
			if err == nil && n == int64(c.ends) {
				break
			}
			// A connection that was idle for a second is pinged, which takes a round trip.
			if try < 3 && took > 500*time.Millisecond {
				continue
			}
			t.Errorf("%s: %d round trips, want %d; after %d it was told %v", name, n, c.ends, c.heard, err)
			break
		}
	}
}

// A read that was thought to take one statement and takes two sees one snapshot, and
// is not thought so again.
func TestGuess(t *testing.T) {
	d := dbtest.Open(t, db.Postgres, table)
	g := &db.StatementGuess{}
	count := func(ctx context.Context, tx *db.Tx) int {
		n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM t")
		if err != nil && n == 0 { // the handler notices, or does not
			return -1
		}
		return n
	}
	for range 10 {
		if err := d.Read(db.WithStatementGuess(t.Context(), g), func(ctx context.Context, tx *db.Tx) error {
			count(ctx, tx)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for i, runs := range []int{2, 1} {
		ran, first, second := 0, 0, 0
		if err := d.Read(db.WithStatementGuess(t.Context(), g), func(ctx context.Context, tx *db.Tx) error {
			ran++
			first = count(ctx, tx)
			wrote := make(chan error)
			go func() { wrote <- d.Write(t.Context(), insert(fmt.Sprint("x", i, ran))) }()
			if err := <-wrote; err != nil {
				return err
			}
			second = count(ctx, tx)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if ran != runs || first != second || first < 0 {
			t.Errorf("read %d: ran %d times, want %d; counted %d and %d", i, ran, runs, first, second)
		}
	}
}

// ended waits for the end of transactions that nobody waits for.
func ended(t *testing.T, d *db.DB) {
	t.Helper()
	for end := time.Now().Add(time.Minute); d.ReadGauges().PoolAcquired > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a transaction does not end")
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
	t.Cleanup(db.SetPatience(4 * time.Second))
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d := dbtest.Open(t, e, table)
		err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if err := insert("a")(ctx, tx); err != nil {
				return err
			}
			time.Sleep(4500 * time.Millisecond)
			return nil
		})
		if err != nil || rows(t, d) != "a" {
			t.Errorf("%v, and there is %q", err, rows(t, d))
		}
	})
}

// A connection that breaks before the commit has changed nothing: whoever asked
// is told to ask again, and the outcome of a job's call is not thrown away.
func TestBrokenConnection(t *testing.T) {
	d, f := distant(t, 500)
	for name, run := range map[string]func(context.Context, db.Func) error{"read": d.Read, "write": d.Write} {
		err := run(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if _, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM t"); err != nil {
				return err
			}
			f.cut()
			_, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM t")
			return err
		})
		if !fault.IsKind(err, fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if err := d.Write(t.Context(), insert(name)); err != nil {
			t.Errorf("after a %s: %v", name, err)
		}
	}
	err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		err := insert("lost")(ctx, tx)
		f.cut()
		return err
	})
	if !fault.IsKind(err, fault.Unavailable) || strings.Contains(rows(t, d), "lost") {
		t.Errorf("before the commit left: %v, and there is %q", err, rows(t, d))
	}
	err = d.Write(db.WithoutOutcome(t.Context()), func(ctx context.Context, tx *db.Tx) error {
		err := insert("unknown")(ctx, tx)
		f.cut()
		return err
	})
	if !errors.Is(err, db.ErrLostCommit) && !fault.IsKind(err, fault.Unavailable) {
		t.Errorf("by somebody who does not ask: %v", err)
	}
}

// However a connection ends, what a writer is told is true: a success is there,
// a 503 is not, and only the third answer may be either.
func TestCutCommits(t *testing.T) {
	d, f := distantPool(t, 1_000_000, 8)
	name := ""
	if err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		name, err = db.QueryOne[string](ctx, tx, "SELECT current_database()")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	direct, err := pgx.Connect(t.Context(), "postgres://postgres@"+f.server+"/postgres") // which nobody cuts
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(context.Background())

	const writers, each = 8, 150
	var told sync.Map // who → the error
	var done, ended atomic.Int64
	for w := range writers {
		go func() {
			defer ended.Add(1)
			for i := range each {
				who := fmt.Sprintf("%d/%d", w, i)
				answer := answerOf(d.Write(t.Context(), insert(who)))
				if told.Store(who, answer); answer == "done" {
					done.Add(1)
				}
			}
		}()
	}
	random := rand.New(rand.NewPCG(1, 2))
	cuts := 0
	for ; ended.Load() < writers; cuts++ {
		// Some succeed between two cuts, however slow the machine is.
		for enough := done.Load() + writers; done.Load() < enough && ended.Load() < writers; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		if random.IntN(2) == 0 {
			f.cut()
		} else if _, err := direct.Exec(t.Context(), `
			SELECT pg_terminate_backend(pid)
			FROM pg_stat_activity
			WHERE datname = $1`, name); err != nil {
			t.Fatal(err)
		}
	}
	there := map[string]bool{}
	for range 200 { // connections that were cut are found out by using them
		err = d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			all, err := db.QueryAll[string](ctx, tx, "SELECT who FROM t")
			for _, who := range all {
				there[who] = true
			}
			return err
		})
		if err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	told.Range(func(who, answer any) bool {
		count[answer.(string)]++
		if is := there[who.(string)]; answer != "unknown" && is != (answer == "done") {
			t.Errorf("%s was told %s; whether it is there: %t", who, answer, is)
		}
		return true
	})
	if count["not done"] == 0 || count["done"] < each {
		t.Errorf("the cuts proved nothing: %v", count)
	}
	t.Logf("%d cuts: %v", cuts, count)
}

func answerOf(err error) string {
	switch {
	case err == nil:
		return "done"
	case fault.IsKind(err, fault.OutcomeUnknown):
		return "unknown"
	case fault.IsKind(err, fault.Unavailable):
		return "not done"
	}
	return "other: " + err.Error()
}

// A process that was frozen in the middle of a transaction finds it ended by the
// server. Nothing was done, and the caller may try again.
func TestFrozenTransaction(t *testing.T) {
	o := dbtest.CreateOptions(t, db.Postgres, table)
	o.URL = dbtest.DirectURL(t, o.URL) // a pooler takes no settings
	direct, err := pgx.Connect(t.Context(), o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(context.Background())
	o.URL += "?idle_in_transaction_session_timeout=1s"
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		pid, err := db.QueryOne[int](ctx, tx, "SELECT pg_backend_pid()")
		if err != nil {
			return err
		}
		if err := insert("a")(ctx, tx); err != nil {
			return err
		}
		for there := true; there; time.Sleep(20 * time.Millisecond) { // longer than the server allows
			const ask = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)"
			if err := direct.QueryRow(t.Context(), ask, pid).Scan(&there); err != nil {
				t.Error(err)
			}
		}
		return insert("b")(ctx, tx)
	})
	if !fault.IsKind(err, fault.Unavailable) {
		t.Errorf("the second statement: %v", err)
	}
}

// A server that takes no writes any more is unavailable, not broken, and not
// ready either. It comes back without a restart.
func TestReadOnlyServer(t *testing.T) {
	o := dbtest.CreateOptions(t, db.Postgres, table)
	o.URL = dbtest.DirectURL(t, o.URL)
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	direct, err := pgx.Connect(t.Context(), o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(context.Background())
	demote := func(on string) {
		t.Helper()
		name := direct.Config().Database
		for _, text := range []string{"SET default_transaction_read_only = off",
			`ALTER DATABASE "` + name + `" SET default_transaction_read_only = ` + on,
			`
				SELECT pg_terminate_backend(pid, 60000)
				FROM pg_stat_activity
				WHERE application_name = 'frontdesk' AND datname = current_database()`} { // and waits for their end
			if _, err := direct.Exec(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmp.Or(d.Write(t.Context(), insert("a")), d.CheckReady(t.Context())); err != nil {
		t.Fatal(err)
	}
	demote("on")
	for range 5 {
		if err := d.Write(t.Context(), insert("b")); !fault.IsKind(err, fault.Unavailable) {
			t.Errorf("a write at a server that takes none: %v", err)
		}
	}
	if err := d.CheckReady(t.Context()); err == nil {
		t.Error("a server that takes no writes is ready")
	}
	demote("off")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := cmp.Or(d.Write(t.Context(), insert("c")), d.CheckReady(t.Context()))
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// A server that recovered from a crash of one of its processes has started
// long ago, and may have given the id of a lost transaction to another one. It
// is told by its statistics, which begin anew with every recovery.
func TestAttackOutcomeAfterCrash(t *testing.T) {
	d := dbtest.Open(t, db.Postgres, table)
	if err := db.OutcomeAfter(t.Context(), d, insert("a"), func() {}); err != nil {
		t.Errorf("of a server that did not crash: %v", err)
	}
	crash := func() {
		err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.QueryOne[string](ctx, tx, "SELECT pg_stat_reset_shared('bgwriter')::text")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.OutcomeAfter(t.Context(), d, insert("b"), crash); !errors.Is(err, db.ErrLostCommit) {
		t.Errorf("of one that did: %v", err)
	}
}

// Servers speak the language of their operator.
func TestAttackRefusedCommitInAnotherLanguage(t *testing.T) {
	if db.Uncertain(&pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: "40001"}) {
		t.Error("a commit that the server refused is taken for a lost one")
	}
	if !db.Uncertain(&pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01"}) {
		t.Error("a connection that the server ended is taken for a refusal")
	}
}
