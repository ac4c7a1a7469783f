package archive

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/adapter/disk"
	"frontdesk/internal/adapter/s3"
	"frontdesk/internal/kernel/config"
)

// Shelf is where archives are kept: a folder, best on another disk or machine, or a
// bucket.
type Shelf struct {
	store  store
	prefix string // before every name, in a bucket
}

// store keeps bytes by key. What it has under a key is complete.
type store interface {
	Put(ctx context.Context, key string, r io.Reader) error
	Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, prefix string) ([]string, error)
}

// OpenShelf opens the shelf that the settings name, without touching it.
func OpenShelf(ctx context.Context, c config.Backup) (*Shelf, error) {
	bucket, prefix, ok := c.BucketAndPrefix()
	if !ok {
		return &Shelf{store: disk.AtPath(c.To)}, nil
	}
	store, err := s3.Open(ctx, s3.Config{Bucket: bucket, Endpoint: c.Endpoint, Region: c.Region,
		AccessKey: c.AccessKey, SecretKey: c.SecretKey})
	return &Shelf{store, prefix}, err
}

// Put writes an archive. Others see it when it is complete, or never.
func (s *Shelf) Put(ctx context.Context, name string, r io.Reader) error {
	return s.store.Put(ctx, s.prefix+name, r)
}

// Open reads an archive.
func (s *Shelf) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	return s.store.Open(ctx, s.prefix+name, 0)
}

const (
	namePrefix     = "frontdesk-"
	nameTimeLayout = "20060102T150405Z"
)

// namePattern also matches the part of an archive that a process left in a folder when
// it was killed.
var namePattern = regexp.MustCompile(`^frontdesk-(\d{8}T\d{6}Z)\.tar\.age(\.\d+\.tmp)?$`)

// NameAt is the name of an archive made at a time, to the second.
func NameAt(at time.Time) string { return namePrefix + at.UTC().Format(nameTimeLayout) + ".tar.age" }

// Entry is an archive on a shelf.
type Entry struct {
	Name string    `json:"name"`
	At   time.Time `json:"createdAt"`
}

// List finds the archives on a shelf, the newest first. Other files there belong to
// somebody else and are left alone.
func (s *Shelf) List(ctx context.Context) ([]Entry, error) {
	whole, _, err := s.listEntries(ctx)
	return whole, err
}

// listEntries also finds the parts of archives that were never finished.
func (s *Shelf) listEntries(ctx context.Context) (whole, parts []Entry, err error) {
	keys, err := s.store.List(ctx, s.prefix+namePrefix)
	if err != nil {
		return nil, nil, fmt.Errorf("the backups cannot be listed: %w", err)
	}
	for _, key := range keys {
		name := strings.TrimPrefix(key, s.prefix)
		m := namePattern.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		at, err := time.Parse(nameTimeLayout, m[1])
		switch {
		case err != nil:
		case m[2] == "":
			whole = append(whole, Entry{name, at})
		default:
			parts = append(parts, Entry{name, at})
		}
	}
	slices.SortFunc(whole, func(a, b Entry) int { return b.At.Compare(a.At) })
	return whole, parts, nil
}

// partMaxAge is how much older than the newest archive an unfinished part must be to
// be removed: by then nobody can still be writing it.
const partMaxAge = 24 * time.Hour

// Prune removes all but the newest keep archives, and returns how many files went.
// Parts that were never finished go too.
func (s *Shelf) Prune(ctx context.Context, keep int) (removed int, err error) {
	whole, parts, err := s.listEntries(ctx)
	if err != nil {
		return 0, err
	}
	old := whole[min(keep, len(whole)):]
	for _, e := range parts {
		if len(whole) > 0 && whole[0].At.Sub(e.At) > partMaxAge {
			old = append(old, e)
		}
	}
	for _, e := range old {
		if err := s.store.Delete(ctx, s.prefix+e.Name); err != nil {
			return removed, fmt.Errorf("the old backup %s cannot be removed: %w", e.Name, err)
		}
		removed++
	}
	return removed, nil
}
