// Package life carries out what tables declare in their db.Life, as far as a whole
// organization or service is concerned: Erasure removes a person from every table,
// Purge and ExpiringTables remove what is old, and Merge lets everything that refers to
// one row refer to another. All of them walk the tables by their references and name
// none.
//
// What a single row needs is in db: Table.SoftDelete and Table.Undelete follow the same
// declarations there. A life itself is declared in db too, because db.NewTable takes it
// and 40 names of life.go are used by the rest of db. The one thing that db cannot
// know is Erase, whose functions take a transaction.
package life

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Erase is what erasing a person does to a row about them: remove it (WholeRow),
// clear some columns (BlankColumns) or call a function (EraseByFunc). Without it a
// row that belongs to a removed row is removed with it, a row that only refers to
// one loses the reference, and all others stay as they are.
type Erase struct {
	wholeRow  bool   // remove the row
	setClause string // the SET of an UPDATE
	eraseRows func(ctx context.Context, tx *db.Tx, e *Erasure, rows []int64) (int64, error)

	refColumn string // only rows found by this reference
	where     string // only rows that meet this condition
	findMore  func(ctx context.Context, tx *db.Tx, e *Erasure) error
}

// WholeRow removes the row.
var WholeRow = Erase{wholeRow: true}

// BlankColumns keeps the row but clears its content: set is the SET of an UPDATE, without
// updated_at. References to the person are cleared too.
func BlankColumns(set string) Erase { return Erase{setClause: set} }

// EraseByFunc leaves the rows to a function, which gets their seq numbers and returns
// how many it changed.
func EraseByFunc(fn func(ctx context.Context, tx *db.Tx, e *Erasure, rows []int64) (int64, error)) Erase {
	return Erase{eraseRows: fn}
}

// FoundBy limits it to rows found by one of their references.
func (e Erase) FoundBy(column string) Erase { e.refColumn = column; return e }

// OnlyWhere limits it to rows that meet a condition. Other rows that were found stay as
// they are.
func (e Erase) OnlyWhere(condition string) Erase { e.where = condition; return e }

// AlsoFind adds a function that looks for more rows and adds them to the erasure, as
// those that only mention an address. It may run several times, until nothing new
// is found.
func (e Erase) AlsoFind(fn func(ctx context.Context, tx *db.Tx, e *Erasure) error) Erase {
	e.findMore = fn
	return e
}

// IsEraseRule makes it a db.EraseRule, what a db.Life has room for.
func (Erase) IsEraseRule() {}

// eraseRuleOf is what a table declares, or the zero Erase.
func eraseRuleOf(table string) Erase {
	e, _ := db.LifeOfTable(table).Erase.(Erase)
	return e
}

// isDeclared reports whether a table says itself what happens to its rows.
func (e Erase) isDeclared() bool { return e.wholeRow || e.setClause != "" || e.eraseRows != nil }

// Erasure removes one person from the tables of an organization. It first finds
// every row about them, by the references that the tables declare and by the
// functions of their lives, and then erases these rows. On SQLite Preview does the
// slow part of the search before the transaction.
type Erasure struct {
	Organization id.ID
	Table        string // the table in which the person is a row
	Person       id.ID
	Addresses    []string // the person's email addresses, folded
	Now          clock.Time

	personIDs  []id.ID                        // the ids that stand for the person: what contains one is about them
	rows       map[string]map[int64]bool      // the rows about the person by their numbers, by table
	ids        map[string]map[id.ID]bool      // the ids of these rows, by table
	traced     map[string]map[id.ID]bool      // rows that stay, but whose traces in events go, by what events call them
	clears     map[db.Referrer]map[id.ID]bool // references to rows that are removed
	scans      map[string]*tableScan          // by table and name
	preview    bool                           // Preview runs: remember what was searched for
	foundCount int                            // counts everything added, to notice a round that adds nothing
}

// tableScan is a search that reads a whole table, because no index helps. It remembers
// what the preview found, so that the transaction reads only newer rows.
type tableScan struct {
	rows        map[int64]bool  // what was found
	previewed   map[string]bool // the values that the preview searched for
	done        map[string]bool // the values that this pass has searched for
	previewedTo int64           // the rows up to here were read in the preview
}

