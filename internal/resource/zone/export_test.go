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
