package file

import (
	"testing"
	"time"
)

// AliveEvery has uploads show more often that they live, for one test.
func AliveEvery(t testing.TB, every time.Duration) {
	before := aliveEvery
	aliveEvery = every
	t.Cleanup(func() { aliveEvery = before })
}

// MeasureAlways has nothing believed of what was measured before.
func MeasureAlways(t testing.TB) {
	every, again, share := measureEvery, measureAgain, measureShare
	measureEvery, measureAgain, measureShare = 0, 0, 0
	t.Cleanup(func() { measureEvery, measureAgain, measureShare = every, again, share })
}
