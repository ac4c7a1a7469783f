package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// crowd lets many clients come at once to one process: those that it cannot serve
// are told so quickly, it stays ready, takes little memory, and a second later it
// is as fast as before.
func crowd(ctx context.Context, w *world, r *report) error {
	w.processes, w.failovers, w.skew = 1, 0, 0
	l, err := w.begin(ctx, r)
	if err != nil {
		return err
	}
	defer l.hooks.Close()
	p := w.fleet[0]
	l.visit(ctx, p, "to warm up", 16, w.stay/4)
	before, _ := l.visit(ctx, p, "before the crowd", 16, w.stay/4)
	memory, _ := p.memory()
	say("%d clients at once", w.clients)
	looking, stop := context.WithCancel(ctx)
	var look sync.WaitGroup
	look.Go(func() { l.watch(looking, p) })
	served, turned := l.visit(ctx, p, "in the crowd", w.clients, w.stay)
	stop()
	look.Wait()
	if err := wait(ctx, time.Second); err != nil {
		return err
	}
	after, refused := l.visit(ctx, p, "a second after the crowd", 16, w.stay/4)
	left, peak := p.memory()
	r.add("clients at once", w.clients)
	r.add("MB of memory before the crowd", memory)
	r.add("MB of memory at most", peak)
	r.add("MB of memory a second after the crowd", left)
	switch {
	case served == 0:
		r.wrong("nobody was served in the crowd")
	case peak > 1024:
		r.wrong("%d MB of memory for %d clients", peak, w.clients)
	case w.short: // the rest depends on what else the machine does
	case turned == 0:
		r.wrong("nobody was turned away in the crowd")
	case refused > 0:
		r.wrong("%d requests were turned away a second after the crowd", refused)
	case after < before*3/4:
		r.wrong("%d requests a second after the crowd, %d before", after, before)
	}
	return nil
}

// visit has clients make contacts for a while, and returns how many were served and
// how many were turned away.
func (l *load) visit(ctx context.Context, p *process, when string, clients int, length time.Duration) (int, int) {
	var served, turned atomic.Int64
	var all sync.WaitGroup
	visit, leave := context.WithTimeout(ctx, length)
	defer leave()
	for range clients {
		all.Go(func() {
			for visit.Err() == nil {
				began := time.Now()
				a := l.callTo(ctx, p, post(l.keys[0], "/v1/contacts", "", `{"lastName": "Crowd"}`))
				switch a.outcome {
				case done:
					served.Add(1)
					l.report.lag("served "+when, time.Since(began))
				case notDone:
					turned.Add(1)
					l.report.lag("turned away "+when, time.Since(began))
					wait(visit, a.retryAfter) //nolint:errcheck // it is time to leave
				case refused, unknown:
					l.report.wrong("%s: %d %v", when, a.status, a.body)
				}
			}
		})
	}
	all.Wait()
	l.report.add("requests served "+when, int(served.Load()))
	l.report.add("requests turned away "+when, int(turned.Load()))
	return int(served.Load()), int(turned.Load())
}

// watch asks whether the process is ready, as a balancer would.
func (l *load) watch(ctx context.Context, p *process) {
	for wait(ctx, 200*time.Millisecond) == nil {
		began := time.Now()
		ready := p.ready(ctx)
		if ctx.Err() != nil {
			return
		}
		l.report.lag("/readyz in the crowd", time.Since(began))
		if !ready {
			l.report.count("times that /readyz was not 200 in the crowd")
			if !l.world.short {
				l.report.wrong("/readyz in the crowd was not 200 within %s", time.Since(began))
			}
		}
	}
}

// memory is what the process has of it now, and had at most, in MB.
func (p *process) memory() (now, most int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kb, _ := strconv.Atoi(fields[1]) //nolint:errcheck // other lines have no number
		switch fields[0] {
		case "VmRSS:":
			now = kb / 1024
		case "VmHWM:":
			most = kb / 1024
		}
	}
	return now, most
}
