package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
)

// sqliteEngine is the engine on SQLite: one writer, and a pool of read-only connections,
// which WAL mode lets read while it writes.
type sqliteEngine struct {
	db      *DB
	path    string
	lock    *os.File // held while the process owns the file
	writer  *writer
	readers *readerPool
}

// pragmas are those of every connection. temp_store(2) keeps temporary tables in
// memory.
var pragmas = []string{"busy_timeout(5000)", "foreign_keys(1)", "temp_store(2)"}

// openSQLite makes this process the owner of the file, migrates it and opens the
// connections.
func (d *DB) openSQLite(ctx context.Context) (engine, error) {
	path := d.opts.Path
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	lock, err := d.opts.LockFile()
	if err != nil {
		return nil, err
	}
	// Created here, so that nobody else can read it; the log beside it gets the same mode.
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("db: %w", err), lock.Close())
	} else if err := f.Close(); err != nil {
		return nil, errors.Join(fmt.Errorf("db: %w", err), lock.Close())
	}
	e := &sqliteEngine{db: d, path: path, lock: lock}
	if err := e.openConnections(ctx); err != nil {
		return nil, errors.Join(err, e.shutDown())
	}
	return e, nil
}

// openConnections migrates the file and opens the writer. Readers open when they are needed.
func (e *sqliteEngine) openConnections(ctx context.Context) error {
	if err := migrateSQLite(ctx, e.path, wantedSchema{e.db.opts.Migrations, newestVersion}); err != nil {
		return err
	}
	// synchronous(2) is FULL: a commit is on disk when it returns.
	w, err := openConn(e.path, slices.Concat(pragmas, []string{"cache_size(-16384)", "synchronous(2)",
		"wal_autocheckpoint(8000)", "journal_size_limit(67108864)"}, e.db.opts.ExtraPragma))
	if err != nil {
		return err
	}
	if e.writer, err = newWriter(e.db, w); err != nil {
		return err
	}
	n := e.db.opts.MaxConns
	if n == 0 {
		n = max(4, 2*runtime.NumCPU())
	}
	e.readers = newReaders(n, func() (*conn, error) {
		return openConn(e.path, slices.Concat(pragmas, []string{"cache_size(-4096)", "query_only(1)"}))
	})
	return nil
}

func (e *sqliteEngine) engineName() Engine { return SQLite }

func (e *sqliteEngine) checkReady(ctx context.Context) error {
	return e.runRead(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := QueryOne[int](ctx, tx, "SELECT 1")
		return err
	})
}

// shutDown waits for the writes in the queue and the running reads. It also cleans
// up after an open that failed halfway.
func (e *sqliteEngine) shutDown() error {
	if e.writer != nil {
		e.writer.stopAndWait()
	}
	var err error
	if e.readers != nil {
		err = e.readers.closeAll()
	}
	if e.writer != nil {
		err = errors.Join(err, e.writer.conn.Close())
	}
	return errors.Join(err, e.lock.Close())
}

// runRead runs fn on a connection of the pool, in a transaction that keeps one
// snapshot.
func (e *sqliteEngine) runRead(ctx context.Context, fn Func) error {
	select {
	case <-e.readers.slots:
	default:
		select {
		case <-e.readers.slots:
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(e.db.opts.ConnectionWait):
			return overloadedError()
		}
	}
	c, err := e.readers.takeIdle()
	if err != nil {
		return err
	}
	defer e.readers.putBack(c)
	if err := c.execSimple("BEGIN"); err != nil {
		return err
	}
	err = callRecovering(markInTransaction(ctx), fn, &Tx{session: c, db: e.db})
	if end := c.execSimple("COMMIT"); end != nil {
		c.execSimple("ROLLBACK") //nolint:errcheck // the connection must not keep its snapshot
		err = errors.Join(err, end)
	}
	return err
}

