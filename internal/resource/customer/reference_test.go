package customer_test

import (
	"context"
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// A customer that is created while its contact is deleted names it no longer,
// or was refused: nothing names a deleted row.
func TestReferenceRacesDeletion(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		named := 0
		for range 40 {
			contact := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).OK(t, 201).ID("id")
			statuses := [5]int{}
			apptest.RunAtOnce(len(statuses), func(i int) {
				if i == 0 {
					statuses[i] = a.SendREST(t, a.Key, "DELETE", "/v1/contacts/"+string(contact), "").Status
					return
				}
				body := fmt.Sprintf(`{"name": "Ada & Co", "contactId": %q}`, contact)
				statuses[i] = a.SendREST(t, a.Key, "POST", "/v1/customers", body).Status
			})
			if statuses[0] != 204 {
				t.Fatalf("the deletion: %v", statuses)
			}
			for _, s := range statuses[1:] {
				if s == 201 {
					named++
				} else if s != 400 {
					t.Errorf("a creation answers %d", s)
				}
			}
			checkUnnamed(t, a, contact)
		}
		if named == 0 {
			t.Error("no creation came before the deletion")
		}
	})
}

func checkUnnamed(t *testing.T, a *apptest.App, contact id.ID) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		n, err := db.QueryOne[int](ctx, tx,
			"SELECT count(*) FROM customers WHERE organization_id = $1 AND contact_id = $2", a.Org, contact)
		if n > 0 {
			t.Errorf("%d customers name a deleted contact", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
