package file

import (
	"testing"
	"time"
)

// AliveEvery makes uploads renew their claim more often, for one test.
func AliveEvery(t testing.TB, every time.Duration) {
	before := postponeRemovalEvery
	postponeRemovalEvery = every
	t.Cleanup(func() { postponeRemovalEvery = before })
}

// MeasureAlways makes every measurement stale at once.
func MeasureAlways(t testing.TB) {
	every, again, share := measureEvery, measureBeforeRefusal, measureCostFactor
	measureEvery, measureBeforeRefusal, measureCostFactor = 0, 0, 0
	t.Cleanup(func() { measureEvery, measureBeforeRefusal, measureCostFactor = every, again, share })
}
