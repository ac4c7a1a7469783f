package automation

import (
	"context"
	"fmt"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
)

// What can become of an execution.
const (
	queued    = "queued"
	running   = "running"
	succeeded = "succeeded"
	failed    = "failed"
	canceled  = "canceled"
	skipped   = "skipped"
)

// Execution is one run of an automation.
type Execution struct {
	op.Record
	AutomationID id.ID          `json:"automationId"`
	Status       string         `json:"status" enum:"queued,running,succeeded,failed,canceled,skipped" doc:"skipped: the condition was false"`
	Trigger      string         `json:"trigger" enum:"event,schedule,manual" doc:"what started it"`
	EventID      *id.ID         `json:"eventId" doc:"the event that started it"`
	EventType    *string        `json:"eventType"`
	Input        jsontext.Value `json:"input" kinds:"object" doc:"what run was given; of a schedule, scheduledAt"`
	Steps        []StepRun      `json:"steps" doc:"the steps that were begun"`
	StartedAt    *clock.Time    `json:"startedAt"`
	CompletedAt  *clock.Time    `json:"completedAt"`
	ErrorMessage *string        `json:"errorMessage" max:"10000"`

	Plan       *plan                      `json:"-" db:"plan"`  // what it does; nil when nothing is to be done
	Chain      []id.ID                    `json:"-" db:"chain"` // what led to it, its automation included
	Saved      *map[string]jsontext.Value `json:"-" db:"saved"` // answers that are too large to be shown, by the name they were saved under
	AdmittedAt *clock.Time                `json:"-" db:"admitted_at"`
	Run        int                        `json:"-" db:"run"`
	KeyEpoch   int                        `json:"-" db:"key_epoch"`
}

