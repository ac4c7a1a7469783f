package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresSession is one transaction on PostgreSQL. It begins together with its first
// statement, in one round trip, because the server may be far away.
type postgresSession struct {
	conn            *pgxpool.Conn
	release         func()        // gives the connection back, once
	begin           string        // the BEGIN, with its isolation level
	settings        string        // behind a pooler, the statement that sets the timeouts; else empty
	lockWait        time.Duration // how long a statement waits for a lock; zero for the connection's own
	requestedAt     time.Time     // when the caller began to wait for the connection
	begun           bool          // the first statement was sent
	singleStatement bool          // no BEGIN: its only statement is a transaction by itself
	statements      int           // how many were asked for, refused ones too
	beginErr        error         // why it could not begin, so that nothing may follow
	wantsMark       bool          // it asks for its mark, to find its outcome after a lost commit
	mark            commitMark
}

// errSecondStatement refuses a second statement without a transaction: it would see another
// snapshot.
var errSecondStatement = errors.New("db: more than the one statement that was announced")

// isIdle reports whether no transaction is open.
func (s *postgresSession) isIdle() bool { return s.conn.Conn().PgConn().TxStatus() == 'I' }

// endTransaction commits or rolls back. Without any statement there is nothing to end.
func (s *postgresSession) endTransaction(ctx context.Context, how string) error {
	if !s.begun || s.beginErr != nil {
		return s.beginErr
	}
	tag, err := s.conn.Exec(ctx, how)
	if err == nil && tag.String() != how {
		err = pgx.ErrTxCommitRollback // a statement had failed, so that the commit was a rollback
	}
	return err
}

// beginWithStatement sends a statement together with the beginning of the transaction: the
// BEGIN, the settings, the question for the mark and the statement in one batch.
func (s *postgresSession) beginWithStatement(ctx context.Context, sql string, values []any) (pgx.BatchResults, error) {
	s.begun = true
	b := &pgx.Batch{}
	prelude := []string{s.begin}
	if s.settings != "" {
		prelude = append(prelude, s.settings)
	}
	if s.lockWait > 0 {
		prelude = append(prelude, fmt.Sprintf("SET LOCAL lock_timeout = %d", s.lockWait.Milliseconds()))
	}
	for _, text := range prelude {
		b.Queue(text)
	}
	if s.wantsMark {
		b.Queue(markQuery)
	}
	b.Queue(sql, values...)
	results := s.conn.SendBatch(ctx, b)
	for range prelude {
		if s.beginErr == nil {
			_, s.beginErr = results.Exec()
		}
	}
	if s.beginErr == nil && s.wantsMark {
		s.beginErr = results.QueryRow().Scan(&s.mark.xid, &s.mark.server, &s.mark.began)
	}
	if s.beginErr != nil {
		results.Close() //nolint:errcheck // the same again
	}
	return results, s.beginErr
}

// queryRows implements session.
func (s *postgresSession) queryRows(ctx context.Context, sql string, args []any, p *rowMapping,
	next func() reflect.Value) error {
	values, err := postgresArgs(args)
	s.statements++
	ctx, cancel := s.withDeadline(ctx)
	defer cancel()
	switch {
	case err != nil:
	case s.beginErr != nil:
		err = s.beginErr
	case s.singleStatement && s.begun:
		err = errSecondStatement
	case s.begun || s.singleStatement:
		s.begun = true
		rows, _ := s.conn.Query(ctx, sql, values...) // the rows have its error
		err = scanRows(rows, p, next)
	default:
		var results pgx.BatchResults
		if results, err = s.beginWithStatement(ctx, sql, values); err == nil {
			rows, _ := results.Query() // as above
			err = cmp.Or(scanRows(rows, p, next), results.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("db: %q: %w", sql, err)
	}
	return nil
}

// scanRows fills a value for each row. All rows are read, wanted or not, so that the
// connection is free afterwards.
func scanRows(rows pgx.Rows, p *rowMapping, next func() reflect.Value) error {
	defer rows.Close()
	dest := make([]any, len(p.fields))
	for rows.Next() {
		v := next()
		if !v.IsValid() {
			continue
		}
		if err := p.scanPostgresRow(rows, v, dest); err != nil {
			return err
		}
	}
	return rows.Err()
}

// execStatement implements session. It never goes without a transaction: a read that was
// expected to be a single query is refused here, and runs again on a snapshot if
// that was a guess.
func (s *postgresSession) execStatement(ctx context.Context, sql string, args []any) (int64, error) {
	values, err := postgresArgs(args)
	ctx, cancel := s.withDeadline(ctx)
	defer cancel()
	var tag pgconn.CommandTag
	switch {
	case err != nil:
	case s.singleStatement:
		s.statements, err = 2, errSecondStatement
	case s.beginErr != nil:
		err = s.beginErr
	case s.begun:
		tag, err = s.conn.Exec(ctx, sql, values...)
	default:
		var results pgx.BatchResults
		if results, err = s.beginWithStatement(ctx, sql, values); err == nil {
			tag, err = results.Exec()
			err = cmp.Or(err, results.Close())
		}
	}
	if err != nil {
		return 0, fmt.Errorf("db: %q: %w", sql, err)
	}
	return tag.RowsAffected(), nil
}

// insertReturningSeq implements session.
func (s *postgresSession) insertReturningSeq(ctx context.Context, sql string, args []any) (int64, error) {
	seq, err := int64(0), ErrNoRow
	if e := s.queryRows(ctx, sql+" RETURNING seq", args, rowMappingOf[int64](), func() reflect.Value {
		err = nil
		return reflect.ValueOf(&seq).Elem()
	}); e != nil {
		return 0, e
	}
	return seq, err
}

// postgresArgs turns arguments into values that pgx encodes.
func postgresArgs(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, arg := range args {
		if list, ok := textList(arg); ok {
			out[i] = list
			continue
		}
		if list, ok := arg.([]int64); ok {
			out[i] = list
			continue
		}
		v, err := bindableValue(arg)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