func (e *sqliteEngine) runWrite(ctx context.Context, fn Func) error {
	return e.writer.submitWrite(ctx, fn)
}

// readerPool are the connections for reading. The one that was used last is used next,
// and each is opened when it is first needed: a server with little to do then fills
// the cache of one, not of all.
type readerPool struct {
	slots chan struct{} // has one for each connection that may be taken
	open  func() (*conn, error)
	mu    sync.Mutex
	idle  []*conn // open and not in use
}

func newReaders(n int, open func() (*conn, error)) *readerPool {
	r := &readerPool{slots: make(chan struct{}, n), open: open}
	for range n {
		r.slots <- struct{}{}
	}
	return r
}

// takeIdle returns an idle connection or opens one. The caller has received from slots.
func (r *readerPool) takeIdle() (*conn, error) {
	r.mu.Lock()
	if last := len(r.idle) - 1; last >= 0 {
		defer r.mu.Unlock()
		c := r.idle[last]
		r.idle = r.idle[:last]
		return c, nil
	}
	r.mu.Unlock()
	c, err := r.open()
	if err != nil {
		r.slots <- struct{}{}
	}
	return c, err
}

// putBack gives a connection back, for the next who waits.
func (r *readerPool) putBack(c *conn) {
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	r.slots <- struct{}{}
}

// closeAll waits for the running reads, by taking all that may be taken.
func (r *readerPool) closeAll() (err error) {
	for range cap(r.slots) {
		<-r.slots
	}
	for _, c := range r.idle {
		err = errors.Join(err, c.Close())
	}
	return err
}

// conn is one connection with its prepared statements. One goroutine uses it at a
// time. Statements never see the request's context, because cancelling it could
// undo a whole batch of other requests' writes.
type conn struct {
	*sqlite.Conn
	stmts map[string]*sqlite.Stmt
}

// maxStatements bounds the prepared statements of a connection: filters vary the
// text of a list. When it is reached all are dropped.
const maxStatements = 1000

// openConn opens a connection. A pragma is written name(value).
func openConn(path string, pragmas []string) (*conn, error) {
	raw, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenWAL)
	if err != nil {
		return nil, fmt.Errorf("db: open %s: %w", path, err)
	}
	c := &conn{raw, map[string]*sqlite.Stmt{}}
	if err := c.registerSearchCode(); err != nil {
		raw.Close()
		return nil, err
	}
	for _, p := range pragmas {
		name, value, _ := strings.Cut(strings.TrimSuffix(p, ")"), "(")
		if err := c.execSimple("PRAGMA " + name + "=" + value); err != nil {
			raw.Close()
			return nil, fmt.Errorf("db: pragma %s: %w", p, err)
		}
	}
	return c, nil
}

// parameterPattern matches = ANY($1) as a whole, and every other $1.
var parameterPattern = regexp.MustCompile(`= ANY\((\$\d+)\)|(\$\d+)`)

// toSQLiteSQL adapts the common SQL text. A bare $1 makes SQLite plan the statement
// again whenever the bound value changes; +$1 hides the value from the planner,
// and the prepared statement stays. It is written ?1, because SQLite takes $1 for
// a name and would number it by its first appearance. A list for ANY is bound as
// JSON.
func toSQLiteSQL(sql string) string {
	return parameterPattern.ReplaceAllStringFunc(sql, func(m string) string {
		if strings.HasPrefix(m, "=") {
			return "IN (SELECT value FROM json_each(+?" + m[len("= ANY($"):] + ")"
		}
		return "+?" + m[1:]
	})
}

