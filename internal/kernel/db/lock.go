package db

import (
	"context"
	"sync"
	"time"

	"frontdesk/internal/kernel/clock"

	"frontdesk/internal/kernel/id"
)

// Lock holds the live row of an aggregate root until the transaction ends, so
// that whatever a write reads below it cannot change meanwhile. It is the
// first statement of every write that depends on another row; roots are
// locked in the order organization, business, object. ErrNone means that
// there is no such row. On SQLite, where writes run one at a time, it only
// looks.
func Lock(ctx context.Context, tx *Tx, table string, org, row id.ID) error {
	_, err := One[int64](ctx, tx, lockText(tx, table, "organization_id = $1 AND id = $2 AND deleted_at IS NULL"), org, row)
	return err
}

// LockOrganization holds the organization itself: the root of a rule over a
// whole set, such as the last of its kind.
func LockOrganization(ctx context.Context, tx *Tx, org id.ID) error {
	_, err := One[int64](ctx, tx, lockText(tx, "organizations", "id = $1"), org)
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

// Now is the database's clock, which leases go by: processes may disagree
// about the time, but not about the database's.
func Now(ctx context.Context, tx *Tx) (clock.Time, error) {
	if tx.Engine() == SQLite {
		return clock.Of(time.Now()), nil
	}
	return One[clock.Time](ctx, tx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
}
