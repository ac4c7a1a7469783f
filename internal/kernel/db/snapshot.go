package db

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
)

// Snapshot is one consistent view of all tables, on its own connection, for work
// that reads whole tables. Neither the writer nor the pool waits for it, and no
// statement timeout ends it.
type Snapshot struct {
	Engine Engine
	Schema int64 // the newest migration that was applied
	Tables []Relation

	source interface {
		// readRows passes each row's cells to fn, valid until the next row.
		readRows(ctx context.Context, text string, columns []Column, args []any, fn func([]Cell) error) error
		// lastNumber returns the highest number that a row of the table ever had.
		lastNumber(ctx context.Context, r *Relation) (int64, error)
		releaseView()
	}
}

// Cell is one value of a row, without the cost of an interface. Text holds ID,
// TEXT, JSON and BYTES; Int holds INT, TIME and SEQ, and 0 or 1 for BOOL.
type Cell struct {
	Null bool
	Int  int64
	Text []byte
}

// Snapshot runs fn on a view of the database as it is now.
func (d *DB) Snapshot(ctx context.Context, fn func(*Snapshot) error) error {
	panicInTransaction(ctx, "Snapshot")
	return ViewSnapshot(ctx, d.opts, fn)
}

// ViewSnapshot runs fn on a snapshot of a database. The schema stays as it is, so it also
// works before a migration.
func ViewSnapshot(ctx context.Context, o Options, fn func(*Snapshot) error) error {
	s, err := openSnapshot(ctx, o)
	if err != nil {
		return err
	}
	defer s.source.releaseView()
	return fn(s)
}

