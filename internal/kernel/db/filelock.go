package db

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrOwned says that another process owns the SQLite file.
var ErrOwned = errors.New("db: another process owns the database file")

// LockFile makes this process the owner of the SQLite file, or returns ErrOwned. The
// lock ends when it is closed, or with the process, however that dies.
func (o Options) LockFile() (*os.File, error) {
	path := o.Path + ".lock"
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%w (%s)", ErrOwned, path), f.Close())
	}
	return f, nil
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
