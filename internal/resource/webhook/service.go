package webhook

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/outbound"
)

// Bounds of what is sent and read.
const (
	maxAnswerBytes  = 64 << 10 // how much of an answer is read
	maxExcerptBytes = 2 << 10  // how much of it is kept

	// How many endpoints are attempted at once, in each of the two lanes. An
	// endpoint takes at most two places: for first attempts and for retries.
	laneWorkers = 64
	// How many callers may test or redeliver at once.
	maxCallers = 32
)

// Durations that tests shorten.
var (
	attemptTimeout = 10 * time.Second // for one attempt, from DNS lookup to the last byte
	slowThreshold  = time.Second      // an endpoint that takes longer moves to the slow lane
	turnDuration   = 3 * time.Second  // how long one endpoint is served before others get a turn

	// retryBackoff is how long to wait after each failure: 3 days in total, before
	// jitter.
	retryBackoff = []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour,
		3 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour,
	}
)

// Catalog knows which events exist. UnknownEventText is the issue to show for a type that does
// not.
type Catalog interface {
	HasEventType(eventType string) bool
	UnknownEventText(eventType string) string
}

// Config is what webhooks need. All fields but Insecure are required.
type Config struct {
	DB       *db.DB
	Clock    *clock.Clock
	Jobs     *job.Queue
	Events   *event.Log
	Seal     op.Sealer
	Catalog  Catalog // used only when an operation is called, since it is built from the operations
	Insecure bool    // allows endpoints on this machine, and over http
}

// Service sends webhooks.
type Service struct {
	db           *db.DB
	clock        *clock.Clock
	jobs         *job.Queue
	events       *event.Log
	seal         op.Sealer
	catalog      Catalog
	insecure     bool
	jobClient    *outbound.Client // for the jobs
	callerClient *outbound.Client // for callers who wait; apart, so that neither takes the other's connections
}

const listenerKind = "webhook"

// New panics when a required field is missing. Nothing is sent before Handle.
func New(c Config) *Service {
	config.RequireFields(c, "DB", "Clock", "Jobs", "Events", "Seal", "Catalog")
	o := outbound.Options{
		Timeout:       attemptTimeout,
		MaxBytes:      maxAnswerBytes,
		TruncateBody:  true,
		MaxConcurrent: 4 * laneWorkers,
		AllowInsecure: c.Insecure,
	}
	few := o
	few.MaxConcurrent = maxCallers
	return &Service{
		db:           c.DB,
		clock:        c.Clock,
		jobs:         c.Jobs,
		events:       c.Events,
		seal:         c.Seal,
		catalog:      c.Catalog,
		insecure:     c.Insecure,
		jobClient:    outbound.New(o),
		callerClient: outbound.New(few),
	}
}

// Handle declares the jobs and starts listening for events. Each queue has a job for fast and
// one for slow endpoints, in lanes of their own.
func (s *Service) Handle() {
	s.events.On(listenerKind, s.enqueueDelivery)
	for _, q := range queues {
		for _, slow := range []bool{false, true} {
			lane := "webhooks"
			if slow {
				lane = "webhooks_slow"
			}
			// A webhook's row says that this job works its queue, so no other
			// would replace it if it were given up. It is retried for ever.
			work := func(ctx context.Context, j job.Job, a turnArgs) (job.Outcome, error) {
				return nil, s.workQueue(ctx, j, q, slow, a)
			}
			job.HandleFlow(s.jobs, q.jobKind(slow), work, job.InLane(lane, laneWorkers),
				job.RunTimeout(turnDuration+2*attemptTimeout),
				job.Attempts(1<<30), job.RetryBackoff(jobBackoff), job.ForgetWhenDone())
		}
	}
	job.HandleTx(s.jobs, cancelJob, s.cancelOldDeliveries, job.ForgetWhenDone())
}

// jobBackoff is how long a failed job waits. It is short, because a job fails when the database
// does, not when the endpoint does. The job of a busy endpoint lives for months, and all its
// failures count.
func jobBackoff(attempt int) time.Duration { return min(time.Second<<min(attempt-1, 6), 5*time.Second) }

// PurgeOldSecrets removes previous secrets that no longer sign. It reports whether there may be more.
func PurgeOldSecrets(ctx context.Context, tx *db.Tx, now clock.Time, batch int) (bool, error) {
	n, err := db.Exec(ctx, tx, `
		UPDATE webhooks
		SET previous_secret = NULL, previous_secret_until = NULL
		WHERE seq IN (
		SELECT seq FROM webhooks
		WHERE previous_secret IS NOT NULL AND previous_secret_until <= $1
			LIMIT $2)`,
		now, batch)
	return n == int64(batch), err
}
