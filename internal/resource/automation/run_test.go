package automation_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// trouble is an operation that does what the test says.
type trouble struct {
	calls  atomic.Int64
	answer atomic.Pointer[func(n int64) error]
}

type troubleIn struct {
	Text string `json:"text" max:"500000"`
}

func (*troubleOut) HoldsExternal() bool { return false }

type troubleOut struct {
	Text string `json:"text" max:"500000"`
}

func (p *trouble) say(fn func(n int64) error) { p.calls.Store(0); p.answer.Store(&fn) }

func (p *trouble) extra() app.Extra {
	return app.Extra{Operations: []*op.Op{
		op.Write(op.Spec{
			Name:    "tasks.trouble",
			Route:   "POST /v1/tasks/trouble",
			Summary: "Does as the test says.",
			Status:  200,
			Events:  []string{"task.troubled"},
			Example: `{"text": "x"}`,
		},
			func(_ context.Context, c *op.Call, in troubleIn) (*troubleOut, error) {
				if err := (*p.answer.Load())(p.calls.Add(1)); err != nil {
					return nil, err
				}
				out := &troubleOut{in.Text}
				return out, c.Emit("task.troubled", id.New(), out)
			}),
	}}
}

const troubled = `{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create",
	"input": {"title": "First"}, "saveAs": "first"},
	{"operation": "tasks.trouble", "input": {"text": "{{ input.text | default: \"x\" }}"}, "saveAs": "second"},
		{"operation": "tasks.create", "input": {"title": "{{ second.text }}"}}]}`

// executionRun starts an automation manually.
func executionRun(t testing.TB, a *apptest.App, automation id.ID, input string) id.ID {
	t.Helper()
	return a.SendREST(t, a.Key, "POST", "/v1/automations/"+string(automation)+"/run", input).OK(t, 200).ID("id")
}

func post(t testing.TB, a *apptest.App, execution id.ID, verb string) apptest.Result {
	t.Helper()
	return a.SendREST(t, a.Key, "POST", "/v1/automation-executions/"+string(execution)+"/"+verb, "")
}

// Temporary failures are retried. A refusal ends the execution, and a retry
// continues from there, even with steps that were fixed.
func TestRetry(t *testing.T) {
	p := &trouble{}
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		p.say(func(n int64) error {
			if n == 1 {
				return fault.Unavailable.New()
			}
			return nil
		})
		v := automate(t, a, a.Key, troubled)
		e := executionRun(t, a, v, `{"input": {"text": "Hello"}}`)
		post(t, a, e, "retry").Refused(t, 409, "AUTOMATION_EXECUTION_NOT_RETRYABLE")
		got := ends(t, a, v, "succeeded", "")
		got.Same("steps.1.attempts", 2)
		got.Same("steps.2.output.title", "Hello")
		post(t, a, e, "retry").Refused(t, 409, "AUTOMATION_EXECUTION_NOT_RETRYABLE")
		post(t, a, e, "cancel").Refused(t, 409, "AUTOMATION_EXECUTION_ENDED")

		p.say(func(int64) error { return fault.Field("text", "Not today") })
		v = automate(t, a, a.Key, troubled)
		e = executionRun(t, a, v, `{}`)
		got = ends(t, a, v, "failed", "Step 2, tasks.trouble: text: Not today")
		got.Same("steps.1.error.code", "VALIDATION_ERROR")
		got.Same("steps.1.error.details.properties.text.errors.0", "Not today")
		if got.At("steps").Len() != 2 || p.calls.Load() != 1 {
			t.Errorf("%v", got)
		}
		if !strings.Contains(a.Events(t, "automation_execution."), "automation_execution.failed") {
			t.Error("nobody hears that it failed")
		}
		at := "/v1/automations/" + string(v)
		a.SendREST(t, a.Key, "PATCH", at, `{"status": "paused"}`).OK(t, 200)
		post(t, a, e, "retry").Refused(t, 409, "AUTOMATION_PAUSED")
		a.SendREST(t, a.Key, "PATCH", at,
			`{"status": "active", "steps": [{"operation": "tasks.create", "input": {"title": "First"},
				"saveAs": "first"},
			{"operation": "tasks.update", "input": {"id": "{{ first.id }}", "title": "Mended"}}]}`).OK(t, 200)
		post(t, a, e, "retry").OK(t, 200).Same("status", "queued")
		got = ends(t, a, v, "succeeded", "")
		got.Same("steps.1.output.title", "Mended")
		if n := count(t, a, "tasks", "title IN ('First', 'Mended')"); n != 2 { // one from each execution
			t.Errorf("%d tasks: a step was repeated", n)
		}
		p.say(func(int64) error { return fmt.Errorf("a bug") })
		v = automate(t, a, a.Key, troubled)
		executionRun(t, a, v, `{}`)
		ends(t, a, v, "failed", "went wrong on our side").Same("steps.1.error.code", "INTERNAL_ERROR")
	}, p.extra())
}

