package main

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	planned  = 600 // requests a minute that the free plan allows here
	guesses  = 5   // wrong passwords that one address may send for one account
	tolerant = 2   // percent more or less than the plan
)

// limits lets callers ask all processes for more than their plan allows. Together
// the processes serve what the plan says, also when one of them dies and comes back.
// Wrong passwords are counted to the last.
func limits(ctx context.Context, w *world, r *report) error {
	w.failovers, w.skew = 0, 0
	l, err := w.begin(ctx, r)
	if err != nil {
		return err
	}
	defer l.hooks.Close()
	key, err := l.organization(ctx, "limited@example.com", "Limited", "free")
	if err != nil {
		return err
	}
	l.guess(ctx, "limited@example.com")
	var served, refused atomic.Int64
	began := time.Now()
	asking, stop := context.WithTimeout(ctx, w.hurry)
	defer stop()
	var all sync.WaitGroup
	for _, p := range w.fleet {
		for range 4 {
			all.Go(func() {
				for asking.Err() == nil {
					switch a := l.callTo(ctx, p, get(key, "/v1/contacts")); {
					case a.outcome == done:
						served.Add(1)
						continue
					case a.status == http.StatusTooManyRequests:
						refused.Add(1)
					case a.status != 0 && a.status != http.StatusServiceUnavailable:
						r.wrong("a caller with a plan got %d %v", a.status, a.body)
					}
					wait(asking, 50*time.Millisecond) //nolint:errcheck // it is time to stop
				}
			})
		}
	}
	if err := wait(ctx, w.hurry/2); err != nil {
		return err
	}
	p := w.fleet[0]
	calm := p.inTrouble()
	p.kill()
	err = p.start(ctx)
	calm()
	if err != nil {
		return err
	}
	all.Wait()
	r.faults = map[string]int{"kill": 1}
	took := time.Since(began)
	allowed := planned * (1 + took.Minutes()) // all at once, and then as it comes back
	r.add("requests that the plan allowed", int(allowed))
	r.add("requests served", int(served.Load()))
	r.add("requests beyond the plan", int(refused.Load()))
	off := 100 * (float64(served.Load()) - allowed) / allowed
	if off > tolerant || !w.short && math.Abs(off) > tolerant { // a busy machine serves less in a short time
		r.wrong("%d requests were served in %s, %.1f %% off the plan", served.Load(), took, off)
	}
	return nil
}

// guess sends wrong passwords to all processes at once.
func (l *load) guess(ctx context.Context, email string) {
	var wrong, refused atomic.Int64
	var all sync.WaitGroup
	for _, p := range l.world.fleet {
		all.Go(func() {
			for range 2 * guesses {
				switch status := p.signIn(ctx, email, "not the password"); status {
				case http.StatusUnauthorized:
					wrong.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				default:
					l.report.wrong("a wrong password got %d", status)
				}
			}
		})
	}
	all.Wait()
	l.report.add("wrong passwords looked at", int(wrong.Load()))
	l.report.add("wrong passwords refused", int(refused.Load()))
	if wrong.Load() != guesses {
		l.report.wrong("%d wrong passwords were looked at instead of %d", wrong.Load(), guesses)
	}
}

// signIn sends the form of the sign-in page, and returns the status of the answer.
func (p *process) signIn(ctx context.Context, email, password string) int {
	form := url.Values{"email": {email}, "password": {password}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+"/sign-in",
		strings.NewReader(form))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}
