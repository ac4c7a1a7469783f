package limit

import (
	"sync"
	"time"
)

// WindowLimiter counts exactly: it lets through at most n requests per key in any span of time, wherever the span
// begins. It remembers the moment of each request, so it is for small numbers. The zero value is ready.
type WindowLimiter[K comparable] struct {
	mu    sync.Mutex
	at    map[K][]int64 // the moments of requests in Unix nanoseconds, oldest first
	count int           // how many moments all keys have together
	swept time.Time     // when old moments of all keys were last dropped
}

// maxMoments bounds the memory, to about 10 MB.
const maxMoments = 1 << 20

// Spend takes one request from the key's allowance of n in any span. A refused
// request does not count.
func (w *WindowLimiter[K]) Spend(key K, n int, span time.Duration, now time.Time) Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == nil || now.Sub(w.swept) > span {
		w.dropAllOldMoments(span, now)
	}
	w.dropOldMoments(key, span, now)
	at := w.at[key]
	if len(at) >= n {
		v := Verdict{Limit: n, Retry: span, Reset: span}
		if len(at) > 0 {
			// One more may be spent when the n-th last request leaves the span, all when the last one does.
			v.Retry = time.Duration(at[len(at)-max(n, 1)] + int64(span) - now.UnixNano())
			v.Reset = time.Duration(at[len(at)-1] + int64(span) - now.UnixNano())
		}
		return v
	}
	if w.count >= maxMoments || len(w.at) >= maxKeys && len(at) == 0 {
		w.evictKeys(span, now)
		at = w.at[key]
	}
	w.at[key] = append(at, now.UnixNano())
	w.count++
	return Verdict{Limit: n, Remaining: n - len(at) - 1, Reset: span, OK: true}
}

// dropOldMoments drops the moments of a key that have left the span.
func (w *WindowLimiter[K]) dropOldMoments(key K, span time.Duration, now time.Time) {
	at, gone := w.at[key], 0
	for gone < len(at) && at[gone] <= now.UnixNano()-int64(span) {
		gone++
	}
	if gone == 0 {
		return
	}
	w.count -= gone
	if gone == len(at) {
		delete(w.at, key)
		return
	}
	w.at[key] = append(at[:0], at[gone:]...)
}

// dropAllOldMoments drops the moments of all keys that have left the span.
func (w *WindowLimiter[K]) dropAllOldMoments(span time.Duration, now time.Time) {
	if w.at == nil {
		w.at = map[K][]int64{}
	}
	for key := range w.at {
		w.dropOldMoments(key, span, now)
	}
	w.swept = now
}

// evictKeys drops arbitrary keys when dropping old moments does not make enough room: this limit does not stop somebody
// who calls from so many addresses anyway.
func (w *WindowLimiter[K]) evictKeys(span time.Duration, now time.Time) {
	if now.Sub(w.swept) > time.Second {
		w.dropAllOldMoments(span, now)
	}
	for key, at := range w.at {
		if w.count < maxMoments && len(w.at) < maxKeys {
			return
		}
		w.count -= len(at)
		delete(w.at, key)
	}
}
