package proposal

import (
	"context"
	"errors"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// executeProposal carries out a planned proposal, for its maker, who may do it alone.
func (s *Service) executeProposal(ctx context.Context, c *op.Call, in proposalRef) (*Proposal, error) {
	v, err := s.findVisible(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Status == Executed || v.isRunning():
		return v, nil // the same call again
	case v.Status == Pending:
		return nil, ApprovalNeeded.New()
	case !v.isMadeBy(c.Caller):
		return nil, fault.Forbidden.Say("Only the one who made a plan carries it out.")
	}
	if err := s.permitAlone(ctx, c, v); err != nil {
		return nil, err
	}
	if err := c.UseAllowance(s.countRequests(v.Steps)); err != nil {
		return nil, err
	}
	who := *c.Caller
	who.Proposable, who.Proposal = 0, v.ID
	return s.runProposal(ctx, c, v, actor{&who, c.Door, c.RequestID})
}

// permitAlone refuses to carry out what the maker may no longer do alone. If the
// maker may still propose it, it waits for a person from now on.
func (s *Service) permitAlone(ctx context.Context, c *op.Call, v *Proposal) error {
	full := c.Caller.WithProposable()
	alone := true
	for i := range v.Steps {
		o := s.cfg.Catalog.Named(v.Steps[i].Operation)
		if o.Name == undoOperation {
			continue // the steps of a large undo are permitted one by one when they run
		}
		if err := o.PermitCaller(full, c.Door); err != nil {
			return nameStep(i, len(v.Steps), err)
		}
		alone = alone && (c.Door == op.AdminDoor || o.NeedsNoProposal(c.Caller, v.Steps[i].Input))
	}
	if alone {
		return nil
	}
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err := proposals.Lock(ctx, tx, c.Org, v.ID)
		if err != nil || p.Status != Planned {
			return err
		}
		p.requireApproval("ask", "The agent could do this alone when it was planned, and no longer can.")
		p.UpdatedAt = c.Now
		if err := proposals.Save(ctx, tx, p); err != nil {
			return err
		}
		if err := s.notifyReviewers(ctx, tx, p); err != nil {
			return err
		}
		return c.Emit("proposal.updated", p.ID, p.eventView())
	})
	if err != nil {
		return err
	}
	return BecamePending.WithDetails(map[string]any{"proposalId": v.ID, "status": Pending,
		"approvalUrl": s.approvalURL(v)})
}

type proposalApprove struct {
	proposalRef
	SHA256 string `json:"sha256" min:"64" max:"64" doc:"of the proposal that was looked at"`
}

// approveProposal carries out what a person approved. The person needs the right to do each
// step by hand, and the maker the right to propose it. The sum proves that the
// person saw this version of the proposal.
func (s *Service) approveProposal(ctx context.Context, c *op.Call, in proposalApprove) (*Proposal, error) {
	v, err := s.findVisible(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Status == Executed || v.isRunning():
		return v, nil // somebody approved it already
	case v.Status != Pending:
		return nil, v.notOpenFault()
	case v.SHA256 != in.SHA256:
		return nil, anotherShownFault()
	}
	for i := range v.Steps {
		o := s.cfg.Catalog.Named(v.Steps[i].Operation)
		if err := o.PermitInput(c.Caller, op.ConsoleDoor, v.Steps[i].Input); err != nil {
			return nil, nameStep(i, len(v.Steps), err)
		}
	}
	who, err := s.actingCaller(ctx, v, c.Caller.ActorIDOrNil())
	if err != nil {
		return nil, err
	}
	who.requestID = c.RequestID
	return s.runProposal(ctx, c, v, who)
}

// actor is the caller that a proposal acts as, with the door that its maker came through, and the request that
// its events name.
type actor struct {
	*op.Caller
	door      op.Door
	requestID string
}

func callingActor(c *op.Call) actor {
	return actor{Caller: c.Caller, door: c.Door, requestID: c.RequestID}
}

// actingCaller is the caller that a proposal acts as: its maker. If somebody approved it,
// the permissions are those that both the maker, asking included, and the approver
// have.
func (s *Service) actingCaller(ctx context.Context, v *Proposal, approver *id.ID) (actor, error) {
	var maker id.ID
	if v.MakerID != nil {
		maker = *v.MakerID
	}
	found, err := s.cfg.Makers.MakerAsCaller(ctx, v.OrganizationID, op.ActorKind(v.MakerKind), maker)
	if err != nil {
		return actor{}, err
	}
	who := *found
	who.Proposal = v.ID
	if approver != nil {
		person, err := s.cfg.Makers.MakerAsCaller(ctx, v.OrganizationID, op.UserActor, *approver)
		if op.IsRefusal(err) {
			return actor{}, approverLeftFault()
		}
		if err != nil {
			return actor{}, err
		}
		who.Permissions, who.Proposable = (found.Permissions|found.Proposable)&person.Permissions, 0
		who.MaySpend = person.MaySpend
		who.ApprovedBy = *approver
	}
	if v.MakerUserID != nil && who.User == "" {
		who.User = *v.MakerUserID
	}
	return actor{Caller: &who, door: parseDoor(v.Door), requestID: string(v.ID)}, nil
}

