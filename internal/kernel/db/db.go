// Package db keeps the service's data. It is the only package that knows which
// engine holds them: SQLite in one file, or PostgreSQL. Everybody else writes one
// SQL text for both and runs it in a transaction (DB.Read, DB.Write) with
// QueryOne, QueryAll and Exec, or through a Table, which has the statements that
// every resource needs.
//
// Start reading at DB.Write in this file. Then come the files that resources use:
// table.go, where.go and page.go, and lock.go for what a write locks first. Each
// table declares what becomes of its rows (life.go); delete.go, undelete.go and
// package life follow that declaration and name no table.
// words.go, search.go and follow.go are the full-text search.
//
// On SQLite one goroutine runs all writes and groups those that wait into one
// commit (writer.go, sqlite.go). On PostgreSQL every write is a READ COMMITTED
// transaction that locks its root row first (Lock) and runs again when the server
// asks for it (postgres.go, pgsession.go, outcome.go). migrate.go and schema.go
// have the schema; snapshot.go reads whole tables and load.go fills them, for package
// backup.
//
// The package never sees a resource, and nothing outside it sees an engine.
package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
)

// Options say where the data is, and how patiently to use it.
type Options struct {
	Path           string        // the SQLite file, when URL is empty
	URL            string        // a PostgreSQL connection string
	MaxConns       int           // PostgreSQL connections, and SQLite readers; 0 picks a default
	ConnectionWait time.Duration // how long a transaction waits for a free connection; 10 seconds when zero
	Migrations     []fs.FS       // folders of NNNN_name.sql, merged in order of their numbers
	Log            *slog.Logger
	OnFatal        func(error)   // called when the file cannot be trusted after a failed sync; else it logs and exits
	MaxHold        time.Duration // SQLite only: how long a request may rehearse while others wait; 250 ms when zero
	ExtraPragma    []string      // SQLite only, for tests: "max_page_count(100)"
}

// Engine names the database that holds the data.
type Engine string

// The two engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// DB is an open database. Its methods may be called from any goroutine.
type DB struct {
	engine         engine
	opts           Options
	stats          Stats
	lifeGraph      func() *LifeGraph // reads the migrations once
	diskFull       atomic.Bool       // a write has failed on a full disk; CheckReady then tries to write
	searchRefolded atomic.Bool       // no search text of an old version is left; see RefoldSearchTexts
}

// engine is what SQLite and PostgreSQL each provide, in sqlite.go and in
// postgres.go.
type engine interface {
	engineName() Engine
	runRead(ctx context.Context, fn Func) error
	runWrite(ctx context.Context, fn Func) error
	readGauges() Gauges
	checkReady(ctx context.Context) error
	shutDown() error
}

// session is one engine's open transaction. All statements pass through it.
type session interface {
	// query fills one value per row. next returns the place for a row, or an
	// invalid value when no more rows are wanted.
	queryRows(ctx context.Context, sql string, args []any, p *rowMapping, next func() reflect.Value) error
	// exec returns how many rows changed.
	execStatement(ctx context.Context, sql string, args []any) (int64, error)
	// insert adds one row and returns its seq, or ErrNoRow when ON CONFLICT kept
	// the table as it was.
	insertReturningSeq(ctx context.Context, sql string, args []any) (int64, error)
}

// Func is the work of one transaction. A write may run more than once, so it
// must set its results from scratch each time. It must use the context that it
// gets, and no network: Read, Write and RequireNoTransaction panic with that
// context, because the transaction would wait for another one, or for the network.
type Func = func(ctx context.Context, tx *Tx) error

// Tx is one open transaction. One goroutine uses it, and only until its Func
// returns.
type Tx struct {
	session
	db           *DB
	writable     bool
	afterCommit  []func()      // see OnCommit
	indexChanges []indexChange // changes for SQLite's search index, applied with the commit
	rowsBefore   []rowBefore   // the rows that were locked, as they were
	lastChange   clock.Time    // the newest updated_at of the rows that were locked
	guard        *rowGuard     // a check that runs when its row is locked; see Guard
	author       Author        // who words what is written; see external.go
	trace        *Trace        // what the transaction did so far; nil unless somebody wants to know
}

// ErrNoRow says that no row matched.
var ErrNoRow = errors.New("db: no row")

// ErrLostCommit says that the connection broke while committing: the change
// may or may not be there, and only reading the data again tells.
var ErrLostCommit = errors.New("db: the outcome of a commit is unknown")

// Open opens the database and brings its schema up to date.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.ConnectionWait == 0 {
		o.ConnectionWait = 10 * time.Second
	}
	d := &DB{opts: o, lifeGraph: sync.OnceValue(func() *LifeGraph { return readLifeGraph(o.Migrations) })}
	open := d.openSQLite
	if o.URL != "" {
		open = d.openPostgres
	}
	e, err := open(ctx)
	if err != nil {
		return nil, err
	}
	d.engine = e
	return d, nil
}

// Close waits for the running transactions and closes the database.
func (d *DB) Close() error { return d.engine.shutDown() }

