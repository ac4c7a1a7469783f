package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/file"
)

// A backup is a file of rows, and beside it a folder with the bytes of files that the
// rows name. The rows are copied first: bytes never change and outlive their
// rows, so those that a snapshot names are still there when they are copied.
//
//	monday          every row
//	monday.files/   one file for each of the table files, named by its key

// bytesOf is the folder beside a backup.
func bytesOf(path string) string { return path + ".files" }

// Copied is what a backup holds, or what was restored from it.
type Copied struct {
	*db.Summary
	Files     int   `json:"files"`
	FileBytes int64 `json:"fileBytes"`
}

// Backup copies a database that no server has open, and the bytes of its
// files. db.ErrOwned says that a server has it, which then has to make the backup.
func Backup(ctx context.Context, s config.Settings, path string, say db.Say) (*Copied, error) {
	if err := freeFolder(bytesOf(path)); err != nil {
		return nil, err
	}
	sum, err := db.Backup(ctx, DatabaseOptions(s), path, say)
	if err != nil {
		return nil, err
	}
	blobs, err := openBlobs(ctx, &s)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path)) // without its files it would look complete
	}
	return copyBytes(ctx, blobs, sum, path, say)
}

// backup is Backup in the server that has the database open.
func (a *App) backup(ctx context.Context, path string, say db.Say) (*Copied, error) {
	if err := freeFolder(bytesOf(path)); err != nil {
		return nil, err
	}
	sum, err := a.DB.Backup(ctx, path, say)
	if err != nil {
		return nil, err
	}
	return copyBytes(ctx, a.blobs, sum, path, say)
}

// freeFolder refuses a folder that exists already.
func freeFolder(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s already exists; a backup does not overwrite", path)
	}
	return nil
}

// copyBytes copies the files that a backup's rows name to the folder beside it. An
// incomplete backup is removed, because it would look like a complete one.
func copyBytes(ctx context.Context, blobs file.Blobs, sum *db.Summary, path string,
	say db.Say) (out *Copied, err error) {
	began, told := time.Now(), time.Now()
	out = &Copied{Summary: sum}
	folder, made := bytesOf(path), false
	defer func() {
		if err != nil && made {
			err = errors.Join(err, os.RemoveAll(folder))
		}
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
		sum.Seconds += time.Since(began).Seconds()
	}()
	err = backedUpFiles(path, func(f *backedUp) error {
		if !made {
			if err := os.Mkdir(folder, 0o700); err != nil {
				return err
			}
			made = true
		}
		n, saved, err := f.saveTo(ctx, blobs, filepath.Join(folder, filepath.FromSlash(f.key)))
		if err != nil || !saved {
			return err
		}
		out.Files, out.FileBytes = out.Files+1, out.FileBytes+n
		if say != nil && time.Since(told) > 2*time.Second {
			told = time.Now()
			say(fmt.Sprintf("copying files: %d, %d bytes so far", out.Files, out.FileBytes))
		}
		return nil
	})
	if err == nil && made {
		err = db.SyncDir(folder)
	}
	return out, err
}

// backedUp is a row of the table files in a backup.
type backedUp struct {
	id, key, sum string // its id, the key of its bytes in the store, and their SHA-256
	deleted      bool
}

// backedUpFiles reads the rows of files in a backup. A backup of a schema that had no
// files yet has none. A key becomes a path, so one that leads elsewhere is refused.
func backedUpFiles(path string, fn func(*backedUp) error) error {
	return db.BackupRows(path, "files", func(row map[string]any) error {
		f := &backedUp{deleted: row["deleted_at"] != nil}
		for name, into := range map[string]*string{"id": &f.id, "blob_key": &f.key, "sha256": &f.sum} {
			var ok bool
			if *into, ok = row[name].(string); !ok {
				return fmt.Errorf("the backup has a file without %s", name)
			}
		}
		if !filepath.IsLocal(f.key) {
			return fmt.Errorf("the backup has a file with the key %q", f.key)
		}
		return fn(f)
	})
}