// Doubt is a refusal that leaves open whether something was done.
var Doubt = fault.DefineKind("TEST_DOUBT", 502, "The provider did not answer.")

// A step whose outcome is unknown is repeated under the same key, automatically
// and by a retry, whatever its refusal is called.
func TestUnknownOutcome(t *testing.T) {
	var keys []string
	said := 0
	doubtful := app.Extra{Operations: []*op.Op{
		op.Flow(op.Spec{
			Name:    "tasks.doubt",
			Route:   "POST /v1/tasks/doubt",
			Summary: "Is in doubt.",
			Status:  200,
			Events:  []string{"task.doubted"},
			Errors:  []*fault.Kind{Doubt},
			Example: `{"text": "x"}`,
		},
			func(ctx context.Context, c *op.Call, in troubleIn) (*troubleOut, error) {
				keys = append(keys, c.Key)
				if said++; said < 3 {
					return nil, op.UnknownOutcome(Doubt.New())
				}
				return op.Finish(ctx, c, func(context.Context) (*troubleOut, error) {
					out := &troubleOut{in.Text}
					return out, c.Emit("task.doubted", id.New(), out)
				})
			})}}
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		keys, said = nil, 0
		work(t, a)
		v := automate(t, a, a.Key,
			`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.doubt", "input": {"text": `+
				`"x"}}]}`)
		executionRun(t, a, v, `{}`)
		ends(t, a, v, "succeeded", "").Same("steps.0.attempts", 3)
		if len(keys) != 3 || keys[0] != keys[1] || keys[1] != keys[2] {
			t.Errorf("the keys were %q", keys)
		}
	}, doubtful)
}

// An execution that is canceled during a step keeps what the step did and takes
// no other.
func TestCancel(t *testing.T) {
	p := &trouble{}
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		inside, release := make(chan bool, 80), make(chan bool)
		p.say(func(int64) error { inside <- true; <-release; return nil })
		var canceled atomic.Bool
		if a.DB.Engine() == db.SQLite { // there, nobody else can write during a step
			p.say(func(int64) error {
				if canceled.Load() {
					return nil
				}
				inside <- true
				return fault.Unavailable.New()
			})
			close(release)
		}
		v := automate(t, a, a.Key, troubled)
		e := executionRun(t, a, v, `{}`)
		<-inside
		post(t, a, e, "cancel").OK(t, 200).Same("status", "canceled")
		canceled.Store(true)
		post(t, a, e, "cancel").OK(t, 200)
		if a.DB.Engine() == db.Postgres {
			close(release)
		}
		got := ends(t, a, v, "canceled", "")
		if got.At("steps").Len() != 2 {
			t.Errorf("%v", got)
		}
		if a.DB.Engine() == db.Postgres { // the step's outcome is recorded although nobody waits for it
			got.Same("steps.1.output.text", "x")
		}
		post(t, a, e, "retry").OK(t, 200)
		ends(t, a, v, "succeeded", "")
		if n := count(t, a, "events", "type = 'task.troubled'"); n != 1 {
			t.Errorf("the step was done %d times", n)
		}

		// Deleting ends waiting executions. Without a free worker, this one
		// really waits.
		a.SendREST(t, a.Key, "POST", "/v1/automations/"+string(v)+"/run", `{}`).OK(t, 200)
		a.SendREST(t, a.Key, "DELETE", "/v1/automations/"+string(v), "").OK(t, 204)
		settle(t, a)
		if n := count(t, a, "automation_executions", "status IN ('queued', 'running')"); n != 0 {
			t.Errorf("%d executions live on", n)
		}
	}, p.extra())
}

