package limit

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Ten at once, one a moment after the first has left, and none in between: a
// bucket that refills would let some through.
func TestWindow(t *testing.T) {
	var w WindowLimiter[string]
	now := time.Unix(1_000_000, 0)
	for i := range 10 {
		if v := w.Spend("a", 10, time.Minute, now.Add(time.Duration(i)*time.Second)); !v.OK || v.Remaining != 9-i {
			t.Fatalf("request %d: %+v", i, v)
		}
	}
	for _, after := range []time.Duration{9, 15, 30, 59} {
		if v := w.Spend("a", 10, time.Minute, now.Add(after*time.Second)); v.OK || v.Retry != (60-after)*time.Second {
			t.Errorf("after %d s: %+v", after, v)
		}
	}
	if !w.Spend("b", 10, time.Minute, now.Add(30*time.Second)).OK {
		t.Error("another key pays for it")
	}
	if v := w.Spend("a", 10, time.Minute, now.Add(60*time.Second)); !v.OK || v.Remaining != 0 {
		t.Errorf("when the first has left: %+v", v)
	}
	if v := w.Spend("a", 10, time.Minute, now.Add(60*time.Second)); v.OK || v.Retry != time.Second {
		t.Errorf("one more: %+v", v)
	}
	if v := w.Spend("a", 10, time.Minute, now.Add(time.Hour)); v.Remaining != 9 {
		t.Errorf("an hour later: %+v", v)
	}
	if v := w.Spend("a", 0, time.Minute, now.Add(time.Hour)); v.OK {
		t.Errorf("none is allowed: %+v", v)
	}
}

// However requests come, no span holds more than the limit, and whoever could
// be let through is.
func TestWindowIsExact(t *testing.T) {
	var w WindowLimiter[int]
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Unix(1_000_000, 0)
	var passed []time.Time
	for range 5000 {
		now = now.Add(time.Duration(random.IntN(8000)) * time.Millisecond)
		inside := 0
		for _, p := range passed {
			if now.Sub(p) < time.Minute {
				inside++
			}
		}
		v := w.Spend(7, 10, time.Minute, now)
		if v.OK != (inside < 10) {
			t.Fatalf("%d in the last minute, and %+v", inside, v)
		}
		if v.OK {
			passed = append(passed, now)
		}
	}
}

// Keys are chosen by callers, so there may be too many of them.
func TestWindowBound(t *testing.T) {
	var w WindowLimiter[int]
	now := time.Unix(1_000_000, 0)
	for i := range maxKeys + 1000 {
		w.Spend(i, 10, time.Minute, now)
	}
	if len(w.at) > maxKeys {
		t.Errorf("%d keys are kept", len(w.at))
	}
	var many WindowLimiter[int]
	for range maxMoments + 10 {
		many.Spend(1, 2*maxMoments, time.Minute, now)
	}
	if many.count > maxMoments {
		t.Errorf("%d moments are kept", many.count)
	}
}
