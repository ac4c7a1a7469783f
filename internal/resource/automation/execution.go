package automation

import (
	"context"
	"fmt"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
)

// ExecutionStatus is the state of an execution.
type ExecutionStatus string

const (
	queued    ExecutionStatus = "queued"
	running   ExecutionStatus = "running"
	succeeded ExecutionStatus = "succeeded"
	failed    ExecutionStatus = "failed"
	canceled  ExecutionStatus = "canceled"
	skipped   ExecutionStatus = "skipped"
)

// Execution is one run of an automation.
type Execution struct {
	op.Record
	AutomationID id.ID           `json:"automationId"`
	Status       ExecutionStatus `json:"status" enum:"queued,running,succeeded,failed,canceled,skipped"`
	Trigger      string          `json:"trigger" enum:"event,schedule,manual" doc:"what started it"`
	EventID      *id.ID          `json:"eventId" doc:"the event that started it"`
	EventType    *string         `json:"eventType"`
	Input        jsontext.Value  `json:"input" kinds:"object" doc:"what run was given; scheduledAt for a schedule"`
	Steps        []StepRun       `json:"steps" doc:"the steps that have begun"`
	StartedAt    *clock.Time     `json:"startedAt"`
	CompletedAt  *clock.Time     `json:"completedAt"`
	ErrorMessage *string         `json:"errorMessage" max:"10000"`

	Plan  *plan   `json:"-" db:"plan"`  // what it does; nil when there is nothing to do
	Chain []id.ID `json:"-" db:"chain"` // the automations that led to it, including its own
	// answers that are too large to show, by the name they were saved under
	Saved      *map[string]jsontext.Value `json:"-" db:"saved"`
	AdmittedAt *clock.Time                `json:"-" db:"admitted_at"`
	// Run counts the retries. A job of an earlier run finds another number and does nothing.
	Run int `json:"-" db:"run"`
	// KeyEpoch is part of the idempotency keys of the steps. It grows when a retry must not repeat a refusal.
	KeyEpoch int    `json:"-" db:"key_epoch"`
	AgentID  *id.ID `json:"-" db:"agent_id"` // the agent whose limits it counts against
}

// StepRun is one step of an execution and its outcome.
type StepRun struct {
	Operation     string          `json:"operation"`
	Input         jsontext.Value  `json:"input" kinds:"object" doc:"with its placeholders filled in"`
	InputOmitted  bool            `json:"inputOmitted" doc:"too large to keep, or the caller may not read it"`
	Output        *jsontext.Value `json:"output" doc:"the answer's data"`
	OutputOmitted bool            `json:"outputOmitted" doc:"too large to show, a secret, or not the caller's to read"`
	Error         *StepError      `json:"error" doc:"the refusal; while a step is retried, the last one"`
	Attempts      int             `json:"attempts"`
	StartedAt     clock.Time      `json:"startedAt"`
	CompletedAt   *clock.Time     `json:"completedAt"`
}

// StepError is a refusal as the API words it.
type StepError struct {
	Code    string          `json:"code"`
	Message string          `json:"message" max:"10000"`
	Details *jsontext.Value `json:"details" doc:"as the API would give them"`
}

// plan is a copy of the automation's condition, steps and maker at the time when
// the execution began: later changes do not affect it.
type plan struct {
	Condition *string  `json:"condition,omitempty"`
	Steps     []Step   `json:"steps"`
	Kind      string   `json:"kind"`
	ID        *id.ID   `json:"id"`
	User      *id.ID   `json:"user"`
	Allowed   []string `json:"allowed"`
}

func snapshotPlan(v *Automation) *plan {
	return &plan{v.Condition, v.Steps, v.MakerKind, v.MakerID, v.MakerUserID, v.Permissions}
}

