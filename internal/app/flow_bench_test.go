package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// BenchmarkEventFlow sends 10,000 events (or FRONTDESK_BENCH_EVENTS) past five
// automations, of which two run and three are skipped, and three endpoints, of
// which one never answers and one takes half a second. Then it sends some at a
// pace that leaves nobody behind, to tell how late they are heard. All of it
// is done again without the dead and the slow endpoint, which must make no
// difference to the healthy one and the automations. One round is enough:
//
//	go test -run ^$ -bench EventFlow -benchtime 1x ./internal/app
func BenchmarkEventFlow(b *testing.B) {
	n := 10_000
	if s := os.Getenv("FRONTDESK_BENCH_EVENTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		alone, beside := measureFlow(b, n, false), measureFlow(b, n, true)
		fmt.Printf("beside one healthy endpoint:          %s\n", alone)
		fmt.Printf("and a dead and a slow one (%4d told): %s\n", beside.slow, beside)
		// Whoever waits for the dead one waits for ten seconds; the rest is noise.
		if beside.told < 0.4*alone.told || beside.executed < 0.4*alone.executed {
			b.Errorf("a dead and a slow endpoint slow the others down")
		}
		if beside.heard.p95 > alone.heard.p95+time.Second || beside.ended.p95 > alone.ended.p95+time.Second {
			b.Errorf("the healthy endpoint and the automations wait for a dead and a slow one")
		}
		b.ReportMetric(beside.told, "events-told/s")
		b.ReportMetric(beside.executed, "executions/s")
		b.ReportMetric(beside.cpu, "cpu-ms/event")
	}
}

// lags are how late things are, from the event on.
type lags struct{ p50, p95, p99 time.Duration }

func lagsOf(list []time.Duration) lags {
	slices.Sort(list)
	at := func(percent int) time.Duration { return list[len(list)*percent/100].Round(time.Millisecond) }
	return lags{at(50), at(95), at(99)}
}

func (l lags) String() string { return fmt.Sprintf("p50 %v, p95 %v, p99 %v", l.p50, l.p95, l.p99) }

// flowed is what a run came to.
type flowed struct {
	written, told, executed float64 // per second, of the flood
	cpu                     float64 // milliseconds per event of it, load and endpoints included
	heard, ended            lags    // at a pace
	slow                    int     // that the slow endpoint was told of
}

func (f *flowed) String() string {
	return fmt.Sprintf("%.0f events/s written, %.0f/s told, %.0f executions/s, %.1f ms of CPU per event; at %d "+
		"events/s heard after %v; executions end after %v",
		f.written, f.told, f.executed, f.cpu, flowPace, f.heard, f.ended)
}

const (
	flowPace  = 20  // events per second
	flowPaced = 400 // events
)

// ear is an endpoint that notes when it was told of which event.
type ear struct {
	*httptest.Server
	mu sync.Mutex
	at map[string]time.Time
}

func newEar(b *testing.B, takes time.Duration) *ear {
	b.Helper()
	e := &ear{at: map[string]time.Time{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		now := time.Now()
		io.Copy(io.Discard, r.Body) //nolint:errcheck // it is only counted
		e.mu.Lock()
		e.at[r.Header.Get("Webhook-Id")] = now
		e.mu.Unlock()
		time.Sleep(takes)
	}))
	b.Cleanup(e.Close)
	return e
}

func (e *ear) heard() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.at)
}