// Pausing ends executions that have not begun. Once the automation is active
// again, they can be retried.
func TestPause(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		v := automate(t, a, a.Key, onCreated)
		e := executionRun(t, a, automate(t, a, a.Key,
			`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create", "input": `+
				`{"title": "x"}}]}`),
			`{}`)
		at := "/v1/automations/" + a.SendREST(t, a.Key, "GET", "/v1/automation-executions/"+string(e),
			"").OK(t, 200).Text("automationId")
		a.SendREST(t, a.Key, "PATCH", at, `{"status": "paused"}`).OK(t, 200)
		got := a.SendREST(t, a.Key, "GET", "/v1/automation-executions/"+string(e), "").OK(t, 200)
		got.Same("status", "canceled")
		got.Same("errorMessage", "The automation was paused.")
		contact(t, a, "Ada") // under way while the other is paused
		a.SendREST(t, a.Key, "PATCH", "/v1/automations/"+string(v), `{"status": "paused"}`).OK(t, 200)
		work(t, a)
		settle(t, a)
		if n := count(t, a, "tasks", "TRUE"); n != 0 {
			t.Errorf("%d tasks while all were paused", n)
		}
		a.SendREST(t, a.Key, "PATCH", at, `{"status": "active"}`).OK(t, 200)
		post(t, a, e, "retry").OK(t, 200)
		settle(t, a)
		a.SendREST(t, a.Key, "GET", "/v1/automation-executions/"+string(e), "").OK(t, 200).Same("status", "succeeded")
		a.SendREST(t, a.Key, "DELETE", at, "").OK(t, 204)
		post(t, a, e, "retry").Refused(t, 409, "AUTOMATION_EXECUTION_NOT_RETRYABLE")
	})
}

// What an automation creates belongs to its maker, and chains of creation end.
func TestMadeByAutomation(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		key, keyID := a.NewKey(t, a.Tenant, "automations:write", "automations:read", "tasks:write")
		inner := `{"name": "Inner", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create", "input": ` +
			`{"title": "x"}}]}`
		v := automate(t, a, key,
			`{"name": "Outer", "trigger": {"kind": "manual"}, "steps": [{"operation": "automations.create", "input": `+
				inner+
				`, "saveAs": "made"}, {"operation": "automations.run", "input": {"id": "{{ made.id }}"}}]}`)
		executionRun(t, a, v, `{}`)
		made := ends(t, a, v, "succeeded", "").At("steps.0.output")
		made.Same("makerKind", "api")
		made.Same("makerId", keyID)
		ends(t, a, made.ID("id"), "succeeded", "")
		// It may not write what its maker could not.
		more := automate(t, a, a.Key,
			`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.list"}]}`)
		refused := a.SendREST(t, key, "PATCH", "/v1/automations/"+string(more),
			`{"steps": [{"operation": "contacts.list"}]}`)
		refused.Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		for n := count(t, a, "automations", "TRUE"); n < 200; n++ {
			automate(t, a, a.Key, inner)
		}
		a.SendREST(t, a.Key, "POST", "/v1/automations", inner).Refused(t, 409, "AUTOMATION_LIMIT_REACHED")
	})
}

// A placeholder without a value or default fails before the step is taken.
func TestMissingValue(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		v := automate(t, a, a.Key,
			`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create", "input": `+
				`{"title": "{{ `+
				`input.nobody }}"}}]}`)
		executionRun(t, a, v, `{"input": {"somebody": 1}}`)
		ends(t, a, v, "failed", "no value for input.nobody").Same("steps.0.error.code", "AUTOMATION_VALUE_MISSING")
		typed := automate(t, a, a.Key,
			`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "contacts.create", "input": `+
				`{"firstName": `+
				`"Ada", "emails": "{{ input.emails }}"}}]}`)
		executionRun(t, a, typed, `{"input": {"emails": [{"email": "ada@example.com"}]}}`)
		ends(t, a, typed, "succeeded", "").Same("steps.0.output.emails.0.email", "ada@example.com")
		evaluated := automate(t, a, a.Key,
			`{"name": "x", "condition": "input.a.b == 1", "trigger": {"kind": "manual"}, "steps": [{"operation": `+
				`"tasks.list"}]}`)
		executionRun(t, a, evaluated, `{}`)
		ends(t, a, evaluated, "failed", "no such key: a")
		if n := count(t, a, "tasks", "TRUE"); n != 0 {
			t.Errorf("%d tasks", n)
		}
	})
}

