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
	if v.OK || CeilSeconds(v.Retry) != 6 || v.Reset != time.Minute {
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

// A look says what Spend said, and spends nothing.
func TestLook(t *testing.T) {
	var l Limiter[string]
	now := time.Unix(1_000_000, 0)
	if v := l.Peek("a", 10, time.Minute, now); v != (Verdict{Limit: 10, Remaining: 10, OK: true}) {
		t.Errorf("nothing spent: %+v", v)
	}
	for range 10 {
		spent := l.Spend("a", 10, time.Minute, now)
		for range 2 {
			if v := l.Peek("a", 10, time.Minute, now); v.Remaining != spent.Remaining || v.Reset != spent.Reset ||
				v.OK != (spent.Remaining > 0) {
				t.Errorf("%+v after %+v", v, spent)
			}
		}
	}
	if v := l.Peek("a", 10, time.Minute, now.Add(6*time.Second)); !v.OK || v.Remaining != 1 {
		t.Errorf("a tenth of the time later: %+v", v)
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
