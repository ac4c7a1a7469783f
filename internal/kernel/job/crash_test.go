package job_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/job"
)

// The crash test runs this binary again as a process that makes and works
// jobs, and kills it in between. crashEnv tells the child its share:
// "share shares total", and where the data and the notes are.
const (
	crashEnv   = "FRONTDESK_JOB_CRASH"
	crashPath  = "FRONTDESK_JOB_CRASH_PATH"
	crashURL   = "FRONTDESK_JOB_CRASH_URL"
	crashNotes = "FRONTDESK_JOB_CRASH_NOTES"
)

type numbered struct {
	N int `json:"n"`
}

func TestCrash(t *testing.T) {
	total, kills := 10_000, 8
	if testing.Short() {
		total, kills = 1_000, 4
	}
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		o := dbtest.CreateOptions(t, e, migrations())
		notes := t.TempDir()
		shares := 1
		if e == db.Postgres {
			shares = 2
		}
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 0))
		t.Logf("seed %d", seed)
		began := time.Now()

		children := make([]*child, shares)
		for i := range children {
			children[i] = spawn(t, o, notes, i, shares, total)
		}
		killed, early := 0, 0
		for ; killed < kills; killed++ {
			i := random.IntN(shares)
			time.Sleep(time.Duration(50+random.IntN(250)) * time.Millisecond)
			if children[i].ended() {
				early++
			}
			children[i].kill()
			children[i] = spawn(t, o, notes, i, shares, total)
		}
		for _, c := range children {
			c.wait(t)
		}
		took := time.Since(began)

		d, err := db.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		acknowledged, calls := numbers(t, notes, "acknowledged"), numbers(t, notes, "called")
		repeated := 0
		for _, n := range calls {
			repeated += n - 1
		}
		t.Logf("%d jobs, %d kills (%d after the end), %v; %d acknowledged; %d of %d outside calls were repeated",
			total, killed, early, took.Round(time.Millisecond), len(acknowledged), repeated, len(calls))
		for what, sql := range map[string]string{
			"rows that were not made":        `SELECT $1 - count(*) FROM made`,
			"jobs without their row, or two": `SELECT $1 - count(*) FROM jobs WHERE kind LIKE 'crash.%'`,
			"jobs that were lost": `SELECT $1 - count(*) FROM jobs WHERE kind LIKE 'crash.%' AND state = ` +
				`'done'`,
			"effects that were lost":               `SELECT $1 - count(*) FROM effects`,
			"committed effects that were repeated": `SELECT count(*) + $1 - $1 FROM effects WHERE times <> 1`,
		} {
			if n := one[int](t, d, sql, total); n != 0 {
				t.Errorf("%d %s", n, what)
			}
		}
		made := map[int]bool{}
		err = d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			all, err := db.QueryAll[int](ctx, tx, `SELECT n FROM made`)
			for _, n := range all {
				made[n] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for n := range acknowledged {
			if !made[n] {
				t.Errorf("%d was acknowledged and is lost", n)
			}
		}
	})
}

// numbers counts the lines of the notes with a name. A kill may cut one short.
func numbers(t *testing.T, dir, name string) map[int]int {
	t.Helper()
	out := map[int]int{}
	files, err := filepath.Glob(filepath.Join(dir, name+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if n, err := strconv.Atoi(strings.TrimSpace(string(line))); err == nil &&
				bytes.HasSuffix(line, []byte("\n")) {
				out[n]++
			}
		}
	}
	return out
}

type child struct {
	cmd    *exec.Cmd
	done   chan struct{}
	err    error
	stderr *bytes.Buffer
}

// spawn starts a child and returns once its queue has started, so that it is
// killed at work and not while it loads.
func spawn(t *testing.T, o db.Options, notes string, share, shares, total int) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), done: make(chan struct{}), //nolint:noctx // it is killed by hand
		stderr: &bytes.Buffer{}}
	c.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d", crashEnv, share, shares, total),
		crashPath+"="+o.Path, crashURL+"="+o.URL, crashNotes+"="+notes)
	c.cmd.Stderr = c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.cmd.Wait() //nolint:errcheck // it failed to start
		t.Fatalf("a child did not start: %q, %v\n%s", line, err, c.stderr)
	}
	go func() {
		io.Copy(io.Discard, out) //nolint:errcheck // ends with the child
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	t.Cleanup(c.kill)
	return c
}

