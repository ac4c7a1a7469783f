package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresEngine is the engine on PostgreSQL.
type postgresEngine struct {
	db       *DB
	pool     *pgxpool.Pool
	turns    turnQueue     // who gets the pool's next connection
	reserve  *pgxpool.Pool // two connections for readiness and leases, which must not wait behind requests
	settings string        // behind a pooler, the statement that sets each transaction's timeouts; else empty
}

const maxAttempts = 5 // of one write that the server asks to run again

// openPostgres migrates the schema and opens the pools.
func (d *DB) openPostgres(ctx context.Context) (engine, error) {
	cfg, err := pgxpool.ParseConfig(d.opts.URL)
	if err != nil {
		return nil, fmt.Errorf("db: the database URL: %w", err)
	}
	cfg.ConnConfig.DialFunc = dialWithTimeouts
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if err := migratePostgres(ctx, cfg.ConnConfig.Copy(), wantedSchema{d.opts.Migrations, newestVersion}); err != nil {
		return nil, err
	}
	if d.opts.MaxConns > 0 {
		cfg.MaxConns = int32(d.opts.MaxConns)
	} else {
		cfg.MaxConns = max(cfg.MaxConns, 16)
	}
	e := &postgresEngine{db: d}
	if e.pool, err = e.openPool(ctx, cfg); err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	e.turns.free = int(cfg.MaxConns)
	own := cfg.Copy()
	own.MaxConns, own.MinConns = 2, 0
	if e.reserve, err = pgxpool.NewWithConfig(ctx, own); err != nil {
		e.pool.Close()
		return nil, fmt.Errorf("db: %w", err)
	}
	return e, nil
}

// sessionSettings bound what a server does for a connection, unless the URL sets
// others: a request must not hold a lock for ever because its process hangs.
var sessionSettings = []struct{ name, value string }{
	{"statement_timeout", "30s"},
	{"lock_timeout", "5s"},
	{"idle_in_transaction_session_timeout", "10s"},
}

