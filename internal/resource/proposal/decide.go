package proposal

import (
	"context"
	"errors"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// execute carries out a planned proposal, for its maker, who may do it alone.
func (s *Service) execute(ctx context.Context, c *op.Call, in proposalRef) (*Proposal, error) {
	v, err := s.look(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Status == Executed || v.running():
		return v, nil // the same call again
	case v.Status == Pending:
		return nil, Needed.New()
	case !v.madeBy(c.Caller):
		return nil, fault.Forbidden.Say("Only the one who made a plan carries it out.")
	}
	if err := s.permitAlone(ctx, c, v); err != nil {
		return nil, err
	}
	if err := c.SpendRequests(s.requests(v.Steps)); err != nil {
		return nil, err
	}
	who := *c.Caller
	who.Asks, who.Proposal = 0, v.ID
	return s.run(ctx, c, v, &who, c.Door)
}

// permitAlone refuses to carry out what the maker may no longer do alone. If the
// maker may still propose it, it waits for a person from now on.
func (s *Service) permitAlone(ctx context.Context, c *op.Call, v *Proposal) error {
	full := c.Caller.WithAsks()
	alone := true
	for i := range v.Steps {
		o := s.cfg.Catalog.Named(v.Steps[i].Operation)
		if o.Name == undoName {
			continue // the steps of a large undo are permitted one by one when they run
		}
		if err := o.Permit(full, c.Door); err != nil {
			return inStep(i, len(v.Steps), err)
		}
		alone = alone && (c.Door == op.Admin || o.Alone(c.Caller, v.Steps[i].Input))
	}
	if alone {
		return nil
	}
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err := proposals.Lock(ctx, tx, c.Org, v.ID)
		if err != nil || p.Status != Planned {
			return err
		}
		p.ask("ask", "The agent could do this alone when it was planned, and no longer can.")
		p.UpdatedAt = c.Now
		if err := proposals.Save(ctx, tx, p); err != nil {
			return err
		}
		if err := s.tell(ctx, tx, p); err != nil {
			return err
		}
		return c.Emit("proposal.updated", p.ID, p.told())
	})
	if err != nil {
		return err
	}
	return NowPending.With(map[string]any{"proposalId": v.ID, "status": Pending, "approvalUrl": s.approvalURL(v)})
}

type proposalApprove struct {
	proposalRef
	SHA256 string `json:"sha256" min:"64" max:"64" doc:"of the proposal that was looked at"`
}

// approve carries out what a person approved. The person needs the right to do each
// step by hand, and the maker the right to propose it. The sum proves that the
// person saw this version of the proposal.
func (s *Service) approve(ctx context.Context, c *op.Call, in proposalApprove) (*Proposal, error) {
	v, err := s.look(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Status == Executed || v.running():
		return v, nil // somebody approved it already
	case v.Status != Pending:
		return nil, v.notOpen()
	case v.SHA256 != in.SHA256:
		return nil, anotherShown()
	}
	for i := range v.Steps {
		o := s.cfg.Catalog.Named(v.Steps[i].Operation)
		if err := o.PermitInput(c.Caller, op.Console, v.Steps[i].Input); err != nil {
			return nil, inStep(i, len(v.Steps), err)
		}
	}
	who, door, err := s.maker(ctx, v, c.Caller.ActorID())
	if err != nil {
		return nil, err
	}
	return s.run(ctx, c, v, who, door)
}

// maker is the caller that a proposal acts as: its maker. If somebody approved it,
// the permissions are those that both the maker, asking included, and the approver
// have.
func (s *Service) maker(ctx context.Context, v *Proposal, approver *id.ID) (*op.Caller, op.Door, error) {
	var maker id.ID
	if v.MakerID != nil {
		maker = *v.MakerID
	}
	found, err := s.cfg.Makers.Maker(ctx, v.OrganizationID, op.ActorKind(v.MakerKind), maker)
	if err != nil {
		return nil, 0, err
	}
	who := *found
	who.Proposal = v.ID
	if approver != nil {
		person, err := s.cfg.Makers.Maker(ctx, v.OrganizationID, op.User, *approver)
		if op.IsRefusal(err) {
			return nil, 0, approverLeft()
		}
		if err != nil {
			return nil, 0, err
		}
		who.Permissions, who.Asks = (found.Permissions|found.Asks)&person.Permissions, 0
		who.MaySpend = person.MaySpend
		who.ApprovedBy = *approver
	}
	if v.MakerUserID != nil && who.User == "" {
		who.User = *v.MakerUserID
	}
	return &who, doorNamed(v.Door), nil
}

