package db_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

// Notes have a status that most share, an owner that few share, and a time
// whose index is not in the order of the list; links name some of them.
var notes = fstest.MapFS{"0001_notes.sql": {Data: []byte(`
CREATE TABLE notes (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  owner TEXT NOT NULL,
  status TEXT NOT NULL,
  due_at TIME NOT NULL
);
CREATE INDEX notes_list ON notes (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX notes_owner ON notes (organization_id, owner, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX notes_due ON notes (organization_id, due_at) WHERE deleted_at IS NULL;
CREATE INDEX notes_status ON notes (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;

CREATE TABLE links (
  seq SEQ,
  organization_id ID NOT NULL,
  note_id ID NOT NULL,
  who TEXT NOT NULL
);
CREATE INDEX links_who ON links (organization_id, who, note_id);
CREATE INDEX links_note ON links (organization_id, note_id);
`)}}

type note struct {
	Seq       int64       `db:"seq"`
	ID        id.ID       `db:"id"`
	Org       id.ID       `db:"organization_id"`
	CreatedAt clock.Time  `db:"created_at"`
	UpdatedAt clock.Time  `db:"updated_at"`
	DeletedAt *clock.Time `db:"deleted_at"`
	Owner     string      `db:"owner"`
	Status    string      `db:"status"`
	DueAt     clock.Time  `db:"due_at"`
}

var noteTable = db.NewTable[note]("notes", db.Life{Noun: "note", OnlyInTests: true})

// manyNotes is more than what a filter may name to be found by its own index.
const manyNotes = 6000

func fillNotes(t *testing.T, e db.Engine) (*db.DB, id.ID) {
	t.Helper()
	d := dbtest.Open(t, e, notes)
	org, other := id.New(), id.New()
	err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for i := range manyNotes {
			for _, o := range []id.ID{org, other} {
				n := &note{ID: id.New(), Org: o, CreatedAt: clock.Time(i), UpdatedAt: clock.Time(i),
					Owner:  fmt.Sprint("o", i/3),
					Status: "done", DueAt: clock.Time(manyNotes - i)}
				if i%1000 == 5 {
					n.Status = "open"
				}
				if err := noteTable.Insert(ctx, tx, n); err != nil {
					return err
				}
				who := []string{"everybody"}
				if i < 4 {
					who = append(who, "ada")
				}
				for _, w := range who {
					if _, err := db.Exec(ctx, tx, `
						INSERT INTO links (organization_id, note_id, who)
						VALUES ($1, $2, $3)`, o, n.ID,
						w); err != nil {
						return err
					}
				}
			}
		}
		if e == db.SQLite {
			return nil // it has no statistics, and the plans must do without
		}
		_, err := db.Exec(ctx, tx, "ANALYZE")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, org
}

