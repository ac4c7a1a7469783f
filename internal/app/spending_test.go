package app_test

import (
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// Every operation that takes money, or lets it be taken later, says so, and every one
// that decides over proposals: whoever was not given the right is refused.
func TestAttackUndeclaredSpending(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	plain := &op.Caller{Kind: op.UserActor, ID: a.OwnerID, User: a.OwnerID, Organization: a.Org, Business: a.Business,
		Role: "owner", Agreements: []string{op.EveryAgreement},
		Permissions: op.Everything().With(op.Account, op.ActionCreate).With(op.Account, op.ActionUpdate)}
	spends, decides := 0, 0
	for _, o := range a.Catalog.All() {
		if o.Doors&op.ConsoleDoor == 0 || o.ReadOnly() {
			continue
		}
		charges := slices.ContainsFunc(o.Errors, func(k *fault.Kind) bool { return k.Code == "PAYMENT_FAILED" })
		saves := strings.HasPrefix(o.Name, "payment_methods.") && slices.Contains(o.Events, "payment_method.created")
		if (charges || saves) && !o.Spends {
			t.Errorf("%s takes money or saves a card, and does not say that it spends", o.Name)
		}
		if o.HasBodyField("autoRenew") && !o.Spends && o.SpendsIfTrue != "autoRenew" {
			t.Errorf("%s switches renewal on, and does not say that it spends", o.Name)
		}
		if on := `{"autoRenew": true}`; o.SpendsIfTrue != "" &&
			o.PermitInput(plain, op.ConsoleDoor, []byte(on)) == nil {
			t.Errorf("%s spends with %s for somebody who may not", o.Name, on)
		}
		decision := slices.Contains(o.Events, "proposal.approved") || slices.Contains(o.Events, "proposal.rejected")
		if decision && !o.Decides {
			t.Errorf("%s decides, and does not say so", o.Name)
		}
		if (o.Spends || o.Decides) && !fault.IsKind(o.PermitCaller(plain, op.ConsoleDoor), fault.Forbidden) {
			t.Errorf("%s is open to somebody who may neither spend nor decide", o.Name)
		}
		if o.Spends || o.SpendsIfTrue != "" {
			spends++
		}
		if o.Decides {
			decides++
		}
	}
	if spends < 6 || decides < 2 {
		t.Errorf("only %d operations spend and %d decide", spends, decides)
	}
}
