package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// Erase is what erasing a person does to a row about them: remove it (WholeRow),
// clear some columns (BlankColumns) or call a function (EraseByFunc). Without it a
// row that belongs to a removed row is removed with it, a row that only refers to
// one loses the reference, and all others stay as they are.
type Erase struct {
	whole bool   // remove the row
	set   string // the SET of an UPDATE
	end   func(ctx context.Context, tx *Tx, e *Erasure, rows []int64) (int64, error)

	of   string // only rows found by this reference
	only string // only rows that meet this condition
	find func(ctx context.Context, tx *Tx, e *Erasure) error
}

// WholeRow removes the row.
var WholeRow = Erase{whole: true}

// Blank keeps the row but clears its content: set is the SET of an UPDATE, without
// updated_at. References to the person are cleared too.
func Blank(set string) Erase { return Erase{set: set} }

// EraseBy leaves the rows to a function, which gets their seq numbers and returns
// how many it changed.
func EraseBy(fn func(ctx context.Context, tx *Tx, e *Erasure, rows []int64) (int64, error)) Erase {
	return Erase{end: fn}
}

// Of limits it to rows found by one of their references.
func (e Erase) Of(column string) Erase { e.of = column; return e }

// Only limits it to rows that meet a condition. Other rows that were found stay as
// they are.
func (e Erase) Only(condition string) Erase { e.only = condition; return e }

// Find adds a function that looks for more rows and adds them to the erasure, as
// those that only mention an address. It may run several times, until nothing new
// is found.
func (e Erase) Find(fn func(ctx context.Context, tx *Tx, e *Erasure) error) Erase {
	e.find = fn
	return e
}

// declared reports whether a table says itself what happens to its rows.
func (e Erase) declared() bool { return e.whole || e.set != "" || e.end != nil }

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

	names    []id.ID                     // the ids that stand for the person: what contains one is about them
	rows     map[string]map[int64]bool   // the rows about the person by their numbers, by table
	ids      map[string]map[id.ID]bool   // the ids of these rows, by table
	mentions map[string]map[id.ID]bool   // rows that stay, but whose traces in events go, by what events call them
	clears   map[referrer]map[id.ID]bool // references to rows that are removed
	scans    map[string]*scan            // by table and name
	preview  bool                        // Preview runs: remember what was searched for
	found    int                         // counts everything added, to notice a round that adds nothing
}

// scan is a search that reads a whole table, because no index helps. It remembers
// what the preview found, so that the transaction reads only newer rows.
type scan struct {
	rows  map[int64]bool  // what was found
	asked map[string]bool // the values that the preview searched for
	done  map[string]bool // the values that this pass has searched for
	upTo  int64           // the rows up to here were read in the preview
}

// reset begins a pass. Only the scans remember what the preview found.
func (e *Erasure) reset() {
	e.names = []id.ID{e.Person}
	e.rows, e.ids, e.mentions = map[string]map[int64]bool{}, map[string]map[id.ID]bool{}, map[string]map[id.ID]bool{}
	e.clears = map[referrer]map[id.ID]bool{}
	e.found = 0
	for _, s := range e.scans {
		s.done = map[string]bool{}
	}
	e.mention(e.mentions, lives[e.Table].singular(), e.Person)
	e.mention(e.ids, e.Table, e.Person)
}

// mention adds ids to a set, and counts those that are new.
func (e *Erasure) mention(in map[string]map[id.ID]bool, key string, ids ...id.ID) {
	if in[key] == nil {
		in[key] = map[id.ID]bool{}
	}
	for _, v := range ids {
		if !in[key][v] {
			in[key][v] = true
			e.found++
		}
	}
}

// Names are the ids that stand for the person: whatever contains one of them is
// about the person.
func (e *Erasure) Names() []string {
	names, _ := texts(e.names)
	return names
}

// AlsoNamed adds ids that stand for the person.
func (e *Erasure) AlsoNamed(ids ...id.ID) {
	for _, v := range ids {
		if !slices.Contains(e.names, v) {
			e.names = append(e.names, v)
			e.found++
		}
	}
}

// Mention adds rows that stay as they are, but whose traces in events and stored
// answers go. kind is what events call them.
func (e *Erasure) Mention(kind string, ids ...id.ID) { e.mention(e.mentions, kind, ids...) }

// IDs lists the ids of a table's rows about the person.
func (e *Erasure) IDs(table string) []id.ID { return slices.Sorted(maps.Keys(e.ids[table])) }

