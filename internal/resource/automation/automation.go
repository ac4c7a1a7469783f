package automation

import (
	"cmp"
	"context"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

const (
	active = "active"
	paused = "paused"

	maxAutomations = 200 // of an organization: every event is held against all that want it
)

// Automation is what the service does by itself, and when.
type Automation struct {
	op.Record
	Name        string      `json:"name"`
	Description *string     `json:"description" max:"10000"`
	Status      string      `json:"status" enum:"active,paused"`
	Trigger     Trigger     `json:"trigger"`
	Condition   *string     `json:"condition" max:"2000" doc:"a CEL expression over event and input; where it is false, nothing runs"`
	Steps       []Step      `json:"steps" max:"20"`
	NextRunAt   *clock.Time `json:"nextRunAt" doc:"of an active schedule"`

	Maker
}

// Maker is whose permissions an automation has: who last changed its steps.
type Maker struct {
	MakerKind   string   `json:"makerKind" enum:"user,agent,api,automation,system" doc:"who last changed the steps; it acts with their permissions, and never with more"`
	MakerID     *id.ID   `json:"makerId"`
	MakerUserID *id.ID   `json:"-" db:"maker_user_id"`
	Permissions []string `json:"-" db:"maker_permissions"` // what they could do then
}

var automations = db.NewTable[Automation]("automations", "automation")

// The refusals of automations.
var (
	Paused       = fault.Define("AUTOMATION_PAUSED", 409, "This automation is paused. Set its status to active first.")
	NotRetryable = fault.Define("AUTOMATION_EXECUTION_NOT_RETRYABLE", 409, "Only an execution that failed or was canceled can be retried.")
	Ended        = fault.Define("AUTOMATION_EXECUTION_ENDED", 409, "This execution has ended.")
	LimitReached = fault.Define("AUTOMATION_LIMIT_REACHED", 409, "An organization has at most 200 automations. Delete one first.")
)

const exampleID = `"id": "5d0c7f1e-3b2a-4c88-9e41-6a7d2b9f0c13"`

func (s *Service) automationOperations() []*op.Op {
	const steps = "Steps run in order; a step that is refused ends the execution. An automation acts with the permissions of " +
		"whoever last changed its steps, so a step that the caller may not take is refused, and so is an event whose " +
		"resource the caller may not read."
	return []*op.Op{
		op.Read(op.Spec{Name: "automations.list", Route: "GET /v1/automations", Summary: "List automations, newest first.",
			Example: `{"limit": 20}`}, listAutomations),
		op.Write(op.Spec{Name: "automations.create", Outward: true, Route: "POST /v1/automations", Summary: "Create an automation.",
			Description: steps, Errors: []*fault.Kind{LimitReached}, Events: []string{"automation.created"},
			Example: `{"name": "Greet new contacts", "trigger": {"kind": "event", "event": "contact.created"}, "condition": "event.data.lastName != null", "steps": [{"operation": "tasks.create", "input": {"title": "Call {{ event.data.firstName | default: \"them\" }}", "contactId": "{{ event.resourceId }}"}, "saveAs": "task"}]}`}, s.createAutomation),
		op.Read(op.Spec{Name: "automations.get", Route: "GET /v1/automations/{id}", Summary: "Get an automation.",
			Example: `{` + exampleID + `}`}, getAutomation),
		op.Write(op.Spec{Name: "automations.update", Route: "PATCH /v1/automations/{id}", Summary: "Change fields of an automation.",
			Description: "Pausing cancels the executions that have not begun. One that has begun goes on with the steps it began with.",
			Events:      []string{"automation.updated"},
			Example:     `{` + exampleID + `, "status": "paused"}`}, s.updateAutomation),
		op.Write(op.Spec{Name: "automations.delete", Route: "DELETE /v1/automations/{id}", Summary: "Delete an automation; its executions are canceled, one that runs ends before its next step.",
			Events: []string{"automation.deleted"}, Example: `{` + exampleID + `}`}, s.deleteAutomation),
		op.Write(op.Spec{Name: "automations.run", Outward: true, Route: "POST /v1/automations/{id}/run", Summary: "Run an automation now.", Status: 200,
			Description: "Answers with the execution, which goes on by itself. The condition counts here too. There is no event.",
			Errors:      []*fault.Kind{Paused}, Events: []string{"automation_execution.created"},
			Example: `{` + exampleID + `}`}, s.runAutomation),
		op.Read(op.Spec{Name: "automations.test", Route: "POST /v1/automations/{id}/test", Summary: "Show what an automation would do, changing nothing.", Status: 200,
			Description: "Holds the latest events of the trigger's type against the condition and shows the inputs of the steps. A trigger of another kind is tried once with the input given. What a step would save is not known, and its placeholders stay.",
			Example:     `{` + exampleID + `, "limit": 5}`}, s.testAutomation),
	}
}

type automationRef struct {
	ID id.ID `path:"id" doc:"the automation"`
}

type automationList struct{ op.Page }

func listAutomations(ctx context.Context, c *op.Call, in automationList) (*op.List[Automation], error) {
	rows, err := automations.List(ctx, c.Tx, db.In(c.Org), in.DB())
	return op.ListOf(in.Page, rows), err
}

func getAutomation(ctx context.Context, c *op.Call, in automationRef) (*Automation, error) {
	return automations.Get(ctx, c.Tx, c.Org, in.ID)
}

type automationCreate struct {
	Name        string  `json:"name" min:"1"`
	Description *string `json:"description" max:"10000"`
	Status      string  `json:"status" default:"active" enum:"active,paused"`
	Trigger     Trigger `json:"trigger"`
	Condition   *string `json:"condition" min:"1" max:"2000"`
	Steps       []Step  `json:"steps" min:"1" max:"20"`
}

func (in *automationCreate) Prepare(_ context.Context, c *op.Call) (err error) {
	if err := checkParts(&in.Trigger, in.Condition, c.Now); err != nil {
		return err
	}
	in.Steps, err = tidy(in.Steps)
	return err
}

// checkParts refuses a trigger and a condition for what they are by
// themselves; nil stands for what is not sent.
func checkParts(t *Trigger, condition *string, now clock.Time) error {
	var tree *fault.Tree
	if t != nil {
		tree = tree.Set("trigger", t.check(now))
	}
	if condition != nil {
		if _, issue := compile(*condition); issue != "" {
			tree = tree.At([]any{"condition"}, issue)
		}
	}
	return tree.Fault(fault.Invalid)
}

func (s *Service) createAutomation(ctx context.Context, c *op.Call, in automationCreate) (*Automation, error) {
	v := &Automation{Record: c.NewRecord(), Name: in.Name, Description: in.Description, Status: in.Status, Trigger: in.Trigger, Condition: in.Condition, Steps: in.Steps}
	if err := s.check(v); err != nil {
		return nil, err
	}
	if err := s.permitTrigger(signer(c).Permissions, &v.Trigger); err != nil {
		return nil, err
	}
	if err := s.sign(ctx, c, v); err != nil {
		return nil, err
	}
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	if n, err := automations.Count(ctx, c.Tx, db.In(c.Org)); err != nil || n >= maxAutomations {
		return nil, cmp.Or(err, error(LimitReached.New()))
	}
	if err := s.arm(ctx, c, v); err != nil {
		return nil, err
	}
	if err := automations.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("automation.created", v.ID, v)
}

// check refuses what only the catalog, or all parts together, can tell.
func (s *Service) check(v *Automation) error {
	tree := s.checkSteps(&v.Trigger, v.Steps)
	if v.Trigger.Kind == onEvent && !s.catalog.Emits(*v.Trigger.Event) {
		tree = tree.At([]any{"trigger", "event"}, s.catalog.NoEvent(*v.Trigger.Event))
	}
	return tree.Fault(fault.Invalid)
}

// signer is the caller with the permissions that steps get from it.
func signer(c *op.Call) *op.Caller {
	if c.Door != op.Admin && c.Door != op.System {
		return c.Caller
	}
	operator := *c.Caller
	operator.Permissions, operator.DomainAgreement = op.Everything().With(op.Account, op.See), true
	return &operator
}

// permitTrigger refuses a caller who may not read what the trigger tells of:
// its condition and its steps would.
func (s *Service) permitTrigger(p op.Permissions, t *Trigger) error {
	if t.Kind != onEvent {
		return nil
	}
	return s.catalog.PermitHearing(p, *t.Event)
}

// sign makes the caller the one whose permissions the steps have.
func (s *Service) sign(ctx context.Context, c *op.Call, v *Automation) error {
	caller := signer(c)
	if err := s.permit(caller, v.Steps); err != nil {
		return err
	}
	v.Maker = Maker{MakerKind: string(caller.Kind), MakerID: caller.ActorID(), MakerUserID: caller.UserID(), Permissions: caller.Permissions.Cells()}
	if caller.Kind != op.AutomationActor {
		return nil
	}
	// What an automation makes is its own maker's, with what is left of the
	// permissions: nobody gets more by a detour.
	first, err := automations.Get(ctx, c.Tx, c.Org, caller.ID)
	if fault.Has(err, fault.NotFound) {
		return nil
	}
	v.MakerKind, v.MakerID, v.MakerUserID = first.MakerKind, first.MakerID, first.MakerUserID
	return err
}

// arm lets the trigger of an active automation fire, and no other.
func (s *Service) arm(ctx context.Context, c *op.Call, v *Automation) error {
	var types []string
	v.NextRunAt = nil
	if v.Status == active && v.DeletedAt == nil {
		v.NextRunAt = v.Trigger.next(c.Now)
		if v.Trigger.Kind == onEvent {
			types = []string{*v.Trigger.Event}
		}
	}
	if err := event.Listen(ctx, c.Tx, c.Org, listenerKind, v.ID, types); err != nil {
		return err
	}
	if _, err := s.jobs.CancelKey(ctx, c.Tx, scheduleKind, string(v.ID)); err != nil || v.NextRunAt == nil {
		return err
	}
	_, err := s.jobs.Enqueue(ctx, c.Tx, scheduleKind, tick{c.Org, v.ID}, job.For(c.Org), job.Key(string(v.ID)), job.At(*v.NextRunAt))
	return err
}

type automationUpdate struct {
	automationRef
	Name        op.Maybe[string]  `json:"name" min:"1"`
	Description op.Opt[string]    `json:"description" max:"10000"`
	Status      op.Maybe[string]  `json:"status" enum:"active,paused"`
	Trigger     op.Maybe[Trigger] `json:"trigger"`
	Condition   op.Opt[string]    `json:"condition" min:"1" max:"2000"`
	Steps       op.Maybe[[]Step]  `json:"steps" min:"1" max:"20"`
}

func (in *automationUpdate) Prepare(_ context.Context, c *op.Call) (err error) {
	var t *Trigger
	if in.Trigger.Set {
		t = &in.Trigger.Value
	}
	if err := checkParts(t, in.Condition.Ptr(), c.Now); err != nil {
		return err
	}
	in.Steps.Value, err = tidy(in.Steps.Value)
	return err
}

func (s *Service) updateAutomation(ctx context.Context, c *op.Call, in automationUpdate) (*Automation, error) {
	v, err := automations.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Steps, err = tidy(v.Steps); err != nil { // PostgreSQL has a form of its own
		return nil, err
	}
	before := *v
	if !op.Apply(v, &in) {
		return v, nil
	}
	if in.Trigger.Set || in.Steps.Set {
		if err := s.check(v); err != nil {
			return nil, err
		}
	}
	if in.Trigger.Set || in.Condition.Set || in.Steps.Set {
		if err := s.permitTrigger(signer(c).Permissions, &v.Trigger); err != nil {
			return nil, err
		}
	}
	if in.Steps.Set && !slices.EqualFunc(before.Steps, v.Steps, sameStep) {
		if err := s.sign(ctx, c, v); err != nil {
			return nil, err
		}
	}
	if in.Trigger.Set || v.Status != before.Status {
		if err := s.arm(ctx, c, v); err != nil {
			return nil, err
		}
	}
	if v.Status == paused && before.Status == active {
		if err := cancelAll(ctx, c, v.ID, "The automation was paused.", queued); err != nil {
			return nil, err
		}
	}
	v.UpdatedAt = c.Now
	if err := automations.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("automation.updated", v.ID, v)
}

func sameStep(a, b Step) bool {
	return a.Operation == b.Operation && string(a.Input) == string(b.Input) && (a.SaveAs == nil) == (b.SaveAs == nil) && (a.SaveAs == nil || *a.SaveAs == *b.SaveAs)
}

func (s *Service) deleteAutomation(ctx context.Context, c *op.Call, in automationRef) (op.Nothing, error) {
	v, err := automations.Remove(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := s.arm(ctx, c, v); err != nil {
		return op.Nothing{}, err
	}
	if err := cancelAll(ctx, c, v.ID, "The automation was deleted.", queued, running); err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("automation.deleted", v.ID, v)
}

// cancelAll ends the executions of an automation that are in one of these
// states. Their jobs find that out.
func cancelAll(ctx context.Context, c *op.Call, automation id.ID, why string, states ...string) error {
	_, err := db.Exec(ctx, c.Tx, `UPDATE automation_executions SET status = 'canceled', completed_at = $3, updated_at = $3, error_message = $4
		WHERE organization_id = $1 AND automation_id = $2 AND status = ANY($5) AND deleted_at IS NULL`, c.Org, automation, c.Now, why, states)
	return err
}
