package zone

import (
	"testing"
	"time"
)

// RenewEvery shortens the time between two signs of life of a writer.
func RenewEvery(t *testing.T, d time.Duration) {
	t.Helper()
	was := leaseRenewInterval
	leaseRenewInterval = d
	t.Cleanup(func() { leaseRenewInterval = was })
}

// WaitAtMost shortens how long a writer waits for its turn.
func WaitAtMost(t *testing.T, d time.Duration) {
	t.Helper()
	was := maxTurnWait
	maxTurnWait = d
	t.Cleanup(func() { maxTurnWait = was })
}
