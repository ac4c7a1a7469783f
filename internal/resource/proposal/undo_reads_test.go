package proposal

import (
	"context"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/migrations"
)

// However long the log of an organization is, an undo reads its own events from an
// index, in order.
func TestUndoWalksNoLog(t *testing.T) {
	d := dbtest.Open(t, db.SQLite, migrations.FS)
	type step struct {
		ID     int    `db:"id"`
		Parent int    `db:"parent"`
		Unused int    `db:"notused"`
		Detail string `db:"detail"`
	}
	row, request := id.New(), string(id.NewRequestID())
	for _, c := range []struct {
		index string
		of    undoInput
	}{
		{"events_actor", undoInput{AgentID: &row}},
		{"events_of_proposal", undoInput{ProposalID: &row}},
		{"events_list", undoInput{RequestID: &request}},
		{"events_list", undoInput{ImportID: &row}},
	} {
		mine := (&undoWork{Of: c.of}).eventsCondition()
		err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			steps, err := db.QueryAll[step](ctx, tx, "EXPLAIN QUERY PLAN SELECT data FROM events "+
				"WHERE organization_id = $1 AND "+mine.SQL+" AND (created_at, seq) < ($5, $6) "+
				"ORDER BY created_at DESC, seq DESC LIMIT 200",
				append(append([]any{row}, mine.Args...), 100, 100)...)
			// An import also looks for what its events started, by an index each.
			walks := slices.ContainsFunc(steps, func(s step) bool { return strings.HasPrefix(s.Detail, "SCAN") })
			if walks || len(steps) != 1 && c.of.ImportID == nil || !strings.Contains(steps[0].Detail,
				"USING INDEX "+c.index+" ") ||
				!strings.Contains(steps[0].Detail, "created_at<?") {
				t.Errorf("%+v: %+v", c, steps)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