// An automation that leads to itself, directly or through another, is stopped;
// so is a chain of nine.
func TestLoops(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		again := func(from, to string) string {
			return fmt.Sprintf(`{"name": "x", "trigger": {"kind": "event", "event": %q}, "steps": [{"operation": %q, `+
				`"input": %s}]}`, from, to,
				map[string]string{"contacts.create": `{"firstName": "x"}`, "tasks.create": `{"title": "x"}`,
					"customers.create": `{"name": "x"}`}[to])
		}
		self := automate(t, a, a.Key, again("contact.created", "contacts.create"))
		contact(t, a, "Ada")
		settle(t, a)
		list := executionsOf(t, a, self)
		if list.Len() != 2 || list.Text("1.status") != "succeeded" || list.Text("0.status") != "failed" ||
			!strings.Contains(list.Text("0.errorMessage"), "own start") {
			t.Errorf("A to A: %v", list)
		}
		post(t, a, list.ID("0.id"), "retry").Refused(t, 409, "AUTOMATION_EXECUTION_NOT_RETRYABLE")
		a.SendREST(t, a.Key, "DELETE", "/v1/automations/"+string(self), "").OK(t, 204)

		there, back := automate(t, a, a.Key, again("customer.created", "tasks.create")),
			automate(t, a, a.Key, again("task.created", "customers.create"))
		a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Start"}`).OK(t, 201)
		settle(t, a)
		if list := executionsOf(t, a, there); list.Len() != 2 ||
			!strings.Contains(list.Text("0.errorMessage"), "own start") {
			t.Errorf("A to B to A: %v", list)
		}
		if list := executionsOf(t, a, back); list.Len() != 1 {
			t.Errorf("A to B: %v", list)
		}
		for _, v := range []id.ID{there, back} {
			a.SendREST(t, a.Key, "DELETE", "/v1/automations/"+string(v), "").OK(t, 204)
		}

		// Nine, each started by a step of the previous one.
		next := automate(t, a, a.Key,
			`{"name": "9", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create", "input": `+
				`{"title": "The `+
				`ninth"}}]}`)
		ninth := next
		for n := 8; n > 0; n-- {
			next = automate(t, a, a.Key,
				fmt.Sprintf(`{"name": "%d", "trigger": {"kind": "manual"}, "steps": [{"operation": `+
					`"automations.run", "input": `+
					`{"id": %q}}]}`, n, next))
		}
		executionRun(t, a, next, `{}`)
		ends(t, a, ninth, "failed", "More than 8 automations")
		if n := count(t, a, "tasks", "title = 'The ninth'"); n != 0 {
			t.Error("the ninth ran")
		}
	})
}

// An automation that listens for failures and fails itself does not receive its
// own failure for ever; nor does one that retries failures.
func TestLoopsOfFailures(t *testing.T) {
	p := &trouble{}
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		p.say(func(int64) error { return fault.Field("text", "Not today") })
		alarm := automate(t, a, a.Key,
			`{"name": "Alarm", "trigger": {"kind": "event", "event": "automation_execution.failed"}, "steps": `+
				`[{"operation": `+
				`"tasks.trouble", "input": {"text": "x"}}]}`)
		v := automate(t, a, a.Key, troubled)
		executionRun(t, a, v, `{}`)
		ends(t, a, v, "failed", "Not today")
		list := executionsOf(t, a, alarm)
		if list.Len() != 2 || !strings.Contains(list.Text("1.errorMessage"), "Not today") ||
			!strings.Contains(list.Text("0.errorMessage"), "own start") {
			t.Errorf("%d executions: %.2000s", list.Len(), list.String())
		}
		a.SendREST(t, a.Key, "DELETE", "/v1/automations/"+string(alarm), "").OK(t, 204)

		again := automate(t, a, a.Key,
			`{"name": "Retry", "trigger": {"kind": "event", "event": "automation_execution.failed"}, "steps": `+
				`[{"operation": `+
				`"automation_executions.retry", "input": {"id": "{{ event.resourceId }}"}}]}`)
		v = automate(t, a, a.Key, troubled)
		executionRun(t, a, v, `{}`)
		ends(t, a, v, "failed", "Not today")
		list = executionsOf(t, a, again)
		if list.Len() != 2 || list.Text("1.status") != "succeeded" ||
			!strings.Contains(list.Text("0.errorMessage"), "own start") {
			t.Errorf("%d executions: %.2000s", list.Len(), list.String())
		}
	}, p.extra())
}

