package op_test

import (
	"context"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// query reads one number of the test's organization.
func query(t testing.TB, a *apptest.App, sql string) int {
	t.Helper()
	var n int
	err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.One[int](ctx, tx, sql, a.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