// openSnapshot opens a view without migrating the schema: somebody may want a
// backup before that.
func openSnapshot(ctx context.Context, o Options) (s *Snapshot, err error) {
	s = &Snapshot{Engine: SQLite}
	if o.URL != "" {
		s.Engine = Postgres
		s.source, err = openPostgresView(ctx, o)
	} else {
		s.source, err = openSQLiteView(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	if err := s.readTables(ctx, o); err != nil {
		s.source.releaseView()
		return nil, err
	}
	return s, nil
}

// readTables reads the schema version and lists the tables of that version.
func (s *Snapshot) readTables(ctx context.Context, o Options) (err error) {
	// The first statement fixes the view.
	if s.Schema, err = s.schemaVersion(ctx); err != nil {
		return err
	}
	var known int64
	if s.Tables, known, err = ReadRelations(o.Migrations, s.Schema); err != nil {
		return err
	}
	if s.Schema > known {
		return schemaTooNewError(s.Schema, known)
	}
	return nil
}

// schemaVersion returns the newest applied migration, or 0.
func (s *Snapshot) schemaVersion(ctx context.Context) (version int64, err error) {
	exists := "SELECT count(*) FROM sqlite_master WHERE name = 'goose_db_version'"
	if s.Engine == Postgres {
		exists = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'goose_db_version'"
	}
	number := func(text string) (n int64, err error) {
		err = s.source.readRows(ctx, text, []Column{{"n", TypeInt}}, nil,
			func(c []Cell) error { n = c[0].Int; return nil })
		return n, err
	}
	if n, err := number(exists); err != nil || n == 0 {
		return 0, err
	}
	return number("SELECT CAST(coalesce(max(version_id), 0) AS bigint) FROM goose_db_version")
}

// FindTable finds a table by its name, or nil.
func (s *Snapshot) FindTable(name string) *Relation {
	for i := range s.Tables {
		if s.Tables[i].Name == name {
			return &s.Tables[i]
		}
	}
	return nil
}

// LastNumber is the highest number that a row of the table ever had, or 0 if the
// engine does not remember it.
func (s *Snapshot) LastNumber(ctx context.Context, r *Relation) (int64, error) {
	return s.source.lastNumber(ctx, r)
}

// EachRow visits the rows of a table in the order of their numbers. where may be
// empty, or a condition with $1 for the first argument. The cells are valid until
// fn returns.
func (s *Snapshot) EachRow(ctx context.Context, r *Relation, where string, args []any, fn func([]Cell) error) error {
	columns := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		columns[i] = `"` + c.Name + `"`
		if s.Engine == Postgres && (c.Type == TypeID || c.Type == TypeJSON) {
			columns[i] += "::text"
		}
	}
	text := "SELECT " + strings.Join(columns, ", ") + ` FROM "` + r.Name + `"`
	if where != "" {
		text += " WHERE " + where
	}
	return s.source.readRows(ctx, text+` ORDER BY "`+r.NumberColumn()+`"`, r.Columns, args, fn)
}

// LastRow visits the newest row of a table that meets a condition, if there is one.
func (s *Snapshot) LastRow(ctx context.Context, r *Relation, where string, fn func([]Cell) error) error {
	key := r.NumberColumn()
	return s.EachRow(ctx, r, key+" = (SELECT max("+key+") FROM "+r.Name+" WHERE "+where+")", nil, fn)
}

// AppendJSON writes the value as JSON: a number, a boolean, a string, base64 for
// bytes, and JSON as it is, on one line.
func (c Cell) AppendJSON(b []byte, t ColumnType) ([]byte, error) {
	if c.Null {
		return append(b, "null"...), nil
	}
	switch t {
	case TypeInt, TypeTime, TypeSeq:
		return strconv.AppendInt(b, c.Int, 10), nil
	case TypeBool:
		return strconv.AppendBool(b, c.Int != 0), nil
	case TypeBytes:
		b = base64.StdEncoding.AppendEncode(append(b, '"'), c.Text)
		return append(b, '"'), nil
	case TypeJSON:
		v := jsontext.Value(c.Text)
		if !v.IsValid() {
			return b, errors.New("not JSON")
		}
		for _, ch := range c.Text {
			if ch == '\n' || ch == '\r' {
				v = v.Clone()
				if err := v.Compact(); err != nil {
					return b, err
				}
				break
			}
		}
		return append(b, v...), nil
	}
	return jsontext.AppendQuote(b, c.Text)
}

// sqliteSnapshot is a snapshot on SQLite: a connection in a read transaction.
type sqliteSnapshot struct {
	*conn
	buf []byte // of the current row's texts
}

// openSQLiteView begins a read transaction on a connection of its own. The end of ctx
// interrupts it.
func openSQLiteView(ctx context.Context, o Options) (*sqliteSnapshot, error) {
	// Opening would make the file.
	if _, err := os.Stat(o.Path); err != nil {
		return nil, fmt.Errorf("db: there is no database: %w", err)
	}
	c, err := openConn(o.Path, []string{"busy_timeout(5000)", "query_only(1)", "cache_size(-16384)"})
	if err != nil {
		return nil, err
	}
	c.SetInterrupt(ctx.Done())
	if err := c.execSimple("BEGIN"); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &sqliteSnapshot{conn: c}, nil
}

func (s *sqliteSnapshot) releaseView() {
	s.SetInterrupt(nil)
	s.execSimple("ROLLBACK") //nolint:errcheck // nothing was written
	s.conn.Close()           //nolint:errcheck // nothing was written
}

// readRows copies all texts of a row into one buffer, which grows as needed.
func (s *sqliteSnapshot) readRows(_ context.Context, text string, columns []Column, args []any,
	fn func([]Cell) error) error {
	st, err := s.prepareCached(text)
	if err != nil {
		return err
	}
	defer st.Reset()
	if err := s.bindArgs(st, text, args); err != nil {
		return err
	}
	cells := make([]Cell, len(columns))
	for {
		more, err := st.Step()
		if err != nil {
			return fmt.Errorf("db: %q: %w", text, err)
		}
		if !more {
			return nil
		}
		size := 0
		for i, c := range columns {
			if c.holdsBytes() {
				size += st.ColumnLen(i)
			}
		}
		if cap(s.buf) < size {
			s.buf = make([]byte, 0, 2*size)
		}
		buf := s.buf[:0]
		for i, c := range columns {
			cells[i] = Cell{Null: st.ColumnType(i) == sqlite.TypeNull}
			switch {
			case cells[i].Null:
			case c.holdsBytes():
				n := len(buf)
				buf = buf[:n+st.ColumnLen(i)]
				st.ColumnBytes(i, buf[n:])
				cells[i].Text = buf[n:]
			default:
				cells[i].Int = st.ColumnInt64(i)
			}
		}
		if err := fn(cells); err != nil {
			return err
		}
	}
}

// holdsBytes reports whether the value is bytes and not a number.
func (c Column) holdsBytes() bool {
	switch c.Type {
	case TypeID, TypeText, TypeJSON, TypeBytes:
		return true
	}
	return false
}

// lastNumber reads sqlite_sequence, which has the tables that never reuse a number. The
// others continue from their highest row.
func (s *sqliteSnapshot) lastNumber(ctx context.Context, r *Relation) (n int64, err error) {
	found := int64(0)
	one := []Column{{"n", TypeInt}}
	get := func(into *int64) func([]Cell) error {
		return func(c []Cell) error { *into = c[0].Int; return nil }
	}
	if err := s.readRows(ctx, "SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_sequence'", one, nil,
		get(&found)); err != nil || found == 0 {
		return 0, err
	}
	return n, s.readRows(ctx, "SELECT seq FROM sqlite_sequence WHERE name = $1", one, []any{r.Name}, get(&n))
}

// postgresSnapshot is a snapshot on PostgreSQL: a transaction on a connection of its own.
type postgresSnapshot struct {
	conn *pgx.Conn
	tx   pgx.Tx
}

// openPostgresView begins a REPEATABLE READ transaction on a connection of its own.
func openPostgresView(ctx context.Context, o Options) (*postgresSnapshot, error) {
	conn, err := connectOutsidePool(ctx, o.URL, "frontdesk backup")
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err == nil {
		err = liftTimeouts(ctx, tx)
	}
	if err != nil {
		conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the first error is told
		return nil, fmt.Errorf("db: %w", err)
	}
	return &postgresSnapshot{conn, tx}, nil
}

// liftTimeouts lifts the timeouts of requests for one transaction. It still does not
// wait for a lock for ever.
func liftTimeouts(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `
		SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '10s', true),
			set_config('idle_in_transaction_session_timeout', '0', true)`)
	return err
}

