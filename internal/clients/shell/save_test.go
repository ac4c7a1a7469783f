package shell

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
)

// A download that breaks off leaves neither a file nor one that is open.
func TestSaveThatBreaksOff(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("the connection broke")
	before := openFiles(t)
	if err := saveFile(filepath.Join(dir, "x"), iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("it is saved: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files are open, before it were %d", after, before)
	}
}

// openFiles counts the open files of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not tell which files are open")
	}
	return len(list)
}
