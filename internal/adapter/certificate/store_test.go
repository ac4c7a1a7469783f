package certificate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/secret"
	"frontdesk/migrations"
)

func openStore(t *testing.T, o db.Options) *store {
	t.Helper()
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	box, err := secret.OpenOrCreateBox(filepath.Join(t.TempDir(), "sealing.key"))
	if err != nil {
		t.Fatal(err)
	}
	return newStore(d, box, slog.New(slog.DiscardHandler))
}

func eachStore(t *testing.T, fn func(t *testing.T, s *store)) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		fn(t, openStore(t, dbtest.CreateOptions(t, e, migrations.FS)))
	})
}

// What certmagic expects of a storage: files, folders that exist by what is in
// them, and fs.ErrNotExist.
func TestStorage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		put := func(key, value string) {
			t.Helper()
			if err := s.Store(ctx, key, []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		put("certificates/ca/a_b.example/a_b.example.key", "one")
		put("certificates/ca/a_b.example/a_b.example.crt", "two")
		put("certificates/ca/axb.example/axb.example.crt", "three") // _ is no wildcard
		put("acme/ca/users/x/x.json", "four")
		put("certificates/ca/a_b.example/a_b.example.key", "another")
		if v, err := s.Load(ctx, "certificates/ca/a_b.example/a_b.example.key"); err != nil || string(v) != "another" {
			t.Errorf("%q, %v", v, err)
		}
		list := func(prefix string, recursive bool, want ...string) {
			t.Helper()
			got, err := s.List(ctx, prefix, recursive)
			if slices.Sort(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, %v, want %q", prefix, got, err, want)
			}
		}
		list("certificates/ca", false, "certificates/ca/a_b.example", "certificates/ca/axb.example")
		list("certificates/ca/a_b.example", true, "certificates/ca/a_b.example/a_b.example.crt",
			"certificates/ca/a_b.example/a_b.example.key")
		list("", false, "acme", "certificates")
		list("acme", true, "acme/ca", "acme/ca/users", "acme/ca/users/x", "acme/ca/users/x/x.json")
		if i, err := s.Stat(ctx, "certificates/ca"); err != nil || i.IsTerminal {
			t.Errorf("%+v, %v", i, err)
		}
		i, err := s.Stat(ctx, "acme/ca/users/x/x.json")
		if err != nil || !i.IsTerminal || i.Size != 4 || time.Since(i.Modified).Abs() > time.Hour {
			t.Errorf("%+v, %v", i, err)
		}
		if err := s.Delete(ctx, "certificates/ca/a_b.example"); err != nil {
			t.Error(err)
		}
		for key, want := range map[string]bool{"certificates/ca/a_b.example": false, "certificates": true,
			"cert": false,
			"certificates/ca/axb.example/axb.example.crt": true, "certificates/ca/a_b.example/a_b.example.crt": false} {
			if s.Exists(ctx, key) != want {
				t.Errorf("%s exists: %v", key, !want)
			}
		}
		for _, err := range []error{second(s.Load(ctx, "none")), second(s.Stat(ctx, "none")),
			second(s.List(ctx, "none", true))} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v is not fs.ErrNotExist", err)
			}
		}
		if err := s.Delete(ctx, "none"); err != nil {
			t.Error(err)
		}
		for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", "a\x00b", strings.Repeat("a", 1001)} {
			if s.Store(ctx, key, nil) == nil || s.Delete(ctx, key) == nil {
				t.Errorf("%q is taken", key)
			}
		}
		if s.Store(ctx, "large", make([]byte, maxValueBytes+1)) == nil {
			t.Error("a value without bound")
		}
	})
}

func second[T any](_ T, err error) error { return err }