// startPass begins a pass. Only the scans remember what the preview found.
func (e *Erasure) startPass() {
	e.personIDs = []id.ID{e.Person}
	e.rows, e.ids, e.traced = map[string]map[int64]bool{}, map[string]map[id.ID]bool{}, map[string]map[id.ID]bool{}
	e.clears = map[db.Referrer]map[id.ID]bool{}
	e.foundCount = 0
	for _, s := range e.scans {
		s.done = map[string]bool{}
	}
	e.noteIDs(e.traced, db.LifeOfTable(e.Table).EventName(), e.Person)
	e.noteIDs(e.ids, e.Table, e.Person)
}

// noteIDs adds ids to a set, and counts those that are new.
func (e *Erasure) noteIDs(in map[string]map[id.ID]bool, key string, ids ...id.ID) {
	if in[key] == nil {
		in[key] = map[id.ID]bool{}
	}
	for _, v := range ids {
		if !in[key][v] {
			in[key][v] = true
			e.foundCount++
		}
	}
}

// textList is ids as plain strings.
func textList(ids []id.ID) []string {
	out := make([]string, len(ids))
	for i, v := range ids {
		out[i] = string(v)
	}
	return out
}

// PersonIDs are the ids that stand for the person: whatever contains one of them is
// about the person.
func (e *Erasure) PersonIDs() []string {
	return textList(e.personIDs)
}

// AddPersonIDs adds ids that stand for the person.
func (e *Erasure) AddPersonIDs(ids ...id.ID) {
	for _, v := range ids {
		if !slices.Contains(e.personIDs, v) {
			e.personIDs = append(e.personIDs, v)
			e.foundCount++
		}
	}
}

// AddTraced adds rows that stay as they are, but whose traces in events and stored
// answers go. kind is what events call them.
func (e *Erasure) AddTraced(kind string, ids ...id.ID) { e.noteIDs(e.traced, kind, ids...) }

// RowIDs lists the ids of a table's rows about the person.
func (e *Erasure) RowIDs(table string) []id.ID { return slices.Sorted(maps.Keys(e.ids[table])) }

// EventKinds lists what events call the rows, not nested in others, that can be about a
// person.
func (e *Erasure) EventKinds() (out []string) {
	for _, table := range db.DeclaredTables() {
		l := db.LifeOfTable(table)
		if l.Noun != "" && l.Parent.Table == "" && (eraseRuleOf(table).isDeclared() || table == e.Table) {
			out = append(out, l.EventName())
		}
	}
	return out
}

