package proposal

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

type proposalRefresh struct {
	proposalRef
	LeaveOut *[]int `json:"leaveOut" max:"50" doc:"places of the steps to leave out, in the whole plan, from 0"`
}

// refreshProposal rehearses a proposal again, for its maker as when it was made, and lets it
// wait for a person with what it would do now: one that is stale, or one of which a person
// leaves out steps or puts them back.
func (s *Service) refreshProposal(ctx context.Context, c *op.Call, in proposalRefresh) (*Proposal, error) {
	v, err := s.findVisible(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Status == Pending && in.LeaveOut == nil:
		return v, nil // somebody did it already
	case v.Status == Stale && v.nextStep() > 0:
		return nil, NotOpen.Say("Some of its steps were done. What is left has to be proposed anew.")
	case v.Status != Pending && !v.CanBeShownAnew():
		return nil, v.notOpenFault()
	case v.Undo != nil: // its only step is the job, and its effects are no more than its beginning
		return nil, fault.Field("leaveOut", "Steps of so large an undo cannot be left out. Approve all of it or "+
			"reject it")
	case v.Status == Pending && v.ExpiresAt <= c.Now: // the job that ends it has not come by yet
		return nil, NotOpen.Say("This proposal is expired.")
	}
	status := v.Status
	if in.LeaveOut != nil {
		if err := v.leaveOut(*in.LeaveOut); err != nil {
			return nil, err
		}
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
		if p.Status != status {
			return nil, p.notOpenFault()
		}
		if p.SHA256 != v.SHA256 {
			return nil, anotherShownFault() // somebody left out other steps meanwhile
		}
		if err := s.checkNotProposedAnew(ctx, c.Tx, p); err != nil {
			return nil, err
		}
		p.setEffects(&outcome{effects: v.Effects, totals: v.Totals, versions: v.Versions,
			withheld: v.firstWithheldStep(), external: v.External}, v.RehearsedAt)
		p.Steps, p.LeftOut, p.Rendered, p.Made = v.Steps, v.LeftOut, v.Rendered, v.Made
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

// CanBeShownAnew reports whether it waits for a person although it is out of date: nothing of it
// was done.
func (v *Proposal) CanBeShownAnew() bool {
	return v.Status == Stale && v.Because != nil && v.Undo == nil && v.nextStep() == 0
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