// nobody turns an empty id into NULL.
func nobody(v id.ID) *id.ID {
	if v == "" {
		return nil
	}
	return &v
}

// An automation can do what its maker could and still can, and nothing else.
func TestMakers(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		body := `{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.create", "input": ` +
			`{"title": ` +
			`"x"}}]}`
		fails := func(v id.ID, why string) {
			t.Helper()
			executionRun(t, a, v, `{}`)
			settle(t, a)
			e := executionsOf(t, a, v).At("0")
			if e.Text("status") != "failed" || !strings.Contains(e.Text("errorMessage"), why) {
				t.Errorf("want %q: %v", why, e)
			}
		}
		key, keyID := a.NewKey(t, a.Tenant, "automations:write", "tasks:write")
		v := automate(t, a, key, body)
		executionRun(t, a, v, `{}`)
		ends(t, a, v, "succeeded", "")
		a.AsOperator(t, "api_keys.revoke", "API key", keyID, fmt.Sprintf(`{"id": %q}`, keyID))
		fails(v, "API key that made it was revoked")

		// Permissions that a maker gains later do not reach its automations.
		now := automate(t, a, a.Key, body)
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, `
				UPDATE automations
				SET maker_permissions = $3
				WHERE organization_id = $1 AND id = $2`,
				a.Org, now, []string{"tasks.read", "contacts.create"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		fails(now, "This needs the permission tasks:write")

		// Nor do those it loses: here the steps were signed while the maker
		// could do more than now.
		agent := a.AsOperator(t, "agents.create", "business", a.Business,
			fmt.Sprintf(`{"businessId": %q, "name": "x", "preset": "all"}`, a.Business)).ID("id")
		sign := func(kind string, maker id.ID) id.ID {
			v := automate(t, a, a.Key, body)
			err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := db.Exec(ctx, tx, `
					UPDATE automations
					SET maker_kind = $3, maker_id = $4
					WHERE organization_id = $1 AND id = $2`, a.Org, v, kind, nobody(maker))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		v = sign("agent", agent)
		executionRun(t, a, v, `{}`)
		ends(t, a, v, "succeeded", "")
		a.AsOperator(t, "agents.set_permissions", "agent", agent,
			fmt.Sprintf(`{"id": %q, "permissions": {"tasks.create": "ask"}}`, agent))
		fails(v, "This needs the permission tasks:write")
		a.AsOperator(t, "agents.deactivate", "agent", agent, fmt.Sprintf(`{"id": %q}`, agent))
		fails(v, "agent that made it is deactivated")
		a.AsOperator(t, "agents.delete", "agent", agent, fmt.Sprintf(`{"id": %q}`, agent))
		fails(v, "agent that made it was deleted")

		admin := a.AsOperator(t, "users.create", "organization", a.Org,
			`{"email": "admin@example.com", "name": "Admin", "role": "admin", "password": "a long password"}`).ID("id")
		v = sign("user", admin)
		executionRun(t, a, v, `{}`)
		ends(t, a, v, "succeeded", "")
		a.AsOperator(t, "users.disable", "", "", `{"email": "admin@example.com"}`)
		fails(v, "user who made it is disabled")
		fails(sign("user", id.New()), "no longer a member")
		system := sign("system", "")
		executionRun(t, a, system, `{}`)
		ends(t, a, system, "succeeded", "")
		heard := automate(t, a, a.Key, onCreated)
		a.AsOperator(t, "organizations.update", "organization", a.Org, `{"status": "disabled"}`)
		a.Door("action", a.Tenant)(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		settle(t, a)
		if n := count(t, a, "automation_executions",
			"automation_id = $2 AND status = 'failed' AND error_message LIKE '%account is disabled%'", heard); n != 1 {
			t.Error("an automation of a disabled organization ran")
		}
	})
}

// Executions beyond the plan's limit per minute wait their turn, and none is
// lost.
func TestAllowance(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.AutomationLimit.Enterprise = 600 // ten a second
		a := apptest.StartWith(t, s)
		work(t, a)
		v := automate(t, a, a.Key, onCreated)
		began := time.Now()
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error { // all but five are used up
			_, err := db.Exec(ctx, tx, "INSERT INTO automation_allowances (organization_id, until) VALUES ($1, $2)",
				a.Org,
				a.Clock.Now().Add(time.Minute-500*time.Millisecond))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		const n = 20
		for i := range n {
			contact(t, a, fmt.Sprintf("N%d", i))
		}
		settle(t, a)
		if took := time.Since(began); took < 1200*time.Millisecond {
			t.Errorf("%d executions in %v", n, took)
		}
		list := a.SendREST(t, a.Key, "GET", "/v1/automations/"+string(v)+"/executions?limit=100&status=succeeded",
			"").OK(t, 200)
		if list.Len() != n || count(t, a, "tasks", "TRUE") != n {
			t.Errorf("%d executions, %d tasks", list.Len(), count(t, a, "tasks", "TRUE"))
		}
	})
}