// CheckReady returns why the database cannot be read and written now, or nil. After a
// write has met a full disk it writes something itself: reads still work then, and
// say nothing.
func (d *DB) CheckReady(ctx context.Context) error {
	if err := d.engine.checkReady(ctx); err != nil || !d.diskFull.Load() {
		return err
	}
	return d.probeDiskSpace(ctx)
}

// Engine tells which engine holds the data.
func (d *DB) Engine() Engine { return d.engine.engineName() }

// Read runs fn on one read-only snapshot: whatever fn reads belongs together.
func (d *DB) Read(ctx context.Context, fn Func) error {
	panicInTransaction(ctx, "Read")
	return d.engine.runRead(ctx, fn)
}

// Write runs fn in one transaction and returns after it is on disk. An error, or
// a panic, undoes everything that fn did.
func (d *DB) Write(ctx context.Context, fn Func) error {
	panicInTransaction(ctx, "Write")
	err := d.engine.runWrite(ctx, fn)
	if err != nil && isDiskFull(err) {
		d.diskFull.Store(true)
	}
	return err
}

// OnCommit runs fn after the transaction is durable and before its caller learns
// of it. fn must be quick and must not fail: on SQLite the next commit waits for
// it.
func (tx *Tx) OnCommit(fn func()) { tx.afterCommit = append(tx.afterCommit, fn) }

// Engine tells which engine the transaction runs on, for the few statements
// that differ.
func (tx *Tx) Engine() Engine { return tx.db.engine.engineName() }

// Writes reports whether the transaction may change something.
func (tx *Tx) Writes() bool { return tx.writable }

// inTransactionKey marks the context of an open transaction.
type inTransactionKey struct{}

// markInTransaction returns the context that a transaction's Func gets.
func markInTransaction(ctx context.Context) context.Context {
	return context.WithValue(ctx, inTransactionKey{}, true)
}

// InTransaction reports whether ctx belongs to an open transaction. Whatever uses the
// network asks first, and refuses.
func InTransaction(ctx context.Context) bool { return ctx.Value(inTransactionKey{}) != nil }

// RequireNoTransaction panics in a transaction. Whatever uses the network calls it: a slow
// answer would keep locks, and on SQLite all other writes, waiting.
func RequireNoTransaction(ctx context.Context) { panicInTransaction(ctx, "the network") }

// panicInTransaction panics and not only fails: the caller has a bug, and waiting for
// the one writer inside a write would never end.
func panicInTransaction(ctx context.Context, what string) {
	if InTransaction(ctx) {
		panic("db: " + what + " inside a transaction")
	}
}

// PanicError is a panic in a Func, whose transaction was rolled back.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// callRecovering runs fn and turns a panic into an error, so that the transaction is rolled
// back and, on SQLite, the writer lives on.
func callRecovering(ctx context.Context, fn Func, tx *Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return fn(ctx, tx)
}

// QueryOne returns the first row of a query, or ErrNoRow. T is a scalar or a struct
// with a field for each column, in their order (see structFields).
func QueryOne[T any](ctx context.Context, tx *Tx, sql string, args ...any) (T, error) {
	var out T
	found := false
	err := tx.queryRows(ctx, sql, args, rowMappingOf[T](), func() reflect.Value {
		if found {
			return reflect.Value{}
		}
		found = true
		return reflect.ValueOf(&out).Elem()
	})
	if err == nil && !found {
		err = ErrNoRow
	}
	return out, err
}

// QueryAll returns every row of a query; no rows is an empty slice.
func QueryAll[T any](ctx context.Context, tx *Tx, sql string, args ...any) ([]T, error) {
	return QueryAllSized[T](ctx, tx, 0, sql, args...)
}

// QueryAllSized is QueryAll for a query whose number of rows is roughly known.
func QueryAllSized[T any](ctx context.Context, tx *Tx, about int, sql string, args ...any) ([]T, error) {
	out := make([]T, 0, about)
	err := tx.queryRows(ctx, sql, args, rowMappingOf[T](), func() reflect.Value {
		var zero T
		out = append(out, zero)
		return reflect.ValueOf(&out[len(out)-1]).Elem()
	})
	return out, err
}

// Exec runs a statement and returns how many rows it changed.
func Exec(ctx context.Context, tx *Tx, sql string, args ...any) (int64, error) {
	return tx.execStatement(ctx, sql, args)
}

// InsertReturningSeq adds one row to a table that has a seq, and returns the seq. It returns
// ErrNoRow when an ON CONFLICT left the table unchanged.
func InsertReturningSeq(ctx context.Context, tx *Tx, sql string, args ...any) (int64, error) {
	return tx.insertReturningSeq(ctx, sql, args)
}

// overloadedError is the 503 for a caller who got no connection in time.
func overloadedError() error {
	return fault.Unavailable.Say("Too many requests are waiting for the database. Retry in a moment.")
}

// AsNotFound turns ErrNoRow into a 404 that names what was looked for. Other errors
// stay as they are.
func AsNotFound(err error, noun string) error {
	if errors.Is(err, ErrNoRow) {
		return fault.NotFound.Say("There is no such %s.", noun)
	}
	return err
}