// prepareCached prepares a statement, or returns it as it was prepared before.
func (c *conn) prepareCached(sql string) (*sqlite.Stmt, error) {
	if st := c.stmts[sql]; st != nil {
		return st, nil
	}
	if len(c.stmts) >= maxStatements {
		for text, st := range c.stmts {
			st.Finalize()
			delete(c.stmts, text)
		}
	}
	st, trailing, err := c.PrepareTransient(toSQLiteSQL(sql))
	if err != nil {
		return nil, fmt.Errorf("db: prepare %q: %w", sql, err)
	}
	if trailing != 0 {
		st.Finalize()
		return nil, fmt.Errorf("db: more than one statement in %q", sql)
	}
	c.stmts[sql] = st
	return st, nil
}

// Close finalizes the statements first, or SQLite would refuse to close.
func (c *conn) Close() error {
	for _, st := range c.stmts {
		st.Finalize()
	}
	return c.Conn.Close()
}

// execSimple runs a statement without arguments or results.
func (c *conn) execSimple(sql string) error {
	st, err := c.prepareCached(sql)
	if err != nil {
		return err
	}
	for {
		more, err := st.Step()
		if err != nil {
			st.Reset()
			return err
		}
		if !more {
			return st.Reset()
		}
	}
}

// bindArgs binds the arguments by their number. A wrong count is an error: SQLite would
// take a missing one for NULL.
func (c *conn) bindArgs(st *sqlite.Stmt, sql string, args []any) error {
	if n := st.BindParamCount(); n != len(args) {
		return fmt.Errorf("db: %d arguments for %d parameters in %q", len(args), n, sql)
	}
	for i, arg := range args {
		if list, ok := textList(arg); ok {
			arg = list
		}
		v, err := bindableValue(arg)
		if err != nil {
			return err
		}
		switch v := v.(type) {
		case nil:
			st.BindNull(i + 1)
		case string:
			st.BindText(i+1, v)
		case int64:
			st.BindInt64(i+1, v)
		case bool:
			st.BindBool(i+1, v)
		case []byte:
			if v == nil {
				st.BindNull(i + 1)
				continue
			}
			st.BindBytes(i+1, v)
		case float64:
			st.BindFloat(i+1, v)
		}
	}
	return nil
}

// queryRows implements session.
func (c *conn) queryRows(_ context.Context, sql string, args []any, p *rowMapping,
	next func() reflect.Value) (err error) {
	st, err := c.prepareCached(sql)
	if err != nil {
		return err
	}
	// Reset reports a failed step again; the first report counts.
	defer func() {
		if e := st.Reset(); err == nil && e != nil {
			err = e
		}
	}()
	if err := c.bindArgs(st, sql, args); err != nil {
		return err
	}
	for {
		more, err := st.Step()
		if err != nil {
			return fmt.Errorf("db: %q: %w", sql, err)
		}
		if !more {
			return nil
		}
		v := next()
		if !v.IsValid() {
			continue // RETURNING must be stepped to its end
		}
		if err := p.scanSQLiteRow(st, v); err != nil {
			return err
		}
	}
}

// execStatement implements session.
func (c *conn) execStatement(ctx context.Context, sql string, args []any) (int64, error) {
	err := c.queryRows(ctx, sql, args, nil, func() reflect.Value { return reflect.Value{} })
	if err != nil {
		return 0, err
	}
	return int64(c.Changes()), nil
}

// insertReturningSeq gets the row's number without RETURNING, for which SQLite creates a
// temporary table at every call: 18 of the 100 µs that writing an event takes.
func (c *conn) insertReturningSeq(ctx context.Context, sql string, args []any) (int64, error) {
	n, err := c.execStatement(ctx, sql, args)
	if err == nil && n == 0 {
		err = ErrNoRow
	}
	if err != nil {
		return 0, err
	}
	return c.LastInsertRowID(), nil
}

// firstColumn reads the first column of a statement's rows.
func (c *conn) firstColumn(text string) (out []string, err error) {
	st, err := c.prepareCached(text)
	if err != nil {
		return nil, err
	}
	defer st.Reset()
	for {
		more, err := st.Step()
		if err != nil || !more {
			return out, err
		}
		out = append(out, st.ColumnText(0))
	}
}
