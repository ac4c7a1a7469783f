package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Presence shows other processes that this one lives. On a connection of its own it
// holds an advisory lock on a number, which the process writes beside its leases.
// When the process dies, the operating system closes the connection and PostgreSQL
// frees the lock, so that others know at once. A process that hangs keeps it.
//
// A free lock is a hint and no proof: a connection also breaks while its process
// lives. Whoever acts on it needs a fence, as leases have.
type Presence struct {
	engine *postgresEngine // nil where there are no sessions to hold a lock
	conn   *pgx.Conn       // nil before the first call, and after an error
	number int64           // the one to lock; kept over a lost connection
	held   atomic.Int64    // the number while it is held, or zero
}

// NewPresence returns one that holds nothing before the first call of FindAbsent. On
// SQLite, whose file one process owns, and behind a pooler, which lends a session
// for one transaction, it never holds anything.
func (d *DB) NewPresence() *Presence {
	if e, ok := d.engine.(*postgresEngine); ok && e.settings == "" {
		return &Presence{engine: e}
	}
	return &Presence{}
}

// IsPossible reports whether others can see this process at all.
func (p *Presence) IsPossible() bool { return p.engine != nil }

// HeldNumber is the number that this process holds, or nil.
func (p *Presence) HeldNumber() *int64 {
	if n := p.held.Load(); n != 0 {
		return &n
	}
	return nil
}

// serverRunQuery is when the server started, as the upper bits of a number. All locks are
// free after a restart or a failover, which says nothing about numbers of before:
// only numbers of the same run are compared.
const serverRunQuery = `SELECT ((extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint & 4294967295) << 31`

// FindAbsent returns which of the numbers that a query finds nobody holds. It first
// makes sure that this process holds its own. Only one goroutine may call it.
func (p *Presence) FindAbsent(ctx context.Context, numbers string) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	idle := p.conn != nil
	absent, err := p.queryAbsent(ctx, numbers)
	if err != nil && idle && ctx.Err() == nil { // the connection was cut since the last call
		p.ReleaseNumber()
		absent, err = p.queryAbsent(ctx, numbers)
	}
	if err != nil {
		p.ReleaseNumber()
	}
	return absent, err
}

// queryAbsent tries once.
func (p *Presence) queryAbsent(ctx context.Context, numbers string) ([]int64, error) {
	if p.conn == nil {
		if err := p.connectAndLock(ctx); err != nil {
			return nil, err
		}
	}
	// Whose lock can be had is gone. The lock is shared and ends with the statement, so
	// that two processes that look at the same time do not take each other for the
	// holder.
	rows, err := p.conn.Query(ctx, `
		SELECT n FROM (`+numbers+`) AS asked (n)
		WHERE n <> $1 AND n >> 31 = $1 >> 31 AND pg_try_advisory_xact_lock_shared(n)`, p.number)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// connectAndLock opens the connection and locks the number: the one of before, if the server
// has not restarted.
func (p *Presence) connectAndLock(ctx context.Context) (err error) {
	if p.conn, err = pgx.ConnectConfig(ctx, p.engine.pool.Config().ConnConfig); err != nil {
		return err
	}
	var run int64
	if err := p.conn.QueryRow(ctx, serverRunQuery).Scan(&run); err != nil {
		return err
	}
	if p.number>>31 != run>>31 {
		p.number = run + 1 + rand.Int64N(1<<31-1) //nolint:gosec // so that two differ
	}
	_, err = p.conn.Exec(ctx, "SELECT pg_advisory_lock($1)", p.number)
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		p.number = 0 // somebody else has it
	}
	if err == nil {
		p.held.Store(p.number)
	}
	return err
}

// ReleaseNumber ends the presence, until the next call of FindAbsent.
func (p *Presence) ReleaseNumber() {
	p.held.Store(0)
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	p.conn.Close(ctx) //nolint:errcheck // it may be broken
	p.conn = nil
}
