// Package disk keeps the bytes of files in a folder.
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
	"frontdesk/internal/resource/file/bucket"

	"gocloud.dev/blob/fileblob"
)

// Folder is a store in a folder that nobody else writes to.
type Folder struct {
	bucket.Bucket
	path string
}

var _ file.Blobs = (*Folder)(nil)

// Open opens the folder, and makes it when it is not there.
func Open(path string) (*Folder, error) {
	// A blob is written beside its place and then renamed, so that both are on
	// one file system. Nothing but the bytes is kept, so there is one file each.
	b, err := fileblob.OpenBucket(path, &fileblob.Options{CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, err
	}
	return &Folder{bucket.Bucket{Bucket: b}, path}, nil
}

// Put writes a blob and waits until the disk has it: the row that names it may
// be committed right after.
func (f *Folder) Put(ctx context.Context, key string, r io.Reader) error {
	if err := f.Bucket.Put(ctx, key, r); err != nil {
		return err
	}
	name := f.name(key)
	err := os.Chmod(name, 0o600)
	if err == nil {
		err = sync(name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// sync makes a file durable, and the names that lead to it: its folder may be
// new as well.
func sync(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	return errors.Join(file.Sync(), file.Close(), db.SyncDir(dir), db.SyncDir(filepath.Dir(dir)))
}

// Delete removes a blob, and what a process that died while writing it left
// beside its place.
func (f *Folder) Delete(ctx context.Context, key string) error {
	name := f.name(key)
	// Looked for by name: the folder's own may have characters that mean
	// something in a pattern.
	beside, err := os.ReadDir(filepath.Dir(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range beside {
		if !strings.HasPrefix(e.Name(), filepath.Base(name)+".") || !strings.HasSuffix(e.Name(), ".tmp") {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(name), e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return f.Bucket.Delete(ctx, key)
}

// name is where a blob is. Keys have only characters that fileblob leaves as
// they are.
func (f *Folder) name(key string) string { return filepath.Join(f.path, filepath.FromSlash(key)) }
