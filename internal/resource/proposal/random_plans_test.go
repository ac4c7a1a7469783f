package proposal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Of random plans, whose rows a second caller changes between the look and the
// execution and between the steps, what was done is what was shown, or nothing was done
// from that step on. It is read off the log of events, not off the proposal.
//
// PLANS sets how many plans there are, and SEED repeats a run.
func TestRandomPlans(t *testing.T) {
	plans, err := strconv.Atoi(os.Getenv("PLANS"))
	if err != nil {
		plans = 60
	}
	seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		t.Logf("SEED=%d PLANS=%d", seed, plans)
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, a, rand.New(rand.NewPCG(seed, 1)))
		made, tries := 0, 0
		for ; made < plans && tries < 20*plans && !t.Failed(); tries++ {
			if w.plan() {
				made++
			}
		}
		if made < plans {
			t.Errorf("%d plans of %d tries", made, tries)
		}
		t.Logf("%d plans of %d tries: %v", made, tries, w.ends)
		t.Logf("%d of %d operations were steps; never: %v", len(w.used), len(w.steps), w.never())
	})
}

// world is an organization with some of everything.
type world struct {
	*testing.T
	a     *apptest.App
	r     *rand.Rand
	steps []*op.Op
	rows  map[string][]string // ids by what a field calls them: contact, task, note
	hook  string
	used  map[string]bool
	ends  map[string]int

	mu     sync.Mutex
	meddle func() // what the second caller does while the webhook is tested
}

func newWorld(t *testing.T, a *apptest.App, r *rand.Rand) *world {
	w := &world{T: t, a: a, r: r, rows: map[string][]string{}, used: map[string]bool{}, ends: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.meddle != nil {
			w.meddle()
			w.meddle = nil
		}
		_, _ = io.WriteString(out, "ok")
	}))
	t.Cleanup(server.Close)
	w.hook = a.SendREST(t, a.Key, "POST", "/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["file.created"]}`,
		server.URL)).OK(t, 201).Text("id")
	for _, o := range a.Catalog.All() {
		// What a plan may hold: what an agent could call, but no proposal and no preview.
		if o.Doors&op.AgentDoor != 0 && o.Doors&op.AutomationDoor != 0 && !o.TakesStream() &&
			o.Resource != "proposals" && !o.IsPreview() && o.Name != "webhooks.test" {
			w.steps = append(w.steps, o)
		}
	}
	for range 3 {
		for _, o := range w.steps {
			if o.Action == op.ActionCreate {
				w.call(o, w.input(o))
			}
		}
	}
	return w
}

// call makes a call as the second caller, and notes the row that it made.
func (w *world) call(o *op.Op, input string) {
	c := &op.Caller{Kind: op.UserActor, ID: w.a.OwnerID, User: w.a.OwnerID, Organization: w.a.Org,
		Business: w.a.Business,
		Plan:     "enterprise", Role: "owner", Agreements: []string{op.EveryAgreement}, Permissions: op.Everything()}
	a, err := w.a.Runner.Do(context.Background(), o, op.Request{Caller: c, Door: op.ConsoleDoor, ID: string(id.New()),
		Key: string(id.New()), HasKey: o.TakesIdempotencyKey(), Body: func() ([]byte, error) {
			return []byte(input),
				nil
		}})
	if err != nil || o.Action != op.ActionCreate {
		return
	}
	var answer struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(a.Body, &answer) == nil && answer.Data.ID != "" {
		w.rows[w.noun(o.Path)] = append(w.rows[w.noun(o.Path)], answer.Data.ID)
	}
}

// noun is what a field calls the rows of a path: contact for /v1/contacts/{id}, phoneNumber
// for /v1/contacts/{id}/phone-numbers.
func (w *world) noun(path string) string {
	segments := strings.Split(path, "/")
	for i := len(segments) - 1; i > 0; i-- {
		if s := segments[i]; strings.HasSuffix(s, "s") {
			words := strings.Split(strings.TrimSuffix(s, "s"), "-")
			for n := 1; n < len(words); n++ {
				words[n] = strings.ToUpper(words[n][:1]) + words[n][1:]
			}
			name := strings.Join(words, "")
			return map[string]string{"businesse": "business", "propertie": "property", "addresse": "address"}[name] +
				map[bool]string{true: name}[name != "businesse" && name != "propertie" && name != "addresse"]
		}
	}
	return ""
}

var anyID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// input is the example of an operation, about rows that there are.
func (w *world) input(o *op.Op) string {
	var v map[string]any
	if err := json.Unmarshal([]byte(o.Example), &v); err != nil {
		v = map[string]any{}
	}
	at := o.Path
	if i := strings.Index(at, "/{"); i > 0 {
		at = at[:i]
	}
	w.fill(v, w.noun(at))
	text, _ := json.Marshal(v)
	return string(text)
}

