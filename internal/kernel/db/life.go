package db

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/id"
)

// Life says what happens to a table's rows: what they are deleted with, which
// references they lose, how long they are kept, what an export contains and what
// is sealed. Deletion, purge, erasure, export and key rotation all follow the
// lives of the tables; none of them names a table. Package life has those of them
// that nothing here needs. A test checks that every table of the schema has a life,
// and every id in a row a Ref.
type Life struct {
	Noun string // what people call a row: "There is no such …."

	// Parent is the row that this one belongs to, and is deleted with.
	Parent Ref
	// Refs are the other rows that it names. An id that names two kinds of row
	// is listed once for each.
	Refs []Ref
	// MergeRules are for rows that cannot move as they are when two rows that they name
	// are merged into one: see life.Merge.
	MergeRules []MergeRule

	// Permanent is for tables whose rows are never deleted, or whose deleted rows
	// stay as a record. They end with their parent, by Expire, or never.
	Permanent bool
	// BeforePurge is a statement that runs before deleted rows are removed for good.
	// ROWS in it stands for a query of their seq numbers.
	BeforePurge string
	// Expire removes rows by their age, whether they are deleted or not.
	Expire Expiry

	// Counterparty says that a row is a person or company that the organization deals
	// with, or a conversation with them. What is written about one of them is not
	// meant for another.
	Counterparty bool

	// ExternalText lists the columns that people outside the organization can fill, and
	// its own people too: the subject of a mail, the name of its attachment. A row
	// type with the column external must have them, NoExternalText where there are
	// none.
	ExternalText []string
	// ExternalOnly lists the columns that only outsiders fill: what another server
	// answered.
	ExternalOnly []string

	// Erase is what erasing a person does to a row that names them: life.WholeRow,
	// life.BlankColumns or life.EraseByFunc.
	Erase EraseRule

	// Sealed lists the columns that hold sealed bytes.
	Sealed []Sealed

	// StorageColumn is the column that counts towards the organization's storage.
	StorageColumn string

	// Unexported lists the columns that an export leaves out: secrets and internal
	// state. An export always leaves out bytes and search.
	Unexported []string
	// BelongsWhere is the SQL condition under which a row belongs to the organization
	// $1, for a table without organization_id. Without it nothing is exported.
	BelongsWhere string

	// OnlyInTests is for tables that a test creates: not every service of its process has them.
	OnlyInTests bool
}

// EraseRule is a life.Erase. Its functions take a transaction of this package, which
// therefore cannot import that type.
type EraseRule interface{ IsEraseRule() }

// MergeRule is what happens to a row that refers to a merged row but cannot move to the
// row that stays as it is, because that one has its like: a second primary address,
// the same address again.
type MergeRule struct {
	Where string // which rows, as a condition: $1 is the organization, $3 the row that stays

	// Column, which has the first of these values, gets the second; both are SQL.
	// Without a column the rows are deleted.
	Column, RestoreTo, SetTo string
}

// Ref is a column that names a row of another table.
type Ref struct {
	Column, Table string
	Fate          Fate
}

// RefTo declares the reference of a column to a table. Without a fate the row is
// deleted with its parent (Ends), and any other reference is cleared (Clears).
func RefTo(column, table string, fate ...Fate) Ref {
	r := Ref{Column: column, Table: table}
	if len(fate) > 0 {
		r.Fate = fate[0]
	}
	return r
}

// Fate is what happens to a reference, or to its row, when the named row is
// deleted.
type Fate int

const (
	defaultFate   Fate = iota // Ends for a parent, Clears for any other
	Clears                    // the reference becomes null at once
	ClearsAtPurge             // it becomes null when the named row is purged
	Ends                      // the row is deleted too
	EndsAtPurge               // the row is hidden with its parent, and ends when that is purged
	Keeps                     // the reference stays, as a record of who or what it was
)

// Expiry is how long rows are kept after they were created.
type Expiry struct {
	After func(config.Retention) time.Duration
	Where string // a further condition of the rows that end; empty for none
}

// Sealed is a column of bytes that are encrypted with the sealing key.
type Sealed struct {
	Column string
	Place  string // SQL for the place that the bytes are bound to: sealed bytes from another row do not open
	Where  string // a condition of the rows that are sealed; the column is not null by default
}

func (s Sealed) condition() string { return cmp.Or(s.Where, s.Column+" IS NOT NULL") }

// SealedColumn is a sealed column with its table.
type SealedColumn struct {
	Table, Column, Place, Where string
}

// StoredBytes returns the SQL for how much an organization stores: the sum of the
// columns that the tables declare. Deleted rows count until they are purged.
// organization is SQL too, a parameter or a column.
func StoredBytes(organization string) string {
	var sums []string
	for _, table := range DeclaredTables() {
		if l := declaredLives[table]; l.StorageColumn != "" {
			sums = append(sums,
				"(SELECT coalesce(sum("+l.StorageColumn+"), 0) FROM "+table+" WHERE organization_id = "+
					""+organization+")")
		}
	}
	return "CAST(" + strings.Join(sums, " + ") + " AS bigint)"
}

