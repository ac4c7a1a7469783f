// Package automation lets the service act by itself: when an event happens, at
// a time of the clock or when somebody asks, it calls operations one after the
// other, as if a caller did. It knows no operation and no door. What can be
// called is in a Catalog, and the calls go through Steps; app fills both once
// all operations exist.
//
// Start reading at Automation, then Service.start (start.go), by which every
// execution begins, and Service.work (work.go), which takes its steps.
// condition.go is the language of conditions, schedule.go that of times,
// step.go what is checked when steps are written.
package automation

import (
	"context"
	"log/slog"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// Catalog is what there is to call and to hear of.
type Catalog interface {
	Named(operation string) *op.Op
	All() []*op.Op
	Emits(eventType string) bool
	NoEvent(eventType string) string
	PermitHearing(p op.Permissions, eventType string) error
}

// Steps runs one operation for a caller, with its whole input as one JSON
// object. The key makes that a second call with it does nothing; first says
// that there was no call with it before.
type Steps interface {
	Step(ctx context.Context, c *op.Caller, operation string, input []byte, key string, first bool, requestID string) (op.Answer, error)
}

// Makers tells who made an automation, as they are now; it refuses whoever may
// no longer act.
type Makers interface {
	Maker(ctx context.Context, org id.ID, kind op.ActorKind, maker id.ID) (*op.Caller, error)
}

// Service is the package's state.
type Service struct {
	db     *db.DB
	clock  *clock.Clock
	jobs   *job.Queue
	events *event.Log
	makers Makers
	log    *slog.Logger
	limits map[string]int // executions per minute by plan

	catalog Catalog
	steps   Steps
}

// New joins automations to a database and to those who make them.
func New(d *db.DB, c *clock.Clock, q *job.Queue, events *event.Log, makers Makers, log *slog.Logger, limits map[string]int) *Service {
	return &Service{db: d, clock: c, jobs: q, events: events, makers: makers, log: log, limits: limits}
}

// The kinds of jobs and of listeners.
const (
	executeKind  = "automation.execute"
	scheduleKind = "automation.schedule"
	listenerKind = "automation"
)

// Handle declares the work in the background, by so many workers.
func (s *Service) Handle(workers int) {
	job.HandleFlow(s.jobs, executeKind, s.work, job.Lane("automation", workers), job.Timeout(workTime), job.Forget())
	job.HandleTx(s.jobs, scheduleKind, s.tick, job.Attempts(1<<30)) // a schedule outlives every trouble
	s.events.On(listenerKind, s.hear)
}

// Open tells what can be called, and how.
func (s *Service) Open(c Catalog, steps Steps) { s.catalog, s.steps = c, steps }

// Operations lists everything that can be done with automations.
func (s *Service) Operations() []*op.Op {
	return append(s.automationOperations(), s.executionOperations()...)
}
