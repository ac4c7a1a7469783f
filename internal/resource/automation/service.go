// Package automation lets the service act on its own: when an event happens, on
// a schedule or on request, it calls operations one after the other, as a caller
// would.
//
// Start reading at Automation (automation.go). Service.startExecution (start.go)
// begins every execution, in the transaction of its cause, and queues a job.
// Service.executeSteps (work.go) is that job; take_step.go calls one operation.
// step.go checks steps when they are written and fills in their placeholders.
// condition.go and regex.go are the language of conditions, trigger.go and
// schedule.go that of times. rehearse.go and preview.go show what an automation
// would do; execution.go has the operations on executions.
//
// An automation acts with the permissions of whoever last changed its steps, and
// never with more than that person still has. The package knows no operation and
// no door: a Catalog lists what can be called, and the calls go through Steps.
package automation

import (
	"context"
	"log/slog"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// Catalog is what can be called and listened for.
type Catalog interface {
	Named(operation string) *op.Op
	All() []*op.Op
	HasEventType(eventType string) bool
	EventNames() []string
	UnknownEventText(eventType string) string
	PermitListening(p op.Permissions, eventType string) error
}

// Steps runs one operation for a caller. A second call with the same key does
// nothing and answers like the first.
type Steps interface {
	Step(ctx context.Context, c StepCall) (op.Answer, error)
}

// StepCall is the call of an operation by a step.
type StepCall struct {
	Caller    *op.Caller
	Operation string
	Input     []byte // the whole input as one JSON object
	Key       string // an idempotency key
	NewKey    bool   // no call was made with the key before, so that none needs to be looked for
	RequestID string
}

// Makers looks up an automation's maker as they are now. It refuses a maker who
// may no longer act.
type Makers interface {
	MakerAsCaller(ctx context.Context, org id.ID, kind op.ActorKind, maker id.ID) (*op.Caller, error)
	// OnAccountOf has a caller act on an agent's account.
	RestrictToAgent(ctx context.Context, c *op.Caller, agent id.ID) error
}

// Config is what automations need. All of it is required.
type Config struct {
	DB      *db.DB
	Clock   *clock.Clock
	Log     *slog.Logger
	Jobs    *job.Queue
	Events  *event.Log
	Makers  Makers
	Catalog Catalog // not used by New, so it may still be incomplete
	Steps   Steps
	Limits  map[string]int // executions per minute by plan
	Workers int
}

// Service runs automations.
type Service struct {
	db      *db.DB
	clock   *clock.Clock
	log     *slog.Logger
	jobs    *job.Queue
	events  *event.Log
	makers  Makers
	catalog Catalog
	steps   Steps
	limits  map[string]int
	workers int
}

// New makes the service. It panics when a required field is missing.
func New(c Config) *Service {
	config.RequireFields(c, "DB", "Clock", "Log", "Jobs", "Events", "Makers", "Catalog", "Steps", "Limits", "Workers")
	return &Service{
		db:      c.DB,
		clock:   c.Clock,
		log:     c.Log,
		jobs:    c.Jobs,
		events:  c.Events,
		makers:  c.Makers,
		catalog: c.Catalog,
		steps:   c.Steps,
		limits:  c.Limits,
		workers: c.Workers,
	}
}

// The kinds of jobs and listeners.
const (
	executeKind  = "automation.execute"
	scheduleKind = "automation.schedule"
	listenerKind = "automation"
)

// Handle registers the jobs and starts listening for events.
func (s *Service) Handle() {
	job.HandleFlow(s.jobs, executeKind, s.executeSteps,
		job.InLane("automation", s.workers), job.RunTimeout(workTimeout), job.ForgetWhenDone())
	job.HandleTx(s.jobs, scheduleKind, s.startScheduled, job.Attempts(1<<30)) // a schedule survives every failure
	s.events.On(listenerKind, s.startForEvent)
}

// Operations lists everything that can be done with automations.
func (s *Service) Operations() []*op.Op {
	return append(s.automationOperations(), s.executionOperations()...)
}
