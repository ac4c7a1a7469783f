package disk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/internal/adapter/disk"
	"frontdesk/internal/resource/file/filetest"
)

func TestBlobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	f, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	filetest.ExerciseBlobs(t, f, func(t *testing.T, key string) int {
		names, err := filepath.Glob(filepath.Join(dir, key) + ".*")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	})
}

// A folder may be called anything, and what a dead process left beside a blob
// goes all the same.
func TestFolderLikeAPattern(t *testing.T) {
	for _, name := range []string{"desk [2027]", "desk [new", `back\slash`, "any*thing?"} {
		dir := filepath.Join(t.TempDir(), name)
		f, err := disk.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Put(t.Context(), "ab/cdef", strings.NewReader("bytes")); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"cdef.1a2b.tmp", "cdef0.1a2b.tmp"} {
			if err := os.WriteFile(filepath.Join(dir, "ab", part), []byte("by"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Delete(t.Context(), "ab/cdef"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		left, err := os.ReadDir(filepath.Join(dir, "ab"))
		if err != nil || len(left) != 1 || left[0].Name() != "cdef0.1a2b.tmp" { // another's
			t.Errorf("%s: left %v, %v", name, left, err)
		}
		if err := f.Delete(t.Context(), "zz/never"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Others on the machine see neither the bytes nor the names, and there is
// nothing but the bytes.
func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	f, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Put(t.Context(), "ab/cdef", strings.NewReader("bytes")); err != nil {
		t.Fatal(err)
	}
	var names []string
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", name, info.Mode())
		}
		if !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 1 || names[0] != filepath.Join(dir, "ab", "cdef") {
		t.Errorf("the folder holds %v", names)
	}
	if b, err := os.ReadFile(names[0]); err != nil || string(b) != "bytes" {
		t.Errorf("%q, %v", b, err)
	}
}