// StepRun is what came of one step.
type StepRun struct {
	Operation     string          `json:"operation"`
	Input         jsontext.Value  `json:"input" kinds:"object" doc:"with its values"`
	InputOmitted  bool            `json:"inputOmitted" doc:"the input was too large to be kept, or the caller may not read it"`
	Output        *jsontext.Value `json:"output" doc:"the answer's data"`
	OutputOmitted bool            `json:"outputOmitted" doc:"the answer is too large to be shown, a secret, or the caller may not read it"`
	Error         *StepError      `json:"error" doc:"the refusal; of a step that is tried again, the last one"`
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

// plan is an automation as it was when the execution began, and whose it was.
type plan struct {
	Condition *string  `json:"condition,omitempty"`
	Steps     []Step   `json:"steps"`
	Kind      string   `json:"kind"`
	ID        *id.ID   `json:"id"`
	User      *id.ID   `json:"user"`
	Allowed   []string `json:"allowed"`
}

func planOf(v *Automation) *plan {
	return &plan{v.Condition, v.Steps, v.MakerKind, v.MakerID, v.MakerUserID, v.Permissions}
}

var executions = op.Nested[Execution]{Rows: db.NewTable[Execution]("automation_executions", "automation execution"), Parent: "automations", Noun: "automation", Column: "automation_id"}

// done is how many steps are behind the execution.
func (e *Execution) done() int {
	n := slices.IndexFunc(e.Steps, func(r StepRun) bool { return r.CompletedAt == nil || r.Error != nil })
	if n < 0 {
		return len(e.Steps)
	}
	return n
}

// live reports whether something is still to come.
func (e *Execution) live() bool { return e.Status == queued || e.Status == running }

// end closes the execution.
func (e *Execution) end(status string, now clock.Time, why string) {
	e.Status, e.CompletedAt, e.ErrorMessage = status, &now, nil
	if why != "" {
		e.ErrorMessage = &why
	}
}

func (s *Service) executionOperations() []*op.Op {
	const ref = `"id": "7c2e9a40-15fd-4b6e-8d03-9f1b5e7a2c64"`
	spec := func(name, route, summary, example string) op.Spec {
		return op.Spec{Name: name, Route: route, Summary: summary, Example: example, Resource: "automations"}
	}
	cancel := spec("automation_executions.cancel", "POST /v1/automation-executions/{id}/cancel", "Cancel an execution: it ends before its next step.", `{`+ref+`}`)
	cancel.Status, cancel.Errors, cancel.Events = 200, []*fault.Kind{Ended}, []string{"automation_execution.canceled"}
	retry := spec("automation_executions.retry", "POST /v1/automation-executions/{id}/retry", "Let an execution go on from the step that failed.", `{`+ref+`}`)
	retry.Status, retry.Errors, retry.Events = 200, []*fault.Kind{NotRetryable, Paused}, []string{"automation_execution.retried"}
	retry.Description = "Steps that went well are not repeated. When the automation was changed since, and the steps that went well are still the same, the rest are taken as they are now."
	newest := spec("automations.executions.newest", "", "Get the newest execution of each of many automations.", `{"ids": ["5d0c7f1e-3b2a-4c88-9e41-6a7d2b9f0c13"]}`)
	newest.Doors = op.Console
	return []*op.Op{
		op.Read(spec("automation_executions.list", "GET /v1/automation-executions", "List executions, newest first.", `{"status": "failed", "limit": 20}`), s.listExecutions),
		op.Read(spec("automation_executions.get", "GET /v1/automation-executions/{id}", "Get an execution.", `{`+ref+`}`), s.getExecution),
		op.Write(cancel, s.cancelExecution),
		op.Write(retry, s.retryExecution),
		op.Read(newest, executions.Newest),
		op.Read(spec("automations.executions.list", "GET /v1/automations/{id}/executions", "List an automation's executions, newest first.", `{`+exampleID+`}`), s.listOwnExecutions),
	}
}

type executionRef struct {
	ID id.ID `path:"id" doc:"the execution"`
}

type executionList struct {
	op.Page
	AutomationID *id.ID  `query:"automationId"`
	Status       *string `query:"status" enum:"queued,running,succeeded,failed,canceled,skipped"`
}

func (s *Service) listExecutions(ctx context.Context, c *op.Call, in executionList) (*op.List[Execution], error) {
	rows, err := executions.Rows.List(ctx, c.Tx, executionsWhere(c.Org, in.AutomationID, in.Status), in.DB())
	s.redact(c, rows)
	return op.ListOf(in.Page, rows), err
}

type ownExecutionList struct {
	op.Page
	automationRef
	Status *string `query:"status" enum:"queued,running,succeeded,failed,canceled,skipped"`
}

func (s *Service) listOwnExecutions(ctx context.Context, c *op.Call, in ownExecutionList) (*op.List[Execution], error) {
	list, err := executions.ListUncounted(ctx, c, in.ID, executionsWhere(c.Org, &in.ID, in.Status), in.Page)
	if err == nil {
		s.redact(c, list.Data)
	}
	return list, err
}

// executionsWhere filters executions. Of one automation there may be many, of
// which few failed or wait.
func executionsWhere(org id.ID, automation *id.ID, status *string) *db.Where {
	w := db.In(org)
	db.Choice(w, "status", status, succeeded, skipped)
	db.Equal(w, "automation_id", automation)
	return w
}

func (s *Service) getExecution(ctx context.Context, c *op.Call, in executionRef) (*Execution, error) {
	e, err := executions.Rows.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	return s.shown(c, e), nil
}

func (s *Service) redact(c *op.Call, rows []Execution) {
	for i := range rows {
		rows[i] = *s.shown(c, &rows[i])
	}
}

// shown is an execution as the caller may see it.
func (s *Service) shown(c *op.Call, e *Execution) *Execution {
	return s.seenWith(signer(c).Permissions, e)
}

// told is an execution as its events tell of it: everybody may hear of them who
// may read automations.
func (s *Service) told(e *Execution) *Execution {
	return s.seenWith(op.Permissions(0).With("automations", op.See), e)
}

// seenWith is what permissions show of an execution. Whoever may read
// automations but not everything that this one worked with sees what happened,
// without the values.
func (s *Service) seenWith(p op.Permissions, e *Execution) *Execution {
	readable := e.EventType == nil || s.catalog.PermitHearing(p, *e.EventType) == nil
	for i := range e.Steps {
		o := s.catalog.Named(e.Steps[i].Operation)
		readable = readable && o != nil && p.Allow(o.Resource, op.See)
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
		return s.shown(c, e), nil
	}
	if !e.live() {
		return nil, Ended.New()
	}
	// A step that is being taken is finished; its worker sees the rest.
	e.end(canceled, c.Now, "")
	e.UpdatedAt = c.Now
	if err := executions.Rows.Save(ctx, c.Tx, e); err != nil {
		return nil, err
	}
	return s.shown(c, e), c.Emit("automation_execution.canceled", e.ID, s.told(e))
}

func (s *Service) retryExecution(ctx context.Context, c *op.Call, in executionRef) (*Execution, error) {
	e, err := executions.Rows.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if e.Status != failed && e.Status != canceled || e.Plan == nil {
		return nil, NotRetryable.New()
	}
	v, err := automations.Get(ctx, c.Tx, c.Org, e.AutomationID)
	if fault.Has(err, fault.NotFound) {
		return nil, NotRetryable.Say("The automation was deleted.")
	}
	if err != nil {
		return nil, err
	}
	if v.Status == paused {
		return nil, Paused.New()
	}
	e.again(v)
	// What an automation retries goes on from what led to that one, too.
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
	if err := s.enqueue(ctx, c.Tx, e); err != nil {
		return nil, err
	}
	return s.shown(c, e), c.Emit("automation_execution.retried", e.ID, s.told(e))
}

// again makes an execution ready to go on.
func (e *Execution) again(v *Automation) {
	settled := e.done()
	if len(e.Steps) > settled {
		last := &e.Steps[settled]
		if last.Error == nil || last.Error.Code == tooLarge || isTemporary(last.Error.Code) {
			// It was done, or nobody knows: the same input under the same key finds out.
			last.CompletedAt, last.Error, last.Attempts = nil, nil, 0
		} else {
			e.Steps = e.Steps[:settled]
			e.KeyEpoch++ // some refusals stay with their key
		}
	}
	// What was mended since counts, as long as nothing that happened is changed by it.
	begun := len(e.Steps)
	if len(v.Steps) > settled && len(v.Steps) >= begun && slices.EqualFunc(e.Plan.Steps[:begun], v.Steps[:begun], sameTidied) {
		e.Plan = planOf(v)
	}
	e.Status, e.CompletedAt, e.ErrorMessage, e.AdmittedAt = queued, nil, nil, nil
	e.Run++
}

// sameTidied compares steps that may come from two forms of JSON.
func sameTidied(a, b Step) bool {
	both, err := tidy([]Step{a, b})
	return err == nil && sameStep(both[0], both[1])
}

// execute is the job of an execution.
type execute struct {
	Organization id.ID `json:"organization"`
	Execution    id.ID `json:"execution"`
	Run          int   `json:"run"`
}

func (s *Service) enqueue(ctx context.Context, tx *db.Tx, e *Execution) error {
	_, err := s.jobs.Enqueue(ctx, tx, executeKind, execute{e.OrganizationID, e.ID, e.Run}, job.For(e.OrganizationID))
	return err
}

// Expire removes executions that were made before a moment and have ended.
func Expire(ctx context.Context, tx *db.Tx, before clock.Time, batch int) (more bool, err error) {
	n, err := db.Exec(ctx, tx, `DELETE FROM automation_executions WHERE seq IN (SELECT seq FROM automation_executions
		WHERE created_at <= $1 AND status NOT IN ('queued', 'running') ORDER BY created_at LIMIT $2)`, before, batch)
	return n == int64(batch), err
}
