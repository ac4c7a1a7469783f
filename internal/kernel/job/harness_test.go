package job_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/job"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashEnv) != "" {
		crashChild()
		return
	}
	os.Exit(m.Run())
}

// migrations are the jobs' alone, which must need no other table, and one to
// count effects in.
func migrations() fstest.MapFS {
	read := func(name string) *fstest.MapFile {
		text, err := os.ReadFile("../../../migrations/" + name)
		if err != nil {
			panic(err)
		}
		return &fstest.MapFile{Data: text}
	}
	return fstest.MapFS{
		"0002_jobs.sql":    read("0002_jobs.sql"),
		"0042_holders.sql": read("0042_holders.sql"),
		"9001_effects.sql": {Data: []byte(`
CREATE TABLE effects (
  name TEXT NOT NULL PRIMARY KEY,
  times INT NOT NULL
);
CREATE TABLE made (
  n INT NOT NULL PRIMARY KEY
);`)},
	}
}

// each gives fn a fresh database of each engine.
func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) { fn(t, dbtest.Open(t, e, migrations())) })
}

// queue returns one that is quick to notice; change may alter its options.
func queue(d *db.DB, change ...func(*job.Options)) *job.Queue {
	o := job.Options{DB: d, Clock: clock.New(0), Poll: 50 * time.Millisecond, Sweep: 50 * time.Millisecond,
		Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	return job.New(o)
}

func start(t *testing.T, q *job.Queue) {
	t.Helper()
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

func write(t *testing.T, d *db.DB, fn db.Func) {
	t.Helper()
	if err := d.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func enqueue(t *testing.T, d *db.DB, q *job.Queue, kind string, args any, options ...job.Option) (n job.ID) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = q.Enqueue(ctx, tx, kind, args, options...)
		return err
	})
	return n
}

// effect counts that something was done.
func effect(ctx context.Context, tx *db.Tx, name string) error {
	_, err := db.Exec(ctx, tx, `
		INSERT INTO effects (name, times) VALUES ($1, 1)
		ON CONFLICT (name) DO UPDATE SET times = effects.times + 1`, name)
	return err
}

func one[T any](t *testing.T, d *db.DB, sql string, args ...any) (v T) {
	t.Helper()
	err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = db.QueryOne[T](ctx, tx, sql, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func times(t *testing.T, d *db.DB, name string) int {
	t.Helper()
	return one[int](t, d, `SELECT coalesce(sum(times), 0) FROM effects WHERE name = $1`, name)
}

func state(t *testing.T, d *db.DB, n job.ID) string {
	t.Helper()
	return one[string](t, d, `SELECT state FROM jobs WHERE id = $1`, n)
}

type details struct {
	State     string  `db:"state"`
	Attempt   int     `db:"attempt"`
	LastError *string `db:"last_error"`
	Lease     *int    `db:"leased_until"`
	Finished  *int    `db:"finished_at"`
}

func look(t *testing.T, d *db.DB, n job.ID) details {
	t.Helper()
	return one[details](t, d, `SELECT state, attempt, last_error, leased_until, finished_at FROM jobs WHERE id = $1`, n)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("never happened: " + what)
}

func becomes(t *testing.T, d *db.DB, n job.ID, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("job %d is %s", n, want), func() bool { return state(t, d, n) == want })
}

// quick retries after some milliseconds.
func quick(attempt int) time.Duration { return time.Duration(attempt) * 20 * time.Millisecond }
