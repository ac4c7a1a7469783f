package automation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxAttempts   = 8
	maxShownBytes = 64 << 10 // bytes of an input or answer, to show it
	maxSavedBytes = 4 << 20  // bytes of the answers that are kept for later steps, together
	// unknownAfter is how long a step that has begun can be repeated safely. After
	// that its idempotency key may have been forgotten.
	unknownAfter = op.KeyLifetime - time.Hour
)

// The codes of refusals by the automation itself.
const (
	valueMissing   = "AUTOMATION_VALUE_MISSING"
	outcomeUnknown = "AUTOMATION_OUTCOME_UNKNOWN"
	tooLarge       = "AUTOMATION_RESULT_TOO_LARGE"
)

// placeholderValues collects what placeholders and conditions can name: input, event, and
// the answers that earlier steps saved.
func (e *Execution) placeholderValues(ev *event.Event) (map[string]any, error) {
	input, err := DecodeJSON(e.Input)
	if err != nil {
		return nil, err
	}
	values := map[string]any{inputName: input}
	if ev != nil {
		if values[eventName], err = eventValue(ev); err != nil {
			return nil, err
		}
	}
	for i := range e.Steps[:e.completedSteps()] {
		if name := e.Plan.Steps[i].SaveAs; name != nil && e.Steps[i].Output != nil {
			if values[*name], err = DecodeJSON(*e.Steps[i].Output); err != nil {
				return nil, err
			}
		}
	}
	if e.Saved != nil {
		for name, text := range *e.Saved {
			if values[name], err = DecodeJSON(text); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// eventValue is an event as /v1/events shows it.
func eventValue(ev *event.Event) (any, error) {
	data := ev.Data
	if len(data) == 0 {
		data = jsontext.Value("null")
	}
	text, err := json.Marshal(struct {
		ID           string     `json:"id"`
		Type         string     `json:"type"`
		ResourceType string     `json:"resourceType"`
		ResourceID   string     `json:"resourceId"`
		ActorKind    string     `json:"actorKind"`
		ActorID      *string    `json:"actorId"`
		Door         string     `json:"door"`
		RequestID    string     `json:"requestId"`
		CreatedAt    clock.Time `json:"createdAt"`
		Data         db.JSON    `json:"data"`
		Previous     db.JSON    `json:"previous"`
		ProposalID   *id.ID     `json:"proposalId"`
		ApprovedBy   *id.ID     `json:"approvedBy"`
	}{string(ev.ID), ev.Type, event.ResourceType(ev.Type), string(ev.ResourceID), ev.ActorKind, (*string)(ev.ActorID),
		ev.Door, ev.RequestID, ev.At, data, ev.Previous, ev.Proposal, ev.ApprovedBy})
	if err != nil {
		return nil, err
	}
	return DecodeJSON(text)
}

// beginStep records that a step begins, and with which input. A step that began
// before, in a run that was interrupted, is repeated with the input of that time.
func (t *executionRun) beginStep(ctx context.Context, i int) (job.Outcome, error) {
	step := &t.e.Plan.Steps[i]
	t.first = t.pending != nil || len(t.e.Steps) <= i
	if !t.first {
		o := t.service.catalog.Named(step.Operation)
		if o != nil && !o.ReadOnly() && o.BindsKey == nil &&
			t.service.clock.Now().Sub(t.e.Steps[i].StartedAt) > unknownAfter {
			return t.failExecution("its outcome is unknown, because it was interrupted too long ago.",
				&StepError{Code: outcomeUnknown,
					Message: "The step was interrupted, and too much time has passed to find out whether it was " +
						"done. Check for its effect, then retry."}), nil
		}
		return nil, t.saveOwned(ctx, func(_ context.Context, _ *db.Tx, e *Execution, _ clock.Time) error {
			if i < len(e.Steps) {
				e.Steps[i].Attempts++
			}
			return nil
		})
	}
	input, err := renderInput(step.Input, placeholder.LookupIn(t.values))
	var issue *StepError
	if err != nil {
		input, issue = []byte("{}"), &StepError{Code: valueMissing,
			Message: "The input could not be built: " + err.Error() + "."}
	}
	err = t.saveOwned(ctx, func(_ context.Context, _ *db.Tx, e *Execution, now clock.Time) error {
		e.Steps = append(e.Steps, StepRun{Operation: step.Operation, Input: jsontext.Value(input), Attempts: 1,
			StartedAt: now})
		return nil
	})
	if err == nil && issue != nil {
		return t.failExecution(issue.Message, issue), nil
	}
	return nil, err
}

// takeStep calls the operation of a step that has begun.
func (t *executionRun) takeStep(ctx context.Context, i int) (job.Outcome, error) {
	caller, err := t.who, error(nil)
	if t.who = nil; caller == nil {
		caller, err = t.stepCaller(ctx)
	}
	if out, err := t.failRefused(err); out != nil || err != nil {
		return out, err
	}
	run, step := &t.e.Steps[i], &t.e.Plan.Steps[i]
	answer, err := t.service.steps.Step(ctx, StepCall{Caller: caller, Operation: step.Operation, Input: run.Input,
		Key: t.stepKey(i), NewKey: t.first, RequestID: string(t.e.ID)})
	if err != nil && t.job.IsLastAttempt() && ctx.Err() != nil {
		return t.failExecution("it took too long.", toStepError(fault.Unavailable.New())), nil
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, err // the service is stopping; the job is picked up again
	}
	refusal := stepRefusal(answer, err)
	if refusal != nil && refusal.Code == fault.Internal.Code {
		t.service.log.ErrorContext(ctx, "a step of an automation failed", "operation", step.Operation, "execution",
			t.e.ID,
			"err", err)
	}
	if refusal == nil {
		return nil, t.noteAnswer(i, step, answer)
	}
	if isTemporary(refusal.Code) && run.Attempts < maxAttempts {
		return t.finishWith(func(e *Execution, _ clock.Time) {
			if i < len(e.Steps) {
				e.Steps[i].Error = refusal
			}
		}), job.RunAgainAfter(retryDelay(run.Attempts, err))
	}
	return t.failExecution(refusal.Message, refusal), nil
}

// stepKey is the idempotency key of a step. It stays the same when a run is
// interrupted and repeated, so that nothing is done twice.
func (t *executionRun) stepKey(i int) string {
	return op.StepKeyPrefix + string(t.e.ID) + "/" + strconv.Itoa(i) + "/" + strconv.Itoa(t.e.KeyEpoch)
}

// noteAnswer notes the answer of a step in t.pending, which is saved together with the
// beginning of the next step.
func (t *executionRun) noteAnswer(i int, step *Step, answer op.Answer) error {
	var envelope struct {
		Data jsontext.Value `json:"data"`
	}
	if len(answer.Body) > 0 {
		if err := json.Unmarshal(answer.Body, &envelope); err != nil {
			return fmt.Errorf("automation: the answer of %s: %w", step.Operation, err)
		}
	}
	data := envelope.Data.Clone()
	if len(data) == 0 {
		data = jsontext.Value("null")
	}
	o := t.service.catalog.Named(step.Operation)
	shown := !o.Secret && len(data) <= maxShownBytes
	if step.SaveAs != nil {
		var err error
		if t.values[*step.SaveAs], err = DecodeJSON(data); err != nil {
			return err
		}
	}
	t.pending = func(e *Execution, now clock.Time) {
		if i >= len(e.Steps) {
			return
		}
		run := &e.Steps[i]
		run.Error, run.CompletedAt, run.OutputOmitted = nil, &now, !shown
		e.External = e.External || answer.Exposure.External // what follows may use it
		switch {
		case shown:
			run.Output = &data
		case step.SaveAs != nil && len(data)+e.savedBytes() > maxSavedBytes:
			run.Error = &StepError{Code: tooLarge,
				Message: fmt.Sprintf("The step was done, but its answer has %d bytes; at most %d can be saved in all.",
					len(data), maxSavedBytes)}
			if e.isUnfinished() {
				e.endWith(failed, now, fmt.Sprintf("Step %d, %s: %s", i+1, step.Operation, run.Error.Message))
			}
		case step.SaveAs != nil:
			saved := map[string]jsontext.Value{}
			if e.Saved != nil {
				saved = *e.Saved
			}
			saved[*step.SaveAs] = data
			e.Saved = &saved
		}
		if run.Error == nil && len(run.Input) > maxShownBytes { // it is done, so its input is no longer needed
			run.Input, run.InputOmitted = jsontext.Value("{}"), true
		}
	}
	return nil
}

// stepCaller is who takes the steps: the automation, with the permissions that its
// maker had when the steps were written, as far as the maker still has them.
func (t *executionRun) stepCaller(ctx context.Context) (*op.Caller, error) {
	p := t.e.Plan
	var who id.ID
	if p.ID != nil {
		who = *p.ID
	}
	found, err := t.service.makers.MakerAsCaller(ctx, t.e.OrganizationID, op.ActorKind(p.Kind), who)
	if err != nil {
		return nil, err
	}
	maker := *found
	maker.Kind, maker.ID, maker.Role, maker.Chain = op.AutomationActor, t.e.AutomationID, "", slices.Clone(t.e.Chain)
	maker.Permissions &= op.ParseCells(p.Allowed)
	maker.External = maker.External || t.e.External
	if t.e.AgentID != nil {
		if err := t.service.makers.RestrictToAgent(ctx, &maker, *t.e.AgentID); err != nil {
			return nil, err
		}
	}
	if t.e.EventType != nil {
		if err := t.service.catalog.PermitListening(maker.Permissions, *t.e.EventType); err != nil {
			return nil, err
		}
	}
	if maker.User == "" && p.User != nil {
		maker.User = *p.User
		return &maker, t.permitUser(ctx, maker.User)
	}
	return &maker, nil
}

// permitUser refuses a user behind an agent who may no longer act.
func (t *executionRun) permitUser(ctx context.Context, user id.ID) error {
	return t.service.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		is, err := account.IsActiveMember(ctx, tx, t.e.OrganizationID, user)
		if err == nil && !is {
			err = fault.AccountDisabled.Say("The user who made it is disabled or no longer a member.")
		}
		return err
	})
}

// stepRefusal is the refusal of a step, or nil.
func stepRefusal(answer op.Answer, err error) *StepError {
	if errors.Is(err, context.DeadlineExceeded) {
		err = fault.Unavailable.Because(err)
	}
	if err != nil {
		e := toStepError(fault.FromError(err))
		if op.IsUnknownOutcome(err) { // whatever its code: repeating the step finds out
			e.Code = fault.Unavailable.Code
		}
		return e
	}
	if answer.Status < http.StatusBadRequest {
		return nil
	}
	// A refusal that was stored under its idempotency key comes back as an answer, not as an error.
	var envelope struct {
		Error StepError `json:"error"`
	}
	if json.Unmarshal(answer.Body, &envelope) != nil || envelope.Error.Code == "" {
		return toStepError(fault.Internal.New())
	}
	return &envelope.Error
}

func toStepError(f *fault.Fault) *StepError {
	e := &StepError{Code: f.Code, Message: f.Sentence()}
	if f.Details != nil {
		if text, err := json.Marshal(f.Details); err == nil {
			v := jsontext.Value(text)
			e.Details = &v
		}
	}
	return e
}

// isTemporary reports whether the same step may succeed a moment later.
func isTemporary(code string) bool {
	return slices.Contains([]string{fault.Unavailable.Code, fault.OutcomeUnknown.Code, fault.RateLimited.Code,
		fault.KeyInFlight.Code}, code)
}

// retryDelay is how long to wait after the given number of attempts: twice as long each
// time, and at least as long as the refusal says.
func retryDelay(attempts int, err error) time.Duration {
	d := min(time.Second<<min(attempts-1, 10), time.Minute)
	var f *fault.Fault
	if errors.As(err, &f) {
		d = max(d, min(f.RetryAfter, 10*time.Minute))
	}
	return d
}

// Allowance tells how many executions an organization has left in this minute,
// and how many wait because the allowance is used up.
func (s *Service) Allowance(ctx context.Context, org id.ID, plan string) (v limit.Verdict, waiting int, err error) {
	n := s.limits[plan]
	step := time.Minute / time.Duration(max(n, 1))
	var until []clock.Time
	err = s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		until, err = db.QueryAll[clock.Time](ctx, tx,
			"SELECT until FROM automation_allowances WHERE organization_id = $1", org)
		return err
	})
	v = limit.Verdict{Limit: n, Remaining: n, OK: true}
	if err != nil || len(until) == 0 {
		return v, 0, err
	}
	v.Reset = max(until[0].Sub(s.clock.Now()), 0)
	v.Remaining = int(max(time.Minute-v.Reset, 0) / step)
	v.OK = v.Remaining > 0
	return v, int(max(v.Reset-time.Minute, 0) / step), nil
}

// takeAllowance takes one execution from the plan's limit per minute, and says when
// it may run: now, or later, one after the other. until is the time at which the
// bucket would be empty again: each execution adds its share of a minute, and
// those beyond a minute wait. It is kept in the database, for all processes
// together.
func (t *executionRun) takeAllowance(ctx context.Context, tx *db.Tx, c *op.Caller, now clock.Time) (clock.Time, error) {
	step := int64(time.Minute/time.Microsecond) / int64(max(t.service.limits[c.Plan], 1))
	until, err := db.QueryOne[clock.Time](ctx, tx, `
		INSERT INTO automation_allowances (organization_id, until)
		VALUES ($1, $2)
		ON CONFLICT (organization_id) DO UPDATE
		SET until = CASE WHEN automation_allowances.until > $3 THEN automation_allowances.until ELSE $3 END + $4
		RETURNING until`,
		t.e.OrganizationID, now+clock.Time(step), now, step)
	return max(now, until.Add(-time.Minute)), err
}
