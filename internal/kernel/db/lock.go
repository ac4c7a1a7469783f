package db

import (
	"context"
	"sync"
	"time"

	"frontdesk/internal/kernel/clock"

	"frontdesk/internal/kernel/id"
)

// Lock locks the live row of an aggregate root until the transaction ends, so that
// whatever a write reads below it cannot change meanwhile. It is the first
// statement of every write that depends on another row. Roots are locked in the
// order organization, business, object. ErrNone means that there is no such row.
// On SQLite, where writes run one at a time, it only reads the row.
func Lock(ctx context.Context, tx *Tx, table string, org, row id.ID) error {
	text := lockText(tx, table, "organization_id = $1 AND id = $2 AND deleted_at IS NULL")
	if _, err := One[int64](ctx, tx, text, org, row); err != nil {
		return err
	}
	return tx.locked(ctx, row)
}

// LockOrganization locks the organization itself, the root of a rule over a whole
// set, such as the last owner.
func LockOrganization(ctx context.Context, tx *Tx, org id.ID) error {
	_, err := One[int64](ctx, tx, lockText(tx, "organizations", "id = $1"), org)
	return err
}

// Share locks the live row that another row is about to name, so that it cannot be
// deleted meanwhile. Others may name it at the same time.
func Share(ctx context.Context, tx *Tx, table string, org, row id.ID) error {
	text := "SELECT 1 FROM " + table + " WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL"
	if tx.Engine() == Postgres {
		text += " FOR SHARE"
	}
	_, err := One[int64](ctx, tx, text, org, row)
	return err
}

// Hold is Lock for a row that may be deleted, or gone.
func Hold(ctx context.Context, tx *Tx, table string, org, row id.ID) error {
	_, err := All[int64](ctx, tx, lockText(tx, table, "organization_id = $1 AND id = $2"), org, row)
	return err
}

func lockText(tx *Tx, table, where string) string {
	key := lockKey{table, where, tx.Engine() == Postgres}
	if s, ok := lockTexts.Load(key); ok {
		return s.(string)
	}
	s := "SELECT 1 FROM " + table + " WHERE " + where
	if key.pg {
		// No key column ever changes, so readers of foreign keys need not wait.
		s += " FOR NO KEY UPDATE"
	}
	lockTexts.Store(key, s)
	return s
}

type lockKey struct {
	table, where string
	pg           bool
}

var lockTexts sync.Map // lockKey → SQL, so that the statement caches see one text

// Now reads the database's clock, which leases follow: processes may disagree
// about their own time, but not about the database's.
func Now(ctx context.Context, tx *Tx) (clock.Time, error) {
	if tx.Engine() == SQLite {
		return clock.Of(time.Now()), nil
	}
	return One[clock.Time](ctx, tx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
}