// TracedOfKind lists the ids of all rows of a kind whose traces go, whether the rows
// are erased or stay.
func (e *Erasure) TracedOfKind(kind string) []id.ID {
	all := maps.Clone(e.traced[kind])
	if all == nil {
		all = map[id.ID]bool{}
	}
	for table, ids := range e.ids {
		if db.LifeOfTable(table).EventName() == kind {
			maps.Copy(all, ids)
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// TopLevelTables lists the tables with rows about the person, without those whose rows
// belong to other rows.
func (e *Erasure) TopLevelTables() (out []string) {
	for _, table := range slices.Sorted(maps.Keys(e.ids)) {
		if db.LifeOfTable(table).Noun != "" && db.LifeOfTable(table).Parent.Table == "" {
			out = append(out, table)
		}
	}
	return out
}

// TracedIDs lists the ids of all rows whose traces go, of any kind.
func (e *Erasure) TracedIDs() []id.ID {
	all := map[id.ID]bool{}
	for table, ids := range e.ids {
		if db.LifeOfTable(table).Noun != "" {
			maps.Copy(all, ids)
		}
	}
	for _, ids := range e.traced {
		maps.Copy(all, ids)
	}
	return slices.Sorted(maps.Keys(all))
}

// AddRows adds rows of a table by their seq numbers, and looks up their ids, by which
// other rows refer to them.
func (e *Erasure) AddRows(ctx context.Context, tx *db.Tx, table string, rows ...int64) error {
	if e.rows[table] == nil {
		e.rows[table] = map[int64]bool{}
	}
	var fresh []int64
	for _, seq := range rows {
		if !e.rows[table][seq] {
			e.rows[table][seq] = true
			fresh = append(fresh, seq)
		}
	}
	e.foundCount += len(fresh)
	r := tx.LifeGraph().Tables[table]
	if len(fresh) == 0 || !r.HasColumn("id") || r.NumberColumn() == "id" {
		return nil
	}
	ids, err := db.QueryAll[id.ID](ctx, tx, "SELECT id FROM "+table+" WHERE seq = ANY($1)", fresh)
	e.noteIDs(e.ids, table, ids...)
	return err
}

// AddRowsByID adds rows of a table by their ids.
func (e *Erasure) AddRowsByID(ctx context.Context, tx *db.Tx, table string, ids []id.ID) error {
	rows, err := db.QueryAll[int64](ctx, tx, "SELECT seq FROM "+table+" WHERE organization_id = $1 AND id = ANY($2)",
		e.Organization, ids)
	if err != nil {
		return err
	}
	return e.AddRows(ctx, tx, table, rows...)
}

// RowNumbers lists the seq numbers of the rows found in a table.
func (e *Erasure) RowNumbers(table string) []int64 { return slices.Sorted(maps.Keys(e.rows[table])) }

// ScanEach searches a table for each of the values and adds the rows that it finds. In
// where, $1 is the organization and $2 the value. See ScanWith for what it costs.
func (e *Erasure) ScanEach(ctx context.Context, tx *db.Tx, table, where string, values []string) error {
	return e.ScanWith(ctx, tx, Scan{table, where, values}, func(after int64, values []string) ([]int64, error) {
		var out []int64
		for _, v := range values {
			rows, err := db.QueryAll[int64](ctx, tx, scanSQL(tx, table, where, after), e.Organization, v)
			if err != nil {
				return nil, err
			}
			out = append(out, rows...)
		}
		return out, nil
	})
}

// ScanAny searches a table for all ids at once: $2 is their list.
func (e *Erasure) ScanAny(ctx context.Context, tx *db.Tx, table, where string, ids []id.ID) error {
	return e.ScanWith(ctx, tx, Scan{table, where, textList(ids)}, func(after int64, values []string) ([]int64, error) {
		return db.QueryAll[int64](ctx, tx, scanSQL(tx, table, where, after), e.Organization, values)
	})
}

// scanSQL is the query for the rows of a table behind a number that meet a
// condition.
func scanSQL(tx *db.Tx, table, where string, after int64) string {
	key, from := tx.LifeGraph().Tables[table].NumberColumn(), table
	if after > 0 {
		from += " NOT INDEXED" // only by rowid: SQLite would read the whole organization for a few new rows
	}
	return "SELECT " + key + " FROM " + from + " WHERE " + where + " AND " + key + " > " + strconv.FormatInt(after, 10)
}

// Scan is what ScanWith searches, and for what.
type Scan struct {
	Table  string
	Name   string // tells scans of a table apart
	Values []string
}

// ScanWith searches a table for values and adds the rows that search finds behind a
// number. Each pass searches for a value once. Rows that the preview read are not
// read again for the values that it searched for.
func (e *Erasure) ScanWith(ctx context.Context, tx *db.Tx, scan Scan,
	search func(after int64, values []string) ([]int64, error)) error {
	s, err := e.scanState(ctx, tx, scan.Table, scan.Name)
	if err != nil {
		return err
	}
	var known, fresh []string
	for _, v := range scan.Values {
		switch {
		case s.done[v]:
		case s.previewed[v]:
			known = append(known, v)
		default:
			fresh = append(fresh, v)
		}
		s.done[v] = true
		s.previewed[v] = s.previewed[v] || e.preview
	}
	// Values that the preview knew are searched for in the newer rows only, others in
	// the whole table.
	for _, part := range []struct {
		after  int64
		values []string
	}{{s.previewedTo, known}, {0, fresh}} {
		if len(part.values) == 0 {
			continue
		}
		rows, err := search(part.after, part.values)
		if err != nil {
			return err
		}
		for _, seq := range rows {
			s.rows[seq] = true
		}
	}
	return e.AddRows(ctx, tx, scan.Table, slices.Sorted(maps.Keys(s.rows))...)
}

// scanState is what is known of a scan. In the preview it notes first how far the
// table reaches: rows that come later are left for the transaction.
func (e *Erasure) scanState(ctx context.Context, tx *db.Tx, table, name string) (*tableScan, error) {
	key := table + "\n" + name
	if s := e.scans[key]; s != nil {
		return s, nil
	}
	s := &tableScan{rows: map[int64]bool{}, previewed: map[string]bool{}, done: map[string]bool{}}
	if e.preview {
		last, err := db.QueryOne[int64](ctx, tx,
			"SELECT coalesce(max("+tx.LifeGraph().Tables[table].NumberColumn()+"), 0) FROM "+table)
		if err != nil {
			return nil, err
		}
		s.previewedTo = last
	}
	e.scans[key] = s
	return s, nil
}

// Preview does the slow searches on a snapshot beforehand. On SQLite all writes wait
// for a transaction, and rows appear in the order of their numbers, so the
// transaction only has to read the newer ones. On PostgreSQL nobody waits, and a
// lower number may be committed later, so there it does nothing.
func (e *Erasure) Preview(ctx context.Context, tx *db.Tx) error {
	e.scans = map[string]*tableScan{}
	if tx.Engine() == db.Postgres {
		return nil
	}
	e.preview = true
	defer func() { e.preview = false }()
	return e.findAllRows(ctx, tx)
}

// maxEraseRounds bounds how often the tables are searched again because one of them found
// something new. Each round follows references one table further, so a person who
// needs more of them points to a mistake in the lives.
const maxEraseRounds = 12

// findAllRows searches all tables until a round finds nothing new.
func (e *Erasure) findAllRows(ctx context.Context, tx *db.Tx) error {
	e.startPass()
	for range maxEraseRounds {
		before := e.foundCount
		for _, table := range tx.LifeGraph().Order {
			if err := e.findRowsIn(ctx, tx, table); err != nil {
				return fmt.Errorf("erase: %s: %w", table, err)
			}
		}
		if e.foundCount == before {
			return nil
		}
	}
	return fmt.Errorf("erase: the traces of %s do not end", e.Person)
}

// removesWholeRows reports whether the found rows of a table are removed.
func (e *Erasure) removesWholeRows(table string) bool {
	if table == e.Table || eraseRuleOf(table).wholeRow {
		return true
	}
	for _, r := range db.LifeOfTable(table).AllReferences() {
		if e.endsWithParent(table, r) {
			return true
		}
	}
	return false
}

// endsWithParent reports whether the rows of a table are removed because those that
// they belong to are. It is not for a table that says itself what happens.
func (e *Erasure) endsWithParent(table string, r db.Ref) bool {
	if eraseRuleOf(table).isDeclared() || r.Table == table || r.Fate != db.Ends && r.Fate != db.EndsAtPurge {
		return false
	}
	return db.LifeOfTable(r.Table) != nil && len(e.ids[r.Table]) > 0 && e.removesWholeRows(r.Table)
}

// findRowsIn finds the rows of a table that refer to rows about the person, or the
// references in them to clear.
func (e *Erasure) findRowsIn(ctx context.Context, tx *db.Tx, table string) error {
	rule := eraseRuleOf(table)
	if table == e.Table {
		if err := e.addReferringRows(ctx, tx, table, db.RefTo("id", table), []id.ID{e.Person}); err != nil {
			return err
		}
	}
	for _, r := range db.LifeOfTable(table).AllReferences() {
		ids := e.RowIDs(r.Table)
		if len(ids) == 0 || r.Fate == db.Keeps || r.Table == table || rule.refColumn != "" &&
			rule.refColumn != r.Column {
			continue
		}
		switch {
		case rule.isDeclared(), e.endsWithParent(table, r):
			if err := e.addReferringRows(ctx, tx, table, r, ids); err != nil {
				return err
			}
		case e.removesWholeRows(r.Table) && (r.Fate == db.Clears || r.Fate == db.ClearsAtPurge):
			e.clears[db.Referrer{Table: table, Ref: r}] = e.ids[r.Table]
		}
	}
	if rule.findMore == nil {
		return nil
	}
	return rule.findMore(ctx, tx, e)
}

// addReferringRows adds the rows that refer to some rows, or did until those were deleted and
// the reference was cleared.
func (e *Erasure) addReferringRows(ctx context.Context, tx *db.Tx, table string, r db.Ref, ids []id.ID) error {
	text := "SELECT seq FROM " + table + " WHERE organization_id = $1 AND " + r.Column + " = ANY($2)"
	if tx.Engine() == db.Postgres {
		text += " FOR UPDATE"
	}
	rows, err := db.QueryAll[int64](ctx, tx, text, e.Organization, ids)
	if err != nil {
		return err
	}
	if err := e.AddRows(ctx, tx, table, rows...); err != nil || r.Fate != db.Clears {
		return err
	}
	rows, err = db.QueryAll[int64](ctx, tx, "SELECT t.seq FROM cleared_references c JOIN "+table+` t
		ON t.organization_id = c.organization_id AND t.id = c.row_id
		WHERE c.organization_id = $1 AND c.target_id = ANY($2) AND c.table_name = $3 AND c.column_name = $4`,
		e.Organization, ids, table, r.Column)
	if err != nil {
		return err
	}
	return e.AddRows(ctx, tx, table, rows...)
}

// Run removes the person, and returns how many rows of each table it changed.
func (e *Erasure) Run(ctx context.Context, tx *db.Tx, now clock.Time) (map[string]int64, error) {
	e.Now = now
	if err := e.findAllRows(ctx, tx); err != nil {
		return nil, err
	}
	done := map[string]int64{}
	// References to removed rows, in rows that stay, become null.
	for _, r := range e.referrersToClear() {
		ids := e.clears[r]
		n, err := db.Exec(ctx, tx, "UPDATE "+r.Table+" SET "+r.Ref.Column+
			" = NULL, updated_at = $3 WHERE organization_id = $1 AND "+
			r.Ref.Column+" = ANY($2)", e.Organization, slices.Collect(maps.Keys(ids)), now)
		if err != nil {
			return nil, err
		}
		done[r.Table] += n
	}
	for _, table := range tx.LifeGraph().Order {
		n, err := e.eraseRowsIn(ctx, tx, table)
		if err != nil {
			return nil, fmt.Errorf("erase: %s: %w", table, err)
		}
		done[table] += n
	}
	_, err := db.Exec(ctx, tx, "DELETE FROM cleared_references WHERE organization_id = $1 AND target_id = $2",
		e.Organization,
		e.Person)
	maps.DeleteFunc(done, func(_ string, n int64) bool { return n == 0 })
	return done, err
}

// referrersToClear lists the references to clear in a fixed order, so that two erasures which lock some of the same
// rows cannot block each other.
func (e *Erasure) referrersToClear() []db.Referrer {
	return slices.SortedFunc(maps.Keys(e.clears), func(a, b db.Referrer) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Ref.Column, b.Ref.Column))
	})
}