// A schedule fires when it is due, once for all the times that were missed.
func TestSchedule(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		// Half a day away, so that the test ends before it is due again.
		berlin, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		planned := a.Clock.Now().Std().In(berlin).Add(12 * time.Hour)
		v := automate(t, a, a.Key, fmt.Sprintf(
			`{"name": "x", "trigger": {"kind": "schedule", "cron": "%d %d * * *", "timezone": "Europe/Berlin"}, `+
				`"steps": [{"operation": "tasks.create", "input": {"title": "At {{ input.scheduledAt }}"}}]}`,
			planned.Minute(), planned.Hour()))
		at := "/v1/automations/" + string(v)
		next := a.SendREST(t, a.Key, "GET", at, "").OK(t, 200).Text("nextRunAt")
		when, err := time.Parse(time.RFC3339, next)
		if err != nil || when.In(berlin).Format("15:04") != planned.Format("15:04") ||
			when.Sub(planned).Abs() > 2*time.Hour { // the clocks may be set back in between
			t.Fatalf("next: %s, %v", next, err)
		}
		a.SendREST(t, a.Key, "PATCH", at, `{"status": "paused"}`).OK(t, 200)
		if n := count(t, a, "jobs", "kind = 'automation.schedule' AND state = 'ready'"); n != 0 {
			t.Errorf("paused, with %d jobs", n)
		}
		a.SendREST(t, a.Key, "PATCH", at, `{"status": "active"}`).OK(t, 200)
		// An hour ago, while nothing ran.
		err = a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			past := a.Clock.Now().Add(-time.Hour)
			if _, err := db.Exec(ctx, tx, "UPDATE automations SET next_run_at = $2 WHERE organization_id = $1", a.Org,
				past); err != nil {
				return err
			}
			_, err := db.Exec(ctx, tx, `
				UPDATE jobs
				SET run_at = $2
				WHERE organization_id = $1 AND kind = 'automation.schedule' AND state = 'ready'`, a.Org, past)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		work(t, a)
		for deadline := time.Now().Add(time.Minute); executionsOf(t, a, v).Len() == 0 &&
			time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		e := ends(t, a, v, "succeeded", "")
		e.Same("trigger", "schedule")
		if !strings.HasPrefix(e.Text("steps.0.output.title"), "At 20") || e.Text("input.scheduledAt") == "" {
			t.Errorf("%v", e)
		}
		if again := a.SendREST(t, a.Key, "GET", at, "").OK(t, 200).Text("nextRunAt"); again <= a.Clock.Now().String() {
			t.Errorf("next: %s", again)
		}
		if n := count(t, a, "jobs", "kind = 'automation.schedule' AND state = 'ready'"); n != 1 {
			t.Errorf("%d jobs", n)
		}
	})
}
