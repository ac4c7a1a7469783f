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

// Status says whether an automation runs.
type Status string

const (
	statusActive Status = "active"
	statusPaused Status = "paused"

	maxAutomations = 200 // per organization: every event is matched against all that listen for it
)

// Fields are what callers set of an automation.
type Fields struct {
	Name        string  `json:"name" min:"1"`
	Description *string `json:"description" max:"10000"`
	Status      Status  `json:"status" default:"active" enum:"active,paused"`
	Trigger     Trigger `json:"trigger"`
	Condition   *string `json:"condition" min:"1" max:"2000" doc:"CEL over event, input: event.data.x == 1"`
	Steps       []Step  `json:"steps" min:"1" max:"20"`
}

// Automation is what the service does on its own, and when.
type Automation struct {
	op.Record
	Fields
	NextRunAt *clock.Time `json:"nextRunAt" doc:"for an active schedule"`

	Maker
}

// Maker is the one whose permissions an automation has: who last changed its
// steps.
type Maker struct {
	MakerKind   string   `json:"makerKind" enum:"user,agent,api,automation,system" doc:"who last changed the steps"`
	MakerID     *id.ID   `json:"makerId"`
	MakerUserID *id.ID   `json:"-" db:"maker_user_id"`
	Permissions []string `json:"-" db:"maker_permissions"` // what they could do at that time
}

var automations = db.NewTable[Automation]("automations", db.Life{
	Noun:         "automation",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("maker_id", "", db.Keeps),
		db.RefTo("maker_user_id", "users", db.Keeps),
	},
})

// The refusals of automations.
var (
	Paused = fault.DefineKind("AUTOMATION_PAUSED", 409,
		"This automation is paused. Set its status to active first.")
	NotRetryable = fault.DefineKind("AUTOMATION_EXECUTION_NOT_RETRYABLE", 409,
		"Only an execution that failed or was canceled can be retried.")
	Ended        = fault.DefineKind("AUTOMATION_EXECUTION_ENDED", 409, "This execution has ended.")
	LimitReached = fault.DefineKind("AUTOMATION_LIMIT_REACHED", 409,
		"An organization has at most 200 automations. Delete one first.")
)

const exampleID = `"id": "5d0c7f1e-3b2a-4c88-9e41-6a7d2b9f0c13"`

