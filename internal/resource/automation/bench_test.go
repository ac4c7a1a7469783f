package automation_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// BenchmarkAutomations sends 10,000 events (or FRONTDESK_BENCH_EVENTS) past
// five automations, of which two run and three are skipped, and tells how fast
// that goes and how long an execution waits for its turn. One round is enough:
//
//	go test -run ^$ -bench Automations -benchtime 1x ./internal/resource/automation
func BenchmarkAutomations(b *testing.B) {
	n := 10_000
	if s := os.Getenv("FRONTDESK_BENCH_EVENTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		a := apptest.Start(b, db.SQLite)
		for i := range 5 {
			condition := "event.data.firstName.startsWith('N')"
			if i > 1 {
				condition = "event.data.jobTitle == 'Nobody'"
			}
			automate(b, a, a.Key, fmt.Sprintf(`{"name": "x", "trigger": {"kind": "event", "event": "contact.created"}, "condition": %q, "steps": [{"operation": "tasks.create", "input": {"title": "Call {{ event.data.firstName }}", "contactId": "{{ event.resourceId }}"}}]}`, condition))
		}
		call := a.Door("action", a.Tenant)
		work(b, a)
		began := time.Now()
		const writers = 32
		apptest.AtOnce(writers, func(w int) {
			for i := w; i < n; i += writers {
				call(b, "contacts.create", fmt.Sprintf(`{"firstName": "N%d"}`, i)).OK(b, 201)
			}
		})
		sent := time.Since(began)
		for left := 1; left > 0; time.Sleep(20 * time.Millisecond) {
			left = count(b, a, "jobs", "kind IN ('event.fan_out', 'automation.execute') AND state IN ('ready', 'running')")
		}
		took := time.Since(began)
		var lags []clock.Time
		err := a.DB.Read(b.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			lags, err = db.All[clock.Time](ctx, tx, "SELECT started_at - created_at FROM automation_executions WHERE organization_id = $1 AND started_at IS NOT NULL ORDER BY 1", a.Org)
			return err
		})
		if err != nil || len(lags) != 2*n || count(b, a, "tasks", "TRUE") != 2*n || count(b, a, "automation_executions", "status = 'skipped'") != 3*n {
			b.Fatalf("%d executions started for %d events: %v", len(lags), n, err)
		}
		seconds := func(t clock.Time) float64 { return t.Sub(0).Seconds() }
		b.ReportMetric(float64(n)/sent.Seconds(), "events/s")
		b.ReportMetric(float64(5*n)/took.Seconds(), "executions/s")
		b.ReportMetric(seconds(lags[len(lags)/2]), "lag-p50-s")
		b.ReportMetric(seconds(lags[len(lags)*99/100]), "lag-p99-s")
	}
}
