package event

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// Behind reports whether the fan-out of an event before seq has not ended yet, and when to look again.
// Fan-outs run concurrently and end in any order. Whoever must act in the order of the log waits until it reports
// false, even for a fan-out that failed and is retried.
func Behind(ctx context.Context, tx *db.Tx, org id.ID, seq int64) (again time.Duration, behind bool, err error) {
	attempt, err := job.FirstFanOut(ctx, tx, org, seq)
	switch {
	case errors.Is(err, db.ErrNone):
		return 0, false, nil
	case attempt > 0:
		return retryLook, true, err
	}
	return firstLook, true, err
}

// How soon to look again. Most fan-outs end within milliseconds; one that has failed waits for its next attempt.
const (
	firstLook = 10 * time.Millisecond
	retryLook = 250 * time.Millisecond
)