func parseDoor(name string) op.Door {
	for _, d := range []op.Door{op.RESTDoor, op.AgentDoor, op.AutomationDoor, op.ConsoleDoor, op.AdminDoor} {
		if d.String() == name {
			return d
		}
	}
	return op.AutomationDoor
}

// runProposal carries a proposal out: all steps in one transaction if they are Writes,
// otherwise one by one in a job. If anything that was shown has changed, nothing
// happens and the proposal becomes stale.
func (s *Service) runProposal(ctx context.Context, c *op.Call, v *Proposal, who actor) (*Proposal, error) {
	together := s.runsTogether(v)
	if !together && v.Undo == nil {
		out, err := s.rehearseSteps(ctx, who, v, true)
		err = nameFailedStep(err, len(v.Steps))
		if err != nil && !makesStale(err) {
			return nil, err
		}
		if changed := v.whatChanged(out, err, s.cfg.Clock.Now()); len(changed) > 0 {
			return nil, s.endAsStale(ctx, c, v.ID, changed)
		}
	}
	var changed []string
	var done *Proposal
	out := &outcome{}
	series := s.buildSeries(who, v, out, true)
	if together {
		s.cfg.Runner.PrepareSeries(ctx, series)
	}
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		changed, done = nil, nil
		p, err := s.lockForRun(ctx, tx, v, who.Caller)
		if err != nil {
			return err
		}
		if done = p; !p.isOpen() {
			return errSettled
		}
		if p.CallKey != nil {
			if err := s.cfg.Runner.LockKey(ctx, tx, p.OrganizationID, *p.CallKey); err != nil {
				return err
			}
			call := op.KeyedCall{Op: s.cfg.Catalog.Named(p.Steps[0].Operation), Organization: p.OrganizationID,
				Key: *p.CallKey, Fingerprint: p.CallPrint}
			switch used, err := s.cfg.Runner.WasKeyUsed(ctx, tx, call); {
			case used, fault.IsKind(err, fault.KeyReused):
				changed = []string{"Its idempotency key was used meanwhile."}
				return errStale
			case err != nil:
				return err
			}
		}
		if who.ApprovedBy != "" {
			p.DecidedBy, p.DecidedAt, p.Status = &who.ApprovedBy, &c.Now, Approved
			if err := c.Emit("proposal.approved", p.ID, p.eventView()); err != nil {
				return err
			}
		}
		p.UpdatedAt = c.Now
		if !together {
			p.Status = Executing
			if _, err := s.cfg.Jobs.Enqueue(ctx, tx, carryOutKind, carryOutArgs{p.OrganizationID, p.ID},
				job.ForOrganization(p.OrganizationID), job.UniqueKey(string(p.ID))); err != nil {
				return err
			}
			return proposals.Save(ctx, tx, p)
		}
		err = nameFailedStep(s.cfg.Runner.RunSeriesInTx(ctx, tx, series), len(p.Steps))
		if err != nil && !makesStale(err) {
			return err
		}
		if changed = p.whatChanged(out, err, c.Now); len(changed) > 0 {
			return errStale
		}
		if err := s.keepAnswers(p, out, c.Now); err != nil {
			return err
		}
		if err := proposals.Save(ctx, tx, p); err != nil {
			return err
		}
		return c.Emit("proposal.executed", p.ID, p.eventView())
	})
	switch {
	case errors.Is(err, errStale):
		return nil, s.endAsStale(ctx, c, v.ID, changed)
	case errors.Is(err, errSettled) && (done.Status == Executed || done.isRunning()):
	case errors.Is(err, errSettled):
		return nil, done.notOpenFault()
	case err != nil:
		return nil, err
	}
	return s.viewWithSecrets(c, done)
}

var (
	errStale   = errors.New("proposal: it is not as it was shown")
	errSettled = errors.New("proposal: somebody decided it meanwhile")
)

// makesStale reports whether an error means that a plan is no longer as it was shown, and
// so makes the proposal stale.
func makesStale(err error) bool {
	var changed *notAsShownError
	return errors.As(err, &changed) || op.IsRefusal(err) && !fault.IsKind(err, TooSlow)
}

// whatChanged lists what is no longer as it was shown.
func (v *Proposal) whatChanged(out *outcome, err error, now clock.Time) []string {
	var changed *notAsShownError
	if errors.As(err, &changed) {
		return changed.found
	}
	if err != nil {
		return []string{cut.Ellipsis(fault.FromError(err).Sentence(), 500)}
	}
	return v.listDifferences(out, now)
}

func (s *Service) runsTogether(v *Proposal) bool {
	for i := range v.Steps {
		if !s.cfg.Catalog.Named(v.Steps[i].Operation).CanJoinSeries() {
			return false
		}
	}
	return true
}

