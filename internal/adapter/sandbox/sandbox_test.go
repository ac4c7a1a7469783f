package sandbox_test

import (
	"testing"

	"frontdesk/internal/adapter/sandbox"
	"frontdesk/internal/apptest"
	"frontdesk/internal/resource/domain/domaintest"
)

func TestConformance(t *testing.T) {
	apptest.Each(t, func(t *testing.T, a *apptest.App) {
		domaintest.Payments(t, sandbox.NewPayments(a.DB, a.Clock),
			domaintest.Cards{Good: "card_visa", Declined: "card_insufficient"})
		domaintest.Registrar(t, sandbox.NewRegistrar(a.DB, a.Clock),
			domaintest.Names{Free: "free.com", Taken: "taken.com", Unoffered: "free.xyz"})
	})
}
