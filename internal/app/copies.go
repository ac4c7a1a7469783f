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
	"frontdesk/internal/kernel/db/backup"
	"frontdesk/internal/resource/file"
)

// A backup is a file of rows, and beside it a folder with the bytes of files that the
// rows name. The rows are copied first: bytes never change and outlive their
// rows, so those that a snapshot names are still there when they are copied.
//
//	monday          every row
//	monday.files/   one file for each of the table files, named by its key

// filesFolderOf is the folder beside a backup.
func filesFolderOf(path string) string { return path + ".files" }

// BackupResult is what a backup holds, or what was restored from it.
type BackupResult struct {
	*backup.Summary
	Files     int   `json:"files"`
	FileBytes int64 `json:"fileBytes"`
}

// Backup copies a database that no server has open, and the bytes of its
// files. db.ErrOwned says that a server has it, which then has to make the backup.
func Backup(ctx context.Context, s config.Settings, path string, say db.ProgressFunc) (*BackupResult, error) {
	if err := refuseExisting(filesFolderOf(path)); err != nil {
		return nil, err
	}
	sum, err := backup.WriteUnopened(ctx, DatabaseOptions(s), path, say)
	if err != nil {
		return nil, err
	}
	blobs, err := openBlobs(ctx, &s)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path)) // without its files it would look complete
	}
	return copyFileBytes(ctx, blobs, sum, path, say)
}

// writeBackup is Backup in the server that has the database open.
func (a *App) writeBackup(ctx context.Context, path string, say db.ProgressFunc) (*BackupResult, error) {
	if err := refuseExisting(filesFolderOf(path)); err != nil {
		return nil, err
	}
	sum, err := backup.Write(ctx, a.DB, path, say)
	if err != nil {
		return nil, err
	}
	return copyFileBytes(ctx, a.blobs, sum, path, say)
}

// refuseExisting refuses a folder that exists already.
func refuseExisting(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s already exists; a backup does not overwrite", path)
	}
	return nil
}

// copyFileBytes copies the files that a backup's rows name to the folder beside it. An
// incomplete backup is removed, because it would look like a complete one.
func copyFileBytes(ctx context.Context, blobs file.Blobs, sum *backup.Summary, path string,
	say db.ProgressFunc) (out *BackupResult, err error) {
	began, told := time.Now(), time.Now()
	out = &BackupResult{Summary: sum}
	folder, made := filesFolderOf(path), false
	defer func() {
		if err != nil && made {
			err = errors.Join(err, os.RemoveAll(folder))
		}
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
		sum.Seconds += time.Since(began).Seconds()
	}()
	err = eachBackupFile(path, func(f *backupFile) error {
		if !made {
			if err := os.Mkdir(folder, 0o700); err != nil {
				return err
			}
			made = true
		}
		n, saved, err := f.saveBytesTo(ctx, blobs, filepath.Join(folder, filepath.FromSlash(f.key)))
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

// backupFile is a row of the table files in a backup.
type backupFile struct {
	id, key, sum string // its id, the key of its bytes in the store, and their SHA-256
	deleted      bool
}

// eachBackupFile reads the rows of files in a backup. A backup of a schema that had no
// files yet has none. A key becomes a path, so one that leads elsewhere is refused.
func eachBackupFile(path string, fn func(*backupFile) error) error {
	return backup.EachRow(path, "files", func(row map[string]any) error {
		f := &backupFile{deleted: row["deleted_at"] != nil}
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

// saveBytesTo copies the bytes of a file out of a store, and reports whether it did. A
// deleted file whose bytes are damaged, or were purged since the snapshot, is left
// out: nobody can get it back, and it must not keep all others from being saved.
func (f *backupFile) saveBytesTo(ctx context.Context, blobs file.Blobs, path string) (n int64, saved bool, err error) {
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
func saveBytes(path string, f *backupFile, r io.Reader) (n int64, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, &checksumReader{r: r, f: f, sum: sha256.New()})
	return n, errors.Join(err, out.Sync(), out.Close(), db.SyncDir(filepath.Dir(path)))
}

// checksumReader is a reader that ends with errOtherBytes when the bytes do not match the
// row's checksum.
type checksumReader struct {
	r   io.Reader
	f   *backupFile
	sum hash.Hash
}

func (c *checksumReader) Read(p []byte) (int, error) {
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
func Restore(ctx context.Context, s config.Settings, path string, say db.ProgressFunc) (*BackupResult, error) {
	out := &BackupResult{}
	sum, err := backup.Restore(ctx, DatabaseOptions(s), path, say, func(ctx context.Context) error {
		return out.restoreFileBytes(ctx, &s, path)
	})
	if err != nil {
		return nil, err
	}
	out.Summary = sum
	return out, nil
}

// restoreFileBytes puts the bytes of all files into the store.
func (c *BackupResult) restoreFileBytes(ctx context.Context, s *config.Settings, path string) error {
	// Nothing is touched while anything is missing.
	missing := 0
	err := eachBackupFile(path, func(f *backupFile) error {
		if _, err := os.Stat(filepath.Join(filesFolderOf(path), filepath.FromSlash(f.key))); err != nil && !f.deleted {
			missing++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("the bytes of %d files are missing; %s must be beside the backup", missing,
			filesFolderOf(path))
	}
	blobs, err := openBlobs(ctx, s)
	if err != nil {
		return err
	}
	return eachBackupFile(path, func(f *backupFile) error {
		in, err := os.Open(filepath.Join(filesFolderOf(path), filepath.FromSlash(f.key)))
		if errors.Is(err, os.ErrNotExist) && f.deleted {
			return nil
		}
		if err != nil {
			return err
		}
		defer in.Close()
		m := &countingReader{r: &checksumReader{r: in, f: f, sum: sha256.New()}}
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

// countingReader counts bytes, and keeps the reader's own error: a store may wrap or replace
// it.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
