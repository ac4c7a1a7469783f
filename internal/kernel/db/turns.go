package db

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// turnQueue hands out the connections of a pool. Requests that have been served once go
// first: a request has several transactions, and if it stood at the end of the
// queue for each of them, a crowd would make it wait several times, and turn it
// away after it was half served.
type turnQueue struct {
	mu           sync.Mutex
	free         int       // turns that nobody has; while there are some, nobody waits
	first, again list.List // of chan struct{}, closed when its turn comes: new requests, and those served before
}

// requestKey holds whether a request has had a turn, an *atomic.Bool.
type requestKey struct{}

// WithRequestTurn is the context of a request of several transactions, which waits for its
// turn at the database once.
func WithRequestTurn(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, new(atomic.Bool))
}

// takeTurn waits for a turn, for at most d, and returns errNoFreeConnection after that.
func (t *turnQueue) takeTurn(ctx context.Context, d time.Duration) error {
	served, _ := ctx.Value(requestKey{}).(*atomic.Bool)
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		if served != nil {
			served.Store(true)
		}
		return nil
	}
	queue := &t.first
	if served != nil && served.Load() {
		queue = &t.again
	}
	mine := make(chan struct{})
	place := queue.PushBack(mine)
	t.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	var err error
	select {
	case <-mine:
	case <-timer.C:
		err = errNoFreeConnection
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && t.leaveQueue(queue, place, mine) {
		return err
	}
	if served != nil {
		served.Store(true)
	}
	return nil
}

// leaveQueue gives up a place in a queue, and reports whether it did. It did not if the
// turn came just now: then the caller has it and must use it.
func (t *turnQueue) leaveQueue(queue *list.List, place *list.Element, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-mine:
		return false
	default:
		queue.Remove(place)
		return true
	}
}

// giveTurn passes a turn on: to a request that was served before, else to a new one.
func (t *turnQueue) giveTurn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, queue := range []*list.List{&t.again, &t.first} {
		if place := queue.Front(); place != nil {
			close(queue.Remove(place).(chan struct{}))
			return
		}
	}
	t.free++
}
