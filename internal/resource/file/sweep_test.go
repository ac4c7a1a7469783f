package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	resource "frontdesk/internal/resource/file"
)

// blobs counts what a service's store holds, including parts of uploads.
func blobs(t testing.TB, a *apptest.App) (n int) {
	t.Helper()
	err := filepath.WalkDir(a.Settings.FilesPath(), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// halfUpload sends half a form on its own connection and returns the
// connection.
func halfUpload(t testing.TB, a *apptest.App) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(a.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	body, kind := apptest.BuildForm(t, file("half.bin", strings.Repeat("x", 1<<20)))
	fmt.Fprintf(conn,
		"POST /v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: "+
			"%d\r\n\r\n%s",
		a.Key, kind, len(body), body[:len(body)/2])
	eventually(t, "no bytes arrived", func() bool { return blobs(t, a) > 0 })
	return conn
}

// A client that disconnects midway leaves nothing behind.
func TestBrokenOff(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		conn := halfUpload(t, a)
		if n := count(t, a, "stray_blobs"); n != 1 {
			t.Errorf("%d strays while it is under way", n)
		}
		if n := len(a.SendREST(t, a.Key, "GET", "/v1/files", "").OK(t, 200).String()); n != len("[]") {
			t.Error("a file is seen before its end")
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "something is left", func() bool { return blobs(t, a) == 0 && count(t, a, "stray_blobs") == 0 })
		if n := count(t, a, "files"); n != 0 {
			t.Errorf("%d files", n)
		}
	})
}

// sweep runs the job now.
func sweep(t testing.TB, a *apptest.App, kind string) {
	t.Helper()
	err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		_, err := a.Jobs.Enqueue(ctx, tx, kind, struct{}{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// slowly is a reader that calls a function before every read.
type slowly struct {
	parts   []string
	between func()
}

func (s *slowly) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		return 0, io.EOF
	}
	s.between()
	n := copy(p, s.parts[0])
	s.parts = s.parts[1:]
	return n, nil
}

// An upload may take longer than a day as long as it makes progress: its bytes
// are not treated as abandoned.
func TestSlowUpload(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		resource.AliveEvery(t, 0)
		removeAt := func() (at clock.Time) {
			t.Helper()
			err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				at, err = db.QueryOne[clock.Time](ctx, tx, "SELECT remove_at FROM stray_blobs")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		before := clock.Time(0)
		aDayPasses := func() {
			if at := removeAt(); at <= before {
				t.Errorf("removed at %s, which was so before", at)
			}
			err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "UPDATE stray_blobs SET remove_at = $1", a.Clock.Now())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			before = removeAt()
		}
		saved, err := a.Files.Save(t.Context(), a.Org, "slow.txt",
			&slowly{[]string{"so", " very", " slow"}, aDayPasses})
		if err != nil {
			t.Fatal(err)
		}
		if at := removeAt(); at < a.Clock.Now().Add(23*time.Hour) {
			t.Errorf("at its end it is removed at %s", at)
		}
		saved.Discard(t.Context())
		// An upload that a sweep claimed ends at once.
		_, err = a.Files.Save(t.Context(), a.Org, "dead.txt", &slowly{[]string{"x", "y"}, func() {
			err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, "UPDATE stray_blobs SET claimed = TRUE")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}})
		if !fault.IsKind(err, fault.Unavailable) {
			t.Errorf("it went on: %v", err)
		}
		if n := blobs(t, a); n != 0 {
			t.Errorf("%d blobs are left", n)
		}
	})
}

// Bytes without a file are removed a day later and not before. An upload that
// would still finish with them is refused.
func TestSweep(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		ctx := t.Context()
		kept := upload(t, a, file("kept.txt", "kept")).OK(t, 201).Text("id")
		saved, err := a.Files.Save(ctx, a.Org, "dead.txt", strings.NewReader("nobody ends this"))
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Jobs.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer a.Jobs.Stop(context.Background()) //nolint:errcheck // the test is over
		done := func() int {
			n := 0
			err := a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = db.QueryOne[int](ctx, tx,
					"SELECT count(*) FROM jobs WHERE kind = 'files.sweep' AND state = 'done'")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		sweep(t, a, "files.sweep")
		eventually(t, "the sweep does not end", func() bool { return done() == 1 })
		if blobs(t, a) != 2 {
			t.Fatal("the bytes of an upload under way were swept")
		}
		err = a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE stray_blobs SET remove_at = $1", a.Clock.Now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		sweep(t, a, "files.sweep")
		eventually(t, "it was not swept", func() bool { return blobs(t, a) == 1 && count(t, a, "stray_blobs") == 0 })
		err = a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := saved.Insert(ctx, tx, a.Clock.Now(), nil)
			return err
		})
		if !fault.IsKind(err, fault.Unavailable) {
			t.Errorf("an upload ended without its bytes: %v", err)
		}
		if r := a.SendREST(t, a.Key, "GET", "/v1/files/"+kept+"/content", ""); string(r.Body) != "kept" {
			t.Errorf("the other file has %q", r.Body)
		}
	})
}

