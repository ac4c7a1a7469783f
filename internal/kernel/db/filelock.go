package db

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrOwned says that another process owns the SQLite file.
var ErrOwned = errors.New("db: another process owns the database file")

// lockFile makes this process the owner of the database. The lock ends with
// the process, however it dies.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%w (%s)", ErrOwned, path), f.Close())
	}
	return f, nil
}
