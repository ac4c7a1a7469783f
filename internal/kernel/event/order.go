package event

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// FanOutPendingBefore reports whether the fan-out of an event before seq has not ended yet, and when to look again.
// Fan-outs run concurrently and end in any order. Whoever must act in the order of the log waits until it reports
// false, even for a fan-out that failed and is retried.
func FanOutPendingBefore(ctx context.Context, tx *db.Tx, org id.ID, seq int64) (again time.Duration, behind bool,
	err error) {
	attempt, err := job.FirstFanOut(ctx, tx, org, seq)
	switch {
	case errors.Is(err, db.ErrNoRow):
		return 0, false, nil
	case attempt > 0:
		return retryCheckDelay, true, err
	}
	return firstCheckDelay, true, err
}

// How soon to look again. Most fan-outs end within milliseconds; one that has failed waits for its next attempt.
const (
	firstCheckDelay = 10 * time.Millisecond
	retryCheckDelay = 250 * time.Millisecond
)
