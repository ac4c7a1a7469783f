package card_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// Deleting the default card promotes another, as long as there is one.
func TestDeletedDefaultCard(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		add := func(test string) id.ID {
			t.Helper()
			return a.AsOperator(t, "payment_methods.create_test", "organization", a.Org,
				`{"test": "`+test+`"}`).ID("id")
		}
		remove := func(card id.ID) {
			t.Helper()
			a.AsOperator(t, "payment_methods.delete", "organization", a.Org, fmt.Sprintf(`{"id": %q}`, card))
		}
		standard := func() (out id.ID) {
			t.Helper()
			list := a.AsOperator(t, "payment_methods.list", "organization", a.Org, `{}`)
			for i := range list.Len() {
				if row := list.At(fmt.Sprint(i)); row.At("isDefault").String() == "true" {
					if out != "" {
						t.Errorf("two default cards: %s", list)
					}
					out = row.ID("id")
				}
			}
			return out
		}
		oldest, middle, newest := add("visa"), add("slow"), add("visa")
		a.AsOperator(t, "organizations.usage", "organization", a.Org, `{}`).Same("paymentMethods", 3)
		remove(newest)
		if standard() != middle {
			t.Error("the newest of the others is not the default")
		}
		remove(oldest)
		if standard() != middle {
			t.Error("deleting another card changed the default")
		}
		const want = "payment_method.deleted payment_method.updated payment_method.deleted"
		if got := a.Events(t, "payment_method.deleted", "payment_method.updated"); got != want {
			t.Errorf("events: %s", got)
		}
		remove(middle)
		if standard() != "" {
			t.Error("a deleted card is the default")
		}
		if standard() != "" || add("visa") != standard() {
			t.Error("a new card is not the default")
		}
	})
}
