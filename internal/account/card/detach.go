package card

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
)

const detachJob = "cards.detach"

type detachArgs struct {
	Card string `json:"card"` // the provider's id
}

// Handle registers the handler of the package's one job. The service calls it once,
// before the queue starts.
func (s *Service) Handle() { job.HandleFlow(s.config.Jobs, detachJob, s.detachCard) }

// enqueueCardDetach enqueues the removal of a deleted card at its provider, if it was saved
// there for a customer that this package created. A card that the operator added by
// its id (payment_methods.create) stays at the provider: its owner may use it elsewhere.
func (s *Service) enqueueCardDetach(ctx context.Context, tx *db.Tx, card *Card) error {
	if s.config.Provider == nil || card.Provider != s.config.Provider.Name() || card.ProviderCustomer == nil {
		return nil
	}
	ours, err := db.QueryOne[int](ctx, tx, `
		SELECT count(*)
		FROM payment_customers
		WHERE organization_id = $1 AND provider = $2 AND provider_id = $3`,
		card.OrganizationID, card.Provider, *card.ProviderCustomer)
	if err != nil || ours == 0 {
		return err
	}
	_, err = s.config.Jobs.Enqueue(ctx, tx, detachJob, detachArgs{card.ProviderID},
		job.ForOrganization(card.OrganizationID))
	return err
}

func (s *Service) detachCard(ctx context.Context, j job.Job, args detachArgs) (job.Outcome, error) {
	if s.config.Provider == nil {
		return nil, nil
	}
	// The card may have been saved again in the meantime.
	saved := 0
	err := s.config.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		saved, err = cards.Count(ctx, tx, db.InOrganization(j.Organization).And("provider = ? AND provider_id = ?",
			s.config.Provider.Name(), args.Card))
		return err
	})
	if err != nil || saved > 0 {
		return nil, err
	}
	return nil, s.config.Provider.DetachCard(ctx, args.Card)
}
