package archive

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An archive that was changed or cut off anywhere is damaged. A file that cannot be written is not the archive's fault.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	key, recipient, err := NewIdentity(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	to, err := ParseRecipient(recipient)
	if err != nil {
		t.Fatal(err)
	}
	keyFile, rows := filepath.Join(dir, "key"), filepath.Join(dir, "some.rows")
	for name, text := range map[string]string{keyFile: key, rows: strings.Repeat("rows\n", 100_000)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with, err := ReadIdentities(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := WriteEncrypted(&whole, to, rows, filepath.Join(dir, "none")); err != nil {
		t.Fatal(err)
	}
	if _, err := Extract(bytes.NewReader(whole.Bytes()), with, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for at := 300; at < whole.Len(); at += 50_000 {
		changed := bytes.Clone(whole.Bytes())
		changed[at] ^= 1
		for what, text := range map[string][]byte{"changed": changed, "cut off": changed[:at]} {
			if _, err := Extract(bytes.NewReader(text), with, t.TempDir()); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s at %d: %v", what, at, err)
			}
		}
	}
	full := &os.PathError{Op: "write", Path: "/storage/rows", Err: syscall.ENOSPC}
	if err := copyContent(failingWriter{full}, strings.NewReader("rows")); !errors.Is(err, syscall.ENOSPC) ||
		errors.Is(err, ErrDamaged) {
		t.Errorf("a full disk is %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