// connectOutsidePool opens a connection outside the pool. name is its application_name, by
// which it does not count as a server's.
func connectOutsidePool(ctx context.Context, url, name string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("db: the database URL: %w", err)
	}
	// Binary values, and no prepared statements, which a pooler would have to remember.
	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	cfg.RuntimeParams["application_name"] = name
	for _, s := range sessionSettings {
		delete(cfg.RuntimeParams, s.name)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	return conn, nil
}

func (s *postgresSnapshot) releaseView() {
	ctx := context.Background()
	s.tx.Rollback(ctx) //nolint:errcheck // nothing was written
	s.conn.Close(ctx)  //nolint:errcheck // nothing was written
}

// readRows passes the values on as the server sent them, without a copy.
func (s *postgresSnapshot) readRows(ctx context.Context, text string, columns []Column, args []any,
	fn func([]Cell) error) error {
	values, err := postgresArgs(args)
	if err != nil {
		return err
	}
	rows, err := s.tx.Query(ctx, text, values...)
	if err != nil {
		return fmt.Errorf("db: %q: %w", text, err)
	}
	defer rows.Close()
	cells := make([]Cell, len(columns))
	for rows.Next() {
		for i, raw := range rows.RawValues() {
			cells[i] = Cell{Null: raw == nil}
			switch {
			case raw == nil:
			case columns[i].holdsBytes():
				cells[i].Text = raw
			case len(raw) == 8: // bigint, in the binary form that pgx asks for
				cells[i].Int = int64(binary.BigEndian.Uint64(raw))
			case len(raw) == 1: // boolean
				cells[i].Int = int64(raw[0])
			default:
				return fmt.Errorf("db: %q: column %s is not a number", text, columns[i].Name)
			}
		}
		if err := fn(cells); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("db: %q: %w", text, err)
	}
	return nil
}

// lastNumber asks the sequence, which remembers the numbers of removed rows too.
func (s *postgresSnapshot) lastNumber(ctx context.Context, r *Relation) (n int64, err error) {
	err = s.tx.QueryRow(ctx, "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), 0)",
		r.Name, r.NumberColumn()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("db: %s: %w", r.Name, err)
	}
	return n, nil
}
