package proposal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The jobs of proposals.
const (
	carryOutKind = "proposal.carry_out"
	expireKind   = "proposal.expire"

	carryOutTime = 3 * time.Minute
	expirePeriod = time.Minute
	// unknownAfter is how long a step that has begun can be repeated safely. After
	// that its idempotency key may have been forgotten.
	unknownAfter = op.KeyLifetime - time.Hour
)

type carryOutArgs struct {
	Organization id.ID `json:"organization"`
	Proposal     id.ID `json:"proposal"`
}

// carryOutSteps takes the steps that reach outside one by one. Each is begun in a
// transaction of its own and called under its own key, so that a process that
// takes over repeats nothing.
func (s *Service) carryOutSteps(ctx context.Context, j job.Job, a carryOutArgs) (job.Outcome, error) {
	for {
		v, err := s.readProposal(ctx, a)
		if err != nil || v == nil || v.Status != Executing {
			return nil, err
		}
		if v.Undo != nil {
			return s.carryOutUndo(ctx, j, a, v)
		}
		i := v.nextStep()
		if i == len(v.Steps) {
			return s.executedOutcome(a), nil
		}
		first := v.Steps[i].StartedAt == nil
		if !first && s.cfg.Clock.Now().Sub(*v.Steps[i].StartedAt) > unknownAfter {
			return s.failedOutcome(a, i,
				fault.OutcomeUnknown.Say("The step was interrupted, and too much time has passed to "+
					"find out whether it was done.")), nil
		}
		who, err := s.actingCaller(ctx, v, v.DecidedBy) // without an approver, only what the maker may do alone
		step := stepCall{index: i, first: first}
		if err == nil {
			step.input, err = v.renderStepInput(i)
		}
		if err == nil && first {
			err = s.verifyUnchanged(ctx, who, v, step)
		}
		if err == nil {
			err = s.beginStep(ctx, j, a, i)
		}
		var answer op.Answer
		if err == nil {
			answer, err = s.callStep(ctx, who, v, step)
		}
		var changed *notAsShownError
		switch {
		case errors.Is(err, job.ErrLeaseLost):
			return nil, nil
		case errors.As(err, &changed):
			return s.endedOutcome(a, s.markStale(a, i, changed.found)), nil
		case err != nil && (op.IsUnknownOutcome(err) || !op.IsRefusal(err)) && !j.IsLastAttempt():
			return nil, job.RunAgainAfter(retryDelay)
		case err != nil:
			return s.failedOutcome(a, i, err), nil
		}
		if err := s.saveChange(ctx, j, a, func(v *Proposal, now clock.Time) error {
			return s.keepAnswer(v, i, answer, now)
		}); err != nil {
			return nil, err
		}
	}
}

const retryDelay = 2 * time.Second

func (s *Service) readProposal(ctx context.Context, a carryOutArgs) (v *Proposal, err error) {
	err = s.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err = proposals.Get(ctx, tx, a.Organization, a.Proposal)
		return err
	})
	if fault.IsKind(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // it is gone, and nothing is left to do
	}
	return v, err
}

// nextStep is the first step that was not done yet.
func (v *Proposal) nextStep() int {
	for i := range v.Steps {
		if v.Steps[i].CompletedAt == nil {
			return i
		}
	}
	return len(v.Steps)
}

// beginStep records that a step begins, unless its agent or approver may no longer act.
func (s *Service) beginStep(ctx context.Context, j job.Job, a carryOutArgs, i int) error {
	return s.cfg.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := j.RenewLease(ctx, tx); err != nil {
			return err
		}
		if err := db.LockOrganization(ctx, tx, a.Organization); err != nil {
			return err
		}
		v, err := proposals.Lock(ctx, tx, a.Organization, a.Proposal)
		if err != nil {
			return err
		}
		var approver id.ID
		if v.DecidedBy != nil {
			approver = *v.DecidedBy
		}
		if v.Steps[i].StartedAt != nil {
			return nil // a step that began is finished, whoever was paused since
		}
		if err := s.checkMayAct(ctx, tx, v, approver); err != nil {
			return err
		}
		now := s.cfg.Clock.Now()
		v.Steps[i].StartedAt, v.UpdatedAt = &now, now
		return proposals.Save(ctx, tx, v)
	})
}

