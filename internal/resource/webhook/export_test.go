package webhook

import (
	"testing"
	"time"
)

// Shorten makes a test's services impatient: those that start after it.
func Shorten(t testing.TB, attempt, slow time.Duration, waits ...time.Duration) {
	was := []time.Duration{attemptTime, slowTime}
	schedule := backoff
	attemptTime, slowTime = attempt, slow
	if len(waits) > 0 {
		backoff = waits
	}
	t.Cleanup(func() { attemptTime, slowTime, backoff = was[0], was[1], schedule })
}

// Schedule is how long is waited after each failure.
func Schedule() []time.Duration { return backoff }
