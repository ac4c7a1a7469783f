package op_test

import (
	"context"
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"
)

// Once a step has read what somebody outside wrote, later steps may repeat it: what they write is marked. What was
// written before is not.
func TestSeriesMarksWhatFollowsOutsidersText(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		own := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		outsider := call(t, "contacts.create", `{"firstName": "Bob"}`).OK(t, 201).Text("id")
		if err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE contacts SET external = $2 WHERE id = $1", outsider, true)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		step := func(operation, input string) op.SeriesStep {
			return op.SeriesStep{Op: a.Catalog.Named(operation), InputIsFixed: true,
				Input: func() ([]byte, error) { return []byte(input), nil }}
		}
		get := func(row string) op.SeriesStep { return step("contacts.get", fmt.Sprintf(`{"id": %q}`, row)) }
		create := func(title string) op.SeriesStep { return step("tasks.create", fmt.Sprintf(`{"title": %q}`, title)) }
		err := a.Runner.RunSeries(t.Context(), &op.Series{Door: op.ConsoleDoor, RequestID: "x",
			Caller: &op.Caller{Kind: op.UserActor, ID: a.OwnerID, User: a.OwnerID, Organization: a.Org,
				Business: a.Business, Plan: "enterprise", Permissions: op.Everything()},
			Steps: []op.SeriesStep{create("first"), get(own), create("after our own"), get(outsider),
				create("after an outsider")}})
		if err != nil {
			t.Fatal(err)
		}
		type row struct {
			Title    string `db:"title"`
			External bool   `db:"external"`
		}
		var rows []row
		if err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			rows, err = db.QueryAll[row](ctx, tx,
				"SELECT title, external FROM tasks WHERE organization_id = $1 ORDER BY seq", a.Org)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		want := "[{first false} {after our own false} {after an outsider true}]"
		if got := fmt.Sprint(rows); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
