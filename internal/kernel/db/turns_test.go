package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Whoever had a turn before goes first; the others come in their order.
func TestTurns(t *testing.T) {
	ctx := t.Context()
	turns := &turnQueue{free: 1}
	served := WithRequestTurn(ctx)
	if err := turns.takeTurn(served, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := turns.takeTurn(ctx, time.Millisecond); !errors.Is(err, errNoFreeConnection) {
		t.Errorf("a second turn at once: %v", err)
	}
	var order []string
	var all sync.WaitGroup
	for i, c := range []struct {
		name string
		ctx  context.Context
	}{{"first", WithRequestTurn(ctx)}, {"second", ctx}, {"known", served}} {
		all.Go(func() {
			if err := turns.takeTurn(c.ctx, time.Hour); err != nil {
				t.Error(err)
			}
			order = append(order, c.name) // one has the turn at a time
			turns.giveTurn()
		})
		for waiting := 0; waiting <= i; time.Sleep(time.Millisecond) {
			turns.mu.Lock()
			waiting = turns.first.Len() + turns.again.Len()
			turns.mu.Unlock()
		}
	}
	turns.giveTurn()
	all.Wait()
	if want := []string{"known", "first", "second"}; !slices.Equal(order, want) {
		t.Errorf("the turns came to %v, want %v", order, want)
	}
}

// However many give up while their turn comes, no turn is lost or had twice.
func TestTurnsUnderWay(t *testing.T) {
	turns := &turnQueue{free: 3}
	var busy, had atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			ctx := WithRequestTurn(t.Context())
			for range 200 {
				ctx, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(500))*time.Microsecond)
				if turns.takeTurn(ctx, time.Duration(rand.IntN(500))*time.Microsecond) == nil {
					if busy.Add(1) > 3 {
						t.Error("more turns than there are")
					}
					had.Add(1)
					busy.Add(-1)
					turns.giveTurn()
				}
				cancel()
			}
		})
	}
	all.Wait()
	if turns.free != 3 || turns.first.Len()+turns.again.Len() > 0 || had.Load() == 0 {
		t.Errorf("%d of 3 turns are free, %d were had", turns.free, had.Load())
	}
}