// Files of other resources are kept in those resources' transactions, or not at
// all.
func TestStore(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		ctx := t.Context()
		refused := errors.New("refused")
		for _, outcome := range []error{refused, nil} {
			saved, err := a.Files.Save(ctx, a.Org, "../mail/notes.md", strings.NewReader("# Notes"))
			if err != nil {
				t.Fatal(err)
			}
			var row id.ID
			err = a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
				f, err := saved.Insert(ctx, tx, a.Clock.Now(), nil)
				if err != nil {
					return err
				}
				row = f.ID
				return outcome
			})
			if !errors.Is(err, outcome) {
				t.Fatal(err)
			}
			saved.Discard(ctx)
			f, r, err := a.Files.Open(ctx, a.Org, row)
			if outcome != nil {
				if !fault.IsKind(err, fault.NotFound) || blobs(t, a) != 0 || count(t, a, "stray_blobs") != 0 {
					t.Errorf("something is left of what was refused: %v, %d blobs", err, blobs(t, a))
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err = errors.Join(err, r.Close()); err != nil || string(text) != "# Notes" || f.Name != "notes.md" ||
				f.ContentType != "text/markdown; charset=utf-8" {
				t.Errorf("%+v, %q, %v", f, text, err)
			}
			if _, _, err := a.Files.Open(ctx, id.New(), row); !fault.IsKind(err, fault.NotFound) {
				t.Errorf("another organization opened it: %v", err)
			}
		}
		if _, err := a.Files.Save(ctx, a.Org, "x", &failing{}); !errors.Is(err, errFailing) {
			t.Errorf("a reader's own error: %v", err)
		}
		if _, err := a.Files.Save(ctx, a.Org, "x",
			io.LimitReader(zeros{}, a.Settings.Files.MaxBytes+1)); !fault.IsKind(err, fault.TooLarge) {
			t.Errorf("too large: %v", err)
		}
		if n := blobs(t, a); n != 1 {
			t.Errorf("%d blobs", n)
		}
	})
}

var errFailing = errors.New("failing")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errFailing }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A long-deleted file is purged with its links, and then its bytes.
func TestPurge(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.Retention.Deleted = 30 * 24 * time.Hour
		a := apptest.StartWith(t, s)
		ctx := t.Context()
		gone := upload(t, a, file("gone.txt", "gone")).OK(t, 201).Text("id")
		recent := upload(t, a, file("recent.txt", "recent")).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/files/"+gone+"/access-links", `{}`).OK(t, 201)
		a.SendREST(t, a.Key, "PATCH", "/v1/businesses/"+string(a.Business),
			fmt.Sprintf(`{"logoFileId": %q}`, gone)).OK(t, 200)
		for _, row := range []string{gone, recent} {
			a.SendREST(t, a.Key, "DELETE", "/v1/files/"+row, "").OK(t, 204)
		}
		err := a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE files SET deleted_at = $2 WHERE id = $1", gone,
				a.Clock.Now().Add(-31*24*time.Hour))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Jobs.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer a.Jobs.Stop(context.Background()) //nolint:errcheck // the test is over
		sweep(t, a, "deleted.purge")
		eventually(t, "it was not purged", func() bool { return count(t, a, "files") == 1 })
		if count(t, a, "file_access_links") != 0 || count(t, a, "stray_blobs") != 1 || blobs(t, a) != 2 {
			t.Errorf("%d links, %d strays, %d blobs", count(t, a, "file_access_links"), count(t, a, "stray_blobs"),
				blobs(t, a))
		}
		if !a.SendREST(t, a.Key, "GET", "/v1/businesses/"+string(a.Business), "").OK(t, 200).At("logoFileId").Null() {
			t.Error("a business names a file that is no more")
		}
		sweep(t, a, "files.sweep")
		eventually(t, "its bytes stayed", func() bool { return blobs(t, a) == 1 && count(t, a, "stray_blobs") == 0 })
	})
}

// Concurrent uploads do not mix.
func TestManyUploads(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		content := bytes.Repeat([]byte("abc"), 100_000)
		apptest.RunAtOnce(20, func(i int) {
			v := upload(t, a, file(fmt.Sprintf("%d.bin", i), string(content))).OK(t, 201)
			if r := a.SendREST(t, a.Key, http.MethodGet, "/v1/files/"+v.Text("id")+"/content",
				""); !bytes.Equal(r.Body, content) {
				t.Errorf("file %d: %d bytes", i, len(r.Body))
			}
		})
		if count(t, a, "files") != 20 || count(t, a, "stray_blobs") != 0 || blobs(t, a) != 20 {
			t.Errorf("%d files, %d strays, %d blobs", count(t, a, "files"), count(t, a, "stray_blobs"), blobs(t, a))
		}
	})
}