// Kinds lists what events call the rows, not nested in others, that can be about a
// person.
func (e *Erasure) Kinds() (out []string) {
	for _, table := range Declared() {
		l := lives[table]
		if l.Noun != "" && l.Parent.Table == "" && (l.Erase.declared() || table == e.Table) {
			out = append(out, l.singular())
		}
	}
	return out
}

// Mentioned lists the ids of all rows of a kind whose traces go, whether the rows
// are erased or stay.
func (e *Erasure) Mentioned(kind string) []id.ID {
	all := maps.Clone(e.mentions[kind])
	if all == nil {
		all = map[id.ID]bool{}
	}
	for table, ids := range e.ids {
		if lives[table].singular() == kind {
			maps.Copy(all, ids)
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Tables lists the tables with rows about the person, without those whose rows
// belong to other rows.
func (e *Erasure) Tables() (out []string) {
	for _, table := range slices.Sorted(maps.Keys(e.ids)) {
		if lives[table].Noun != "" && lives[table].Parent.Table == "" {
			out = append(out, table)
		}
	}
	return out
}

// Traced lists the ids of all rows whose traces go, of any kind.
func (e *Erasure) Traced() []id.ID {
	all := map[id.ID]bool{}
	for table, ids := range e.ids {
		if lives[table].Noun != "" {
			maps.Copy(all, ids)
		}
	}
	for _, ids := range e.mentions {
		maps.Copy(all, ids)
	}
	return slices.Sorted(maps.Keys(all))
}

// Add adds rows of a table by their seq numbers, and looks up their ids, by which
// other rows refer to them.
func (e *Erasure) Add(ctx context.Context, tx *Tx, table string, rows ...int64) error {
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
	e.found += len(fresh)
	r := tx.db.relation(table)
	if len(fresh) == 0 || !r.Has("id") || r.key() == "id" {
		return nil
	}
	ids, err := All[id.ID](ctx, tx, "SELECT id FROM "+table+" WHERE seq = ANY($1)", fresh)
	e.mention(e.ids, table, ids...)
	return err
}

// AddIDs adds rows of a table by their ids.
func (e *Erasure) AddIDs(ctx context.Context, tx *Tx, table string, ids []id.ID) error {
	rows, err := All[int64](ctx, tx, "SELECT seq FROM "+table+" WHERE organization_id = $1 AND id = ANY($2)",
		e.Organization, ids)
	if err != nil {
		return err
	}
	return e.Add(ctx, tx, table, rows...)
}

// Rows lists the seq numbers of the rows found in a table.
func (e *Erasure) Rows(table string) []int64 { return slices.Sorted(maps.Keys(e.rows[table])) }

// Each searches a table for each of the values and adds the rows that it finds. In
// where, $1 is the organization and $2 the value. See ScanWith for what it costs.
func (e *Erasure) Each(ctx context.Context, tx *Tx, table, where string, values []string) error {
	return e.Scan(ctx, tx, table, where, values, func(after int64, values []string) ([]int64, error) {
		var out []int64
		for _, v := range values {
			rows, err := All[int64](ctx, tx, scanText(tx, table, where, after), e.Organization, v)
			if err != nil {
				return nil, err
			}
			out = append(out, rows...)
		}
		return out, nil
	})
}

// Any searches a table for all ids at once: $2 is their list.
func (e *Erasure) Any(ctx context.Context, tx *Tx, table, where string, ids []id.ID) error {
	values, _ := texts(ids)
	return e.Scan(ctx, tx, table, where, values, func(after int64, values []string) ([]int64, error) {
		return All[int64](ctx, tx, scanText(tx, table, where, after), e.Organization, values)
	})
}

// Mentions is the condition that a column of text or JSON contains the text $2.
func (tx *Tx) Mentions(column string) string {
	if tx.Engine() == Postgres {
		return "strpos(CAST(" + column + " AS text), $2) > 0"
	}
	return "instr(" + column + ", $2) > 0"
}

// MentionsInBytes is the condition that a column of bytes contains the text $2.
func (tx *Tx) MentionsInBytes(column string) string {
	if tx.Engine() == Postgres {
		return "position(convert_to($2, 'UTF8') IN " + column + ") > 0"
	}
	return "instr(" + column + ", CAST($2 AS BLOB)) > 0"
}

// scanText is the query for the rows of a table behind a number that meet a
// condition.
func scanText(tx *Tx, table, where string, after int64) string {
	key, from := tx.db.relation(table).key(), table
	if after > 0 {
		from += " NOT INDEXED" // only by rowid: SQLite would read the whole organization for a few new rows
	}
	return "SELECT " + key + " FROM " + from + " WHERE " + where + " AND " + key + " > " + strconv.FormatInt(after, 10)
}

// Scan searches a table for values and adds the rows that search finds behind a
// number. Each pass searches for a value once. Rows that the preview read are not
// read again for the values that it searched for. name tells scans of a table
// apart.
func (e *Erasure) Scan(ctx context.Context, tx *Tx, table, name string, values []string,
	search func(after int64, values []string) ([]int64, error)) error {
	s, err := e.scanNamed(ctx, tx, table, name)
	if err != nil {
		return err
	}
	var known, fresh []string
	for _, v := range values {
		switch {
		case s.done[v]:
		case s.asked[v]:
			known = append(known, v)
		default:
			fresh = append(fresh, v)
		}
		s.done[v] = true
		s.asked[v] = s.asked[v] || e.preview
	}
	// Values that the preview knew are searched for in the newer rows only, others in
	// the whole table.
	for _, part := range []struct {
		after  int64
		values []string
	}{{s.upTo, known}, {0, fresh}} {
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
	return e.Add(ctx, tx, table, slices.Sorted(maps.Keys(s.rows))...)
}

// scanNamed is what is known of a scan. In the preview it notes first how far the
// table reaches: rows that come later are left for the transaction.
func (e *Erasure) scanNamed(ctx context.Context, tx *Tx, table, name string) (*scan, error) {
	key := table + "\n" + name
	if s := e.scans[key]; s != nil {
		return s, nil
	}
	s := &scan{rows: map[int64]bool{}, asked: map[string]bool{}, done: map[string]bool{}}
	if e.preview {
		last, err := One[int64](ctx, tx, "SELECT coalesce(max("+tx.db.relation(table).key()+"), 0) FROM "+table)
		if err != nil {
			return nil, err
		}
		s.upTo = last
	}
	e.scans[key] = s
	return s, nil
}

// Look does the slow searches on a snapshot beforehand. On SQLite all writes wait
// for a transaction, and rows appear in the order of their numbers, so the
// transaction only has to read the newer ones. On PostgreSQL nobody waits, and a
// lower number may be committed later, so there it does nothing.
func (e *Erasure) Look(ctx context.Context, tx *Tx) error {
	e.scans = map[string]*scan{}
	if tx.Engine() == Postgres {
		return nil
	}
	e.preview = true
	defer func() { e.preview = false }()
	return e.findAll(ctx, tx)
}

// rounds bounds how often the tables are searched again because one of them found
// something new. Each round follows references one table further, so a person who
// needs more of them points to a mistake in the lives.
const rounds = 12

// findAll searches all tables until a round finds nothing new.
func (e *Erasure) findAll(ctx context.Context, tx *Tx) error {
	e.reset()
	for range rounds {
		before := e.found
		for _, table := range tx.db.inOrder() {
			if err := e.findIn(ctx, tx, table); err != nil {
				return fmt.Errorf("erase: %s: %w", table, err)
			}
		}
		if e.found == before {
			return nil
		}
	}
	return fmt.Errorf("erase: the traces of %s do not end", e.Person)
}

// whole reports whether the found rows of a table are removed.
func (e *Erasure) whole(table string) bool {
	if table == e.Table || lives[table].Erase.whole {
		return true
	}
	for _, r := range lives[table].AllRefs() {
		if e.endsWithParent(table, r) {
			return true
		}
	}
	return false
}

// endsWithParent reports whether the rows of a table are removed because those that
// they belong to are. It is not for a table that says itself what happens.
func (e *Erasure) endsWithParent(table string, r Ref) bool {
	if lives[table].Erase.declared() || r.Table == table || r.Fate != Ends && r.Fate != EndsAtPurge {
		return false
	}
	return lives[r.Table] != nil && len(e.ids[r.Table]) > 0 && e.whole(r.Table)
}

// findIn finds the rows of a table that refer to rows about the person, or the
// references in them to clear.
func (e *Erasure) findIn(ctx context.Context, tx *Tx, table string) error {
	l := lives[table]
	if table == e.Table {
		if err := e.byRef(ctx, tx, table, To("id", table), []id.ID{e.Person}); err != nil {
			return err
		}
	}
	for _, r := range l.AllRefs() {
		ids := e.IDs(r.Table)
		if len(ids) == 0 || r.Fate == Keeps || r.Table == table || l.Erase.of != "" && l.Erase.of != r.Column {
			continue
		}
		switch {
		case l.Erase.declared(), e.endsWithParent(table, r):
			if err := e.byRef(ctx, tx, table, r, ids); err != nil {
				return err
			}
		case e.whole(r.Table) && (r.Fate == Clears || r.Fate == ClearsAtPurge):
			e.clears[referrer{table, r}] = e.ids[r.Table]
		}
	}
	if l.Erase.find == nil {
		return nil
	}
	return l.Erase.find(ctx, tx, e)
}

// byRef adds the rows that refer to some rows, or did until those were deleted and
// the reference was cleared.
func (e *Erasure) byRef(ctx context.Context, tx *Tx, table string, r Ref, ids []id.ID) error {
	text := "SELECT seq FROM " + table + " WHERE organization_id = $1 AND " + r.Column + " = ANY($2)"
	if tx.Engine() == Postgres && tx.writable {
		text += " FOR UPDATE"
	}
	rows, err := All[int64](ctx, tx, text, e.Organization, ids)
	if err != nil {
		return err
	}
	if err := e.Add(ctx, tx, table, rows...); err != nil || r.Fate != Clears {
		return err
	}
	rows, err = All[int64](ctx, tx, "SELECT t.seq FROM cleared_references c JOIN "+table+` t
		ON t.organization_id = c.organization_id AND t.id = c.row_id
		WHERE c.organization_id = $1 AND c.target_id = ANY($2) AND c.table_name = $3 AND c.column_name = $4`,
		e.Organization, ids, table, r.Column)
	if err != nil {
		return err
	}
	return e.Add(ctx, tx, table, rows...)
}

// Run removes the person, and returns how many rows of each table it changed.
func (e *Erasure) Run(ctx context.Context, tx *Tx, now clock.Time) (map[string]int64, error) {
	e.Now = now
	if err := e.findAll(ctx, tx); err != nil {
		return nil, err
	}
	done := map[string]int64{}
	// References to removed rows, in rows that stay, become null.
	for r, ids := range e.clears {
		n, err := Exec(ctx, tx, "UPDATE "+r.table+" SET "+r.ref.Column+
			" = NULL, updated_at = $3 WHERE organization_id = $1 AND "+
			r.ref.Column+" = ANY($2)", e.Organization, slices.Collect(maps.Keys(ids)), now)
		if err != nil {
			return nil, err
		}
		done[r.table] += n
	}
	for _, table := range tx.db.inOrder() {
		n, err := e.eraseIn(ctx, tx, table)
		if err != nil {
			return nil, fmt.Errorf("erase: %s: %w", table, err)
		}
		done[table] += n
	}
	_, err := Exec(ctx, tx, "DELETE FROM cleared_references WHERE organization_id = $1 AND target_id = $2",
		e.Organization,
		e.Person)
	maps.DeleteFunc(done, func(_ string, n int64) bool { return n == 0 })
	return done, err
}

// eraseIn erases the rows that were found in a table, and returns how many.
func (e *Erasure) eraseIn(ctx context.Context, tx *Tx, table string) (int64, error) {
	rows := e.Rows(table)
	if len(rows) == 0 {
		return 0, nil
	}
	l, r := lives[table].Erase, tx.db.relation(table)
	if l.end != nil {
		return l.end(ctx, tx, e, rows)
	}
	where, args := " WHERE "+r.key()+" = ANY($1)", []any{rows}
	if l.only != "" {
		where += " AND (" + l.only + ")"
	}
	text := "DELETE FROM " + table + where
	if l.set != "" {
		set := l.set
		if r.Has("updated_at") {
			set += ", updated_at = $2"
			args = append(args, e.Now)
		}
		for _, ref := range lives[table].AllRefs() {
			if ref.Table == e.Table && (ref.Fate == Clears || ref.Fate == ClearsAtPurge) {
				set += ", " + ref.Column + " = NULL"
			}
		}
		text = "UPDATE " + table + " SET " + set + where
	}
	if !r.Has("search") {
		return Exec(ctx, tx, text, args...)
	}
	// The search index must follow: RETURNING says which rows changed, and what text
	// they have left.
	type found struct {
		Seq  int64  `db:"seq"`
		Text string `db:"text"`
	}
	ended, err := All[found](ctx, tx, text+" RETURNING seq, CASE WHEN deleted_at IS NULL THEN search ELSE '' END",
		args...)
	for _, v := range ended {
		if l.set == "" {
			v.Text = ""
		}
		Index(tx, table, v.Seq, v.Text)
	}
	return int64(len(ended)), err
}
