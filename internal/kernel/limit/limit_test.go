package limit

import (
	"testing"
	"time"
)

func TestSpend(t *testing.T) {
	var l Limiter[string]
	now := time.Unix(1_000_000, 0)
	for i := range 10 {
		if v := l.Spend("a", 10, time.Minute, now); !v.OK || v.Remaining != 9-i {
			t.Fatalf("request %d: %+v", i, v)
		}
	}
	v := l.Spend("a", 10, time.Minute, now)
	if v.OK || Seconds(v.Retry) != 6 || v.Reset != time.Minute {
		t.Errorf("the eleventh: %+v", v)
	}
	if !l.Spend("b", 10, time.Minute, now).OK {
		t.Error("another key pays for it")
	}
	if v := l.Spend("a", 10, time.Minute, now.Add(v.Retry)); !v.OK {
		t.Errorf("whoever waits as told: %+v", v)
	}
	if v := l.Spend("a", 10, time.Minute, now.Add(time.Hour)); v.Remaining != 9 {
		t.Errorf("an hour later: %+v", v)
	}
}

// Keys are chosen by callers, so there may be too many of them.
func TestBound(t *testing.T) {
	var l Limiter[int]
	now := time.Unix(1_000_000, 0)
	for i := range maxKeys + 1000 {
		l.Spend(i, 10, time.Minute, now)
	}
	if len(l.until) > maxKeys {
		t.Errorf("%d keys are kept", len(l.until))
	}
}
