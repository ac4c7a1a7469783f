package proposal

import (
	"context"
	"strings"
	"testing"

	"frontdesk/internal/kernel/clock"
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
	row, request, since := id.New(), "r", clock.Time(0)
	for name, in := range map[string]undoInput{
		"events_agent":       {AgentID: &row, Since: &since},
		"events_of_proposal": {ProposalID: &row, Since: &since},
		"events_request":     {RequestID: &request, Since: &since},
	} {
		mine, args := in.mine()
		err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			steps, err := db.All[step](ctx, tx, "EXPLAIN QUERY PLAN SELECT data FROM events WHERE organization_id = $1 AND "+
				mine+" AND seq < $4 ORDER BY seq DESC LIMIT 200", append(append([]any{row}, args...), 100)...)
			if len(steps) != 1 || !strings.Contains(steps[0].Detail, "USING INDEX "+name+" ") {
				t.Errorf("%s: %+v", name, steps)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