// OrganizationOf finds the organization of a row, deleted or not, by what people call the
// row and its id. ErrNoRow means that there is no such row, or no such noun.
func OrganizationOf(ctx context.Context, tx *Tx, noun string, row id.ID) (id.ID, error) {
	for _, table := range tx.LifeGraph().Order {
		if declaredLives[table].Noun == noun && tx.LifeGraph().Tables[table].HasColumn("organization_id") {
			return QueryOne[id.ID](ctx, tx, "SELECT organization_id FROM "+table+" WHERE id = $1", row)
		}
	}
	return "", ErrNoRow
}

// ExportsColumn reports whether an export contains a column. It leaves out bytes, which
// are hashes, fingerprints, sealed text, or mail whose message is exported, and
// seq and search, which only this database needs.
func (l *Life) ExportsColumn(c Column) bool {
	return c.Type != TypeBytes && c.Name != "seq" && c.Name != "search" && !slices.Contains(l.Unexported, c.Name)
}

// declaredLives are the declared lives by table. Packages fill it while they are
// initialized; it never changes afterwards, so it needs no lock.
var declaredLives = map[string]*Life{}

// Declare gives a table its life and returns its name. NewTable does so for the
// tables with a row type. tables_test.go finds such calls by their text.
func Declare(table string, l Life) string {
	if declaredLives[table] != nil {
		panic("db: table " + table + " is declared twice")
	}
	if l.Parent.Table != "" && l.Parent.Fate == defaultFate {
		l.Parent.Fate = Ends
	}
	l.Refs = slices.Clone(l.Refs)
	for i := range l.Refs {
		if l.Refs[i].Fate == defaultFate {
			l.Refs[i].Fate = Clears
		}
	}
	declaredLives[table] = &l
	return table
}

// AllReferences lists every reference of a row, its parent first.
func (l *Life) AllReferences() []Ref {
	if l.Parent.Table == "" {
		return l.Refs
	}
	return append([]Ref{l.Parent}, l.Refs...)
}

// LifeOfTable returns the declared life of a table, or nil.
func LifeOfTable(table string) *Life { return declaredLives[table] }

// DeclaredTables lists the tables that have a life, by name.
func DeclaredTables() []string { return slices.Sorted(maps.Keys(declaredLives)) }

// SealedColumns lists the sealed columns of all tables.
func SealedColumns() (out []SealedColumn) {
	for _, table := range DeclaredTables() {
		for _, s := range declaredLives[table].Sealed {
			out = append(out, SealedColumn{table, s.Column, s.Place, s.condition()})
		}
	}
	return out
}

// Referrer is a reference, and the table whose rows have it.
type Referrer struct {
	Table string
	Ref   Ref
}

// TableOfEventName is the table whose rows events call name, such as contact, or empty.
func TableOfEventName(name string) string {
	for _, table := range DeclaredTables() {
		if l := declaredLives[table]; l.Noun != "" && l.EventName() == name {
			return table
		}
	}
	return ""
}

// LifeGraph is the graph of a database's tables and their references.
type LifeGraph struct {
	Tables map[string]*Relation // the declared tables, as the schema has them
	// Referrers lists the references to a table's rows, without those that stay when the
	// row goes (Keeps), in an order that never changes.
	Referrers map[string][]Referrer
	// Order lists the tables so that each comes after those that refer to it. A purge in
	// this order removes rows before those that they belong to.
	Order []string
}

// LifeGraph is the graph of this database, made when it is first needed. A test's
// database may have fewer tables than are declared.
func (d *DB) LifeGraph() *LifeGraph { return d.lifeGraph() }

// LifeGraph is the graph of the transaction's database.
func (tx *Tx) LifeGraph() *LifeGraph { return tx.db.lifeGraph() }

// readLifeGraph reads the graph: the tables that the migrations have, and the lives that
// are declared for them. It panics if the migrations, which Open has read before,
// cannot be read.
func readLifeGraph(migrations []fs.FS) *LifeGraph {
	all, _, err := ReadRelations(migrations, math.MaxInt64)
	if err != nil {
		panic(fmt.Sprintf("db: cannot read the migrations again: %v", err))
	}
	g := &LifeGraph{Tables: map[string]*Relation{}, Referrers: map[string][]Referrer{}}
	for i := range all {
		if declaredLives[all[i].Name] != nil {
			g.Tables[all[i].Name] = &all[i]
		}
	}
	names := slices.Sorted(maps.Keys(g.Tables))
	for _, name := range names {
		for _, r := range declaredLives[name].AllReferences() {
			if r.Fate != Keeps {
				g.Referrers[r.Table] = append(g.Referrers[r.Table], Referrer{name, r})
			}
		}
	}
	seen := map[string]bool{}
	// A depth-first walk: a table is appended after all that refer to it. seen also
	// ends circles, as of folders in folders.
	var visit func(string)
	visit = func(table string) {
		if seen[table] {
			return
		}
		seen[table] = true
		for _, r := range g.Referrers[table] {
			visit(r.Table)
		}
		g.Order = append(g.Order, table)
	}
	for _, table := range names {
		visit(table)
	}
	return g
}

// EventName is what events call a row: "email opt-in" is email_opt_in.
func EventName(noun string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(noun))
}

// EventName is what events call a row of the table.
func (l *Life) EventName() string { return EventName(l.Noun) }
