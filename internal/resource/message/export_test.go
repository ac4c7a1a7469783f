package message

import (
	"testing"
	"time"
)

// DeliverWithin changes the time after which a long list makes way for others,
// for one test. No service is running yet.
func DeliverWithin(t testing.TB, d time.Duration) {
	was := yieldAfter
	yieldAfter = d
	t.Cleanup(func() { yieldAfter = was })
}