func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *child) kill() {
	c.cmd.Process.Kill() //nolint:errcheck // it may have ended
	<-c.done
}

func (c *child) wait(t *testing.T) {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(5 * time.Minute):
		t.Fatalf("a child does not come to an end\n%s", c.stderr)
	}
	if c.err != nil {
		t.Fatalf("a child failed: %v\n%s", c.err, c.stderr)
	}
}

func crashChild() {
	if err := crashWork(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// crashWork makes the rows of its share that are missing, each with its job,
// works, and returns when there is nothing left for anybody.
func crashWork() error {
	ctx := context.Background()
	var share, shares, total int
	if _, err := fmt.Sscan(os.Getenv(crashEnv), &share, &shares, &total); err != nil {
		return err
	}
	d, err := db.Open(ctx, db.Options{Path: os.Getenv(crashPath), URL: os.Getenv(crashURL), MaxConns: 24,
		Migrations: []fs.FS{migrations()}})
	if err != nil {
		return err
	}
	acknowledged, err := notes("acknowledged", share)
	if err != nil {
		return err
	}
	called, err := notes("called", share)
	if err != nil {
		return err
	}
	lease := 500 * time.Millisecond
	if total == 0 { // it only works, and holds on to what it does
		lease = time.Hour
	}
	q := job.New(job.Options{DB: d, Clock: clock.New(0), Sweep: 200 * time.Millisecond, Lease: lease,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	job.HandleTx(q, "crash.tx", func(ctx context.Context, tx *db.Tx, j job.Job, args numbered) error {
		return effect(ctx, tx, strconv.Itoa(args.N))
	})
	job.HandleFlow(q, "crash.flow", func(ctx context.Context, j job.Job, args numbered) (job.Outcome, error) {
		if _, err := fmt.Fprintln(called, args.N); err != nil {
			return nil, err
		}
		if args.N < 0 {
			select {} // for ever
		}
		time.Sleep(time.Millisecond) // the outside world
		return note(strconv.Itoa(args.N)), nil
	}, job.RunTimeout(time.Second))
	if err := q.Start(ctx); err != nil {
		return err
	}
	fmt.Println("ready")

	todo, err := missing(ctx, d, share, shares, total)
	if err != nil {
		return err
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range next {
				err := d.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
					if _, err := db.Exec(ctx, tx, `INSERT INTO made (n) VALUES ($1)`, n); err != nil {
						return err
					}
					_, err := q.Enqueue(ctx, tx, []string{"crash.tx", "crash.flow"}[n/shares%2], numbered{n})
					return err
				})
				if err == nil {
					_, err = fmt.Fprintln(acknowledged, n)
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		})
	}
	for _, n := range todo {
		next <- n
	}
	close(next)
	wg.Wait()
	for left := 1; left > 0; time.Sleep(20 * time.Millisecond) {
		if err := d.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			left, err = db.QueryOne[int](ctx, tx, `
				SELECT count(*)
				FROM jobs
				WHERE state IN ('ready', 'running') AND kind LIKE 'crash.%'`)
			return err
		}); err != nil {
			return err
		}
	}
	if err := q.Stop(ctx); err != nil {
		return err
	}
	return d.Close()
}

func notes(name string, share int) (*os.File, error) {
	return os.OpenFile(filepath.Join(os.Getenv(crashNotes), fmt.Sprint(name, share)),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY,
		0o600)
}

func missing(ctx context.Context, d *db.DB, share, shares, total int) (todo []int, err error) {
	err = d.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		todo = nil
		all, err := db.QueryAll[int](ctx, tx, `SELECT n FROM made`)
		made := map[int]bool{}
		for _, n := range all {
			made[n] = true
		}
		for n := share; n < total; n += shares {
			if !made[n] {
				todo = append(todo, n)
			}
		}
		return err
	})
	return todo, err
}
