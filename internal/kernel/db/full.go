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
	probeTable = "write_probes"
	probeBytes = 256 << 10
)

var _ = Declare(probeTable, Life{})

// probeDiskSpace writes after a write has met a full disk, to see whether there is room
// again. The bytes are random, so that no compression makes them small.
func (d *DB) probeDiskSpace(ctx context.Context) error {
	pad := make([]byte, probeBytes/2)
	rand.Read(pad)
	err := d.Write(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := Exec(ctx, tx, "UPDATE "+probeTable+" SET pad = $1", hex.EncodeToString(pad))
		return err
	})
	if err == nil {
		d.diskFull.Store(false)
	}
	return err
}

// isDiskFull reports whether a write met a full disk: SQLITE_FULL, or PostgreSQL's
// disk_full.
func isDiskFull(err error) bool {
	var refused *pgconn.PgError
	return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultFull || errors.As(err, &refused) && refused.Code == "53100"
}
