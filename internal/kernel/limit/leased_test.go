package limit

import (
	"testing"
	"time"
)

// What is left of a block counts until it expires, and not a moment longer.
func TestKeepBlock(t *testing.T) {
	const n, per = 100, 100 * time.Minute
	l := LeasedLimiter[string]{Per: per}
	now := time.Unix(1_000_000, 0)
	got := func(at time.Time) leasedBlock { return leasedBlock{left: 10, at: at, expires: at.Add(time.Minute)} }
	for _, c := range []struct {
		after time.Duration
		left  int
	}{{0, 9}, {30 * time.Second, 18}, {90*time.Second - 1, 27}, {5 * time.Minute, 9}} {
		l.keepBlock("ada", got(now.Add(c.after)), true, 1, n)
		if left := l.held["ada"].left; left != c.left {
			t.Errorf("after %v: %d left, want %d", c.after, left, c.left)
		}
	}
	if v := l.keepBlock("bob", leasedBlock{at: now, spent: per}, false, 1, n); v.OK {
		t.Errorf("the ledger refused, and this was let through: %+v", v)
	}
	v, known := l.spendFromBlock("bob", 1, n, now.Add(time.Second/2))
	if !known || v.OK || v.Retry <= 0 {
		t.Errorf("half a second after a refusal: known %v, %+v", known, v)
	}
	if _, known := l.spendFromBlock("bob", 1, n, now.Add(2*time.Second)); known {
		t.Error("two seconds after a refusal the ledger is not asked again")
	}
}

// A process forgets blocks that have expired, and keeps its map within bounds.
func TestDropExpiredBlocks(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := LeasedLimiter[int]{held: map[int]*leasedBlock{}}
	for k := range 10 {
		l.held[k] = &leasedBlock{expires: now.Add(time.Duration(k-5) * time.Second)}
	}
	l.dropExpiredBlocks(now)
	for k := range 10 {
		if kept := l.held[k] != nil; kept != (k > 5) {
			t.Errorf("a block that expires in %d s: kept %v", k-5, kept)
		}
	}
	for k := range maxKeys {
		l.held[k] = &leasedBlock{expires: now.Add(time.Hour)}
	}
	if l.dropExpiredBlocks(now); len(l.held) != maxKeys/2 {
		t.Errorf("%d blocks are kept of %d", len(l.held), maxKeys)
	}
}

// A wait is never told to be shorter than it is by more than a little.
func TestWaitInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "a minute", 2 * time.Minute: "a few minutes", 16 * time.Minute: "half an hour",
		31 * time.Minute: "an hour", 61 * time.Minute: "2 hours", 5 * time.Hour: "5 hours", 24 * time.Hour: "a day",
	} {
		if got := WaitInWords(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}