// stepCall is a step that is about to be called.
type stepCall struct {
	index int
	input []byte // with every placeholder filled in
	first bool   // no earlier attempt may have got through
}

// callStep calls the operation of a step.
func (s *Service) callStep(ctx context.Context, who actor, v *Proposal, step stepCall) (op.Answer, error) {
	i, full := step.index, *who.Caller
	// A step may pass on outsiders' text that an earlier step has read, so what it writes counts as external. A single
	// call that a person approved does not: the person has seen all of it.
	full.External = (who.External || v.External) && (len(v.Steps) > 1 || who.ApprovedBy == "")
	if ceiling := v.shownCharge(i); ceiling != nil {
		full.MaxChargeCents = ceiling
	}
	a, err := s.cfg.Runner.Do(ctx, s.cfg.Catalog.Named(v.Steps[i].Operation), op.Request{
		Caller: &full, Door: who.door, WholeInput: true, ID: string(v.ID), Key: v.stepKey(i), HasKey: true,
		KeyIsNew: step.first && v.CallKey == nil, Watch: s.watchStep(v, i),
		Body: func() ([]byte, error) { return step.input, nil }})
	if err != nil || a.Status < 400 {
		return a, err
	}
	// A refusal that was stored under its idempotency key comes back as an answer, not as an error.
	var envelope struct {
		Error StepError `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil {
		return a, err
	}
	f := (&fault.Kind{Code: envelope.Error.Code, Status: a.Status, Message: envelope.Error.Message}).New()
	f.Details = envelope.Error.Details
	return a, f
}

// shownCharge is the amount that a step was shown to charge, or nil if none. It is the
// most that the step may charge.
func (v *Proposal) shownCharge(i int) *int64 {
	var sum int64
	found := false
	for n := range v.Effects {
		if e := &v.Effects[n]; e.Step == i && e.AmountCents != nil {
			sum, found = sum+*e.AmountCents, true
		}
	}
	if !found {
		return nil
	}
	return &sum
}

// keepAnswer stores the answer of a step: as it is, sealed if it shows a secret, or not at
// all if it is too large.
func (s *Service) keepAnswer(v *Proposal, i int, a op.Answer, now clock.Time) error {
	data, err := decodeAnswerData(a)
	if err != nil {
		return err
	}
	step := &v.Steps[i]
	if step.StartedAt == nil {
		step.StartedAt = &now
	}
	step.CompletedAt, step.Error = &now, nil
	v.External = v.External || a.Exposure.External
	secret := s.cfg.Catalog.Named(step.Operation).Secret
	switch {
	case len(data) > maxResult:
		step.ResultOmitted = true
	case secret:
		step.ResultOmitted = true
		return s.addSecretResult(v, i, data)
	default:
		step.Result = &data
	}
	return nil
}

func sealingPlace(v *Proposal) string { return "proposals/" + string(v.ID) }

// unsealSecrets opens the answers that are sealed, by the number of their step.
func (s *Service) unsealSecrets(v *Proposal) (map[string]jsontext.Value, error) {
	all := map[string]jsontext.Value{}
	if v.Secrets == nil {
		return all, nil
	}
	text, err := s.cfg.Seal.Open(v.Secrets, sealingPlace(v))
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(text, &all)
}

// addSecretResult seals the answer of a step together with those before it.
func (s *Service) addSecretResult(v *Proposal, i int, data jsontext.Value) error {
	all, err := s.unsealSecrets(v)
	if err != nil {
		return err
	}
	all[fmt.Sprint(i)] = data
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	v.Secrets, err = s.cfg.Seal.Seal(text, sealingPlace(v))
	return err
}

// fillSecretResults puts the sealed answers into the steps, for the maker alone.
func (s *Service) fillSecretResults(v *Proposal) error {
	all, err := s.unsealSecrets(v)
	if err != nil {
		return err
	}
	for i := range v.Steps {
		if data, ok := all[fmt.Sprint(i)]; ok {
			v.Steps[i].Result, v.Steps[i].ResultOmitted = &data, false
		}
	}
	return nil
}

// saveChange changes a proposal while the job still belongs to this worker.
func (s *Service) saveChange(ctx context.Context, j job.Job, a carryOutArgs,
	change func(*Proposal, clock.Time) error) error {
	return s.cfg.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := j.RenewLease(ctx, tx); err != nil {
			return err
		}
		v, err := proposals.Lock(ctx, tx, a.Organization, a.Proposal)
		if err != nil {
			return err
		}
		now := s.cfg.Clock.Now()
		if err := change(v, now); err != nil {
			return err
		}
		v.UpdatedAt = now
		return proposals.Save(ctx, tx, v)
	})
}

// endedOutcome returns the outcome that ends a proposal in the transaction that ends its
// job. change sets the status and returns the type of the event.
func (s *Service) endedOutcome(a carryOutArgs, change func(*Proposal, clock.Time) (string, error)) job.Outcome {
	return func(ctx context.Context, tx *db.Tx) error {
		v, err := proposals.Lock(ctx, tx, a.Organization, a.Proposal)
		if err != nil || v.Status != Executing {
			return err
		}
		now := s.cfg.Clock.Now()
		kind, err := change(v, now)
		if err != nil {
			return err
		}
		v.UpdatedAt = now
		if err := proposals.Save(ctx, tx, v); err != nil {
			return err
		}
		cause := event.Event{Organization: v.OrganizationID, At: now}.BySystem()
		cause.Proposal, cause.ApprovedBy = &v.ID, v.DecidedBy
		return s.emitEvent(ctx, tx, cause, kind, v)
	}
}

// executedOutcome returns the outcome of a proposal whose last step is done.
func (s *Service) executedOutcome(a carryOutArgs) job.Outcome {
	return s.endedOutcome(a, func(v *Proposal, now clock.Time) (string, error) {
		v.Status, v.CompletedAt = Executed, &now
		return "proposal.executed", nil
	})
}

// failedOutcome returns the outcome of a proposal whose step i was refused. What earlier steps
// did stays.
func (s *Service) failedOutcome(a carryOutArgs, i int, err error) job.Outcome {
	f := fault.FromError(err)
	if f.Kind == fault.Internal {
		s.cfg.Log.Error("a step of a proposal failed", "proposal", a.Proposal, "step", i, "err", err)
	}
	return s.endedOutcome(a, func(v *Proposal, now clock.Time) (string, error) {
		e := &StepError{Code: f.Code, Message: f.Sentence()}
		if f.Details != nil {
			if text, err := json.Marshal(f.Details); err == nil {
				value := jsontext.Value(text)
				e.Details = &value
			}
		}
		v.Steps[i].Error, v.Status, v.CompletedAt = e, Failed, &now
		return "proposal.failed", nil
	})
}

// expireBatch bounds how many proposals end in one transaction.
const expireBatch = 200

// expireUndecided ends proposals that nobody decided or carried out in time.
func (s *Service) expireUndecided(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	type due struct {
		Organization id.ID `db:"organization_id"`
		ID           id.ID `db:"id"`
	}
	now := s.cfg.Clock.Now()
	rows, err := db.QueryAll[due](ctx, tx, `
		SELECT organization_id, id FROM proposals
		WHERE status IN ('planned', 'pending') AND expires_at <= $1 AND deleted_at IS NULL
		ORDER BY expires_at LIMIT $2`, now, expireBatch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		v, err := proposals.Lock(ctx, tx, r.Organization, r.ID)
		if err != nil {
			return err
		}
		if !v.isOpen() {
			continue
		}
		v.Status, v.UpdatedAt = Expired, now
		if err := proposals.Save(ctx, tx, v); err != nil {
			return err
		}
		cause := event.Event{Organization: v.OrganizationID, At: now}.BySystem()
		if err := s.emitEvent(ctx, tx, cause, "proposal.expired", v); err != nil {
			return err
		}
	}
	return nil
}