// openPool opens the pool. A pooler such as PgBouncer, which lends a connection for
// one transaction, refuses or ignores the settings of a session and knows nothing of
// prepared statements. It is recognized by just that. Then each transaction brings
// its settings, and statements are described once and parsed each time.
func (e *postgresEngine) openPool(ctx context.Context, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	given := cfg.ConnConfig.RuntimeParams
	if given["application_name"] == "" {
		given["application_name"] = serverApplication
	}
	var local []string
	wanted := maps.Clone(given)
	for _, s := range sessionSettings {
		wanted[s.name] = cmp.Or(given[s.name], s.value)
		local = append(local, fmt.Sprintf("set_config('%s', %s, true)", s.name, quoteLiteral(wanted[s.name])))
		delete(given, s.name)
	}
	pooled := cfg.Copy()
	cfg.ConnConfig.RuntimeParams = wanted
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	var source string
	asked := "SELECT source FROM pg_settings WHERE name = 'statement_timeout'"
	switch err := pool.QueryRow(ctx, asked).Scan(&source); {
	case err == nil && source == "client":
		return pool, nil
	case err != nil && !refusesSettings(err):
		pool.Close()
		return nil, err
	}
	pool.Close()
	*cfg = *pooled
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	e.settings = "SELECT " + strings.Join(local, ", ")
	if pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// quoteLiteral is a text as an SQL literal.
func quoteLiteral(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// refusesSettings reports whether a pooler refused a connection for its settings.
func refusesSettings(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "08P01" &&
		strings.Contains(refused.Message, "startup parameter")
}

// serverApplication is a server's application_name, unless its URL sets another.
const serverApplication = "frontdesk"

// countServers counts the connections with an application_name.
const countServers = `
	SELECT count(*)
	FROM pg_stat_activity
	WHERE datname = current_database() AND application_name = $1`

// serverName returns the application_name of servers with this URL.
func serverName(url string) string {
	cfg, err := pgx.ParseConfig(url)
	if err != nil || cfg.RuntimeParams["application_name"] == "" {
		return serverApplication
	}
	return cfg.RuntimeParams["application_name"]
}

func (e *postgresEngine) engineName() Engine { return Postgres }

func (e *postgresEngine) shutDown() error {
	e.pool.Close()
	e.reserve.Close()
	return nil
}

// checkReady asks the server whether it accepts writes. A standby does not.
func (e *postgresEngine) checkReady(ctx context.Context) error {
	var readOnly string
	ask := func() error { return e.reserve.QueryRow(ctx, "SHOW transaction_read_only").Scan(&readOnly) }
	err := ask()
	if err != nil && ctx.Err() == nil {
		err = ask() // the first may have met a connection that was cut while idle
	}
	if err != nil {
		return err
	}
	if readOnly == "on" {
		e.reserve.Reset() // to find the new primary
		return errors.New("db: the server accepts no writes")
	}
	return nil
}

// acquireSession takes a connection for one transaction, which begins with its first
// statement. The session's release gives it back.
func (e *postgresEngine) acquireSession(ctx context.Context, begin string) (*postgresSession, error) {
	asked := time.Now()
	pool, release := e.pool, e.turns.giveTurn
	var err error
	if ctx.Value(withReserve{}) != nil {
		pool, release = e.reserve, func() {}
	} else {
		err = e.turns.takeTurn(ctx, e.db.opts.ConnectionWait)
	}
	if errors.Is(err, errNoFreeConnection) {
		return nil, overloadedError()
	}
	if err != nil {
		return nil, err
	}
	conn, err := acquireWithin(ctx, pool, e.db.opts.ConnectionWait)
	if errors.Is(err, errNoFreeConnection) && pool.Stat().AcquiredConns() < pool.Config().MaxConns {
		conn, err = acquireWithin(ctx, pool, connectWait) // not all are in use, so one is being opened
	}
	if err != nil {
		release()
		if errors.Is(err, errNoFreeConnection) {
			err = overloadedError()
		}
		return nil, err
	}
	return &postgresSession{conn: conn, release: func() { conn.Release(); release() }, begin: begin,
		settings: e.settings, requestedAt: asked}, nil
}

// connectWait is how long to wait for a connection that is being opened.
const connectWait = 5 * time.Second

// errNoFreeConnection says that no connection became free in time.
var errNoFreeConnection = errors.New("db: no connection is free")

// acquireWithin waits at most d, and tells that from a caller who gave up.
func acquireWithin(ctx context.Context, pool *pgxpool.Pool, d time.Duration) (*pgxpool.Conn, error) {
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	conn, err := pool.Acquire(wait)
	if err != nil && wait.Err() != nil && ctx.Err() == nil {
		return nil, errNoFreeConnection
	}
	return conn, err
}

// endWait is how long the end of a transaction may take; tests shorten it.
var endWait = 4 * time.Second

// runRead runs fn on a REPEATABLE READ snapshot or, for a single statement, without a
// transaction (WithSingleStatement, WithStatementGuess).
func (e *postgresEngine) runRead(ctx context.Context, fn Func) error {
	s, err := e.acquireSession(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	if err != nil {
		return postgresUnavailable(err)
	}
	guess, _ := ctx.Value(guessKey{}).(*StatementGuess)
	s.singleStatement = e.settings == "" && (ctx.Value(oneStatement{}) != nil || guess.expectsSingle())
	err = timeoutUnavailable(ctx, callRecovering(markInTransaction(ctx), fn, &Tx{session: s, db: e.db}))
	// The guess was wrong: fn asked for more, and was refused. Once more, on a
	// snapshot.
	if s.singleStatement && s.statements > 1 && guess != nil {
		s.singleStatement, s.begun, s.statements = false, false, 2
		err = timeoutUnavailable(ctx, callRecovering(markInTransaction(ctx), fn, &Tx{session: s, db: e.db}))
	}
	guess.recordStatements(s.statements)
	if s.isIdle() {
		s.release()
		return postgresUnavailable(err)
	}
	// Nothing was written, so nobody needs to know how this ends. A connection
	// whose transaction did not end is not reused.
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
		defer cancel()
		defer s.release()
		s.endTransaction(ctx, "ROLLBACK") //nolint:errcheck // see above
	}()
	return postgresUnavailable(err)
}

// runWrite runs fn until it commits or fails for good. Between two attempts it waits
// a little longer each time.
func (e *postgresEngine) runWrite(ctx context.Context, fn Func) error {
	began := time.Now()
	for attempt := 1; ; attempt++ {
		err := timeoutUnavailable(ctx, e.attemptWrite(ctx, fn))
		if isReadOnlyServer(err) {
			e.pool.Reset() // another connection may lead to the new primary
		}
		if !shouldRetry(err) || attempt == maxAttempts {
			e.db.stats.countBatch(1, began)
			return postgresUnavailable(err)
		}
		e.db.stats.retried.Add(1)
		select {
		case <-time.After(time.Duration(attempt*attempt) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// attemptWrite runs fn in one transaction and commits it.
func (e *postgresEngine) attemptWrite(ctx context.Context, fn Func) error {
	s, err := e.acquireSession(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED")
	if err != nil {
		return err
	}
	defer s.release()
	s.wantsMark = ctx.Value(withoutOutcome{}) == nil
	s.lockWait, _ = ctx.Value(lockWaitKey{}).(time.Duration)
	tx := &Tx{session: s, db: e.db, writable: true}
	failed := callRecovering(markInTransaction(ctx), fn, tx)
	// Once the work is done, it no longer matters if the client hangs up.
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer cancel()
	if failed != nil {
		s.endTransaction(detached, "ROLLBACK") //nolint:errcheck // a broken connection has rolled back too
		return failed
	}
	if err := s.endTransaction(detached, "COMMIT"); err != nil {
		if !isCommitUncertain(err) {
			return err
		}
		s.conn.Release() // which is broken; another one is asked in the same turn
		if err := e.findOutcome(ctx, s.mark, err); err != nil {
			return err
		}
	}
	for _, fn := range tx.afterCommit {
		fn()
	}
	return nil
}

// timeoutUnavailable tells a statement that ran out of our own time from a caller who gave up:
// the server, or the network, did not answer, which is a 503.
func timeoutUnavailable(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && !errors.Is(err, ErrLostCommit) {
		return fault.Unavailable.Because(err)
	}
	return err
}

// shouldRetry reports whether the server asks to run the transaction once more: a
// serialization failure or a deadlock.
func shouldRetry(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

// isReadOnlyServer reports whether the server accepts no writes: it is a standby, or was
// the primary a moment ago. The code is read_only_sql_transaction.
func isReadOnlyServer(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "25006"
}

// postgresUnavailable answers 503 for a server that is down, overloaded, read-only or
// gave up waiting, and says so when nobody knows whether a commit was carried out.
func postgresUnavailable(err error) error {
	if err == nil {
		return nil
	}
	var refused *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.Is(err, ErrLostCommit):
		return fault.OutcomeUnknown.Because(err)
	case errors.As(err, &refused): // a fatal error ends the connection, and with it the transaction
		if isTemporaryCode(refused.Code) || cmp.Or(refused.SeverityUnlocalized, refused.Severity) == "FATAL" {
			return fault.Unavailable.Because(err)
		}
	case errors.As(err, &connect), pgconn.SafeToRetry(err), isConnectionBroken(err):
		return fault.Unavailable.Because(err)
	}
	return err
}

// isTemporaryCode reports whether a server that refused with this code may accept the
// same statement later: the classes of lost connections, insufficient resources,
// operator intervention and system errors, and four single codes: read-only,
// serialization failure, deadlock and lock not available.
func isTemporaryCode(code string) bool {
	switch code[:min(len(code), 2)] {
	case "08", "53", "57", "58":
		return true
	}
	return slices.Contains([]string{"25006", "40001", "40P01", "55P03"}, code)
}

// isConnectionBroken reports whether the connection ended before the commit, so that nothing
// was kept. If it ended during the commit nobody knows, and for a caller who gave up
// it does not matter.
func isConnectionBroken(err error) bool {
	var refused *fault.Fault
	if errors.As(err, &refused) || errors.Is(err, ErrLostCommit) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}
