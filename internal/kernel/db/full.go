package db

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"zombiezen.com/go/sqlite"
)

// probe is the table with the one row by which probeDiskSpace finds room again, and
// probeBytes how much it asks for: a write of less may fit where most do not.
const (
	probe      = "write_probes"
	probeBytes = 256 << 10
)

var _ = Declare(probe, Life{})

// tryWrite writes after a write has met a full disk, to see whether there is room
// again. The bytes are random, so that no compression makes them small.
func (d *DB) tryWrite(ctx context.Context) error {
	pad := make([]byte, probeBytes/2)
	rand.Read(pad)
	err := d.Write(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := Exec(ctx, tx, "UPDATE "+probe+" SET pad = $1", hex.EncodeToString(pad))
		return err
	})
	if err == nil {
		d.full.Store(false)
	}
	return err
}

// isFull reports whether a write met a full disk: SQLITE_FULL, or PostgreSQL's
// disk_full.
func isFull(err error) bool {
	var refused *pgconn.PgError
	return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultFull || errors.As(err, &refused) && refused.Code == "53100"
}