// errOtherBytes says that the bytes of a file are not what its row says.
var errOtherBytes = errors.New("they differ from what was stored")

// saveTo copies the bytes of a file out of a store, and reports whether it did. A
// deleted file whose bytes are damaged, or were purged since the snapshot, is left
// out: nobody can get it back, and it must not keep all others from being saved.
func (f *backedUp) saveTo(ctx context.Context, blobs file.Blobs, path string) (n int64, saved bool, err error) {
	r, err := blobs.Open(ctx, f.key, 0)
	if err == nil {
		n, err = saveBytes(path, f, r)
		err = errors.Join(err, r.Close())
	}
	lost := errors.Is(err, file.ErrNoBlob) || errors.Is(err, errOtherBytes)
	switch {
	case err == nil:
		return n, true, nil
	case lost && f.deleted:
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, false, err
		}
		return 0, false, nil
	case lost:
		return 0, false,
			fmt.Errorf("the bytes of file %s: %w; give the server's --data or bucket, or, if they are lost, delete "+
				"the file to go on without it", f.id, err)
	}
	return 0, false, fmt.Errorf("the bytes of file %s: %w", f.id, err)
}

// saveBytes writes the bytes of a file to a new file, durably, and insists
// that they match the checksum in the row.
func saveBytes(path string, f *backedUp, r io.Reader) (n int64, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, &checked{r: r, f: f, sum: sha256.New()})
	return n, errors.Join(err, out.Sync(), out.Close(), db.SyncDir(filepath.Dir(path)))
}

// checked is a reader that ends with errOtherBytes when the bytes do not match the
// row's checksum.
type checked struct {
	r   io.Reader
	f   *backedUp
	sum hash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if want, e := hex.DecodeString(c.f.sum); e != nil || !bytes.Equal(want, c.sum.Sum(nil)) {
			return n, errOtherBytes
		}
	}
	return n, err
}

// Restore fills an empty database, and the store that the settings name, from
// a backup. The bytes come first, once the database is known to be empty: rows
// without their bytes would be worse than bytes without rows.
func Restore(ctx context.Context, s config.Settings, path string, say db.Say) (*Copied, error) {
	out := &Copied{}
	sum, err := db.Restore(ctx, DatabaseOptions(s), path, say, func(ctx context.Context) error {
		return out.restoreBytes(ctx, &s, path)
	})
	if err != nil {
		return nil, err
	}
	out.Summary = sum
	return out, nil
}

// restoreBytes puts the bytes of all files into the store.
func (c *Copied) restoreBytes(ctx context.Context, s *config.Settings, path string) error {
	// Nothing is touched while anything is missing.
	missing := 0
	err := backedUpFiles(path, func(f *backedUp) error {
		if _, err := os.Stat(filepath.Join(bytesOf(path), filepath.FromSlash(f.key))); err != nil && !f.deleted {
			missing++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("the bytes of %d files are missing; %s must be beside the backup", missing, bytesOf(path))
	}
	blobs, err := openBlobs(ctx, s)
	if err != nil {
		return err
	}
	return backedUpFiles(path, func(f *backedUp) error {
		in, err := os.Open(filepath.Join(bytesOf(path), filepath.FromSlash(f.key)))
		if errors.Is(err, os.ErrNotExist) && f.deleted {
			return nil
		}
		if err != nil {
			return err
		}
		defer in.Close()
		m := &counted{r: &checked{r: in, f: f, sum: sha256.New()}}
		if err := blobs.Put(ctx, f.key, m); err != nil {
			if errors.Is(m.err, errOtherBytes) && f.deleted {
				return nil
			}
			return fmt.Errorf("store the bytes of file %s: %w", f.id, errors.Join(m.err, err))
		}
		c.Files, c.FileBytes = c.Files+1, c.FileBytes+m.n
		return nil
	})
}

// counted counts bytes, and keeps the reader's own error: a store may wrap or replace
// it.
type counted struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
