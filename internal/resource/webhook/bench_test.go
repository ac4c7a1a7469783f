package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// BenchmarkWebhooks tells three endpoints of 10,000 events: one is healthy,
// one never answers and one takes half a second. It prints how fast the healthy
// one is told, and how far behind it is at a pace below that.
func BenchmarkWebhooks(b *testing.B) {
	a := apptest.Start(b, db.SQLite)
	begin(b, a)
	call := a.Door("action", a.Tenant)
	healthy := newEndpoint(b, nil)
	slow := newEndpoint(b, func(http.ResponseWriter, *http.Request) { time.Sleep(500 * time.Millisecond) })
	for _, url := range []string{healthy.server.URL, slow.server.URL, blackhole(b)} {
		subscribe(b, call, url, "contact.created")
	}
	create := func() string { return call(b, "contacts.create", `{"firstName": "Ada"}`).OK(b, 201).Text("id") }

	const events, paced = 10_000, 500
	b.ResetTimer()
	for range b.N {
		before := len(healthy.all())
		began := time.Now()
		var next atomic.Int64
		apptest.AtOnce(16, func(int) {
			for next.Add(1) <= events {
				create()
			}
		})
		written := time.Since(began)
		for len(healthy.all()) < before+events {
			time.Sleep(10 * time.Millisecond)
		}
		took := time.Since(began)

		var mu sync.Mutex
		made := map[string]time.Time{}
		var wg sync.WaitGroup
		tick := time.NewTicker(10 * time.Millisecond)
		for range paced {
			<-tick.C
			wg.Go(func() {
				id := create()
				mu.Lock()
				defer mu.Unlock()
				made[id] = time.Now()
			})
		}
		tick.Stop()
		wg.Wait()
		var lags []time.Duration
		for _, v := range healthy.wait(before + events + paced)[before+events:] {
			lags = append(lags, v.at.Sub(made[v.event.ResourceID]))
		}
		slices.Sort(lags)
		fmt.Printf("webhooks: %d events written in %.1f s, told in %.1f s: %.0f/s; beside a dead and a slow endpoint (%d told). At 100 events/s the lag is %v in the median, %v at p99\n",
			events, written.Seconds(), took.Seconds(), events/took.Seconds(), len(slow.all()), lags[len(lags)/2].Round(time.Millisecond), lags[len(lags)*99/100].Round(time.Millisecond))
	}
}
