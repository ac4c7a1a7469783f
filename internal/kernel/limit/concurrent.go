package limit

import "sync"

// Concurrent bounds how much of something one party does at a time, so that it
// leaves room for the others.
type Concurrent[K comparable] struct {
	Most int

	mu   sync.Mutex
	busy map[K]int
}

// Begin reports whether k may begin. If so, end is called when it is done; a
// second call does nothing.
func (c *Concurrent[K]) Begin(k K) (end func(), ok bool) {
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
