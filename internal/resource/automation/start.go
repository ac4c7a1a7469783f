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

// start begins an execution in the transaction of its cause. Most conditions are
// decided right here, so that one which is skipped needs no job. A condition that
// takes longer than a transaction should is left to the job.
func (s *Service) start(ctx context.Context, tx *db.Tx, v *Automation, why cause) (*Execution, error) {
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
		e.end(failed, now, stopped)
	} else {
		e.Plan = planOf(v)
		if err := e.decide(ctx, why.event, now); err != nil {
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
	return e, s.enqueue(ctx, tx, e)
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

// decide evaluates the condition of a new execution if that takes next to no
// time. If it holds, it is removed from the plan, so that the job does not
// evaluate it again.
func (e *Execution) decide(ctx context.Context, ev *event.Event, now clock.Time) error {
	if e.Plan.Condition == nil || ev == nil || len(ev.Data) > quickData {
		return nil
	}
	c := compiledBefore(*e.Plan.Condition)
	if c == nil {
		return nil // compiling takes milliseconds, so the job does it, outside the transaction
	}
	values, err := e.values(ev)
	if err != nil {
		return err
	}
	holds, issue, known := c.holdsQuickly(ctx, values)
	switch {
	case !known:
	case issue != "":
		e.end(failed, now, issue)
	case !holds:
		e.end(skipped, now, "")
		e.Plan = nil // there is nothing to continue with
	default:
		e.Plan.Condition = nil
	}
	return nil
}

// emitFailure writes the event of a failed execution.
func (s *Service) emitFailure(ctx context.Context, tx *db.Tx, e *Execution) error {
	data, err := json.Marshal(s.forEvents(e))
	if err != nil {
		return err
	}
	return s.events.Append(ctx, tx, event.Event{Organization: e.OrganizationID, At: e.UpdatedAt, Type: FailedEvent,
		ResourceID: e.ID,
		ActorKind:  string(op.AutomationActor), ActorID: &e.AutomationID, Door: op.Automation.String(),
		RequestID: string(e.ID), Data: data, Chain: e.Chain, Agent: e.AgentID, External: e.External})
}

// FailedEvent reports that an execution failed.
const FailedEvent = "automation_execution.failed"

// startForEvent starts an automation for an event it listens for.
func (s *Service) startForEvent(ctx context.Context, tx *db.Tx, e event.Event, listener id.ID) error {
	v, err := automations.Get(ctx, tx, e.Organization, listener)
	if fault.Has(err, fault.NotFound) {
		return nil // deleted while the event was being delivered
	}
	if err != nil || v.Status != active {
		return err
	}
	_, err = s.start(ctx, tx, v, cause{trigger: onEvent, event: &e, chain: e.Chain, agent: e.Agent})
	return err
}

// tick is the argument of a schedule's job, which is one row that runs again and
// again.
type tick struct {
	Organization id.ID `json:"organization"`
	Automation   id.ID `json:"automation"`
}

// tick starts an automation that is due. Times that were missed while no process
// ran count as one.
func (s *Service) tick(ctx context.Context, tx *db.Tx, _ job.Job, args tick) error {
	v, err := automations.Lock(ctx, tx, args.Organization, args.Automation)
	if fault.Has(err, fault.NotFound) {
		return nil
	}
	if err != nil || v.NextRunAt == nil {
		return err
	}
	now := s.clock.Now()
	if *v.NextRunAt > now {
		return job.Later(v.NextRunAt.Sub(now))
	}
	if _, err := s.start(ctx, tx, v, cause{trigger: onSchedule, input: scheduled(*v.NextRunAt)}); err != nil {
		return err
	}
	next := v.Trigger.next(now)
	if _, err := db.Exec(ctx, tx, "UPDATE automations SET next_run_at = $3 WHERE organization_id = $1 AND id = $2",
		args.Organization, v.ID, next); err != nil || next == nil {
		return err
	}
	return job.Later(next.Sub(now))
}

func scheduled(at clock.Time) jsontext.Value {
	return jsontext.Value(`{"scheduledAt":"` + at.String() + `"}`)
}

type automationRun struct {
	automationRef
	Input   jsontext.Value `json:"input,omitempty" kinds:"object" doc:"what the condition and steps see as input"`
	EventID *id.ID         `json:"eventId" ref:"webhooks" doc:"an event of events_list that the steps see"`
}

func (in *automationRun) Prepare(context.Context, *op.Call) error { return checkInput(in.Input) }

func checkInput(input jsontext.Value) error {
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
	if v.Status == paused {
		return nil, Paused.New()
	}
	why := cause{trigger: onDemand, input: in.Input, chain: c.Caller.Chain, agent: op.Named(c.Caller.Agent)}
	if in.EventID != nil {
		if why.event, err = s.namedEvent(ctx, c, v, *in.EventID); err != nil {
			return nil, err
		}
	}
	e, err := s.start(ctx, c.Tx, v, why)
	if err != nil {
		return nil, err
	}
	return e, c.Emit("automation_execution.created", e.ID, s.forEvents(e))
}

// namedEvent finds the event that an automation is run for by hand. It must be one
// that the automation listens to, if it listens to any, and that the caller may read.
func (s *Service) namedEvent(ctx context.Context, c *op.Call, v *Automation, ref id.ID) (*event.Event, error) {
	ev, err := event.ByID(ctx, c.Tx, c.Org, ref)
	if errors.Is(err, db.ErrNone) {
		return nil, op.Unseen("eventId")
	}
	if err != nil {
		return nil, err
	}
	if v.Trigger.Kind == onEvent && *v.Trigger.Event != ev.Type {
		return nil, fault.Field("eventId", "The automation listens to "+*v.Trigger.Event+"; this event is "+ev.Type)
	}
	return &ev, s.catalog.PermitHearing(signer(c).Permissions, ev.Type)
}
