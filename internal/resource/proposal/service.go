// Package proposal is where agents propose and people decide. A proposal is a
// list of operation calls that was rehearsed, can be looked at, is decided by
// somebody who may, and is carried out at most once, exactly as it was shown.
// Dry runs, approvals and undo are all proposals.
//
// Start reading at Proposal (proposal.go). create.go makes one, from a plan or
// from a single call of an agent; rehearse.go runs its steps in a transaction
// that is rolled back, and effect.go describes what they did. decide.go approves,
// executes, rejects or cancels. If all steps are Writes, they run in one
// transaction there; otherwise a job takes them one by one (carry_out.go).
// compare.go and as_shown.go check that what happens is what was shown, and
// withhold.go hides from the maker what the maker may not read. undo.go proposes
// the inverse of what was done before.
//
// A proposal must never do more than was shown, nor show its maker more than the
// maker may read, nor do more than both its maker and whoever approved it may.
package proposal

import (
	"context"
	"log/slog"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
)

// Makers looks up who made a proposal, as they are now. It refuses one who may no
// longer act.
type Makers interface {
	MakerAsCaller(ctx context.Context, org id.ID, kind op.ActorKind, maker id.ID) (*op.Caller, error)
}

// Notice tells people that something waits for their decision.
type Notice struct {
	To    []string
	Title string
	URL   string
}

// Config is what proposals need. All of it is required.
type Config struct {
	DB      *db.DB
	Clock   *clock.Clock
	Log     *slog.Logger
	Jobs    *job.Queue
	Events  *event.Log
	Runner  *op.Runner
	Catalog automation.Catalog
	Makers  Makers
	Seal    op.Sealer
	// Notify mails a notice in the transaction of the proposal.
	Notify func(ctx context.Context, tx *db.Tx, org id.ID, n Notice) error
	// Names finds the name of a listener, by its kind: automation or webhook.
	Names   map[string]func(ctx context.Context, tx *db.Tx, org, listener id.ID) (string, error)
	BaseURL string
	// DeletedFor is how long deleted rows are kept.
	DeletedFor time.Duration
}

// Service keeps proposals and carries them out.
type Service struct {
	cfg          Config
	waiters      chan struct{}
	earlierGuess db.StatementGuess // for earlier proposals of a call
}

// maxWaiting is how many requests may wait for a decision at once in a process.
const maxWaiting = 500

// New makes the service. It panics when a required field is missing.
func New(c Config) *Service {
	config.RequireFields(c, "DB", "Clock", "Log", "Jobs", "Events", "Runner", "Catalog", "Makers", "Seal", "Notify",
		"Names", "BaseURL", "DeletedFor")
	return &Service{cfg: c, waiters: make(chan struct{}, maxWaiting)}
}

// Handle registers the jobs: one carries proposals out, one ends those that
// nobody decided in time.
func (s *Service) Handle() {
	job.HandleFlow(s.cfg.Jobs, carryOutKind, s.carryOutSteps, job.RunTimeout(carryOutTime), job.InLane("proposal", 4))
	job.HandleTx(s.cfg.Jobs, expireKind, s.expireUndecided, job.Every(expirePeriod))
}

func (s *Service) approvalURL(v *Proposal) string { return s.cfg.BaseURL + "/review/" + string(v.ID) }
