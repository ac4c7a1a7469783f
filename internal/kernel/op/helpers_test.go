package op_test

import (
	"context"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// originQuery reads one number of the test's organization.
func originQuery(t testing.TB, a *apptest.App, sql string) int {
	t.Helper()
	var n int
	err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, sql, a.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