// lockForRun locks a proposal that is about to be carried out, and refuses when
// that is no longer allowed: it has expired, its agent is paused or deactivated,
// or the one who decided left.
func (s *Service) lockForRun(ctx context.Context, tx *db.Tx, v *Proposal, who *op.Caller) (*Proposal, error) {
	// Whoever pauses agents or removes a member locks the organization too, so neither happens during this.
	if err := db.LockOrganization(ctx, tx, v.OrganizationID); err != nil {
		return nil, db.AsNotFound(err, "organization")
	}
	p, err := proposals.Lock(ctx, tx, v.OrganizationID, v.ID)
	if err != nil || !p.isOpen() && !p.isRunning() {
		return p, err
	}
	if p.SHA256 != v.SHA256 {
		return nil, anotherShownFault() // somebody refreshed it meanwhile
	}
	if p.isOpen() && p.ExpiresAt <= s.cfg.Clock.Now() {
		return nil, NotOpen.Say("This proposal has expired.")
	}
	return p, s.checkMayAct(ctx, tx, p, who.ApprovedBy)
}

// checkMayAct refuses if the agent is paused or deactivated, or if the approver is no
// longer an active member.
func (s *Service) checkMayAct(ctx context.Context, tx *db.Tx, p *Proposal, approver id.ID) error {
	if p.AgentID != nil {
		if err := agent.RequireActive(ctx, tx, p.OrganizationID, *p.AgentID); err != nil {
			return err
		}
	}
	if approver == "" {
		return nil
	}
	is, err := account.IsActiveMember(ctx, tx, p.OrganizationID, approver)
	if err == nil && !is {
		err = approverLeftFault()
	}
	return err
}

func anotherShownFault() error {
	return OutOfDate.Say("This is not the proposal that you looked at. Open the page again.")
}

func approverLeftFault() error {
	return fault.Forbidden.Say("The person who approved it is disabled or no longer a member.")
}

func (v *Proposal) notOpenFault() error {
	return NotOpen.Say("This proposal is %s.", v.Status)
}

// endAsStale ends a proposal that is no longer as it was shown, and refuses with the
// difference.
func (s *Service) endAsStale(ctx context.Context, c *op.Call, proposal id.ID, changed []string) error {
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err := proposals.Lock(ctx, tx, c.Org, proposal)
		if err != nil || !p.isOpen() {
			return err
		}
		p.Status, p.Difference, p.UpdatedAt = Stale, changed, c.Now
		if err := proposals.Save(ctx, tx, p); err != nil {
			return err
		}
		return c.Emit("proposal.stale", p.ID, p.eventView())
	})
	if err != nil {
		return err
	}
	return OutOfDate.WithDetails(map[string]any{"difference": changed})
}

// keepAnswers stores the answers of the steps and ends the proposal.
func (s *Service) keepAnswers(v *Proposal, out *outcome, now clock.Time) error {
	for i := range v.Steps {
		if err := s.keepAnswer(v, i, out.results[i], now); err != nil {
			return err
		}
	}
	v.Status, v.CompletedAt = Executed, &now
	return nil
}

func (s *Service) cancelProposal(ctx context.Context, c *op.Call, in proposalRef) (*Proposal, error) {
	v, err := s.lockVisible(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status == Canceled {
		return s.viewFor(c, v), nil
	}
	if !v.isOpen() {
		return nil, v.notOpenFault()
	}
	if c.Door == op.ConsoleDoor && !v.isMadeBy(c.Caller) && !c.Caller.MayApprove {
		return nil, fault.Forbidden.Say("Only the one who made a proposal, and who may decide, can withdraw it.")
	}
	v.Status, v.UpdatedAt = Canceled, c.Now
	if err := proposals.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return s.viewFor(c, v), c.Emit("proposal.canceled", v.ID, v.eventView())
}

type proposalReject struct {
	proposalRef
	Reason *string `json:"reason" max:"2000" doc:"for the agent to read"`
}

func (s *Service) rejectProposal(ctx context.Context, c *op.Call, in proposalReject) (*Proposal, error) {
	v, err := s.lockVisible(ctx, c, in.ID)
	if err != nil || v.Status == Rejected {
		return v, err
	}
	if !v.isOpen() && !v.CanBeShownAnew() {
		return nil, v.notOpenFault()
	}
	v.Status, v.Rejection, v.UpdatedAt = Rejected, in.Reason, c.Now
	v.DecidedBy, v.DecidedAt = c.Caller.ActorIDOrNil(), &c.Now
	if err := proposals.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("proposal.rejected", v.ID, v.eventView())
}

// lockVisible locks a proposal that the caller may see. For anybody else it does not
// exist.
func (s *Service) lockVisible(ctx context.Context, c *op.Call, proposal id.ID) (*Proposal, error) {
	v, err := proposals.Lock(ctx, c.Tx, c.Org, proposal)
	if err != nil {
		return nil, err
	}
	if c.Door != op.ConsoleDoor && c.Door != op.AdminDoor && !v.isMadeBy(c.Caller) {
		return nil, fault.NotFound.Say("There is no such proposal.")
	}
	v.ApprovalURL, v.Says = s.approvalURL(v), v.Summary()
	return v, nil
}