func (s *Service) automationOperations() []*op.Op {
	const steps = "Steps run in order, with placeholders over event, input and what earlier steps saved in their " +
		"texts. A refused step ends the execution. A step's input is the operation's whole input as one object, path " +
		"fields included. A text that is a single placeholder becomes the value itself. An automation acts with " +
		"the permissions of whoever last changed its steps: a step that the caller may not take is refused, and so " +
		"is an event whose resource the caller may not read."
	return []*op.Op{
		op.ListRows(op.Spec{Name: "automations.list",
			NounWords: "rule, workflow, recipe, automatic, automatically, trigger"},
			automations, op.Unfiltered[automationList]),
		op.Write(op.Spec{
			Name:        "automations.create",
			Words:       "whenever, every time, each time, always, make whenever, whenever gets",
			Outward:     true,
			Route:       "POST /v1/automations",
			Summary:     "Create an automation.",
			Description: steps,
			Errors:      []*fault.Kind{LimitReached},
			Events:      []string{"automation.created"},
			Example: `{"name": "Greet new contacts", "trigger": {"kind": "event", "event": "contact.created"}, ` +
				`"condition": "event.data.lastName != null", "steps": [{"operation": "tasks.create", "input": ` +
				`{"title": "Call ` +
				`{{ event.data.firstName | default: \"them\" }}", "contactId": "{{ event.resourceId }}"}, "saveAs": ` +
				`"task"}]}`,
		}, s.createAutomation),
		op.GetRow(op.Spec{Name: "automations.get"}, automations),
		op.Write(op.Spec{
			Name:    "automations.update",
			Words:   "pause, stop, turn off, switch off, resume",
			Route:   "PATCH /v1/automations/{id}",
			Summary: "Change fields of an automation.",
			Description: "Pausing cancels the executions that have not begun. One that has begun continues with the " +
				"steps it started with.",
			Events:  []string{"automation.updated"},
			Example: `{` + exampleID + `, "status": "paused"}`,
		}, s.updateAutomation),
		op.DeleteRow(op.Spec{
			Name:    "automations.delete",
			Summary: "Delete an automation and cancel its executions; a running one ends before its next step.",
		}, automations, s.disarmDeleted),
		op.RestoreRow("automations", "automations", automations, restorePaused),
		op.Write(op.Spec{
			Name:    "automations.run",
			Words:   "run now, start now",
			Outward: true,
			Route:   "POST /v1/automations/{id}/run",
			Summary: "Run an automation now.",
			Status:  200,
			Description: "Answers with the execution, which continues on its own. The condition applies here too. " +
				"With eventId, the steps see that event, as if it had just happened.",
			Errors:  []*fault.Kind{Paused},
			Events:  []string{"automation_execution.created"},
			Example: `{` + exampleID + `}`,
		}, s.runAutomation),
		op.Read(op.Spec{
			Name:    "automations.options",
			Words:   "possible, ingredient",
			Route:   "GET /v1/automations/options",
			Summary: "List what automations can be made of: events, operations and placeholders.",
			Example: `{"query": "contact"}`,
		}, s.listOptions),
		op.Read(op.Spec{
			Name:    "automations.test",
			Words:   "try, dry run, without doing, simulate",
			Route:   "POST /v1/automations/{id}/test",
			Summary: "Show what an automation would do, without doing it.",
			Status:  200,
			Description: "Evaluates the condition on the latest events of the trigger's type and shows the inputs of " +
				"the steps. A trigger of another kind runs once, with the given input. What a step would save is " +
				"unknown, so its placeholders stay.",
			Example: `{` + exampleID + `, "limit": 5}`,
		}, s.testAutomation),
		op.Read(op.Spec{
			Name: "automations.preview",
			// For people who write an automation. Agents have automations.test, and their list of tools is long enough.
			Doors:   op.RESTDoor | op.ConsoleDoor,
			Route:   "POST /v1/automations/preview",
			Summary: "Show what an automation would have done in the past days, without saving or doing it.",
			Status:  200,
			Description: "Checks every event of the trigger's type, or every time of the schedule, newest first, up " +
				"to 10,000 of them or two seconds: complete says whether that was all. A trigger of kind manual " +
				"runs once, with the given input.",
			Example: `{"trigger": {"kind": "event", "event": "contact.created"}, "condition": ` +
				`"event.data.lastName != null", "steps": [{"operation": "tasks.create", "input": {"title": ` +
				`"Call {{ event.data.firstName }}"}}], "days": 30}`,
		}, s.previewAutomation),
	}
}

type automationRef struct {
	ID id.ID `path:"id" doc:"the automation"`
}