// cpuTime is what this process has used: steadier than the clock on a machine
// that does other things too.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func measureFlow(b *testing.B, n int, troubled bool) *flowed {
	b.Helper()
	settings := apptest.Settings(b, db.SQLite)
	settings.Workers = 8 // as by default
	a := apptest.StartWith(b, settings)
	healthy, slow := newEar(b, 0), newEar(b, 500*time.Millisecond)
	urls := []string{healthy.URL}
	if troubled {
		dead, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
		if err != nil {
			b.Fatal(err)
		}
		defer dead.Close()
		urls = append(urls, slow.URL, "http://"+dead.Addr().String())
	}
	for _, url := range urls {
		a.SendREST(b, a.Key, "POST", "/v1/webhooks",
			fmt.Sprintf(`{"url": %q, "events": ["contact.created"]}`, url)).OK(b, 201)
	}
	for i := range 5 {
		condition := "event.data.firstName.startsWith('N')"
		if i > 1 {
			condition = "event.data.jobTitle == 'Nobody'"
		}
		text, err := json.Marshal(condition)
		if err != nil {
			b.Fatal(err)
		}
		a.SendREST(b, a.Key, "POST", "/v1/automations",
			fmt.Sprintf(`{"name": "x", "trigger": {"kind": "event", "event": "contact.created"}, "condition": %s,
			"steps": [{"operation": "tasks.create", "input": {"title": "Call {{ event.data.firstName }}",
				"contactId": "{{ event.resourceId }}"}}]}`, text)).OK(b, 201)
	}
	if err := a.Jobs.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	defer a.Jobs.Stop(context.Background()) //nolint:errcheck // it is over
	call := a.Door("action", a.Tenant)
	create := func(i int) {
		call(b, "contacts.create", fmt.Sprintf(`{"firstName": "N%d"}`, i)).OK(b, 201)
	}
	count := func(text string, args ...any) (k int) {
		err := a.DB.Read(b.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			k, err = db.QueryOne[int](ctx, tx, text, append([]any{a.Org}, args...)...)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		return k
	}
	out := &flowed{}
	settle := func(events int) (heard, ended time.Time) {
		for heard.IsZero() || ended.IsZero() {
			time.Sleep(10 * time.Millisecond)
			if heard.IsZero() && healthy.heard() >= events {
				heard = time.Now()
			}
			if ended.IsZero() &&
				count(`SELECT CASE WHEN EXISTS (SELECT 1 FROM jobs WHERE organization_id = $1 AND kind = 'event.fan_out'
				AND state = 'ready' AND attempt = 0)
				OR EXISTS (SELECT 1 FROM automation_executions WHERE organization_id = $1 AND status = 'queued'
					AND deleted_at IS NULL)
				OR EXISTS (SELECT 1 FROM automation_executions WHERE organization_id = $1 AND status = 'running'
					AND deleted_at IS NULL) THEN 1 ELSE 0 END`) == 0 {
				ended = time.Now()
			}
		}
		return heard, ended
	}
	began, worked := time.Now(), cpuTime(b)
	var next atomic.Int64
	apptest.RunAtOnce(32, func(int) {
		for i := next.Add(1); i <= int64(n); i = next.Add(1) {
			create(int(i))
		}
	})
	out.written = float64(n) / time.Since(began).Seconds()
	heard, ended := settle(n)
	out.cpu = float64((cpuTime(b) - worked).Microseconds()) / 1000 / float64(n)
	out.told, out.executed = float64(n)/heard.Sub(began).Seconds(), float64(5*n)/ended.Sub(began).Seconds()

	mark := a.Clock.Now()
	var wg sync.WaitGroup
	tick := time.NewTicker(time.Second / flowPace)
	for i := range flowPaced {
		<-tick.C
		wg.Go(func() { create(i) })
	}
	tick.Stop()
	wg.Wait()
	settle(n + flowPaced)
	out.slow = slow.heard()
	all := n + flowPaced
	if tasks, skips := count("SELECT count(*) FROM tasks WHERE organization_id = $1"), count(`
		SELECT count(*)
		FROM automation_executions
		WHERE organization_id = $1 AND status = 'skipped'`); tasks != 2*all || skips != 3*all {
		b.Fatalf("%d tasks and %d skipped executions for %d events", tasks, skips, all)
	}
	type row struct {
		ID    string     `db:"id"`
		At    clock.Time `db:"created_at"`
		Ended clock.Time `db:"ended"`
	}
	var rows []row
	err := a.DB.Read(b.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.QueryAll[row](ctx, tx, `
			SELECT e.id, e.created_at, x.completed_at AS ended FROM events e
			JOIN automation_executions x ON x.organization_id = $1 AND x.event_id = e.id AND x.status = 'succeeded'
			WHERE e.organization_id = $1 AND e.created_at >= $2`, a.Org, mark)
		return err
	})
	if err != nil || len(rows) != 2*flowPaced {
		b.Fatalf("%d executions at a pace: %v", len(rows), err)
	}
	var hears, ends []time.Duration
	for _, r := range rows {
		hears = append(hears, clock.FromStd(healthy.at[r.ID]).Sub(r.At))
		ends = append(ends, r.Ended.Sub(r.At))
	}
	out.heard, out.ended = lagsOf(hears), lagsOf(ends)
	return out
}
