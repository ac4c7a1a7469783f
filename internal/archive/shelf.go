package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/adapter/s3"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
)

// Shelf is where archives are kept.
type Shelf interface {
	// Put writes an archive. None appears that is not whole.
	Put(ctx context.Context, name string, r io.Reader) error
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	Delete(ctx context.Context, name string) error
	// names lists everything, whoever put it there.
	names(ctx context.Context) ([]string, error)
}

// OpenShelf opens the shelf that the settings name.
func OpenShelf(ctx context.Context, c config.Backup) (Shelf, error) {
	bucket, prefix, ok := c.Bucket()
	if !ok {
		return folder(c.To), nil
	}
	store, err := s3.Open(ctx, s3.Config{Bucket: bucket, Endpoint: c.Endpoint, Region: c.Region,
		AccessKey: c.AccessKey, SecretKey: c.SecretKey})
	if err != nil {
		return nil, err
	}
	return &shelf{store, prefix}, nil
}

// shelf is a bucket, or a part of one.
type shelf struct {
	store  *s3.Store
	prefix string
}

func (s *shelf) Put(ctx context.Context, name string, r io.Reader) error {
	return s.store.Put(ctx, s.prefix+name, r)
}

func (s *shelf) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	return s.store.Open(ctx, s.prefix+name, 0)
}

func (s *shelf) Delete(ctx context.Context, name string) error {
	return s.store.Delete(ctx, s.prefix+name)
}

func (s *shelf) names(ctx context.Context) ([]string, error) {
	keys, err := s.store.List(ctx, s.prefix+namePrefix)
	for i, key := range keys {
		keys[i] = strings.TrimPrefix(key, s.prefix)
	}
	return keys, err
}

// folder is one on another disk, or of another machine.
type folder string

func (f folder) Put(_ context.Context, name string, r io.Reader) (err error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	out, err := os.CreateTemp(string(f), ".coming-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	_, err = io.Copy(out, r)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if err := os.Rename(out.Name(), filepath.Join(string(f), name)); err != nil {
		return err
	}
	return db.SyncDir(string(f))
}

func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(string(f), name))
}

func (f folder) Delete(_ context.Context, name string) error {
	return os.Remove(filepath.Join(string(f), name))
}

func (f folder) names(context.Context) (out []string, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, err
}

const (
	namePrefix = "frontdesk-"
	nameTime   = "20060102T150405Z"
)

var nameForm = regexp.MustCompile(`^frontdesk-(\d{8}T\d{6}Z)\.tar\.age$`)

// Name is that of an archive made at a time.
func Name(at time.Time) string { return namePrefix + at.UTC().Format(nameTime) + ".tar.age" }

// Entry is an archive on a shelf.
type Entry struct {
	Name string    `json:"name"`
	At   time.Time `json:"createdAt"`
}

// List finds the archives on a shelf, the newest first. What else lies there is
// somebody else's.
func List(ctx context.Context, s Shelf) (out []Entry, err error) {
	names, err := s.names(ctx)
	if err != nil {
		return nil, fmt.Errorf("the backups cannot be listed: %w", err)
	}
	for _, name := range names {
		if m := nameForm.FindStringSubmatch(name); m != nil {
			if at, err := time.Parse(nameTime, m[1]); err == nil {
				out = append(out, Entry{name, at})
			}
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return b.At.Compare(a.At) })
	return out, nil
}

// Prune removes all archives but the newest, and returns how many.
func Prune(ctx context.Context, s Shelf, keep int) (removed int, err error) {
	all, err := List(ctx, s)
	if err != nil {
		return 0, err
	}
	for _, e := range all[min(keep, len(all)):] {
		if err := s.Delete(ctx, e.Name); err != nil {
			return removed, fmt.Errorf("the old backup %s cannot be removed: %w", e.Name, err)
		}
		removed++
	}
	return removed, nil
}
