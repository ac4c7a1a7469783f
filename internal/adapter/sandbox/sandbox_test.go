package sandbox_test

import (
	"testing"

	"frontdesk/internal/adapter/sandbox"
	"frontdesk/internal/apptest"
	"frontdesk/internal/resource/domain/domaintest"
)

func TestConformance(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		domaintest.ExercisePayments(t, sandbox.NewPayments(a.DB, a.Clock),
			domaintest.TestCards{Good: "card_visa", Declined: "card_insufficient"})
		domaintest.ExerciseRegistrar(t, sandbox.NewRegistrar(a.DB, a.Clock),
			domaintest.TestNames{Free: "free.com", Taken: "taken.com", Unoffered: "free.xyz"})
	})
}
