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
// order organization, business, object, or two writes could wait for each other.
// ErrNoRow means that there is no such row. On SQLite, where writes run one at a
// time, it only reads the row.
func Lock(ctx context.Context, tx *Tx, table string, org, row id.ID) error {
	text := lockSQL(tx, table, "organization_id = $1 AND id = $2 AND deleted_at IS NULL")
	if _, err := QueryOne[int64](ctx, tx, text, org, row); err != nil {
		return err
	}
	return tx.checkGuard(ctx, row)
}

// LockOrganization locks the organization itself, the root of a rule over a whole
// set: there is always one owner left.
func LockOrganization(ctx context.Context, tx *Tx, org id.ID) error {
	_, err := QueryOne[int64](ctx, tx, lockSQL(tx, "organizations", "id = $1"), org)
	return err
}

// LockShared locks the live row that another row is about to refer to, so that it cannot
// be deleted meanwhile. Others may refer to it at the same time.
func LockShared(ctx context.Context, tx *Tx, table string, org, row id.ID) error {
	text := "SELECT 1 FROM " + table + " WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL"
	if tx.Engine() == Postgres {
		text += " FOR SHARE"
	}
	_, err := QueryOne[int64](ctx, tx, text, org, row)
	return err
}

// LockEvenIfDeleted is Lock for a row that may be deleted, or gone.
func LockEvenIfDeleted(ctx context.Context, tx *Tx, table string, org, row id.ID) error {
	_, err := QueryAll[int64](ctx, tx, lockSQL(tx, table, "organization_id = $1 AND id = $2"), org, row)
	return err
}

// LockAllEvenIfDeleted is LockEvenIfDeleted for several rows, in the order of their ids: two
// transactions that lock some of the same rows then cannot block each other.
// Without a table, or on SQLite, where one writes at a time, it does nothing.
func LockAllEvenIfDeleted(ctx context.Context, tx *Tx, table string, org id.ID, rows []id.ID) error {
	if table == "" || tx.Engine() != Postgres {
		return nil
	}
	_, err := QueryAll[int64](ctx, tx, "SELECT 1 FROM "+table+
		" WHERE organization_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE", org, rows)
	return err
}

// lockSQL is the statement that locks the rows that meet a condition.
func lockSQL(tx *Tx, table, where string) string {
	key := lockSQLKey{table, where, tx.Engine() == Postgres}
	if s, ok := lockSQLs.Load(key); ok {
		return s.(string)
	}
	s := "SELECT 1 FROM " + table + " WHERE " + where
	if key.pg {
		// Not FOR UPDATE: ids never change, so an insert that refers to the row need not wait.
		s += " FOR NO KEY UPDATE"
	}
	lockSQLs.Store(key, s)
	return s
}

type lockSQLKey struct {
	table, where string
	pg           bool
}

var lockSQLs sync.Map // lockSQLKey → SQL, so that the statement caches see one text

// ReadClock reads the database's clock, which leases follow: processes may disagree
// about their own time, but not about the database's. On SQLite, whose file one
// process owns, it is the machine's clock.
func ReadClock(ctx context.Context, tx *Tx) (clock.Time, error) {
	if tx.Engine() == SQLite {
		return clock.FromStd(time.Now()), nil
	}
	return QueryOne[clock.Time](ctx, tx, clockQuery)
}

// clock_timestamp, not now: that one stays at the beginning of the transaction.
const clockQuery = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// FollowClock sets a process's clock by the database's, as exactly as the shortest
// of three round trips allows, and returns by how much they differed. On SQLite
// they are the same.
func (d *DB) FollowClock(ctx context.Context, c *clock.Clock) (drift time.Duration, err error) {
	if d.Engine() == SQLite {
		return 0, nil
	}
	ctx = WithReservedPool(ctx)
	shortest := time.Hour
	for range 3 {
		err := d.Read(ctx, func(ctx context.Context, tx *Tx) error {
			if _, err := QueryOne[int64](ctx, tx,
				"SELECT 1"); err != nil { // a transaction begins with its first statement
				return err
			}
			began := c.MachineTime()
			now, err := ReadClock(ctx, tx)
			if trip := c.MachineTime().Sub(began); err == nil && trip < shortest {
				shortest, drift = trip, now.Std().Sub(began.Add(trip/2))
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	if !c.CorrectDrift(drift, shortest) {
		return 0, nil
	}
	return drift, nil
}
