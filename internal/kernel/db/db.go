// Package db is the only package that knows which engine holds the data:
// SQLite in one file, or PostgreSQL. Both speak the same SQL text through
// Read, Write, One, All, Exec, Lock and Table.
//
// Start reading at DB.Write. On SQLite one goroutine runs all writes and
// groups those that wait into one commit (writer.go). On PostgreSQL every
// write is a READ COMMITTED transaction that locks its root row first (Lock)
// and runs again when the server asks for it (postgres.go).
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
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
)

// Options say where the data is.
type Options struct {
	Path        string        // the SQLite file, when URL is empty
	URL         string        // a PostgreSQL connection string
	MaxConns    int           // PostgreSQL connections, and SQLite readers; 0 picks a default
	Wait        time.Duration // how long a transaction waits for one of them; 10 seconds when zero
	Migrations  []fs.FS       // folders of NNNN_name.sql, merged in order of their numbers
	Log         *slog.Logger
	Fatal       func(error) // called when a sync failed; the default logs and exits
	ExtraPragma []string    // SQLite only, for tests: "max_page_count(100)"
}

// Engine names what holds the data.
type Engine string

// The two engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// DB is an open database.
type DB struct {
	engine engine
	opts   Options
	stats  Stats
	lives  walk
	full   atomic.Bool // a write has met a full disk; see Ready
	folded atomic.Bool // no old search texts are left; see Refold
}

// engine is what SQLite and PostgreSQL each provide.
type engine interface {
	name() Engine
	read(ctx context.Context, fn Func) error
	write(ctx context.Context, fn Func) error
	gauges() Gauges
	ready(ctx context.Context) error
	shutDown() error
}

// session is one engine's transaction.
type session interface {
	// query fills one value per row. next returns the place for a row, or an
	// invalid value when no more rows are wanted.
	query(ctx context.Context, sql string, args []any, p *plan, next func() reflect.Value) error
	exec(ctx context.Context, sql string, args []any) (int64, error)
	insert(ctx context.Context, sql string, args []any) (int64, error)
}

// Func is the work of one transaction. A write may run more than once, so it
// must set its results from scratch each time. It must use the context it gets:
// calling Write or the network with that context panics.
type Func = func(ctx context.Context, tx *Tx) error

// Tx is one open transaction.
type Tx struct {
	session
	db       *DB
	writable bool
	after    []func()
	index    []indexRow
	former   []former
	latest   clock.Time // the last change of the rows that were locked
	guard    *guard
	author   Author
	trace    *Trace // nil unless somebody follows what the transaction does
}

// ErrNone says that no row matched.
var ErrNone = errors.New("db: no row")

// ErrLostCommit says that the connection broke while committing: the change
// may or may not be there, and only reading it tells.
var ErrLostCommit = errors.New("db: the outcome of a commit is unknown")

// Open opens the database and brings its schema up to date.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Wait == 0 {
		o.Wait = 10 * time.Second
	}
	d := &DB{opts: o}
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

// Close waits for running transactions and closes the database.
func (d *DB) Close() error { return d.engine.shutDown() }

// Ready returns why the database cannot be read and written now.
func (d *DB) Ready(ctx context.Context) error {
	if err := d.engine.ready(ctx); err != nil || !d.full.Load() {
		return err
	}
	return d.tryWrite(ctx)
}

// Engine tells which engine holds the data.
func (d *DB) Engine() Engine { return d.engine.name() }

// Read runs fn on one read-only snapshot.
func (d *DB) Read(ctx context.Context, fn Func) error {
	refuseInside(ctx, "Read")
	return d.engine.read(ctx, fn)
}

// Write runs fn in one transaction and returns after it is on disk.
func (d *DB) Write(ctx context.Context, fn Func) error {
	refuseInside(ctx, "Write")
	err := d.engine.write(ctx, fn)
	if err != nil && isFull(err) {
		d.full.Store(true)
	}
	return err
}

// OnCommit runs fn after the transaction is durable and before its caller
// learns of it. fn must be quick and must not fail.
func (tx *Tx) OnCommit(fn func()) { tx.after = append(tx.after, fn) }

// Engine tells which engine the transaction runs on, for the few statements
// that differ.
func (tx *Tx) Engine() Engine { return tx.db.engine.name() }

type insideKey struct{}

func inside(ctx context.Context) context.Context {
	return context.WithValue(ctx, insideKey{}, true)
}

// Inside reports whether ctx belongs to an open transaction. Whatever uses the
// network asks first, and refuses.
func Inside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// Outside panics inside a transaction: the network waits for the commit.
func Outside(ctx context.Context) { refuseInside(ctx, "the network") }

func refuseInside(ctx context.Context, what string) {
	if Inside(ctx) {
		panic("db: " + what + " inside a transaction")
	}
}

// PanicError is a panic in a transaction, which was rolled back.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// call runs fn and turns a panic into an error.
func call(ctx context.Context, fn Func, tx *Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return fn(ctx, tx)
}

// One returns the first row of a query, or ErrNone.
func One[T any](ctx context.Context, tx *Tx, sql string, args ...any) (T, error) {
	var out T
	found := false
	err := tx.query(ctx, sql, args, planOf[T](), func() reflect.Value {
		if found {
			return reflect.Value{}
		}
		found = true
		return reflect.ValueOf(&out).Elem()
	})
	if err == nil && !found {
		err = ErrNone
	}
	return out, err
}

// All returns every row of a query; no rows is an empty slice.
func All[T any](ctx context.Context, tx *Tx, sql string, args ...any) ([]T, error) {
	return AllOf[T](ctx, tx, 0, sql, args...)
}

// AllOf is All for a query whose number of rows is roughly known.
func AllOf[T any](ctx context.Context, tx *Tx, about int, sql string, args ...any) ([]T, error) {
	out := make([]T, 0, about)
	err := tx.query(ctx, sql, args, planOf[T](), func() reflect.Value {
		var zero T
		out = append(out, zero)
		return reflect.ValueOf(&out[len(out)-1]).Elem()
	})
	return out, err
}

// Exec runs a statement and returns how many rows it changed.
func Exec(ctx context.Context, tx *Tx, sql string, args ...any) (int64, error) {
	return tx.exec(ctx, sql, args)
}

// Insert adds one row to a table that has a seq, and returns the seq. It returns
// ErrNone when an ON CONFLICT left the table unchanged.
func Insert(ctx context.Context, tx *Tx, sql string, args ...any) (int64, error) {
	return tx.insert(ctx, sql, args)
}

// busy reports overload, before the caller gives up waiting.
func busy() error {
	return fault.Unavailable.Say("Too many requests are waiting for the database. Retry in a moment.")
}

// Missing turns ErrNone into a 404 that names what was looked for.
func Missing(err error, noun string) error {
	if errors.Is(err, ErrNone) {
		return fault.NotFound.Say("There is no such %s.", noun)
	}
	return err
}
