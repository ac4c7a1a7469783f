package app

import (
	"context"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/migrations"
)

// foreignKey is a column that the database holds to rows of another table.
type foreignKey struct {
	Table  string `db:"name"`
	Column string `db:"column_name"`
	Target string `db:"target"`
}

var foreignKeys = map[db.Engine]string{
	db.SQLite: `
		SELECT m.name, f."from", f."table" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
		WHERE m.type = 'table'`,
	db.Postgres: `
		SELECT CAST(r.relname AS text), CAST(a.attname AS text), CAST(t.relname AS text) FROM pg_constraint k
		JOIN pg_class r ON r.oid = k.conrelid
		JOIN pg_class t ON t.oid = k.confrelid
		JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = k.conkey[1]
		WHERE k.contype = 'f' AND r.relnamespace = CAST(current_schema() AS regnamespace)`,
}

// Every table says what becomes of its rows, and every id in a row says what
// becomes of it when the row that it names goes.
func TestEveryTableHasALife(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d := dbtest.Open(t, e, migrations.FS)
		tables := map[string]*db.Relation{}
		if err := d.Snapshot(t.Context(), func(s *db.Snapshot) error {
			for i := range s.Tables {
				tables[s.Tables[i].Name] = &s.Tables[i]
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for name, r := range tables {
			l := db.LifeOfTable(name)
			if l == nil {
				t.Errorf("%s: nobody declared the table; see db.Life", name)
				continue
			}
			for _, c := range r.Columns {
				own := c.Name == "id" || c.Name == "organization_id"
				named := slices.ContainsFunc(l.AllReferences(), func(ref db.Ref) bool { return ref.Column == c.Name })
				if c.Type == db.TypeID && !own && !named {
					t.Errorf("%s.%s: the table's life does not say what it names", name, c.Name)
				}
			}
			for _, ref := range l.AllReferences() {
				if !r.HasColumn(ref.Column) || ref.Table != "" && tables[ref.Table] == nil {
					t.Errorf("%s: its life names %s of %q, which is not there", name, ref.Column, ref.Table)
				}
			}
			for _, column := range l.Unexported {
				if !r.HasColumn(column) {
					t.Errorf("%s: its life names the column %s, which is not there", name, column)
				}
			}
		}
		checkForeignKeys(t, d, tables)
	})
}

// checkForeignKeys compares the references that the database checks with those
// that are declared: one that stays would keep its target from being purged.
func checkForeignKeys(t *testing.T, d *db.DB, tables map[string]*db.Relation) {
	err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		keys, err := db.QueryAll[foreignKey](ctx, tx, foreignKeys[d.Engine()])
		if len(keys) < 50 {
			t.Errorf("only %d foreign keys", len(keys))
		}
		for _, k := range keys {
			if k.Column == "organization_id" {
				continue
			}
			l := db.LifeOfTable(k.Table)
			if l == nil {
				continue // told above
			}
			at := slices.IndexFunc(l.AllReferences(),
				func(ref db.Ref) bool { return ref.Column == k.Column && ref.Table == k.Target })
			if at < 0 {
				t.Errorf("%s.%s names %s: its life does not say so", k.Table, k.Column, k.Target)
				continue
			}
			ends := tables[k.Target].HasColumn("deleted_at") && !db.LifeOfTable(k.Target).Permanent
			if l.AllReferences()[at].Fate == db.Keeps && ends {
				t.Errorf("%s.%s keeps its reference to %s, whose rows end", k.Table, k.Column, k.Target)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var uniqueIndex = regexp.MustCompile(`(?m)^CREATE UNIQUE INDEX \w+ ON (\w+) \(([^)]*)\)`)

// A merge of contacts lets every row name the contact that stays. Where a unique
// index could say no, the table says which rows give way.
func TestMergesMeetNoUniqueIndex(t *testing.T) {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uniqueIndex.FindAllStringSubmatch(string(text), -1) {
			l := db.LifeOfTable(m[1])
			if l == nil {
				continue
			}
			for _, r := range l.AllReferences() {
				if r.Table != "contacts" || r.Fate == db.Keeps ||
					!slices.Contains(strings.Split(m[2], ", "), r.Column) {
					continue
				}
				seen++
				if len(l.MergeRules) == 0 {
					t.Errorf("%s.%s is in a unique index, and the table's life has no Yields", m[1], r.Column)
				}
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d indexes", seen)
	}
}
