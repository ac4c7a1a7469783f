package proposal_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// spent is the CPU time that this process has used, in nanoseconds.
func spent(b *testing.B) int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Skip(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

// ratio compares the CPU time of two ways in turns, so that what else the machine
// does meets both, and reports the median of the ratios.
func ratio(b *testing.B, one, other func(n int)) {
	const each = 200
	var all []float64
	n, took := 0, int64(0)
	measure := func(fn func(int)) int64 {
		fn(0) // which may set up what it needs
		at := spent(b)
		for range each {
			n++
			fn(n)
		}
		return spent(b) - at
	}
	for b.Loop() {
		first, second := measure(one), measure(other)
		all, took = append(all, float64(first)/float64(second)), took+second
	}
	slices.Sort(all)
	b.ReportMetric(all[len(all)/2], "ratio")
	b.ReportMetric(float64(took)/float64(len(all)*each)/1000, "cpu-µs/other")
}

// What an agent's calls pay for limits and guard, and a rehearsal compared with
// its write.
func BenchmarkAsking(b *testing.B) {
	a := apptest.Start(b, db.SQLite)
	plain := a.NewAgent(b, a.Tenant, "all")
	counted := a.NewAgent(b, a.Tenant, "all")
	a.AsOperator(b, "agents.configure", "agent", counted, fmt.Sprintf(`{"id": %q, "askMode": "propose", "guard": "on",
		"limits": {"messages": 1000, "spendCents": 100000, "deletions": 1000000000}}`, counted))
	tool := func(agent id.ID, name, arguments string) func(int) {
		_, access, _ := a.ConnectAgent(b, a.Tenant, agent)
		handler := a.AgentHandler()
		return func(n int) {
			message := fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": %q,
				"arguments": %s}}`, name, strings.ReplaceAll(arguments, "#", fmt.Sprint(n)))
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/mcp", strings.NewReader(message))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Authorization", "Bearer "+access)
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if n > 0 && (w.Code != 200 || strings.Contains(w.Body.String(), `"isError":true`)) {
				b.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	}
	const create = `{"firstName": "Ada #", "emails": [{"email": "n#@example.com"}]}`
	b.Run("limits/create", func(b *testing.B) {
		ratio(b, tool(counted, "contacts_create", create), tool(plain, "contacts_create", create))
	})
	meter := a.Runner.Meter
	b.Run("meter/create", func(b *testing.B) {
		counting, not := tool(counted, "contacts_create", create), tool(counted, "contacts_create", create)
		ratio(b, func(n int) { a.Runner.Meter = meter; counting(n) }, func(n int) { a.Runner.Meter = nil; not(n) })
		a.Runner.Meter = meter
	})
	caller := &op.Caller{Kind: op.UserActor, ID: a.OwnerID, User: a.OwnerID, Organization: a.Org, Business: a.Business,
		Plan: "enterprise", Permissions: op.Everything()}
	for name, input := range map[string]string{"contacts.create": create, "tasks.create": `{"title": "Task #"}`} {
		o := a.Catalog.Named(name)
		body := func(n int) func() ([]byte, error) {
			return func() ([]byte, error) { return []byte(strings.ReplaceAll(input, "#", fmt.Sprint(n))), nil }
		}
		b.Run("rehearsal/"+name, func(b *testing.B) {
			ratio(b, func(n int) {
				if err := a.Runner.RehearseSeries(b.Context(),
					&op.Series{Caller: caller, Door: op.ConsoleDoor, RequestID: "x",
						Steps: []op.SeriesStep{{Op: o, Input: body(n), InputIsFixed: true}}}); err != nil {
					b.Fatal(err)
				}
			}, func(n int) {
				if _, err := a.Runner.Do(b.Context(), o,
					op.Request{Caller: caller, Door: op.ConsoleDoor, WholeInput: true,
						ID: string(id.New()), Body: body(n)}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
