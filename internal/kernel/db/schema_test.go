package db_test

import (
	"context"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/migrations"
)

// The tables read out of the migrations are those that the engines have.
func TestRelations(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d := dbtest.Open(t, e, migrations.FS)
		var want []string
		err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			text := `
				SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
				WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE %) STRICT'`
			if e == db.Postgres {
				text = `
					SELECT table_name || '.' || column_name FROM information_schema.columns
					WHERE table_schema = 'public' AND table_name NOT LIKE 'goose%'`
			}
			want, err = db.QueryAll[string](ctx, tx, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = d.Snapshot(t.Context(), func(s *db.Snapshot) error {
			for _, r := range s.Tables {
				for _, c := range r.Columns {
					got = append(got, r.Name+"."+c.Name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, c := range got {
			have[c] = true
		}
		for _, c := range want {
			if !have[c] {
				t.Errorf("%s is not read out of the migrations", c)
			}
		}
		if len(got) != len(want) || len(got) < 100 {
			t.Errorf("%d columns for %d", len(got), len(want))
		}
	})
}
