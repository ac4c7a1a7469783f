package proposal

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"
)

// refreshProposal rehearses a stale proposal again, for its maker as when it was made, and
// lets it wait for a person once more, with what it would do now.
func (s *Service) refreshProposal(ctx context.Context, c *op.Call, in proposalRef) (*Proposal, error) {
	v, err := s.findVisible(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Status == Pending:
		return v, nil // somebody did it already
	case v.Status != Stale || v.Because == nil || v.Undo != nil:
		return nil, v.notOpenFault()
	case v.nextStep() > 0:
		return nil, NotOpen.Say("Some of its steps were done. What is left has to be proposed anew.")
	}
	who, err := s.actingCaller(ctx, v, nil)
	if err != nil {
		return nil, err
	}
	who.requestID = c.RequestID
	if err := s.showEffects(ctx, who, v); err != nil {
		return nil, stepRefusalFault(err, len(v.Steps))
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Proposal, error) {
		p, err := proposals.Lock(ctx, c.Tx, c.Org, v.ID)
		if err != nil {
			return nil, err
		}
		if p.Status != Stale {
			return nil, p.notOpenFault()
		}
		if err := s.checkNotProposedAnew(ctx, c.Tx, p); err != nil {
			return nil, err
		}
		p.setEffects(&outcome{effects: v.Effects, totals: v.Totals, versions: v.Versions,
			withheld: v.firstWithheldStep(), external: v.External}, v.RehearsedAt)
		p.Rendered, p.Made = v.Rendered, v.Made
		p.SHA256 = p.hashSteps() // a new sum: a page that still shows the old effects can no longer approve it
		p.Status, p.Difference, p.CompletedAt, p.UpdatedAt = Pending, []string{}, nil, c.Now
		p.DecidedBy, p.DecidedAt = nil, nil
		if p.ExpiresAt <= c.Now {
			p.ExpiresAt = c.Now.Add(defaultLifetime)
		}
		if err := proposals.Save(ctx, c.Tx, p); err != nil {
			return nil, err
		}
		return s.viewFor(c, p), c.Emit("proposal.updated", p.ID, p.eventView())
	})
}

func (v *Proposal) firstWithheldStep() int {
	if v.WithheldFrom == nil {
		return -1
	}
	return *v.WithheldFrom
}

// checkNotProposedAnew refuses to refresh a call that its agent has proposed again since:
// both could be approved, and it must not happen twice.
func (s *Service) checkNotProposedAnew(ctx context.Context, tx *db.Tx, p *Proposal) error {
	if p.CallPrint == nil || p.AgentID == nil {
		return nil
	}
	w := db.InOrganization(p.OrganizationID).And("agent_id = ?", *p.AgentID).And("fingerprint = ?", p.CallPrint).
		And("id <> ?", p.ID).And("created_at >= ?", p.CreatedAt).And("status NOT IN ('canceled', 'stale', 'expired')")
	n, err := proposals.Count(ctx, tx, w)
	if err == nil && n > 0 {
		err = NotOpen.Say("The agent has proposed the same anew since. Decide that proposal.")
	}
	return err
}
