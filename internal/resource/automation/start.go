package automation

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// maxChain bounds how many automations may start one another in a row. A message
// that started the first of them counts too.
const maxChain = 8

// cause is why an execution begins.
type cause struct {
	trigger string
	event   *event.Event
	input   jsontext.Value
	chain   []id.ID // the automations that led to it
	agent   *id.ID  // the agent whose limits it counts against, or nil
}

// startExecution begins an execution in the transaction of its cause. Most conditions are
// decided right here, so that one which is skipped needs no job. A condition that
// takes longer than a transaction should is left to the job.
func (s *Service) startExecution(ctx context.Context, tx *db.Tx, v *Automation, why cause) (*Execution, error) {
	now := s.clock.Now()
	e := &Execution{Record: op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: v.OrganizationID},
		AutomationID: v.ID, Status: queued,
		Trigger: why.trigger, Input: why.input, Steps: []StepRun{}, Chain: append(slices.Clone(why.chain), v.ID),
		AgentID: why.agent}
	if len(e.Input) == 0 {
		e.Input = jsontext.Value("{}")
	}
	if why.event != nil {
		e.EventID, e.EventType, e.External = &why.event.ID, &why.event.Type, why.event.External
	}
	stopped := loopIssue(why.chain, v.ID)
	if stopped != "" {
		e.endWith(failed, now, stopped)
	} else {
		e.Plan = snapshotPlan(v)
		if err := e.decideQuickly(ctx, why.event, now); err != nil {
			return nil, err
		}
	}
	if err := executions.Rows.Insert(ctx, tx, e); err != nil {
		return nil, err
	}
	switch {
	case stopped != "" && why.event != nil && why.event.Type == FailedEvent:
		return e, nil // it listens for failures: an event for this one would start it again, without end
	case e.Status == failed:
		return e, s.emitFailure(ctx, tx, e)
	case e.Status == skipped:
		return e, nil
	}
	return e, s.enqueueExecution(ctx, tx, e)
}

var chainTooLong = fmt.Sprintf("More than %d automations led to one another. The chain was stopped here.", maxChain)

// loopIssue says why an automation must not start after what led to it, or
// returns "".
func loopIssue(chain []id.ID, automation id.ID) string {
	switch {
	case slices.Contains(chain, automation):
		return "This automation led to its own start. It was stopped so that it does not run forever."
	case len(chain) >= maxChain:
		return chainTooLong
	}
	return ""
}

// decideQuickly evaluates the condition of a new execution if that takes next to no
// time. If it holds, it is removed from the plan, so that the job does not
// evaluate it again.
func (e *Execution) decideQuickly(ctx context.Context, ev *event.Event, now clock.Time) error {
	if e.Plan.Condition == nil || ev == nil || len(ev.Data) > quickData {
		return nil
	}
	c := cachedCondition(*e.Plan.Condition)
	if c == nil {
		return nil // compiling takes milliseconds, so the job does it, outside the transaction
	}
	values, err := e.placeholderValues(ev)
	if err != nil {
		return err
	}
	holds, issue, known := c.evaluateQuickly(ctx, values)
	switch {
	case !known:
	case issue != "":
		e.endWith(failed, now, issue)
	case !holds:
		e.endWith(skipped, now, "")
		e.Plan = nil // there is nothing to continue with
	default:
		e.Plan.Condition = nil
	}
	return nil
}

// emitFailure writes the event of a failed execution.
func (s *Service) emitFailure(ctx context.Context, tx *db.Tx, e *Execution) error {
	data, err := json.Marshal(s.viewForEvents(e))
	if err != nil {
		return err
	}
	return s.events.Append(ctx, tx, event.Event{Organization: e.OrganizationID, At: e.UpdatedAt, Type: FailedEvent,
		ResourceID: e.ID,
		ActorKind:  string(op.AutomationActor), ActorID: &e.AutomationID, Door: op.AutomationDoor.String(),
		RequestID: string(e.ID), Data: data, Chain: e.Chain, Agent: e.AgentID, External: e.External})
}

// FailedEvent reports that an execution failed.
const FailedEvent = "automation_execution.failed"

