// Package automation lets the service act on its own: when an event happens, on
// a schedule or on request, it calls operations one after the other, as a
// caller would. It knows no operation and no door. A Catalog lists what can be
// called, and the calls go through Steps.
//
// Start reading at Automation, then Service.start (start.go), which begins
// every execution, and Service.work (work.go), which takes its steps.
// condition.go is the language of conditions, schedule.go that of times, and
// step.go checks steps when they are written.
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
	Emits(eventType string) bool
	EventNames() []string
	NoEvent(eventType string) string
	PermitHearing(p op.Permissions, eventType string) error
}

// Steps runs one operation for a caller, with its whole input as one JSON
// object. A second call with the same key does nothing; first says that no call
// was made with it before.
type Steps interface {
	Step(ctx context.Context, c *op.Caller, operation string, input []byte, key string, first bool, requestID string) (
		op.Answer, error)
}

// Makers looks up an automation's maker as they are now. It refuses a maker who
// may no longer act.
type Makers interface {
	Maker(ctx context.Context, org id.ID, kind op.ActorKind, maker id.ID) (*op.Caller, error)
	// OnAccountOf has a caller act on an agent's account.
	OnAccountOf(ctx context.Context, c *op.Caller, agent id.ID) error
}

// Config is what automations need. All of it is required.
type Config struct {
	DB      *db.DB
	Clock   *clock.Clock
	Log     *slog.Logger
	Jobs    *job.Queue
	Events  *event.Log
	Makers  Makers
	Catalog Catalog // used only once operations are called
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

// New panics when a required field is missing.
func New(c Config) *Service {
	config.Require(c, "DB", "Clock", "Log", "Jobs", "Events", "Makers", "Catalog", "Steps", "Limits", "Workers")
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

// Handle declares the jobs and starts listening for events.
func (s *Service) Handle() {
	job.HandleFlow(s.jobs, executeKind, s.work,
		job.Lane("automation", s.workers), job.Timeout(workTime), job.Forget())
	job.HandleTx(s.jobs, scheduleKind, s.tick, job.Attempts(1<<30)) // a schedule survives every failure
	s.events.On(listenerKind, s.startForEvent)
}

// Operations lists everything that can be done with automations.
func (s *Service) Operations() []*op.Op {
	return append(s.automationOperations(), s.executionOperations()...)
}