// Whether few or many are named, a page has the same rows in the same order.
func TestAmong(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d, org := fillNotes(t, e)
		by := func(who string) db.IndexedRows {
			return db.IndexedRows{Table: "links", Column: "note_id", Where: "who = ?", Args: []any{who}}
		}
		due := func(before int) db.IndexedRows {
			return db.IndexedRows{Where: "due_at < ? AND deleted_at IS NULL", Args: []any{clock.Time(before)}}
		}
		first := db.Page{Limit: 3}
		open, done, owner := "open", "done", "o1"
		for _, c := range []struct {
			name  string
			where func(*db.Where)
			page  db.Page
			want  string // the creation times
		}{
			{"few", func(w *db.Where) { w.AmongRows(by("ada")) }, first, "3 2 1"},
			{"few, ascending", func(w *db.Where) { w.AmongRows(by("ada")) },
				db.Page{Limit: 3, Offset: 2, Ascending: true}, "2 3"},
			{"many", func(w *db.Where) { w.AmongRows(by("everybody")) }, first, "5999 5998 5997"},
			{"none", func(w *db.Where) { w.AmongRows(by("nobody")) }, first, ""},
			{"few own", func(w *db.Where) { w.AmongRows(due(3)) }, first, "5999 5998"},
			{"many own", func(w *db.Where) { w.AmongRows(due(manyNotes - 1)) }, first, "5999 5998 5997"},
			{"two ways", func(w *db.Where) { w.AmongRows(due(2), by("ada")) }, first, "5999 3 2"},
			{"two ways to many", func(w *db.Where) { w.AmongRows(due(2), by("everybody")) }, first, "5999 5998 5997"},
			{"two filters", func(w *db.Where) { w.AmongRows(by("everybody")).AmongRows(due(4)) }, db.Page{Limit: 9},
				"5999 5998 5997"},
			{"two that exclude each other", func(w *db.Where) { w.AmongRows(by("ada")).AmongRows(due(4)) }, first, ""},
			{"with a filter", func(w *db.Where) { db.FilterEqual(w, "status", &open); w.AmongRows(by("everybody")) },
				first, "5005 4005 3005"},
			{"with a filter, few", func(w *db.Where) { db.FilterEqual(w, "owner", &owner); w.AmongRows(by("ada")) },
				first, "3"},
			{"a common value", func(w *db.Where) { db.FilterChoice(w, "status", []string{done}, "done") }, first,
				"5999 5998 5997"},
			{"a rare value", func(w *db.Where) {
				db.FilterChoice(w, "status", []string{open},
					"done")
				db.FilterEqual(w, "owner", &owner)
			},
				first,
				"5"},
			{"two values", func(w *db.Where) { db.FilterChoice(w, "status", []string{open, "none"}, "done") }, first,
				"5005 4005 3005"},
			{"two values, one common", func(w *db.Where) { db.FilterChoice(w, "status", []string{open, done}, "done") },
				first,
				"5999 5998 5997"},
		} {
			w := db.InOrganization(org)
			c.where(w)
			err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				rows, err := noteTable.List(ctx, tx, w, c.page)
				var got []string
				for _, r := range rows {
					if r.Org != org {
						t.Errorf("%s: a row of another organization", c.name)
					}
					got = append(got, fmt.Sprint(int64(r.CreatedAt)))
				}
				if s := strings.Join(got, " "); s != c.want {
					t.Errorf("%s: %s, want %s", c.name, s, c.want)
				}
				return err
			})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// The rows are reached by the index of the filter that leaves the fewest.
func TestListPlans(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d, org := fillNotes(t, e)
		open, done, owner := "open", "done", "o1"
		for name, c := range map[string]struct {
			where  func(*db.Where)
			index  string
			sorted bool
		}{
			"no filter": {func(*db.Where) {}, "notes_list", false},
			"the owner first": {func(w *db.Where) {
				db.FilterEqual(w, "owner", &owner)
				db.FilterEqual(w, "status",
					&done)
			}, "notes_owner", false},
			"a common status": {func(w *db.Where) {
				db.FilterChoice(w, "status", []string{done}, "done")
				db.FilterEqual(w, "owner",
					&owner)
			}, "notes_owner", false},
			"a rare status": {func(w *db.Where) { db.FilterChoice(w, "status", []string{open}, "done") },
				"notes_status", false},
			"a common status by name": {func(w *db.Where) { db.FilterChoice(w, "status", []string{done}, "done") },
				"notes_", false},
			"few": {func(w *db.Where) {
				w.AmongRows(db.IndexedRows{Where: "due_at < ? AND deleted_at IS NULL", Args: []any{clock.Time(3)}})
			}, "notes_due", true},
			"many": {func(w *db.Where) {
				w.AmongRows(db.IndexedRows{Where: "due_at < ? AND deleted_at IS NULL",
					Args: []any{clock.Time(manyNotes)}})
			}, "notes_list", false},
		} {
			err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				w := db.InOrganization(org)
				c.where(w)
				plan, err := noteTable.Explain(ctx, tx, w, db.Page{Limit: 10})
				sorted := strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE")
				if e == db.Postgres && c.index != "notes_list" {
					sorted = c.sorted // it knows when there is little to sort
				}
				if !strings.Contains(plan, c.index) || sorted != c.sorted {
					t.Errorf("%s:\n%s", name, plan)
				}
				return err
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
