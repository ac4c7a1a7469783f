package webhook

import (
	"testing"
	"time"
)

// Shorten shortens the times of services that start after it, for one test.
func Shorten(t testing.TB, attempt, slow time.Duration, waits ...time.Duration) {
	was := []time.Duration{attemptTimeout, slowThreshold}
	schedule := retryBackoff
	attemptTimeout, slowThreshold = attempt, slow
	if len(waits) > 0 {
		retryBackoff = waits
	}
	t.Cleanup(func() { attemptTimeout, slowThreshold, retryBackoff = was[0], was[1], schedule })
}

// Schedule is how long to wait after each failure.
func Schedule() []time.Duration { return retryBackoff }
