package certificate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"sync"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"

	"github.com/caddyserver/certmagic"
)

// Everything that certmagic stores is sealed, because a certificate's key and the
// account's key are among it.
var (
	_ = db.Declare("certificate_store", db.Life{
		Permanent: true,
		Sealed:    []db.Sealed{{Column: "value", Place: "'" + placePrefix + "' || key"}},
	})
	_ = db.Declare("certificate_locks", db.Life{Permanent: true})
)

const placePrefix = "certificates/"

// maxValueBytes is the largest value. A chain with its key has some kilobytes.
const maxValueBytes = 1 << 20

// store is certmagic's storage in the service's database, so that all processes
// over it have the same certificates and can answer each other's challenges. A key
// is a path; a folder exists as long as there is something in it.
type store struct {
	db    *db.DB
	seal  op.Sealer
	log   *slog.Logger
	lease time.Duration // how long a lock outlives the process that holds it

	mu   sync.Mutex
	held map[string]*heldLock
}

var (
	_ certmagic.Storage   = (*store)(nil)
	_ certmagic.TryLocker = (*store)(nil)
)

// NewStorage returns the storage of certificates in a database.
func NewStorage(d *db.DB, seal op.Sealer, log *slog.Logger) certmagic.Storage {
	return newStore(d, seal, log)
}

func newStore(d *db.DB, seal op.Sealer, log *slog.Logger) *store {
	return &store{db: d, seal: seal, log: log, lease: lockLease, held: map[string]*heldLock{}}
}

// Store puts a value at a key.
func (s *store) Store(ctx context.Context, key string, value []byte) error {
	key, err := checkKey(key)
	if err != nil {
		return err
	}
	if len(value) > maxValueBytes {
		return fmt.Errorf("certificate: %s has %d bytes, more than %d", key, len(value), maxValueBytes)
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		// Sealed inside the transaction, so that a rotation of the sealing key either
		// waits for it or finds the row.
		sealed, err := s.seal.Seal(value, placePrefix+key)
		if err != nil {
			return err
		}
		now, err := db.ReadClock(ctx, tx)
		if err != nil {
			return err
		}
		_, err = db.Exec(ctx, tx, `
			INSERT INTO certificate_store (key, value, size, changed_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (key) DO UPDATE
			SET value = excluded.value, size = excluded.size, changed_at = excluded.changed_at`,
			key, sealed, len(value), now)
		return err
	})
}

// Load returns the value at a key, or fs.ErrNotExist.
func (s *store) Load(ctx context.Context, key string) ([]byte, error) {
	key, err := checkKey(key)
	if err != nil {
		return nil, err
	}
	var sealed []byte
	err = s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		sealed, err = db.QueryOne[[]byte](ctx, tx, "SELECT value FROM certificate_store WHERE key = $1", key)
		return err
	})
	if errors.Is(err, db.ErrNoRow) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return s.seal.Open(sealed, placePrefix+key)
}

// Delete removes what is at a key and below it.
func (s *store) Delete(ctx context.Context, key string) error {
	key, err := checkKey(key)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "DELETE FROM certificate_store WHERE key = $1 OR "+belowFolder, key, key+"/")
		return err
	})
}

// belowFolder is the condition of the keys in the folder $2. It uses no index: the table has
// a few rows.
const belowFolder = "substr(key, 1, length($2)) = $2"

// Exists reports whether there is something at a key or below it.
func (s *store) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	return err == nil
}

// keyRow is a row without its value.
type keyRow struct {
	Key       string     `db:"key"`
	Size      int64      `db:"size"`
	ChangedAt clock.Time `db:"changed_at"`
}

// List returns the keys and folders below a path: with recursive at any depth,
// otherwise only those directly in it.
func (s *store) List(ctx context.Context, prefix string, recursive bool) ([]string, error) {
	prefix, folder := strings.Trim(prefix, "/"), ""
	if prefix != "" {
		folder = prefix + "/"
	}
	var rows []keyRow
	err := s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.QueryAll[keyRow](ctx, tx, `
			SELECT key, size, changed_at FROM certificate_store
			WHERE substr(key, 1, length($1)) = $1
			ORDER BY key`, folder)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []string
	seen := map[string]bool{}
	add := func(key string) {
		if !seen[key] {
			seen[key] = true
			out = append(out, key)
		}
	}
	for _, r := range rows {
		parts := strings.Split(strings.TrimPrefix(r.Key, folder), "/")
		if !recursive {
			parts = parts[:1]
		}
		for i := range parts { // folders too, as a file system would list them
			add(folder + strings.Join(parts[:i+1], "/"))
		}
	}
	if len(out) == 0 {
		return nil, fs.ErrNotExist
	}
	return out, nil
}

// Stat describes a key, or the folder of that name.
func (s *store) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	key, err := checkKey(key)
	if err != nil {
		return certmagic.KeyInfo{}, err
	}
	var rows []keyRow
	err = s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.QueryAll[keyRow](ctx, tx, `
			SELECT key, size, changed_at FROM certificate_store
			WHERE key = $1 OR `+belowFolder+`
			ORDER BY length(key)
			LIMIT 1`, key, key+"/")
		return err
	})
	switch {
	case err != nil:
		return certmagic.KeyInfo{}, err
	case len(rows) == 0:
		return certmagic.KeyInfo{}, fs.ErrNotExist
	case rows[0].Key != key:
		return certmagic.KeyInfo{Key: key}, nil // a folder
	}
	r := rows[0]
	return certmagic.KeyInfo{Key: key, Modified: r.ChangedAt.Std(), Size: r.Size, IsTerminal: true}, nil
}

// checkKey returns a key, and refuses one that certmagic never makes: empty, too long,
// or not a clean path.
func checkKey(key string) (string, error) {
	if key == "" || len(key) > 1000 || path.Clean("/"+key) != "/"+key || strings.ContainsRune(key, 0) {
		return "", fmt.Errorf("certificate: %q is not a key of the storage", key)
	}
	return key, nil
}
