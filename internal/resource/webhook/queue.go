package webhook

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// queue is one of the two queues of a webhook, each worked by at most one job at a time: first
// attempts in the order of the log, and retries when they are due. They are separate, so that
// retries delay no first attempt.
type queue struct {
	kind    string // of its job; jobs for slow endpoints have another kind, and their own lane
	column  string // prefix of its columns in webhooks
	nextSQL string // SQL that selects the next delivery
	turnOf  func(*Webhook) (turn *int64, at **clock.Time)
}

const waitingSQL = " FROM webhook_deliveries WHERE organization_id = $1 AND webhook_id = $2 AND epoch = $3 AND " +
	"status = "

var (
	firstAttempts = queue{kind: "webhook.send", column: "send", nextSQL: waitingSQL +
		"'pending' ORDER BY event_seq LIMIT 1",
		turnOf: func(w *Webhook) (*int64, **clock.Time) { return &w.SendTurn, &w.SendAt }}
	retries = queue{kind: "webhook.retry", column: "retry",
		nextSQL: waitingSQL + "'retrying' ORDER BY next_attempt_at LIMIT 1",
		turnOf:  func(w *Webhook) (*int64, **clock.Time) { return &w.RetryTurn, &w.RetryAt }}
	queues = []queue{firstAttempts, retries}
)

// jobKind is the kind of the queue's job.
func (q *queue) jobKind(slow bool) string {
	if slow {
		return q.kind + "_slow"
	}
	return q.kind
}

// saveTurn writes which job has the turn, and when it runs.
func (q *queue) saveTurn(ctx context.Context, tx *db.Tx, w *Webhook) error {
	turn, at := q.turnOf(w)
	_, err := db.Exec(ctx, tx,
		"UPDATE webhooks SET "+q.column+"_turn = $3, "+q.column+"_at = $4 WHERE organization_id = $1 AND id = $2",
		w.OrganizationID, w.ID, *turn, *at)
	return err
}

// turnArgs names the webhook that a job works for, and the job's turn. The turn ends when the
// webhook has another number.
type turnArgs struct {
	Organization id.ID `json:"organization"`
	Webhook      id.ID `json:"webhook"`
	Turn         int64 `json:"turn"`
}

// workerStep is what a worker does next: make an attempt, wait, or stop when both are nil.
type workerStep struct {
	attempt *outgoingAttempt
	wait    *time.Duration
}

// queueRun is a run of the job that works a queue.
type queueRun struct {
	*Service
	queue queue
	slow  bool // it is in the lane for slow endpoints
	turn  turnArgs
	began time.Time
	last  *attemptResult // of its last attempt; nil before the first
}

func waitStep(d time.Duration) *workerStep { return &workerStep{wait: &d} }

// workQueue is the job: it makes one attempt after the other. Between two attempts, one transaction
// records the outcome of the last and takes up the next. A process that dies during an attempt
// leaves the delivery pending or retrying, and the next worker sends it again with the same
// webhook-id.
func (s *Service) workQueue(ctx context.Context, j job.Job, q queue, slow bool, a turnArgs) error {
	began := time.Now() //nolint:forbidigo // a duration, not a time
	run := &queueRun{Service: s, queue: q, slow: slow, turn: a, began: began}
	client, end := s.jobClient.Session()
	defer end()
	for {
		var next *workerStep
		err := s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			if err := j.RenewLease(ctx, tx); err != nil {
				return err
			}
			next, err = run.nextStep(ctx, tx)
			return err
		})
		switch {
		case err != nil:
			return err
		case next.wait != nil:
			return job.RunAgainAfter(*next.wait)
		case next.attempt == nil:
			return nil
		}
		if run.last, err = s.sendAttempt(ctx, client, next.attempt); err != nil {
			return err
		}
	}
}

// nextStep records the outcome of the last attempt, and decides what the worker does next.
func (r *queueRun) nextStep(ctx context.Context, tx *db.Tx) (*workerStep, error) {
	q := r.queue
	w, err := webhooks.Lock(ctx, tx, r.turn.Organization, r.turn.Webhook)
	if fault.IsKind(err, fault.NotFound) {
		return &workerStep{}, nil // deleted
	}
	if err != nil {
		return nil, err
	}
	if r.last != nil {
		if err := r.settleAttempt(ctx, tx, w, r.last, true); err != nil {
			return nil, err
		}
	}
	turn, at := q.turnOf(w)
	if *turn != r.turn.Turn || w.Status != statusActive {
		return &workerStep{}, nil
	}
	now := r.clock.Now()
	rest := func(until clock.Time) (*workerStep, error) {
		*at = &until
		return waitStep(max(until.Sub(now), 0)), q.saveTurn(ctx, tx, w)
	}
	d, m, err := r.findNextDelivery(ctx, tx, w, q, now)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		*at = nil
		return &workerStep{}, q.saveTurn(ctx, tx, w)
	case d.NextAttemptAt != nil && *d.NextAttemptAt > now:
		return rest(*d.NextAttemptAt)
	case r.slow != w.Slow: // the endpoint has changed lanes
		return &workerStep{}, r.handOverTurn(ctx, tx, w, q, now)
	case time.Since(r.began) > turnDuration: // it has worked long enough, and others should have its place
		return rest(now)
	}
	if suspended, err := w.isSuspended(ctx, tx); err != nil {
		return nil, err
	} else if suspended {
		return rest(now.Add(suspendedRecheck))
	}
	if q.column == firstAttempts.column {
		// First attempts go in the order of the log, so they wait for earlier events that are still
		// being passed on.
		wait, behind, err := event.FanOutPendingBefore(ctx, tx, w.OrganizationID, *d.EventSeq)
		if err != nil {
			return nil, err
		}
		if behind {
			return rest(now.Add(wait))
		}
	}
	if *at == nil || **at != 0 {
		working := clock.Time(0) // earlier than any time, so ensureWorker starts no second job
		*at = &working
		if err := q.saveTurn(ctx, tx, w); err != nil {
			return nil, err
		}
	}
	if err := d.beginAttempt(ctx, tx, w, now); err != nil {
		return nil, err
	}
	return &workerStep{attempt: &outgoingAttempt{w, d.ID, m, now}}, deliveries.Rows.Save(ctx, tx, d)
}

// findNextDelivery finds the next delivery and its message. On the way it cancels deliveries whose event
// was erased.
func (s *Service) findNextDelivery(ctx context.Context, tx *db.Tx, w *Webhook, q queue,
	now clock.Time) (*Delivery, *message, error) {
	for {
		d, err := db.QueryOne[Delivery](ctx, tx, "SELECT "+deliveries.Rows.Columns()+q.nextSQL, w.OrganizationID, w.ID,
			w.Epoch)
		if errors.Is(err, db.ErrNoRow) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		m, err := buildMessage(ctx, tx, &d)
		if err != nil || m != nil {
			return &d, m, err
		}
		why := "The event was erased."
		d.Status, d.NextAttemptAt, d.CompletedAt, d.UpdatedAt, d.ErrorMessage = deliveryCanceled, nil, &now, now, &why
		if err := deliveries.Rows.Save(ctx, tx, &d); err != nil {
			return nil, nil, err
		}
	}
}