var executions = op.NewNested[Execution]("automation_executions", db.Life{
	Noun:         "automation execution",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("automation_id", "automations", db.Keeps), // executions have their own retention
	Refs:         []db.Ref{db.RefTo("event_id", "events", db.Keeps), db.RefTo("agent_id", "agents", db.Keeps)},
	Permanent:    true,
	// An execution that has not ended is canceled: it has nothing left to work
	// with.
	Erase: life.BlankColumns(`
		steps = '[]', input = '{}', saved = NULL, plan = NULL, error_message = NULL,
		status = CASE WHEN status IN ('queued', 'running') THEN 'canceled' ELSE status END`).
		OnlyWhere(`steps <> '[]' OR input <> '{}' OR saved IS NOT NULL OR plan IS NOT NULL OR ` +
			`error_message IS NOT NULL`).
		AlsoFind(findExecutionsOfPerson),
	Unexported: []string{"run", "key_epoch", "admitted_at"},
})

// completedSteps is how many steps the execution has completed without an error.
func (e *Execution) completedSteps() int {
	n := slices.IndexFunc(e.Steps, func(r StepRun) bool { return r.CompletedAt == nil || r.Error != nil })
	if n < 0 {
		return len(e.Steps)
	}
	return n
}

// isUnfinished reports whether the execution is still to run or running.
func (e *Execution) isUnfinished() bool { return e.Status == queued || e.Status == running }

// savedBytes is the size of the answers that are kept for later steps.
func (e *Execution) savedBytes() (n int) {
	if e.Saved != nil {
		for _, answer := range *e.Saved {
			n += len(answer)
		}
	}
	return n
}

// endWith sets the final status of the execution, and why if there is something to say.
func (e *Execution) endWith(status ExecutionStatus, now clock.Time, why string) {
	e.Status, e.CompletedAt, e.ErrorMessage = status, &now, nil
	if status == succeeded || status == skipped {
		e.Saved = nil // no step comes any more, and it cannot be retried
	}
	if why != "" {
		e.ErrorMessage = &why
	}
}

func (s *Service) executionOperations() []*op.Op {
	const ref = `"id": "7c2e9a40-15fd-4b6e-8d03-9f1b5e7a2c64"`
	spec := func(name, route, summary, example string) op.Spec {
		return op.Spec{
			Name:     name,
			Route:    route,
			Summary:  summary,
			Example:  example,
			Resource: "automations",
		}
	}
	cancel := spec("automation_executions.cancel", "POST /v1/automation-executions/{id}/cancel",
		"Cancel an execution: it ends before its next step.", `{`+ref+`}`)
	cancel.Status, cancel.Errors, cancel.Events = 200, []*fault.Kind{Ended}, []string{"automation_execution.canceled"}
	retry := spec("automation_executions.retry", "POST /v1/automation-executions/{id}/retry",
		"Continue an execution from the step that failed.", `{`+ref+`}`)
	retry.Status, retry.Errors, retry.Events = 200, []*fault.Kind{NotRetryable, Paused},
		[]string{"automation_execution.retried"}
	retry.Description = "Completed steps are not repeated. If the automation was changed in the meantime, and the " +
		"completed steps are still the same, the rest run as they are now."
	list := spec("automation_executions.list", "GET /v1/automation-executions", "List executions, newest first.",
		`{"status": ["failed"], "limit": 20}`)
	list.Description = "An execution is skipped when the condition was false."
	list.NounWords, list.Words = "run, automation, work", "why, not work, fail"
	retry.Words, cancel.Words = "again, fail, repeat", "stop"
	newest := spec("automations.executions.newest", "", "Get the newest execution of each of many automations.",
		`{"ids": ["5d0c7f1e-3b2a-4c88-9e41-6a7d2b9f0c13"]}`)
	newest.Doors = op.ConsoleDoor
	return []*op.Op{
		op.Read(list, s.listExecutions),
		op.Read(spec("automation_executions.get", "GET /v1/automation-executions/{id}", "Get an execution.",
			`{`+ref+`}`),
			s.getExecution),
		op.Write(cancel, s.cancelExecution),
		op.Write(retry, s.retryExecution),
		op.Read(newest, executions.NewestPerParent),
		op.Read(spec("automations.executions.list", "GET /v1/automations/{id}/executions",
			"List an automation's executions, newest first.", `{`+exampleID+`}`), s.listOwnExecutions),
	}
}

type executionRef struct {
	ID id.ID `path:"id" doc:"the execution"`
}

