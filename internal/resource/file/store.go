package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// Blobs is where bytes are kept. A key consists of letters, digits and one
// slash, cannot be guessed, and is never reused for other bytes. Every adapter
// passes the suite in filetest.
type Blobs interface {
	// Put stores everything that r gives. The blob becomes visible as a whole
	// or not at all, and is on disk when Put returns.
	Put(ctx context.Context, key string, r io.Reader) error
	// Open reads from an offset to the end. It returns ErrNoBlob if there is no
	// such blob.
	Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error)
	// Delete removes a blob, and whatever an interrupted Put left behind. A
	// missing blob is not an error.
	Delete(ctx context.Context, key string) error
	// Check tests whether blobs can be written, read and deleted.
	Check(ctx context.Context) error
}

// ErrNoBlob means that nothing is stored under a key.
var ErrNoBlob = errors.New("file: there are no such bytes")

// CheckBlobs writes a small blob, reads it back and deletes it.
func CheckBlobs(ctx context.Context, b Blobs) error {
	key := "check/" + string(id.New())
	if err := b.Put(ctx, key, strings.NewReader(key)); err != nil {
		return err
	}
	r, err := b.Open(ctx, key, 0)
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil && string(text) != key {
			err = errors.New("the bytes read differ from those written")
		}
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, b.Delete(ctx, key))
}

// Config is what a Store needs. All fields but Limits are required.
type Config struct {
	DB       *db.DB
	Clock    *clock.Clock
	Log      *slog.Logger
	Jobs     *job.Queue
	Blobs    Blobs
	MaxBytes int64            // of one file
	BaseURL  string           // the start of every access link
	Limits   map[string]int64 // bytes an organization may store, by plan
}

// Store keeps files: their bytes in Blobs and their rows in the database, so
// that neither is visible without the other. Other resources keep files here
// too:
//
//	saved, err := store.Save(ctx, org, "letter.pdf", r) // outside any transaction
//	defer saved.Discard(ctx)                            // does nothing once it is a file
//	…
//	f, err := saved.Insert(ctx, tx, now, nil)           // with whatever else is written
//
// A process that dies in between leaves bytes that the sweep removes.
type Store struct {
	db     *db.DB
	clock  *clock.Clock
	log    *slog.Logger
	jobs   *job.Queue
	blobs  Blobs
	config Config

	storage *storage
}

// New makes a Store. It panics when a required field is missing.
func New(c Config) *Store {
	config.RequireFields(c, "DB", "Clock", "Log", "Jobs", "Blobs", "MaxBytes", "BaseURL")
	return &Store{
		db:      c.DB,
		clock:   c.Clock,
		log:     c.Log,
		jobs:    c.Jobs,
		blobs:   c.Blobs,
		config:  c,
		storage: &storage{db: c.DB, limits: c.Limits, orgs: map[id.ID]*usage{}},
	}
}

// uploadClaimTime is how long an upload may show no progress before its bytes are
// treated as abandoned.
const uploadClaimTime = 24 * time.Hour

// postponeRemovalEvery is how often an upload that makes progress postpones the removal of its bytes.
var postponeRemovalEvery = time.Hour

// Saved is bytes that are stored but not yet a file.
type Saved struct {
	Name        string // may be changed until Insert, using CleanName
	ContentType string
	SizeBytes   int64
	SHA256      string

	store         *Store
	org           id.ID
	key           string
	reservedBytes atomic.Int64 // bytes reserved for the upload
}