func doorNamed(name string) op.Door {
	for _, d := range []op.Door{op.REST, op.Agent, op.Automation, op.Console, op.Admin} {
		if d.String() == name {
			return d
		}
	}
	return op.Automation
}

// run carries a proposal out: all steps in one transaction if they are Writes,
// otherwise one by one in a job. If anything that was shown has changed, nothing
// happens and the proposal becomes stale.
func (s *Service) run(ctx context.Context, c *op.Call, v *Proposal, who *op.Caller, door op.Door) (*Proposal, error) {
	together := s.together(v)
	if !together && v.Undo == nil {
		out, err := s.rehearse(ctx, who, door, c.RequestID, v, true)
		err = stepFault(err, len(v.Steps))
		if err != nil && !ends(err) {
			return nil, err
		}
		if changed := v.changed(out, err, s.cfg.Clock.Now()); len(changed) > 0 {
			return nil, s.setStale(ctx, c, v.ID, changed)
		}
	}
	var changed []string
	var done *Proposal
	out := &outcome{}
	series := s.series(who, door, c.RequestID, v, out, true)
	if together {
		s.cfg.Runner.Ready(ctx, series)
	}
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		changed, done = nil, nil
		p, err := s.lockOpen(ctx, tx, v, who)
		if err != nil {
			return err
		}
		if done = p; !p.open() {
			return errSettled
		}
		if p.CallKey != nil {
			if err := s.cfg.Runner.HoldKey(ctx, tx, p.OrganizationID, *p.CallKey); err != nil {
				return err
			}
			o := s.cfg.Catalog.Named(p.Steps[0].Operation)
			switch used, err := s.cfg.Runner.KeyUsed(ctx, tx, o, p.OrganizationID, *p.CallKey, p.CallPrint); {
			case used, fault.Has(err, fault.KeyReused):
				changed = []string{"Its idempotency key was used meanwhile."}
				return errStale
			case err != nil:
				return err
			}
		}
		if who.ApprovedBy != "" {
			p.DecidedBy, p.DecidedAt, p.Status = &who.ApprovedBy, &c.Now, Approved
			if err := c.Emit("proposal.approved", p.ID, p.told()); err != nil {
				return err
			}
		}
		p.UpdatedAt = c.Now
		if !together {
			p.Status = Executing
			if _, err := s.cfg.Jobs.Enqueue(ctx, tx, carryOutKind, carryOutArgs{p.OrganizationID, p.ID},
				job.For(p.OrganizationID), job.Key(string(p.ID))); err != nil {
				return err
			}
			return proposals.Save(ctx, tx, p)
		}
		err = stepFault(s.cfg.Runner.RunTogether(ctx, tx, series), len(p.Steps))
		if err != nil && !ends(err) {
			return err
		}
		if changed = p.changed(out, err, c.Now); len(changed) > 0 {
			return errStale
		}
		if err := s.finish(p, out, c.Now); err != nil {
			return err
		}
		if err := proposals.Save(ctx, tx, p); err != nil {
			return err
		}
		return c.Emit("proposal.executed", p.ID, p.told())
	})
	switch {
	case errors.Is(err, errStale):
		return nil, s.setStale(ctx, c, v.ID, changed)
	case errors.Is(err, errSettled) && (done.Status == Executed || done.running()):
	case errors.Is(err, errSettled):
		return nil, done.notOpen()
	case err != nil:
		return nil, err
	}
	return s.shown(c, done)
}

var (
	errStale   = errors.New("proposal: it is not as it was shown")
	errSettled = errors.New("proposal: somebody decided it meanwhile")
)

// ends reports whether an error means that a plan is no longer as it was shown, and
// so makes the proposal stale.
func ends(err error) bool {
	var changed *changedError
	return errors.As(err, &changed) || op.IsRefusal(err) && !fault.Has(err, TooSlow)
}

// changed lists what is no longer as it was shown.
func (v *Proposal) changed(out *outcome, err error, now clock.Time) []string {
	var changed *changedError
	if errors.As(err, &changed) {
		return changed.found
	}
	if err != nil {
		return []string{cut(fault.Of(err).Sentence(), 500)}
	}
	return v.differences(out, now)
}

func (s *Service) together(v *Proposal) bool {
	for i := range v.Steps {
		if !s.cfg.Catalog.Named(v.Steps[i].Operation).RunsTogether() {
			return false
		}
	}
	return true
}