type automationList struct {
	op.Browse
	SortBy string `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
}

type automationCreate struct{ Fields }

// Warm compiles the condition before the transaction, as op.Warmer says.
func (in *automationCreate) Warm() {
	if in.Condition != nil {
		compileCondition(*in.Condition)
	}
}

func (in *automationCreate) Prepare(_ context.Context, c *op.Call) (err error) {
	if err := checkTriggerAndCondition(&in.Trigger, in.Condition, c.Now); err != nil {
		return err
	}
	in.Steps, err = NormalizeSteps(in.Steps)
	return err
}

// checkTriggerAndCondition refuses a trigger or condition that is invalid in itself; nil
// means not sent.
func checkTriggerAndCondition(t *Trigger, condition *string, now clock.Time) error {
	var tree *fault.Tree
	if t != nil {
		tree = tree.SetField("trigger", t.checkFields(now))
	}
	if condition != nil {
		if _, issue := compileCondition(*condition); issue != "" {
			tree = tree.At([]any{"condition"}, issue)
		}
	}
	return tree.Fault(fault.Invalid)
}

func (s *Service) createAutomation(ctx context.Context, c *op.Call, in automationCreate) (*Automation, error) {
	v := &Automation{Record: c.NewRecord(), Fields: in.Fields}
	if err := s.checkAutomation(v); err != nil {
		return nil, err
	}
	if err := s.permitTrigger(signingCaller(c).Permissions, &v.Trigger); err != nil {
		return nil, err
	}
	if err := s.setMaker(ctx, c, v); err != nil {
		return nil, err
	}
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	if n, err := automations.Count(ctx, c.Tx, db.InOrganization(c.Org)); err != nil || n >= maxAutomations {
		return nil, cmp.Or(err, error(LimitReached.New()))
	}
	if err := s.armTrigger(ctx, c, v); err != nil {
		return nil, err
	}
	if err := automations.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("automation.created", v.ID, v)
}

// checkAutomation refuses steps and events that the catalog does not have, and steps that
// do not fit the trigger.
func (s *Service) checkAutomation(v *Automation) error {
	tree := s.checkSteps(&v.Trigger, v.Steps)
	if v.Trigger.Kind == onEvent && !s.catalog.HasEventType(*v.Trigger.Event) {
		tree = tree.At([]any{"trigger", "event"}, s.catalog.UnknownEventText(*v.Trigger.Event))
	}
	return tree.Fault(fault.Invalid)
}

// signingCaller is the caller with the permissions that the steps get. The operator,
// who comes through the admin door or the system, gets all of them.
func signingCaller(c *op.Call) *op.Caller {
	if c.Door != op.AdminDoor && c.Door != op.SystemDoor {
		return c.Caller
	}
	operator := *c.Caller
	operator.Permissions = op.Everything().With(op.Account, op.ActionRead)
	operator.Agreements = []string{op.EveryAgreement}
	return &operator
}

// permitTrigger refuses a caller who may not read the events of the trigger:
// otherwise the condition and steps would read them for the caller.
func (s *Service) permitTrigger(p op.Permissions, t *Trigger) error {
	if t.Kind != onEvent {
		return nil
	}
	return s.catalog.PermitListening(p, *t.Event)
}

// setMaker makes the caller the one whose permissions the steps have.
func (s *Service) setMaker(ctx context.Context, c *op.Call, v *Automation) error {
	caller := signingCaller(c)
	if err := s.permitSteps(caller, v.Steps); err != nil {
		return err
	}
	v.Maker = Maker{MakerKind: string(caller.Kind), MakerID: caller.ActorIDOrNil(), MakerUserID: caller.UserIDOrNil(),
		Permissions: caller.Permissions.Cells()}
	if caller.Kind != op.AutomationActor {
		return nil
	}
	// An automation that is created or changed by another automation belongs to that one's maker, with the
	// permissions that are left. So nobody gains permissions by a detour.
	first, err := automations.Get(ctx, c.Tx, c.Org, caller.ID)
	if fault.IsKind(err, fault.NotFound) {
		return nil
	}
	v.MakerKind, v.MakerID, v.MakerUserID = first.MakerKind, first.MakerID, first.MakerUserID
	return err
}

// armTrigger sets up the trigger of an automation: the event it listens for, or the job
// of its schedule. One that is not active, or deleted, gets neither.
func (s *Service) armTrigger(ctx context.Context, c *op.Call, v *Automation) error {
	var types []string
	v.NextRunAt = nil
	if v.Status == statusActive && v.DeletedAt == nil {
		v.NextRunAt = v.Trigger.nextAfter(c.Now)
		if v.Trigger.Kind == onEvent {
			types = []string{*v.Trigger.Event}
		}
	}
	listener := event.Listener{Kind: listenerKind, ID: v.ID}
	if err := event.SetListenedTypes(ctx, c.Tx, c.Org, listener, types); err != nil {
		return err
	}
	if _, err := s.jobs.CancelByKey(ctx, c.Tx, scheduleKind, string(v.ID)); err != nil || v.NextRunAt == nil {
		return err
	}
	_, err := s.jobs.Enqueue(ctx, c.Tx, scheduleKind, scheduleArgs{c.Org, v.ID}, job.ForOrganization(c.Org),
		job.UniqueKey(string(v.ID)), job.RunAt(*v.NextRunAt))
	return err
}

type automationUpdate struct {
	automationRef
	op.Changes[Fields]
}

// Warm compiles the condition before the transaction, as op.Warmer says.
func (in *automationUpdate) Warm() {
	if in.To.Condition != nil {
		compileCondition(*in.To.Condition)
	}
}

func (in *automationUpdate) Prepare(_ context.Context, c *op.Call) (err error) {
	var t *Trigger
	if in.Has("trigger") {
		t = &in.To.Trigger
	}
	if err := checkTriggerAndCondition(t, in.To.Condition, c.Now); err != nil {
		return err
	}
	in.To.Steps, err = NormalizeSteps(in.To.Steps)
	return err
}

// updateAutomation changes an automation. Whoever changes the steps becomes the one
// whose permissions they have; other changes keep the maker.
func (s *Service) updateAutomation(ctx context.Context, c *op.Call, in automationUpdate) (*Automation, error) {
	v, err := automations.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Steps, err = NormalizeSteps(v.Steps); err != nil { // PostgreSQL reformats JSON
		return nil, err
	}
	before := *v
	if !op.Apply(v, &in) {
		return v, nil
	}
	if in.Has("trigger", "steps") {
		if err := s.checkAutomation(v); err != nil {
			return nil, err
		}
	}
	if in.Has("trigger", "condition", "steps") {
		if err := s.permitTrigger(signingCaller(c).Permissions, &v.Trigger); err != nil {
			return nil, err
		}
	}
	if in.Has("steps") && !slices.EqualFunc(before.Steps, v.Steps, equalSteps) {
		if err := s.setMaker(ctx, c, v); err != nil {
			return nil, err
		}
	}
	if in.Has("trigger") || v.Status != before.Status {
		if err := s.armTrigger(ctx, c, v); err != nil {
			return nil, err
		}
	}
	if v.Status == statusPaused && before.Status == statusActive {
		if err := cancelExecutions(ctx, c, v.ID, "The automation was paused.", queued); err != nil {
			return nil, err
		}
	}
	v.UpdatedAt = c.Now
	if err := automations.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("automation.updated", v.ID, v)
}

func equalSteps(a, b Step) bool {
	return a.Operation == b.Operation && string(a.Input) == string(b.Input) && (a.SaveAs == nil) == (b.SaveAs == nil) &&
		(a.SaveAs == nil || *a.SaveAs == *b.SaveAs)
}

// disarmDeleted is the hook after a deletion: it removes the trigger and cancels the
// executions.
func (s *Service) disarmDeleted(ctx context.Context, c *op.Call, v *Automation) error {
	if err := s.armTrigger(ctx, c, v); err != nil {
		return err
	}
	return cancelExecutions(ctx, c, v.ID, "The automation was deleted.", queued, running)
}

// cancelExecutions cancels the executions of an automation that are in one of these
// states. Their jobs notice and do nothing more.
func cancelExecutions(ctx context.Context, c *op.Call, automation id.ID, why string, states ...ExecutionStatus) error {
	_, err := db.Exec(ctx, c.Tx, `
		UPDATE automation_executions
		SET status = 'canceled', completed_at = $3, updated_at = $3, error_message = $4
		WHERE organization_id = $1 AND automation_id = $2 AND status = ANY($5) AND deleted_at IS NULL`, c.Org,
		automation, c.Now, why, states)
	return err
}

// restorePaused restores an automation as paused: it does nothing until somebody
// who may do so activates it.
func restorePaused(ctx context.Context, c *op.Call, v *Automation, was bool) error {
	if !was {
		return nil
	}
	v.Status, v.NextRunAt = statusPaused, nil
	return automations.Save(ctx, c.Tx, v)
}
