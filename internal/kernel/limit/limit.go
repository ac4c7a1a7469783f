// Package limit keeps allowances: so many requests per time for each key, such as a caller or an address.
//
// limit.go has Limiter, in the memory of one process: the whole allowance may be spent at once and comes back
// continuously. It is the generic cell rate algorithm (GCRA), which needs one moment per key, the time when the whole
// allowance will be back; the distance to it is what is spent. window.go has WindowLimiter, which counts exactly over
// the last span of time and needs a moment per request. concurrent.go bounds what runs at the same time.
//
// Several processes over PostgreSQL share allowances through a Ledger (shared.go): ExactLimiter asks it for every
// request, LeasedLimiter (leased.go) takes small blocks from it and asks rarely. On SQLite there is one process and no
// Ledger, and both are a Limiter.
//
// Nothing here decides what is limited or by how much; the callers pass the numbers.
package limit

import (
	"fmt"
	"sync"
	"time"
)

// Limiter keeps one allowance per key. The zero value is ready.
type Limiter[K comparable] struct {
	mu    sync.Mutex
	until map[K]time.Time // when the key has its whole allowance back; a key that is missing has it
	swept time.Time       // when idle keys were last dropped
}

// Verdict says whether a request may go on, and what is left of the allowance.
type Verdict struct {
	Limit     int
	Remaining int
	Reset     time.Duration // until the whole allowance is back
	Retry     time.Duration // until one more may be spent
	OK        bool
}

// maxKeys bounds the memory: an attacker can call from any number of addresses, and each is a key.
const maxKeys = 1 << 17

// Spend takes one request from the key's allowance of n per time.
func (l *Limiter[K]) Spend(key K, n int, per time.Duration, now time.Time) Verdict {
	return l.SpendMany(key, 1, n, per, now)
}

// SpendMany takes several requests at once, or none if the allowance does not suffice.
func (l *Limiter[K]) SpendMany(key K, times, n int, per time.Duration, now time.Time) Verdict {
	step := per / time.Duration(max(n, 1)) // the time in which one request comes back
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil || now.Sub(l.swept) > 10*time.Minute {
		l.dropIdleKeys(now)
	}
	debt := max(l.until[key].Sub(now), 0)
	after := debt + time.Duration(times)*step
	if after > per {
		return Verdict{Limit: n, Reset: debt, Retry: after - per}
	}
	if _, known := l.until[key]; !known && len(l.until) >= maxKeys {
		l.evictKeys(now)
	}
	l.until[key] = now.Add(after)
	return Verdict{Limit: n, Remaining: int((per - after) / step), Reset: after, OK: true}
}

// Peek says what is left of the key's allowance, and spends nothing.
func (l *Limiter[K]) Peek(key K, n int, per time.Duration, now time.Time) Verdict {
	step := per / time.Duration(max(n, 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	debt := max(l.until[key].Sub(now), 0)
	return Verdict{Limit: n, Remaining: int((per - debt) / step), Reset: debt, Retry: max(debt+step-per, 0),
		OK: debt+step <= per}
}

// Refund gives back one request that was spent and should not count.
func (l *Limiter[K]) Refund(key K, n int, per time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until, ok := l.until[key]; ok {
		l.until[key] = until.Add(-per / time.Duration(max(n, 1)))
	}
}

// dropIdleKeys drops the keys that have their whole allowance back, which is the same as not knowing them.
func (l *Limiter[K]) dropIdleKeys(now time.Time) {
	kept := map[K]time.Time{}
	for key, until := range l.until {
		if until.After(now) {
			kept[key] = until
		}
	}
	l.until, l.swept = kept, now
}

// evictKeys drops arbitrary keys when dropping idle ones does not make enough room. Their callers get a fresh
// allowance: this limit does not stop somebody who calls from so many addresses anyway.
func (l *Limiter[K]) evictKeys(now time.Time) {
	if now.Sub(l.swept) > time.Second {
		l.dropIdleKeys(now)
	}
	for key := range l.until {
		if len(l.until) < maxKeys {
			return
		}
		delete(l.until, key)
	}
}

// CeilSeconds is a duration in seconds, rounded up, so that waiting that long is always enough.
func CeilSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// WaitInWords rounds a wait to words for people. A refusal's RetryAfter has the exact
// time.
func WaitInWords(d time.Duration) string {
	switch {
	case d > 23*time.Hour:
		return "a day"
	case d > time.Hour:
		return fmt.Sprintf("%d hours", (d+time.Hour-1)/time.Hour)
	case d > 30*time.Minute:
		return "an hour"
	case d > 15*time.Minute:
		return "half an hour"
	case d > 90*time.Second:
		return "a few minutes"
	}
	return "a minute"
}