// lockOpen locks a proposal that is about to be carried out, and refuses when
// that is no longer allowed: it has expired, its agent is paused or deactivated,
// or the one who decided left.
func (s *Service) lockOpen(ctx context.Context, tx *db.Tx, v *Proposal, who *op.Caller) (*Proposal, error) {
	// Whoever pauses agents or removes a member locks the organization too, so neither happens during this.
	if err := db.LockOrganization(ctx, tx, v.OrganizationID); err != nil {
		return nil, db.Missing(err, "organization")
	}
	p, err := proposals.Lock(ctx, tx, v.OrganizationID, v.ID)
	if err != nil || !p.open() && !p.running() {
		return p, err
	}
	if p.SHA256 != v.SHA256 {
		return nil, anotherShown() // somebody refreshed it meanwhile
	}
	if p.open() && p.ExpiresAt <= s.cfg.Clock.Now() {
		return nil, NotOpen.Say("This proposal has expired.")
	}
	return p, s.mayAct(ctx, tx, p, who.ApprovedBy)
}

// mayAct refuses if the agent is paused or deactivated, or if the approver is no
// longer an active member.
func (s *Service) mayAct(ctx context.Context, tx *db.Tx, p *Proposal, approver id.ID) error {
	if p.AgentID != nil {
		if err := account.AgentMayAct(ctx, tx, p.OrganizationID, *p.AgentID); err != nil {
			return err
		}
	}
	if approver == "" {
		return nil
	}
	is, err := account.IsActive(ctx, tx, p.OrganizationID, approver)
	if err == nil && !is {
		err = approverLeft()
	}
	return err
}

func anotherShown() error {
	return IsStale.Say("This is not the proposal that you looked at. Open the page again.")
}

func approverLeft() error {
	return fault.Forbidden.Say("The person who approved it is disabled or no longer a member.")
}

func (v *Proposal) notOpen() error {
	return NotOpen.Say("This proposal is %s.", v.Status)
}

// setStale ends a proposal that is no longer as it was shown, and refuses with the
// difference.
func (s *Service) setStale(ctx context.Context, c *op.Call, proposal id.ID, changed []string) error {
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err := proposals.Lock(ctx, tx, c.Org, proposal)
		if err != nil || !p.open() {
			return err
		}
		p.Status, p.Difference, p.UpdatedAt = Stale, changed, c.Now
		if err := proposals.Save(ctx, tx, p); err != nil {
			return err
		}
		return c.Emit("proposal.stale", p.ID, p.told())
	})
	if err != nil {
		return err
	}
	return IsStale.With(map[string]any{"difference": changed})
}

// finish stores the answers of the steps and ends the proposal.
func (s *Service) finish(v *Proposal, out *outcome, now clock.Time) error {
	for i := range v.Steps {
		if err := s.keep(v, i, out.results[i], now); err != nil {
			return err
		}
	}
	v.Status, v.CompletedAt = Executed, &now
	return nil
}

func (s *Service) cancel(ctx context.Context, c *op.Call, in proposalRef) (*Proposal, error) {
	v, err := s.lockVisible(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status == Canceled {
		return s.asSeen(c, v), nil
	}
	if !v.open() {
		return nil, v.notOpen()
	}
	if c.Door == op.Console && !v.madeBy(c.Caller) && !c.Caller.MayApprove {
		return nil, fault.Forbidden.Say("Only the one who made a proposal, and who may decide, can withdraw it.")
	}
	v.Status, v.UpdatedAt = Canceled, c.Now
	if err := proposals.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return s.asSeen(c, v), c.Emit("proposal.canceled", v.ID, v.told())
}

type proposalReject struct {
	proposalRef
	Reason *string `json:"reason" max:"2000" doc:"for the agent to read"`
}

func (s *Service) reject(ctx context.Context, c *op.Call, in proposalReject) (*Proposal, error) {
	v, err := s.lockVisible(ctx, c, in.ID)
	if err != nil || v.Status == Rejected {
		return v, err
	}
	if !v.open() {
		return nil, v.notOpen()
	}
	v.Status, v.Rejection, v.UpdatedAt = Rejected, in.Reason, c.Now
	v.DecidedBy, v.DecidedAt = c.Caller.ActorID(), &c.Now
	if err := proposals.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("proposal.rejected", v.ID, v.told())
}

// lockVisible locks a proposal that the caller may see. For anybody else it does not
// exist.
func (s *Service) lockVisible(ctx context.Context, c *op.Call, proposal id.ID) (*Proposal, error) {
	v, err := proposals.Lock(ctx, c.Tx, c.Org, proposal)
	if err != nil {
		return nil, err
	}
	if c.Door != op.Console && c.Door != op.Admin && !v.madeBy(c.Caller) {
		return nil, fault.NotFound.Say("There is no such proposal.")
	}
	v.ApprovalURL, v.Says = s.approvalURL(v), v.Summary()
	return v, nil
}