func (w *world) fill(v map[string]any, own string) {
	for _, k := range slices.Sorted(maps.Keys(v)) {
		switch e := v[k].(type) {
		case string:
			if name := strings.TrimSuffix(k, "Id"); anyID.MatchString(e) {
				if k == "id" {
					name = own
				}
				if ids := w.rows[name]; len(ids) > 0 {
					v[k] = ids[w.r.IntN(len(ids))]
				}
			} else if strings.Contains(e, "@") || k == "key" || k == "name" || k == "domain" {
				v[k] = strings.Replace(e, "@", fmt.Sprintf("%d@", w.r.IntN(1e9)), 1)
				if k == "key" || k == "name" {
					v[k] = e + strconv.Itoa(w.r.IntN(1e9))
				}
			}
		case map[string]any:
			w.fill(e, own)
		case []any:
			for i := range e {
				if m, ok := e[i].(map[string]any); ok {
					w.fill(m, own)
				}
			}
		}
	}
}

// renames are fields that the second caller changes, by what the rows are called.
var renames = map[string][2]string{"contact": {"contacts", "lastName"}, "task": {"tasks", "title"},
	"emailTemplate": {"email-templates", "body"}, "customer": {"customers", "name"}, "folder": {"folders", "name"},
	"automation": {"automations", "name"}, "invoice": {"invoices", "notes"}, "business": {"businesses", "name"},
	"message": {"messages", "subject"}, "propertyDefinition": {"property-definitions", "name"}}

// change is something that the second caller does, mostly to a row of the plan.
func (w *world) change(plan string) func() {
	text := fmt.Sprintf("Changed %d", w.r.IntN(1e9))
	if w.r.IntN(4) > 0 {
		for _, noun := range slices.Sorted(maps.Keys(renames)) {
			for _, row := range w.rows[noun] {
				if strings.Contains(plan, row) {
					return func() {
						w.a.SendREST(w.T, w.a.Key, "PATCH", "/v1/"+renames[noun][0]+"/"+row, fmt.Sprintf(`{%q: %q}`,
							renames[noun][1], text))
					}
				}
			}
		}
	}
	o := w.steps[w.r.IntN(len(w.steps))]
	for o.Action == op.ActionRead || o.AnswersFromOutside() {
		o = w.steps[w.r.IntN(len(w.steps))]
	}
	input := w.input(o)
	return func() { w.call(o, input) }
}

// plan makes a plan, carries it out and looks at what came of it. It reports whether the
// plan was accepted.
func (w *world) plan() bool {
	var steps []string
	var names []string
	saved := ""
	add := func(name, input, more string) {
		names = append(names, name)
		steps = append(steps, fmt.Sprintf(`{"operation": %q, "input": %s%s}`, name, input, more))
	}
	test := func() { add("webhooks.test", fmt.Sprintf(`{"id": %q}`, w.hook), "") }
	outside := w.r.IntN(2) == 0
	for n := range 1 + w.r.IntN(3) {
		if outside && w.r.IntN(2) == 0 {
			test()
		}
		o := w.steps[w.r.IntN(len(w.steps))]
		for try := 0; try < 20 && w.used[o.Name]; try++ { // rather one that was no step yet
			o = w.steps[w.r.IntN(len(w.steps))]
		}
		switch contacts, tasks := w.rows["contact"], w.rows["task"]; {
		case saved == "" && len(contacts) > 0 && w.r.IntN(3) == 0:
			saved = fmt.Sprintf("s%d", n)
			add("contacts.get", fmt.Sprintf(`{"id": %q}`, contacts[w.r.IntN(len(contacts))]),
				fmt.Sprintf(`, "saveAs": %q`, saved))
		case saved != "" && len(tasks) > 0 && w.r.IntN(2) == 0:
			add("tasks.update", fmt.Sprintf(`{"id": %q, "title": "Call {{ %s.lastName | default: \"x\" }}"}`,
				tasks[w.r.IntN(len(tasks))], saved), "")
		case saved != "":
			add("messages.create", fmt.Sprintf(`{"to": "bob@known.example", "subject": "x", "text":
				"Dear {{ %s.lastName | default: \"x\" }}"}`, saved), "")
		default:
			add(o.Name, w.input(o), "")
		}
	}
	if outside {
		test()
	}
	r := w.a.SendREST(w.T, w.a.Key, "POST", "/v1/proposals", `{"title": "x", "steps": [`+strings.Join(steps, ",")+`]}`)
	if r.Status != 201 {
		if r.Status >= 500 {
			w.Errorf("%s: %s", steps, r.Body)
		}
		return false
	}
	shown := r.ParseJSON(w.T).At("data")
	if w.r.IntN(2) == 0 {
		w.change(strings.Join(steps, ""))()
	}
	w.mu.Lock()
	if w.meddle = nil; w.r.IntN(3) > 0 {
		w.meddle = w.change(strings.Join(steps, ""))
	}
	w.mu.Unlock()
	e := w.a.SendREST(w.T, w.a.Key, "POST", "/v1/proposals/"+shown.Text("id")+"/execute", "")
	if e.Status >= 500 {
		w.Errorf("%s: %s", steps, e.Body)
	}
	end := ended(w.T, w.a, shown.Text("id"))
	w.ends[end.Text("status")]++
	for _, n := range names {
		w.used[n] = true
	}
	w.compare(shown, end)
	if w.Failed() {
		w.Logf("steps: %s", steps)
	}
	return true
}