// eraseRowsIn erases the rows that were found in a table, and returns how many.
func (e *Erasure) eraseRowsIn(ctx context.Context, tx *db.Tx, table string) (int64, error) {
	rows := e.RowNumbers(table)
	if len(rows) == 0 {
		return 0, nil
	}
	rule, r := eraseRuleOf(table), tx.LifeGraph().Tables[table]
	if rule.eraseRows != nil {
		return rule.eraseRows(ctx, tx, e, rows)
	}
	where, args := " WHERE "+r.NumberColumn()+" = ANY($1)", []any{rows}
	if rule.where != "" {
		where += " AND (" + rule.where + ")"
	}
	text := "DELETE FROM " + table + where
	if rule.setClause != "" {
		set := rule.setClause
		if r.HasColumn("updated_at") {
			set += ", updated_at = $2"
			args = append(args, e.Now)
		}
		for _, ref := range db.LifeOfTable(table).AllReferences() {
			if ref.Table == e.Table && (ref.Fate == db.Clears || ref.Fate == db.ClearsAtPurge) {
				set += ", " + ref.Column + " = NULL"
			}
		}
		text = "UPDATE " + table + " SET " + set + where
	}
	if !r.HasColumn("search") {
		return db.Exec(ctx, tx, text, args...)
	}
	// The search index must follow: RETURNING says which rows changed, and what text
	// they have left.
	type found struct {
		Seq  int64  `db:"seq"`
		Text string `db:"text"`
	}
	ended, err := db.QueryAll[found](ctx, tx,
		text+" RETURNING seq, CASE WHEN deleted_at IS NULL THEN search ELSE '' END", args...)
	for _, v := range ended {
		if rule.setClause == "" {
			v.Text = ""
		}
		db.UpdateSearchIndex(tx, table, v.Seq, v.Text)
	}
	return int64(len(ended)), err
}
