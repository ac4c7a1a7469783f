package rest

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"frontdesk/internal/kernel/id"
)

// limiter is a GCRA per organization: a plan's limit is its burst, and
// replenishes continuously over the following minute.
type limiter struct {
	mu    sync.Mutex
	until map[id.ID]time.Time // the theoretical arrival time
	swept time.Time
}

// verdict is what the headers tell.
type verdict struct {
	limit, remaining int
	reset, retry     time.Duration
	ok               bool
}

// spend takes one request from the organization's allowance per minute.
func (l *limiter) spend(org id.ID, limit int, now time.Time) verdict {
	step := time.Minute / time.Duration(limit)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil || now.Sub(l.swept) > 10*time.Minute {
		l.sweep(now)
	}
	debt := max(l.until[org].Sub(now), 0)
	after := debt + step
	if after > time.Minute {
		return verdict{limit: limit, remaining: 0, reset: debt, retry: after - time.Minute}
	}
	l.until[org] = now.Add(after)
	return verdict{limit: limit, remaining: int((time.Minute - after) / step), reset: after, ok: true}
}

// sweep forgets whoever has its whole allowance back.
func (l *limiter) sweep(now time.Time) {
	kept := map[id.ID]time.Time{}
	for org, until := range l.until {
		if until.After(now) {
			kept[org] = until
		}
	}
	l.until, l.swept = kept, now
}

// The names are written as the specification writes them, not as Go would.
func (v verdict) headers(h http.Header) {
	h["X-RateLimit-Limit"] = []string{strconv.Itoa(v.limit)}
	h["X-RateLimit-Remaining"] = []string{strconv.Itoa(v.remaining)}
	h["X-RateLimit-Reset"] = []string{strconv.Itoa(seconds(v.reset))}
}

// seconds rounds up, so that whoever waits so long has waited enough.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
