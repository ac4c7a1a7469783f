package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// books is what the world outside got so far: cents, and recipients of mail.
type books struct{ Cents, Mails int64 }

func booksOf(t *testing.T, a *apptest.App) (b books) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		for text, to := range map[string]*int64{
			"SELECT coalesce(sum(amount_cents), 0) FROM sandbox_charges": &b.Cents,
			"SELECT count(*) FROM message_recipients":                    &b.Mails,
		} {
			if *to, err = db.QueryOne[int64](ctx, tx, text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// patience is how long a person thinks about a proposal: longer than the few seconds that a comparison forgives, so
// that a time which is derived from the moment of the call, and not recognized as such, makes the proposal stale.
const patience = 2 * time.Minute

// waitingClock is a clock, and what lets the time of patience pass on it.
func waitingClock() (app.Extra, func()) {
	var ahead atomic.Int64
	machine := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	return app.Extra{Clock: clock.NewFromSource(machine, 0)}, func() { ahead.Add(int64(patience)) }
}

// settled waits until every event was passed to those who listen, and until ordered domains are registered and
// renewed: a plan that is rehearsed before a renewal and carried out after it is stale, because the registration ends
// a year later.
func settled(t *testing.T, a *apptest.App) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var n int
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = db.QueryOne[int](ctx, tx, `SELECT count(*) FROM jobs WHERE kind = 'event.fan_out' OR
				kind IN ('domain.register', 'domain.renew') AND state IN ('ready', 'running')`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
	t.Fatal("events are not passed on")
}

// What a plan that reaches outside shows is what it then does: the records, the
// mails, the cents, and those who hear of it. The test is made from the list of
// operations.
func TestEveryFlowAsShown(t *testing.T) {
	later, wait := waitingClock()
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		mine := build(t, a, a.Tenant)
		a.SendREST(t, a.Key, "POST", "/v1/webhooks", `{"url": "http://127.0.0.1:9/", "events": ["*"]}`).OK(t, 201)
		a.SendREST(t, a.Key, "POST", "/v1/automations", `{"name": "Hears", "trigger": {"kind": "event", "event":
			"message.created"}, "steps": [{"operation": "tasks.create", "input": {"title": "x"}}]}`).OK(t, 201)
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var done []string
		var refused []*op.Op
		for _, o := range a.Catalog.All() {
			mails := o.Name == "messages.create" // a Write that sends
			// What a key of REST cannot do, it cannot propose either.
			both := op.AgentDoor | op.RESTDoor
			if o.Doors&both != both || o.Method == "GET" || o.Resource == "proposals" || !o.Rehearsable() ||
				o.CanJoinSeries() && !mails {
				continue
			}
			if asShown(t, a, mine, o, wait) {
				done = append(done, o.Name)
			} else {
				refused = append(refused, o)
			}
		}
		// The rest is for domains that are registered here, such as the one that was ordered.
		mine["/v1/domains"] = registered(t, a)
		again := func(o *op.Op) bool {
			if asShown(t, a, mine, o, wait) {
				done = append(done, o.Name)
				return true
			}
			return false
		}
		refused = slices.DeleteFunc(refused, again)
		// A registered domain cannot be deleted before it expires; one that is held elsewhere can.
		mine["/v1/domains"] = a.SendREST(t, a.Key, "POST", "/v1/domains",
			`{"name": "held-elsewhere.example"}`).OK(t, 201).ID("id")
		for _, o := range slices.DeleteFunc(refused, again) {
			t.Errorf("%s was never executed", o.Name)
		}
		if len(done) < 16 {
			t.Errorf("only %d were executed: %v", len(done), done)
		}
	}, later)
}

// registered waits until the ordered domain is registered, and returns it.
func registered(t *testing.T, a *apptest.App) id.ID {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list := a.SendREST(t, a.Key, "GET", "/v1/domains?limit=100", "").OK(t, 200)
		for i := range list.Len() {
			v := list.At(fmt.Sprint(i))
			if !v.At("registration").Null() && v.Text("status") == "active" {
				return v.ID("id")
			}
		}
	}
	t.Fatal("no domain was registered")
	return ""
}

// asShown rehearses an operation, waits, carries it out and compares. It reports whether
// the fixtures allow it.
func asShown(t *testing.T, a *apptest.App, mine fixtures, o *op.Op, wait func()) bool {
	t.Helper()
	settled(t, a)
	r := a.SendREST(t, a.Key, "POST", "/v1/proposals", `{"title": "x", "steps": [`+mine.stepFor(t, a, a.Tenant, o)+`]}`)
	if r.Status != 201 {
		return false
	}
	p := r.OK(t, 201)
	before, at := booksOf(t, a), "/v1/proposals/"+p.Text("id")
	wait()
	a.SendREST(t, a.Key, "POST", at+"/execute", "").OK(t, 200)
	ended := a.SendREST(t, a.Key, "GET", at+"?waitSeconds=45", "").OK(t, 200)
	if ended.Text("status") != "executed" {
		t.Errorf("%s: %s", o.Name, ended)
		return true
	}
	settled(t, a)
	after := booksOf(t, a)
	// Recipients are written down when a mail is on its way.
	for end := time.Now().Add(time.Minute); after.Mails-before.Mails < int64(p.Number("totals.mails")) &&
		time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		after = booksOf(t, a)
	}
	if got, want := happened(t, a, p.ID("id")), shownEvents(p); got != want {
		t.Errorf("%s showed %s and did %s", o.Name, want, got)
	}
	if got, want := after.Cents-before.Cents, int64(p.Number("totals.amountCents")); got != want {
		t.Errorf("%s showed %d cents and charged %d", o.Name, want, got)
	}
	if got, want := after.Mails-before.Mails, int64(p.Number("totals.mails")); got != want {
		t.Errorf("%s showed %d recipients and wrote to %d", o.Name, want, got)
	}
	if got, want := listened(t, a, p.ID("id")), shownTriggers(p); got != want {
		t.Errorf("%s showed %d listeners and %d heard of it", o.Name, want, got)
	}
	return true
}

// shownEvents are the resource types of what a proposal shows, without its charges.
func shownEvents(p apptest.Value) string {
	var types []string
	for i := range p.At("effects").Len() {
		if p.Text(fmt.Sprintf("effects.%d.kind", i)) != "charge" {
			types = append(types, p.Text(fmt.Sprintf("effects.%d.resourceType", i)))
		}
	}
	return strings.Join(types, " ")
}

func shownTriggers(p apptest.Value) (n int) {
	for i := range p.At("effects").Len() {
		n += p.At(fmt.Sprintf("effects.%d.triggers", i)).Len()
	}
	return n
}

// listened counts the deliveries and executions that the events of a proposal caused.
func listened(t *testing.T, a *apptest.App, proposal id.ID) (n int) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, `
			SELECT (SELECT count(*) FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
				WHERE e.proposal_id = $1 AND e.resource_type <> 'proposal') +
				(SELECT count(*) FROM automation_executions x JOIN events e ON e.id = x.event_id
				WHERE e.proposal_id = $1 AND e.resource_type <> 'proposal')`, proposal)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
