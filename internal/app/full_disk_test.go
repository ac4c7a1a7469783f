package app_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

func statusOf(t *testing.T, address string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// A disk that is really full: nothing answers 500, /readyz says so, and all of it
// works again once there is room.
func TestAttackFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=24m"); err != nil {
		t.Skip("a small disk cannot be mounted: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := apptest.Settings(t, db.SQLite)
	s.Data = disk
	a := apptest.StartWith(t, s)
	app.BeReady(a.App)
	ready := func(want int) {
		t.Helper()
		if got, text := statusOf(t, a.URL+"/readyz"); got != want {
			t.Errorf("/readyz: %d %s, want %d", got, text, want)
		}
	}
	ready(200)
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size >= 4096; size /= 2 {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
	f.Close() //nolint:errcheck // it has no room for more
	refused := func(r apptest.Result, what string) {
		t.Helper()
		if r.Status != 503 || r.Code() != "SERVICE_UNAVAILABLE" || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s, Retry-After %q", what, r.Status, r.Body, r.Header.Get("Retry-After"))
		}
	}
	large := apptest.Part{Name: "file", FileName: "a.bin", Text: strings.Repeat("x", 3<<20)}
	refused(a.UploadForm(t, a.Key, "/v1/files", large), "an upload")
	failed := 0
	for i := range 100 {
		r := a.SendREST(t, a.Key, http.MethodPost, "/v1/tasks", fmt.Sprintf(`{"title": "T%d", "description": %q}`, i,
			strings.Repeat("x", 4000)))
		if r.Status != 201 {
			refused(r, "a task")
			failed++
		}
	}
	if failed == 0 {
		t.Fatal("the disk is not full")
	}
	ready(503)
	a.SendREST(t, a.Key, http.MethodGet, "/v1/tasks", "").OK(t, 200)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	ready(200)
	a.SendREST(t, a.Key, http.MethodPost, "/v1/tasks", `{"title": "After"}`).OK(t, 201)
	a.UploadForm(t, a.Key, "/v1/files", large).OK(t, 201)
}

// Anybody on the internet reads the server's figures.
func TestAttackMetricsArePublic(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	if status, text := statusOf(t, a.URL+"/metrics"); status != 404 || strings.Contains(text, "frontdesk_") {
		t.Errorf("%d %.200s", status, text)
	}
}