// logged is an event as the log has it.
type logged struct {
	Type string `db:"type"`
	Row  string `db:"resource_id"`
	Data string `db:"data"`
}

// compare looks for what was shown in the log of events.
func (w *world) compare(shown, end apptest.Value) {
	var log []logged
	if err := w.a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		log, err = db.QueryAll[logged](ctx, tx, `SELECT type, resource_id, CAST(data AS TEXT) AS data FROM events
			WHERE organization_id = $1 AND proposal_id = $2 AND resource_type <> 'proposal' AND actor_kind = 'api'
			ORDER BY seq`, w.a.Org, shown.Text("id"))
		return err
	}); err != nil {
		w.Fatal(err)
	}
	status, names := end.Text("status"), map[string]string{}
	next := 0
	for i := range shown.At("effects").Len() {
		e := shown.At(fmt.Sprintf("effects.%d", i))
		step := int(e.Number("step"))
		done := !end.At(fmt.Sprintf("steps.%d.completedAt", step)).Null()
		switch {
		case e.Text("kind") == "charge" || e.String() == "" || strings.Contains(e.String(), `"rehearsed":false`):
			continue
		case !done && status == "executed":
			w.Errorf("step %d was not done, and the proposal is executed", step)
		case !done:
			continue
		case next == len(log):
			w.Errorf("%s: shown, and not done: %s", status, e)
			return
		}
		w.same(e, log[next], names, w.a.Catalog.Named(shown.Text(fmt.Sprintf("steps.%d.operation",
			step))).AnswersFromOutside())
		next++
	}
	for _, l := range log[next:] {
		if w.rehearsed(shown) {
			w.Errorf("%s: done, and not shown: %s %s", status, l.Type, l.Data)
		}
	}
}

// rehearsed reports whether all steps of a proposal were.
func (w *world) rehearsed(shown apptest.Value) bool {
	return !strings.Contains(shown.At("effects").String(), `"rehearsed":false`)
}

// same compares an effect with an event.
func (w *world) same(e apptest.Value, l logged, names map[string]string, outside bool) {
	kind := l.Type[:strings.LastIndexByte(l.Type, '.')]
	if e.Text("resourceType") != kind {
		w.Errorf("shown %s, done %s %s", e, l.Type, l.Data)
		return
	}
	if row := e.Text("resourceId"); row != "" && row != "<nil>" && row != l.Row {
		w.Errorf("shown %s, done to %s", e, l.Row)
	}
	if outside || e.Text("kind") == "delete" { // a deletion shows what was
		return
	}
	var data, after map[string]any
	if err := json.Unmarshal([]byte(l.Data), &data); err != nil {
		w.Fatal(err)
	}
	if err := json.Unmarshal([]byte(e.At("after").String()), &after); err != nil {
		w.Fatal(err)
	}
	for k, v := range after {
		if !w.equal(v, data[k], names) {
			w.Errorf("%s.%s: shown %v, done %v", l.Type, k, v, data[k])
		}
	}
}

func (w *world) equal(shown, done any, names map[string]string) bool {
	switch s := shown.(type) {
	case string:
		d, ok := done.(string)
		switch {
		case !ok:
			return false
		case strings.HasPrefix(s, "new:"):
			if names[s] == "" {
				names[s] = d
			}
			return names[s] == d
		case s == d:
			return true
		}
		if i := strings.Index(s, "… ("); i > 0 {
			return strings.HasPrefix(d, s[:i])
		}
		x, err := time.Parse(time.RFC3339, s)
		y, other := time.Parse(time.RFC3339, d)
		if err == nil && other == nil {
			return y.Sub(x).Abs() < time.Minute // it follows from the moment of the call
		}
		for name, row := range names { // within a text, like a link
			s = strings.ReplaceAll(s, name, row)
		}
		return s == d
	case map[string]any:
		d, ok := done.(map[string]any)
		for k, v := range s {
			if !ok || k != "recordValue" && !w.equal(v, d[k], names) { // that is drawn at random
				return false
			}
		}
		return ok
	case []any:
		d, ok := done.([]any)
		if !ok || len(s) != len(d) {
			return false
		}
		for i := range s {
			if !w.equal(s[i], d[i], names) {
				return false
			}
		}
		return true
	}
	return shown == done
}

func (w *world) never() (out []string) {
	for _, o := range w.steps {
		if !w.used[o.Name] {
			out = append(out, o.Name)
		}
	}
	return out
}
