package db

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"frontdesk/internal/kernel/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pg is the PostgreSQL engine.
type pg struct {
	db   *DB
	pool *pgxpool.Pool
}

const maxAttempts = 5 // of one write that the server asks to run again

func (d *DB) openPostgres(ctx context.Context) (engine, error) {
	cfg, err := pgxpool.ParseConfig(d.opts.URL)
	if err != nil {
		return nil, fmt.Errorf("db: the database URL: %w", err)
	}
	if err := migratePostgres(ctx, cfg.ConnConfig.Copy(), d.opts.Migrations, newest); err != nil {
		return nil, err
	}
	if d.opts.MaxConns > 0 {
		cfg.MaxConns = int32(d.opts.MaxConns)
	} else {
		cfg.MaxConns = max(cfg.MaxConns, 16)
	}
	for name, value := range map[string]string{
		"application_name":                    "frontdesk",
		"statement_timeout":                   "30s",
		"lock_timeout":                        "10s",
		"idle_in_transaction_session_timeout": "60s",
	} {
		if cfg.ConnConfig.RuntimeParams[name] == "" {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("db: %w", err)
	}
	return &pg{d, pool}, nil
}

func (e *pg) name() Engine { return Postgres }

func (e *pg) close() error { e.pool.Close(); return nil }

// begin takes a connection for one transaction. It is given back by end.
func (e *pg) begin(ctx context.Context, o pgx.TxOptions) (tx pgx.Tx, end func(), err error) {
	wait, cancel := context.WithTimeout(ctx, e.db.opts.Wait)
	defer cancel()
	conn, err := e.pool.Acquire(wait)
	if err != nil {
		if wait.Err() != nil && ctx.Err() == nil {
			return nil, nil, busy()
		}
		return nil, nil, err
	}
	if tx, err = conn.BeginTx(ctx, o); err != nil {
		conn.Release()
		return nil, nil, err
	}
	return tx, conn.Release, nil
}

func (e *pg) read(ctx context.Context, fn Func) error {
	tx, end, err := e.begin(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return lost(err)
	}
	defer end()
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	if err := call(inside(ctx), fn, &Tx{session: pgSession{tx}, db: e.db}); err != nil {
		return lost(err)
	}
	return lost(tx.Commit(ctx))
}

func (e *pg) write(ctx context.Context, fn Func) error {
	began := time.Now()
	for attempt := 1; ; attempt++ {
		err := e.attempt(ctx, fn)
		if !again(err) || attempt == maxAttempts {
			e.db.stats.batch(1, began)
			return lost(err)
		}
		e.db.stats.retried.Add(1)
		select {
		case <-time.After(time.Duration(attempt*attempt) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (e *pg) attempt(ctx context.Context, fn Func) error {
	raw, end, err := e.begin(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return err
	}
	defer end()
	// Once the work is done the client's hanging up no longer matters.
	detached := context.WithoutCancel(ctx)
	tx := &Tx{session: pgSession{raw}, db: e.db, writable: true}
	if err := call(inside(ctx), fn, tx); err != nil {
		raw.Rollback(detached) //nolint:errcheck // a broken connection has rolled back too
		return err
	}
	patience, cancel := context.WithTimeout(detached, 10*time.Second)
	defer cancel()
	if err := raw.Commit(patience); err != nil {
		var refused *pgconn.PgError
		if !errors.As(err, &refused) && !errors.Is(err, pgx.ErrTxCommitRollback) {
			return fmt.Errorf("%w: %w", ErrLostCommit, err)
		}
		return err
	}
	for _, fn := range tx.after {
		fn()
	}
	return nil
}

// again reports whether the server asks to run the transaction once more.
func again(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

// lost answers 503 for a server that is away, overloaded or gave up waiting.
func lost(err error) error {
	if err == nil {
		return nil
	}
	var refused *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &refused):
		switch refused.Code {
		case "55P03", "57014", "53300", "57P01", "57P02", "57P03", "40001", "40P01", "53100", "53200":
			return fault.Unavailable.Because(err)
		}
	case errors.As(err, &connect), pgconn.SafeToRetry(err):
		return fault.Unavailable.Because(err)
	}
	return err
}

type pgSession struct{ tx pgx.Tx }

func (s pgSession) query(ctx context.Context, sql string, args []any, p *plan, next func() reflect.Value) error {
	values, err := pgArgs(args)
	if err != nil {
		return err
	}
	rows, err := s.tx.Query(ctx, sql, values...)
	if err != nil {
		return fmt.Errorf("db: %q: %w", sql, err)
	}
	defer rows.Close()
	dest := make([]any, len(p.fields))
	for rows.Next() {
		v := next()
		if !v.IsValid() {
			continue
		}
		if err := p.fromPostgres(rows, v, dest); err != nil {
			return fmt.Errorf("db: %q: %w", sql, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("db: %q: %w", sql, err)
	}
	return nil
}

func (s pgSession) exec(ctx context.Context, sql string, args []any) (int64, error) {
	values, err := pgArgs(args)
	if err != nil {
		return 0, err
	}
	tag, err := s.tx.Exec(ctx, sql, values...)
	if err != nil {
		return 0, fmt.Errorf("db: %q: %w", sql, err)
	}
	return tag.RowsAffected(), nil
}

func (s pgSession) insert(ctx context.Context, sql string, args []any) (int64, error) {
	seq, err := int64(0), ErrNone
	if e := s.query(ctx, sql+" RETURNING seq", args, planOf[int64](), func() reflect.Value {
		err = nil
		return reflect.ValueOf(&seq).Elem()
	}); e != nil {
		return 0, e
	}
	return seq, err
}

func pgArgs(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, arg := range args {
		if list, ok := texts(arg); ok {
			out[i] = list
			continue
		}
		v, err := plain(arg)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
