package file

import (
	"testing"
	"time"
)

// AliveEvery makes uploads renew their claim more often, for one test.
func AliveEvery(t testing.TB, every time.Duration) {
	before := aliveEvery
	aliveEvery = every
	t.Cleanup(func() { aliveEvery = before })
}

// MeasureAlways makes every measurement stale at once.
func MeasureAlways(t testing.TB) {
	every, again, share := measureEvery, measureAgain, measureShare
	measureEvery, measureAgain, measureShare = 0, 0, 0
	t.Cleanup(func() { measureEvery, measureAgain, measureShare = every, again, share })
}