type executionList struct {
	op.Browse
	SortBy       string            `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt"`
	AutomationID *id.ID            `query:"automationId"`
	Status       []ExecutionStatus `query:"status" enum:"queued,running,succeeded,failed,canceled,skipped"`
}

func (s *Service) listExecutions(ctx context.Context, c *op.Call, in executionList) (*op.List[Execution], error) {
	w := filterExecutions(c.Org, in.AutomationID, in.Status)
	list, err := op.BrowseRows(ctx, c, executions.Rows, op.ListQuery{Browse: in.Browse, SortBy: in.SortBy}, w)
	if err != nil {
		return nil, err
	}
	s.redactAll(c, list.Data)
	return list, nil
}

type ownExecutionList struct {
	op.Page
	automationRef
	Status []ExecutionStatus `query:"status" enum:"queued,running,succeeded,failed,canceled,skipped"`
}

func (s *Service) listOwnExecutions(ctx context.Context, c *op.Call, in ownExecutionList) (*op.List[Execution], error) {
	list, err := executions.ListUncounted(ctx, c, in.ID, filterExecutions(c.Org, &in.ID, in.Status), in.Page)
	if err == nil {
		s.redactAll(c, list.Data)
	}
	return list, err
}

// filterExecutions filters executions. The status comes first: an automation may
// have very many, few of which failed or are waiting.
func filterExecutions(org id.ID, automation *id.ID, status []ExecutionStatus) *db.Where {
	w := db.InOrganization(org)
	db.FilterChoice(w, "status", status, succeeded, skipped)
	db.FilterEqual(w, "automation_id", automation)
	return w
}

func (s *Service) getExecution(ctx context.Context, c *op.Call, in executionRef) (*Execution, error) {
	e, err := executions.Rows.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	return s.viewForCaller(c, e), nil
}

func (s *Service) redactAll(c *op.Call, rows []Execution) {
	for i := range rows {
		rows[i] = *s.viewForCaller(c, &rows[i])
	}
}

// viewForCaller is an execution as the caller may see it.
func (s *Service) viewForCaller(c *op.Call, e *Execution) *Execution {
	return s.viewWithPermissions(signingCaller(c).Permissions, e)
}

// viewForEvents is an execution as its events show it: anybody who may read
// automations may receive them.
func (s *Service) viewForEvents(e *Execution) *Execution {
	return s.viewWithPermissions(op.Permissions(0).With("automations", op.ActionRead), e)
}

// viewWithPermissions is an execution as somebody with these permissions may see it. Whoever
// may read automations, but not everything that this one worked with, sees which
// steps were taken without any values.
func (s *Service) viewWithPermissions(p op.Permissions, e *Execution) *Execution {
	readable := e.EventType == nil || s.catalog.PermitListening(p, *e.EventType) == nil
	for i := range e.Steps {
		o := s.catalog.Named(e.Steps[i].Operation)
		readable = readable && o != nil && p.Allow(o.Resource, op.ActionRead)
	}
	if readable {
		return e
	}
	v, why := *e, "You may not read why."
	v.Input, v.Steps = jsontext.Value("{}"), slices.Clone(e.Steps)
	for i := range v.Steps {
		run := &v.Steps[i]
		run.Input, run.InputOmitted, run.Output, run.OutputOmitted = jsontext.Value("{}"), true, nil, true
		if run.Error != nil {
			run.Error = &StepError{Code: run.Error.Code, Message: "You may not read what this step worked with."}
			why = fmt.Sprintf("Step %d, %s: %s", i+1, run.Operation, run.Error.Code)
		}
	}
	if e.ErrorMessage != nil {
		v.ErrorMessage = &why
	}
	return &v
}

func (s *Service) cancelExecution(ctx context.Context, c *op.Call, in executionRef) (*Execution, error) {
	e, err := executions.Rows.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if e.Status == canceled {
		return s.viewForCaller(c, e), nil
	}
	if !e.isUnfinished() {
		return nil, Ended.New()
	}
	// A step under way is finished; its worker notices.
	e.endWith(canceled, c.Now, "")
	e.UpdatedAt = c.Now
	if err := executions.Rows.Save(ctx, c.Tx, e); err != nil {
		return nil, err
	}
	return s.viewForCaller(c, e), c.Emit("automation_execution.canceled", e.ID, s.viewForEvents(e))
}