// startForEvent starts an automation for an event it listens for.
func (s *Service) startForEvent(ctx context.Context, tx *db.Tx, e event.Event, listener id.ID) error {
	v, err := automations.Get(ctx, tx, e.Organization, listener)
	if fault.IsKind(err, fault.NotFound) {
		return nil // deleted while the event was being delivered
	}
	if err != nil || v.Status != statusActive {
		return err
	}
	_, err = s.startExecution(ctx, tx, v, cause{trigger: onEvent, event: &e, chain: e.Chain, agent: e.Agent})
	return err
}

// scheduleArgs is the argument of a schedule's job, which is one row that runs again and
// again.
type scheduleArgs struct {
	Organization id.ID `json:"organization"`
	Automation   id.ID `json:"automation"`
}

// startScheduled starts an automation that is due. Times that were missed while no process
// ran count as one.
func (s *Service) startScheduled(ctx context.Context, tx *db.Tx, _ job.Job, args scheduleArgs) error {
	v, err := automations.Lock(ctx, tx, args.Organization, args.Automation)
	if fault.IsKind(err, fault.NotFound) {
		return nil
	}
	if err != nil || v.NextRunAt == nil {
		return err
	}
	now := s.clock.Now()
	if *v.NextRunAt > now {
		return job.RunAgainAfter(v.NextRunAt.Sub(now))
	}
	if _, err := s.startExecution(ctx, tx, v, cause{trigger: onSchedule,
		input: scheduledInput(*v.NextRunAt)}); err != nil {
		return err
	}
	next := v.Trigger.nextAfter(now)
	if _, err := db.Exec(ctx, tx, "UPDATE automations SET next_run_at = $3 WHERE organization_id = $1 AND id = $2",
		args.Organization, v.ID, next); err != nil || next == nil {
		return err
	}
	return job.RunAgainAfter(next.Sub(now))
}

func scheduledInput(at clock.Time) jsontext.Value {
	return jsontext.Value(`{"scheduledAt":"` + at.String() + `"}`)
}

type automationRun struct {
	automationRef
	Input   jsontext.Value `json:"input,omitempty" kinds:"object" doc:"what the condition and steps see as input"`
	EventID *id.ID         `json:"eventId" ref:"webhooks" doc:"an event of events_list that the steps see"`
}

func (in *automationRun) Prepare(context.Context, *op.Call) error { return checkInputSize(in.Input) }

func checkInputSize(input jsontext.Value) error {
	if len(input) > maxInput {
		return fault.Field("input", fmt.Sprintf("Too long: expected at most %d bytes", maxInput))
	}
	return nil
}

// runAutomation starts an automation by hand. The chain and the agent of the caller
// are passed on, so that an automation that starts another cannot loop or escape an
// agent's limits.
func (s *Service) runAutomation(ctx context.Context, c *op.Call, in automationRun) (*Execution, error) {
	v, err := automations.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status == statusPaused {
		return nil, Paused.New()
	}
	why := cause{trigger: onDemand, input: in.Input, chain: c.Caller.Chain, agent: op.IDOrNil(c.Caller.Agent)}
	if in.EventID != nil {
		if why.event, err = s.findNamedEvent(ctx, c, v, *in.EventID); err != nil {
			return nil, err
		}
	}
	e, err := s.startExecution(ctx, c.Tx, v, why)
	if err != nil {
		return nil, err
	}
	return e, c.Emit("automation_execution.created", e.ID, s.viewForEvents(e))
}

// findNamedEvent finds the event that an automation is run for by hand. It must be one
// that the automation listens to, if it listens to any, and that the caller may read.
func (s *Service) findNamedEvent(ctx context.Context, c *op.Call, v *Automation, ref id.ID) (*event.Event, error) {
	ev, err := event.GetByID(ctx, c.Tx, c.Org, ref)
	if errors.Is(err, db.ErrNoRow) {
		return nil, op.NoSuchReference("eventId")
	}
	if err != nil {
		return nil, err
	}
	if v.Trigger.Kind == onEvent && *v.Trigger.Event != ev.Type {
		return nil, fault.Field("eventId", "The automation listens to "+*v.Trigger.Event+"; this event is "+ev.Type)
	}
	return &ev, s.catalog.PermitListening(signingCaller(c).Permissions, ev.Type)
}
