package clock

import (
	"math"
	"testing"
	"time"
)

// Centuries lie between two moments at most, and never the wrong way round.
func TestSub(t *testing.T) {
	at := func(s string) Time {
		v, err := ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	now := at("2026-01-31T12:00:00Z")
	for s, want := range map[string]time.Duration{
		"2026-01-31T12:00:01.5Z": 1500 * time.Millisecond,
		"2026-01-31T11:00:00Z":   -time.Hour,
		"2611-01-01T00:00:00Z":   math.MaxInt64,
		"9999-12-31T23:59:59Z":   math.MaxInt64,
		"0001-01-01T00:00:00Z":   math.MinInt64,
	} {
		if got := at(s).Sub(now); got != want {
			t.Errorf("%s: %v, want %v", s, got, want)
		}
	}
}
