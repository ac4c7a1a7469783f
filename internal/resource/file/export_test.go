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
