package limit

import "sync"

// ConcurrencyLimiter bounds how many of something run at the same time for one key, such as exports of an organization,
// so that others have room too.
type ConcurrencyLimiter[K comparable] struct {
	Most int // at the same time, per key

	mu   sync.Mutex
	busy map[K]int
}

// Begin reports whether one more may begin for k. If so, the caller must call end when it is done; calling it again
// does nothing.
func (c *ConcurrencyLimiter[K]) Begin(k K) (end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[k] >= c.Most {
		return nil, false
	}
	if c.busy == nil {
		c.busy = map[K]int{}
	}
	c.busy[k]++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.busy[k]--; c.busy[k] == 0 {
			delete(c.busy, k)
		}
	}), true
}