// retryExecution queues an execution again, which continues at the step that failed.
func (s *Service) retryExecution(ctx context.Context, c *op.Call, in executionRef) (*Execution, error) {
	e, err := executions.Rows.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if e.Status != failed && e.Status != canceled || e.Plan == nil {
		return nil, NotRetryable.New()
	}
	v, err := automations.Get(ctx, c.Tx, c.Org, e.AutomationID)
	if fault.IsKind(err, fault.NotFound) {
		return nil, NotRetryable.Say("The automation was deleted.")
	}
	if err != nil {
		return nil, err
	}
	if v.Status == statusPaused {
		return nil, Paused.New()
	}
	e.prepareRetry(v)
	e.AgentID = op.IDOrNil(c.Caller.Agent) // whoever retries it answers for it
	// A retry by an automation also continues the chain that led to that
	// automation.
	for _, led := range c.Caller.Chain {
		if !slices.Contains(e.Chain, led) {
			e.Chain = append(e.Chain, led)
		}
	}
	if len(e.Chain) > maxChain {
		return nil, NotRetryable.Say("%s", chainTooLong)
	}
	e.UpdatedAt = c.Now
	if err := executions.Rows.Save(ctx, c.Tx, e); err != nil {
		return nil, err
	}
	if err := s.enqueueExecution(ctx, c.Tx, e); err != nil {
		return nil, err
	}
	return s.viewForCaller(c, e), c.Emit("automation_execution.retried", e.ID, s.viewForEvents(e))
}

// prepareRetry makes an execution ready to continue.
func (e *Execution) prepareRetry(v *Automation) {
	settled := e.completedSteps()
	if len(e.Steps) > settled {
		last := &e.Steps[settled]
		if last.Error == nil || last.Error.Code == tooLarge || isTemporary(last.Error.Code) {
			// The step was done, or nobody knows whether: it is repeated with the same input and key, which does
			// nothing twice and finds out.
			last.CompletedAt, last.Error, last.Attempts = nil, nil, 0
		} else {
			e.Steps = e.Steps[:settled]
			e.KeyEpoch++ // the same key would bring back the same refusal
		}
	}
	// If the automation was corrected since then, its new steps are used, provided that the steps which have begun
	// are still the same.
	begun := len(e.Steps)
	if len(v.Steps) > settled && len(v.Steps) >= begun &&
		slices.EqualFunc(e.Plan.Steps[:begun], v.Steps[:begun], equalNormalized) {
		e.Plan = snapshotPlan(v)
	}
	e.Status, e.CompletedAt, e.ErrorMessage, e.AdmittedAt = queued, nil, nil, nil
	e.Run++
}

// equalNormalized compares steps whose JSON may be formatted differently.
func equalNormalized(a, b Step) bool {
	both, err := NormalizeSteps([]Step{a, b})
	return err == nil && equalSteps(both[0], both[1])
}

// executeArgs names the execution that a job runs.
type executeArgs struct {
	Organization id.ID `json:"organization"`
	Execution    id.ID `json:"execution"`
	Run          int   `json:"run"`
}

func (s *Service) enqueueExecution(ctx context.Context, tx *db.Tx, e *Execution) error {
	_, err := s.jobs.Enqueue(ctx, tx, executeKind, executeArgs{e.OrganizationID, e.ID, e.Run},
		job.ForOrganization(e.OrganizationID))
	return err
}

// ExpireExecutions removes executions that ended and were created before the given time.
func ExpireExecutions(ctx context.Context, tx *db.Tx, before clock.Time, batch int) (more bool, err error) {
	n, err := db.Exec(ctx, tx, `
		DELETE FROM automation_executions WHERE seq IN (SELECT seq FROM automation_executions
		WHERE created_at <= $1 AND status NOT IN ('queued', 'running') ORDER BY created_at LIMIT $2)`, before, batch)
	return n == int64(batch), err
}
