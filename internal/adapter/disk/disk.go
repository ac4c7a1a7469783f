// Package disk keeps the bytes of files in a folder. It is the blob store (file.Blobs)
// of a service that uses no bucket; adapter/s3 is the other one.
//
// A blob is a file whose path is its key. Put writes it under a temporary name beside
// its place and renames it, so that nobody sees half a blob; what a dead process left
// under such a name is removed by Delete. Nothing here runs inside a database
// transaction (db.RequireNoTransaction). Start reading at Folder.Put.
package disk

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/file"
)

// Folder is a blob store in a folder that no other program writes to.
type Folder struct{ path string }

var _ file.Blobs = (*Folder)(nil)

// Open opens the folder, and creates it if it is missing.
func Open(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return AtPath(path), nil
}

// AtPath returns the store of a folder that need not exist: the first Put creates it.
func AtPath(path string) *Folder { return &Folder{path} }

// Put writes a blob beside its place and then renames it, so that it is seen
// whole or not at all. It waits until the disk has it: the row that names it
// may be committed right after.
func (f *Folder) Put(ctx context.Context, key string, r io.Reader) error {
	db.RequireNoTransaction(ctx)
	name := f.blobPath(key)
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(dir, filepath.Base(name)+partPattern) // only our user can read it
	if err != nil {
		return err
	}
	if _, err = io.Copy(part, r); err == nil {
		err = ctx.Err() // a reader may end early when its caller has gone away
	}
	if err == nil {
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	// The directory entries must reach the disk too: the blob's, and its folder's, which
	// may be new.
	if err := errors.Join(db.SyncDir(dir), db.SyncDir(filepath.Dir(dir))); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// partPattern follows the blob's name in the name of its temporary file.
const partPattern = ".*.tmp"

// Open reads a blob from an offset.
func (f *Folder) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	db.RequireNoTransaction(ctx)
	r, err := os.Open(f.blobPath(key))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(file.ErrNoBlob, err)
	}
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Delete removes a blob, and the partial files that a process left when it died
// while writing it.
func (f *Folder) Delete(ctx context.Context, key string) error {
	db.RequireNoTransaction(ctx)
	name := f.blobPath(key)
	// Compared by name and not with filepath.Glob: the folder's own path may have
	// characters that mean something in a pattern.
	beside, err := os.ReadDir(filepath.Dir(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range beside {
		if !strings.HasPrefix(e.Name(), filepath.Base(name)+".") || !strings.HasSuffix(e.Name(), ".tmp") {
			continue
		}
		if err := removeIfPresent(filepath.Join(filepath.Dir(name), e.Name())); err != nil {
			return err
		}
	}
	return removeIfPresent(name)
}

// List finds the keys that begin with a prefix, directly in the folder and not below it.
func (f *Folder) List(ctx context.Context, prefix string) (keys []string, err error) {
	db.RequireNoTransaction(ctx)
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			keys = append(keys, e.Name())
		}
	}
	return keys, err
}

// removeIfPresent removes a file if it is there.
func removeIfPresent(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Check writes a small blob, reads it and deletes it.
func (f *Folder) Check(ctx context.Context) error { return file.CheckBlobs(ctx, f) }

// blobPath is where a blob is. Keys have only characters that file names may have.
func (f *Folder) blobPath(key string) string { return filepath.Join(f.path, filepath.FromSlash(key)) }