// Save stores at most Config.MaxBytes under a name, without its path, if the
// organization has room for them. An error from the reader is returned as it is
// and leaves nothing behind.
func (s *Store) Save(ctx context.Context, org id.ID, name string, r io.Reader) (*Saved, error) {
	v := &Saved{Name: SafeName(name), store: s, org: org, key: newBlobKey()}
	if err := s.CheckRoom(ctx, org); err != nil {
		return nil, err
	}
	err := s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			INSERT INTO stray_blobs (organization_id, blob_key, remove_at, claimed)
			VALUES ($1, $2, $3, FALSE)`,
			org, v.key, s.clock.Now().Add(uploadClaimTime))
		return err
	})
	if err != nil {
		return nil, err
	}
	m := &uploadMeter{r: r, sum: sha256.New(), max: s.config.MaxBytes, clock: s.clock, postponedAt: s.clock.Now(),
		postponeRemoval: func() error { return v.postponeRemoval(ctx) },
		reserve:         func(n int64) error { return v.reserveBytes(ctx, n) }}
	err = s.blobs.Put(ctx, v.key, m)
	if m.err != nil {
		err = m.err
	} else if err != nil {
		err = fmt.Errorf("file: store the bytes: %w", err)
	}
	if err != nil {
		v.Discard(ctx)
		return nil, err
	}
	v.SizeBytes, v.SHA256 = m.n, hex.EncodeToString(m.sum.Sum(nil))
	v.ContentType = detectContentType(m.head.Bytes(), v.Name)
	return v, nil
}

// postponeRemoval postpones the removal of an unfinished upload's bytes. It fails if
// the sweep has claimed them already.
func (v *Saved) postponeRemoval(ctx context.Context) error {
	n := int64(0)
	err := v.store.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.Exec(ctx, tx, `
			UPDATE stray_blobs
			SET remove_at = $3
			WHERE organization_id = $1 AND blob_key = $2 AND NOT claimed`,
			v.org, v.key, v.store.clock.Now().Add(uploadClaimTime))
		return err
	})
	if err != nil {
		v.store.log.WarnContext(ctx, "the removal of an unfinished upload could not be postponed", "err", err)
		return nil // the bytes stay for a day, so a later attempt may still succeed
	}
	if n == 0 {
		return uploadStalledFault()
	}
	return nil
}

// reserveBytes counts bytes of the upload, if there is room for them.
func (v *Saved) reserveBytes(ctx context.Context, n int64) error {
	err := v.store.storage.reserveMeasured(ctx, v.org, n)
	if err == nil {
		v.reservedBytes.Add(n)
	}
	return err
}

func uploadStalledFault() error {
	return fault.Unavailable.Because(errors.New("file: the upload stalled for so long that its bytes were treated as " +
		"abandoned"))
}

// newBlobKey makes a key that cannot be guessed. Its first two digits spread the
// blobs over 256 folders.
func newBlobKey() string {
	h := sha256.Sum256([]byte(id.New() + id.New()))
	s := hex.EncodeToString(h[:])
	return s[:2] + "/" + s[2:]
}

// Insert turns the bytes into a file, in the caller's transaction. The caller
// has locked the folder, if there is one.
func (v *Saved) Insert(ctx context.Context, tx *db.Tx, now clock.Time, folder *id.ID) (*File, error) {
	n, err := db.Exec(ctx, tx, `
		DELETE FROM stray_blobs
		WHERE organization_id = $1 AND blob_key = $2 AND NOT claimed`,
		v.org, v.key)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, uploadStalledFault()
	}
	f := &File{Name: v.Name, ContentType: v.ContentType, SizeBytes: v.SizeBytes, SHA256: v.SHA256, FolderID: folder,
		Key: v.key}
	f.ID, f.CreatedAt, f.UpdatedAt, f.OrganizationID = id.New(), now, now, v.org
	f.Search = f.searchWords()
	if err := files.Insert(ctx, tx, f); err != nil {
		return nil, err
	}
	tx.OnCommit(func() { v.store.storage.settleReserved(v.org, v.reservedBytes.Swap(0)) })
	return f, nil
}

// Open reads the bytes before they are a file. The caller closes it.
func (v *Saved) Open(ctx context.Context) (io.ReadCloser, error) {
	return v.store.blobs.Open(ctx, v.key, 0)
}

// InsertRehearsed writes the row of a file without any bytes, in a transaction
// that will be rolled back: it shows what an operation would do.
func InsertRehearsed(ctx context.Context, c *op.Call, name, contentType string) (*File, error) {
	f := &File{Name: name, ContentType: contentType, Key: newBlobKey()}
	f.ID, f.CreatedAt, f.UpdatedAt, f.OrganizationID = id.New(), c.Now, c.Now, c.Org
	f.Search = f.searchWords()
	return f, files.Insert(ctx, c.Tx, f)
}

const discardTimeout = 30 * time.Second

// Discard removes the bytes unless they became a file. It asks the database,
// because the caller may not know whether its commit succeeded. Whatever fails
// here is left to the sweep.
func (v *Saved) Discard(ctx context.Context) {
	if v == nil {
		return
	}
	v.store.storage.releaseReserved(v.org, v.reservedBytes.Swap(0))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	keys, err := v.store.claimStrays(ctx, "blob_key = $1", v.key)
	if err == nil {
		_, err = v.store.removeStrays(ctx, keys)
	}
	if err != nil {
		v.store.log.WarnContext(ctx, "the bytes of a failed upload are left to the sweep", "err", err)
	}
}

// Open returns a live file of an organization and its bytes. The caller closes
// them; nothing is fetched before the first read.
func (s *Store) Open(ctx context.Context, org, file id.ID) (f *File, content io.ReadSeekCloser, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		f, err = files.Get(ctx, tx, org, file)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return f, s.openContent(ctx, f), nil
}

func (s *Store) openContent(ctx context.Context, f *File) io.ReadSeekCloser {
	return &blobContent{ctx: ctx, blobs: s.blobs, key: f.Key, size: f.SizeBytes}
}

// blobContent reads a blob from any position. The size is known from the row, so
// seeking opens nothing; only a read does.
type blobContent struct {
	ctx   context.Context // io.Reader has no context parameter
	blobs Blobs
	key   string
	size  int64
	at    int64
	open  io.ReadCloser // positioned at at, or nil
}

func (c *blobContent) Read(p []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.open == nil {
		r, err := c.blobs.Open(c.ctx, c.key, c.at)
		if err != nil {
			return 0, fmt.Errorf("file: read the bytes: %w", err)
		}
		c.open = r
	}
	n, err := c.open.Read(p)
	c.at += int64(n)
	if errors.Is(err, io.EOF) && c.at < c.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (c *blobContent) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("file: seek before the beginning")
	}
	if offset == c.at {
		return offset, nil
	}
	c.at = offset
	return offset, c.Close()
}

func (c *blobContent) Close() error {
	if c.open == nil {
		return nil
	}
	r := c.open
	c.open = nil
	return r.Close()
}

const sniffedBytes = 512 // as much as http.DetectContentType reads

// uploadMeter passes the bytes of an upload through and measures them: size, hash and
// beginning. It also reserves storage for them, and postpones the removal of its
// bytes.
type uploadMeter struct {
	r    io.Reader
	sum  hash.Hash
	head bytes.Buffer
	n    int64
	max  int64
	err  error // the reader's error, which a store may wrap beyond recognition

	clock           *clock.Clock
	postponeRemoval func() error
	postponedAt     clock.Time // when the removal was last postponed
	reserve         func(n int64) error
}

// Read passes bytes on once they are counted and reserved. On a refusal it passes
// none.
func (m *uploadMeter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if now := m.clock.Now(); err == nil && now.Sub(m.postponedAt) >= postponeRemovalEvery {
		m.postponedAt = now
		if err = m.postponeRemoval(); err != nil {
			n = 0
		}
	}
	m.n += int64(n)
	if m.n > m.max {
		n, err = 0, fault.TooLarge.Say("The file is larger than %d bytes.", m.max)
	}
	if n > 0 {
		if full := m.reserve(int64(n)); full != nil {
			n, err = 0, full
		}
	}
	m.sum.Write(p[:n])
	if room := sniffedBytes - m.head.Len(); room > 0 {
		m.head.Write(p[:min(n, room)])
	}
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
	}
	return n, err
}