// A key in the database is of no use without the sealing key, nor in another place.
func TestAttackStoredKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		const text = "-----BEGIN EC PRIVATE KEY-----"
		if err := s.Store(ctx, "certificates/ca/a/a.key", []byte(text)); err != nil {
			t.Fatal(err)
		}
		err := s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			raw, err := db.QueryOne[[]byte](ctx, tx, "SELECT value FROM certificate_store")
			if err != nil || bytes.Contains(raw, []byte("PRIVATE")) {
				t.Errorf("%q, %v", raw, err)
			}
			_, err = db.Exec(ctx, tx, "UPDATE certificate_store SET key = 'challenge_tokens/a'")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Load(ctx, "challenge_tokens/a"); err == nil {
			t.Errorf("a key that was moved is opened: %q", v)
		}
	})
}

// One holder at a time, whoever waits.
func TestLocks(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.lease = 20 * time.Second // longer than a busy machine stands still
		other := newStore(s.db, s.seal, s.log)
		other.lease = s.lease
		ctx := t.Context()
		var inside, most, times int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				from := []*store{s, other}[i%2]
				if err := from.Lock(ctx, "issue"); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside, times = inside+1, times+1
				most = max(most, inside)
				mu.Unlock()
				time.Sleep(50 * time.Millisecond) // work
				mu.Lock()
				inside--
				mu.Unlock()
				if err := from.Unlock(ctx, "issue"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most != 1 || times != 6 {
			t.Errorf("%d at once, %d in all", most, times)
		}
		if ok, err := s.TryLock(ctx, "held"); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if ok, err := other.TryLock(ctx, "held"); err != nil || ok {
			t.Error("two hold it", err)
		}
		waiting, cancel := context.WithCancel(ctx)
		go cancel()
		if err := other.Lock(waiting, "held"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := other.Unlock(ctx, "held"); err != nil { // not its own
			t.Error(err)
		}
		if ok, _ := other.TryLock(ctx, "held"); ok {
			t.Error("a stranger released it")
		}
		if err := s.Unlock(ctx, "held"); err != nil {
			t.Error(err)
		}
		if ok, err := other.TryLock(ctx, "held"); err != nil || !ok {
			t.Error("it is not released", err)
		}
	})
}

const (
	holderPath = "FRONTDESK_CERTIFICATE_HOLDER_PATH"
	holderURL  = "FRONTDESK_CERTIFICATE_HOLDER_URL"
)

func TestMain(m *testing.M) {
	if os.Getenv(holderPath)+os.Getenv(holderURL) == "" {
		os.Exit(m.Run())
	}
	d, err := db.Open(context.Background(), db.Options{Path: os.Getenv(holderPath), URL: os.Getenv(holderURL),
		Migrations: dbtest.Folders(migrations.FS)})
	if err == nil {
		err = newStore(d, nil, slog.New(slog.DiscardHandler)).Lock(context.Background(), "issue")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("held")
	select {} // until it is killed
}

// A lock is free again soon after its process was killed, and not before.
func TestLockOfAKilledProcess(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		o := dbtest.CreateOptions(t, e, migrations.FS)
		child := exec.Command(os.Args[0]) //nolint:noctx // it is killed by hand
		child.Env = append(os.Environ(), holderPath+"="+o.Path, holderURL+"="+o.URL)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		child.Process.Kill() //nolint:errcheck // it may have failed
		child.Wait()         //nolint:errcheck // it was killed
		if err != nil || line != "held\n" {
			t.Fatalf("%q, %v", line, err)
		}
		s := openStore(t, o)
		heldUntil := func() (until, now clock.Time) {
			t.Helper()
			err := s.db.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				if until, err = db.QueryOne[clock.Time](ctx, tx,
					"SELECT held_until FROM certificate_locks"); err == nil {
					now, err = db.ReadClock(ctx, tx)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return until, now
		}
		dead, _ := heldUntil()
		if err := s.Lock(t.Context(), "issue"); err != nil {
			t.Fatal(err)
		}
		until, now := heldUntil()
		if now <= dead || until <= dead {
			t.Errorf("taken over at %s, though the dead process had it until %s", now, dead)
		}
	})
}
