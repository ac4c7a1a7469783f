package app

import (
	"context"
	"strings"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/migrations"
)

// A purge is a write, and on SQLite all others wait for it: however much there
// is, it looks at its batch of deleted rows and asks an index for what names them.
func TestPurgesWalkNoTable(t *testing.T) {
	d := dbtest.Open(t, db.SQLite, migrations.FS)
	type step struct {
		ID     int    `db:"id"`
		Parent int    `db:"parent"`
		Unused int    `db:"notused"`
		Detail string `db:"detail"`
	}
	for _, purge := range life.PurgeSteps(d.LifeGraph()) {
		statement := purge.Text
		err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			steps, err := db.QueryAll[step](ctx, tx, "EXPLAIN QUERY PLAN "+statement, 1, purgeBatch)
			for _, s := range steps {
				walks := strings.HasPrefix(s.Detail, "SCAN ") && s.Detail != "SCAN p" // the batch itself
				if walks || strings.Contains(s.Detail, "AUTOMATIC") || strings.Contains(s.Detail, "TEMP B-TREE") {
					t.Errorf("%s\n%s", statement, s.Detail)
				}
			}
			return err
		})
		if err != nil {
			t.Error(statement, err)
		}
	}
}
