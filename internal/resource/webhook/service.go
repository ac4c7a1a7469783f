package webhook

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/outbound"
)

// Bounds of what is sent and read.
const (
	answerBytes  = 64 << 10
	excerptBytes = 2 << 10

	// How many endpoints are attempted at once, in each of the two lanes. An
	// endpoint has at most two places: first attempts and retries.
	workers = 64
	// How many callers may test or redeliver at once.
	callers = 32
)

// Times that tests shorten.
var (
	attemptTime = 10 * time.Second // of one attempt, from the name to the last byte
	slowTime    = time.Second      // an attempt that takes longer sends its endpoint to the lane of slow ones
	shiftTime   = 3 * time.Second  // how long an endpoint is attempted before others have their turn

	// backoff is how long to wait after each failure: 3 days in all, before jitter.
	backoff = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour}
)

// Catalog knows which events there are.
type Catalog interface {
	Emits(eventType string) bool
	NoEvent(eventType string) string
}

// Config is what an operator says about webhooks.
type Config struct {
	Insecure bool // this machine may be an endpoint, over http too
}

// Service sends webhooks.
type Service struct {
	db      *db.DB
	clock   *clock.Clock
	jobs    *job.Queue
	events  *event.Log
	seal    op.Sealer
	catalog Catalog
	config  Config
	client  *outbound.Client // for the jobs
	asked   *outbound.Client // for callers who wait, so that neither takes the other's place
}

const listenerKind = "webhook"

// New prepares the service. Nothing is sent before Handle.
func New(d *db.DB, k *clock.Clock, seal op.Sealer, config Config) *Service {
	o := outbound.Options{Timeout: attemptTime, MaxBytes: answerBytes, Cut: true, AtOnce: 4 * workers, Insecure: config.Insecure}
	few := o
	few.AtOnce = callers
	return &Service{db: d, clock: k, seal: seal, config: config, client: outbound.New(o), asked: outbound.New(few)}
}

// Know says which events a webhook can name.
func (s *Service) Know(c Catalog) { s.catalog = c }

// Handle declares the jobs and begins to hear of events.
func (s *Service) Handle(q *job.Queue, log *event.Log) {
	s.jobs, s.events = q, log
	log.On(listenerKind, s.hear)
	for _, e := range errands {
		for _, slow := range []bool{false, true} {
			lane := "webhooks"
			if slow {
				lane = "webhooks_slow"
			}
			// The state of the work is in the database, so a shift that fails
			// is tried again for ever: nothing else would take its place.
			job.HandleFlow(q, e.kindOf(slow), func(ctx context.Context, j job.Job, a shift) (job.Outcome, error) {
				return nil, s.work(ctx, j, e, slow, a)
			},
				job.Lane(lane, workers), job.Timeout(shiftTime+2*attemptTime), job.Attempts(1<<30), job.Backoff(pause), job.Forget())
		}
	}
	job.HandleTx(q, cancelKind, s.cancel, job.Forget())
}

func pause(attempt int) time.Duration { return min(time.Second<<min(attempt-1, 6), time.Minute) }

// Purge takes away secrets whose overlap is over.
func Purge(ctx context.Context, tx *db.Tx, now clock.Time, batch int) (bool, error) {
	n, err := db.Exec(ctx, tx, `UPDATE webhooks SET previous_secret = NULL, previous_secret_until = NULL WHERE seq IN
		(SELECT seq FROM webhooks WHERE previous_secret IS NOT NULL AND previous_secret_until <= $1 LIMIT $2)`, now, batch)
	return n == int64(batch), err
}
