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

// Presence shows others that a process lives. By a connection of its own it holds
// an advisory lock on a number. When the process dies, the kernel closes the
// connection and PostgreSQL frees the lock, so that others know at once. One that
// hangs keeps it.
//
// A free lock is a hint and no proof: a connection also breaks while its process
// lives. Whoever acts on it needs a fence, as leases have.
type Presence struct {
	engine *pg // nil: there are no sessions that could show it
	conn   *pgx.Conn
	number int64
	held   atomic.Int64 // the number while it is held, or zero
}

// NewPresence returns one that holds nothing before the first call of Absent. On
// SQLite, whose file one process owns, and behind a pooler, which lends a session
// for one transaction, it never does.
func (d *DB) NewPresence() *Presence {
	if e, ok := d.engine.(*pg); ok && e.settings == "" {
		return &Presence{engine: e}
	}
	return &Presence{}
}

// Possible reports whether others can see this process at all.
func (p *Presence) Possible() bool { return p.engine != nil }

// Number is what this process holds, or nil.
func (p *Presence) Number() *int64 {
	if n := p.held.Load(); n != 0 {
		return &n
	}
	return nil
}

// A number begins with when the server started: all locks are free after a restart
// or a failover, which says nothing about the numbers of before.
const runText = `SELECT ((extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint & 4294967295) << 31`

// Absent returns which of the numbers that a query finds nobody holds. It first
// makes sure that this process holds its own. One caller at a time.
func (p *Presence) Absent(ctx context.Context, numbers string) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	idle := p.conn != nil
	absent, err := p.absent(ctx, numbers)
	if err != nil && idle && ctx.Err() == nil { // the connection was cut since the last call
		p.Leave()
		absent, err = p.absent(ctx, numbers)
	}
	if err != nil {
		p.Leave()
	}
	return absent, err
}

func (p *Presence) absent(ctx context.Context, numbers string) ([]int64, error) {
	if p.conn == nil {
		if err := p.appear(ctx); err != nil {
			return nil, err
		}
	}
	// The lock is shared, so that those who look do not hide from each other what they see.
	rows, err := p.conn.Query(ctx, `
		SELECT n FROM (`+numbers+`) AS asked (n)
		WHERE n <> $1 AND n >> 31 = $1 >> 31 AND pg_try_advisory_xact_lock_shared(n)`, p.number)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// appear opens the connection and locks the number: that of before, if the server is
// the same.
func (p *Presence) appear(ctx context.Context) (err error) {
	if p.conn, err = pgx.ConnectConfig(ctx, p.engine.pool.Config().ConnConfig); err != nil {
		return err
	}
	var run int64
	if err := p.conn.QueryRow(ctx, runText).Scan(&run); err != nil {
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

// Leave ends the presence, until the next call of Absent.
func (p *Presence) Leave() {
	p.held.Store(0)
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	p.conn.Close(ctx) //nolint:errcheck // it may be broken
	p.conn = nil
}
