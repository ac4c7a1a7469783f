package archive_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/archive"
	"frontdesk/internal/kernel/config"
)

// Old archives go, and so do the parts that a killed process left. What somebody may
// still be writing stays, and so does what is not ours.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	shelf, err := archive.OpenShelf(t.Context(), config.Backup{To: dir})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 10, 3, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for _, at := range []time.Time{now, now.Add(-day), now.Add(-2 * day), now.Add(-3 * day)} {
		if err := shelf.Put(t.Context(), archive.NameAt(at), strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
	dead, alive := archive.NameAt(now.Add(-4*day))+".17.tmp", archive.NameAt(now.Add(-time.Hour))+".18.tmp"
	for _, name := range []string{dead, alive, "frontdesk-notes.txt", "frontdesk.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := shelf.Prune(t.Context(), 2); err != nil || n != 3 {
		t.Fatalf("%d removed, %v", n, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{archive.NameAt(now), archive.NameAt(now.Add(-day)), alive, "frontdesk-notes.txt", "frontdesk.tmp"}
	slices.Sort(want)
	slices.Sort(left)
	if !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	list, err := shelf.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != archive.NameAt(now) {
		t.Errorf("%v %v", list, err)
	}
}
