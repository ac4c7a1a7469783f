package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load is what callers do meanwhile, and what they remember.
type load struct {
	world  *world
	report *report
	hooks  *httptest.Server
	keys   [2]string // of the busy organization, and of its quiet neighbour

	number    atomic.Int64
	customer  string
	registers []string // contacts whose notes are written and read
	ledgers   []string // invoices that are paid in parts

	mu         sync.Mutex
	created    map[string]outcome // unkeyed contacts by name
	keyed      map[string]string  // keyed contacts by name, with their id
	invoices   int
	messages   int
	orders     map[string]string // operations by name of the domain
	files      map[string]string // SHA-256 of uploaded files by id
	history    history
	deliveries []delivery
	heard      time.Time // when the last one came
	stages     []stage
}

// stage is what was going on from a moment on.
type stage struct {
	name  string
	began time.Time
}

// delivery is a webhook as it arrived.
type delivery struct{ id, resource, notes string }

// begin starts everything, and prepares the load of a scene.
func (w *world) begin(ctx context.Context, r *report) (*load, error) {
	if err := w.start(ctx); err != nil {
		return nil, err
	}
	l := newLoad(w, r)
	return l, l.prepare(ctx)
}

func newLoad(w *world, r *report) *load {
	return &load{world: w, report: r, created: map[string]outcome{}, keyed: map[string]string{},
		orders: map[string]string{}, files: map[string]string{}, history: history{began: time.Now()},
		stages: []stage{{"calm", time.Time{}}}}
}

// enter begins a stage.
func (l *load) enter(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stages = append(l.stages, stage{name, time.Now()})
}

// took notes how long something took that the service does by itself.
func (l *load) took(what string, began, ended time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := len(l.stages) - 1
	for l.stages[at].began.After(began) {
		at--
	}
	l.report.lag(l.stages[at].name+": "+what, ended.Sub(began))
}

// prepare makes two organizations, and what the callers need.
func (l *load) prepare(ctx context.Context) error {
	for i, name := range []string{"Busy", "Neighbour"} {
		var err error
		if l.keys[i], err = l.organization(ctx, fmt.Sprintf("owner%d@example.com", i), name, "enterprise"); err != nil {
			return err
		}
	}
	l.hooks = httptest.NewServer(http.HandlerFunc(l.receive))
	make := func(key, path, body string) string {
		a, _ := l.insist(ctx, post(key, path, l.name("setup"), body))
		return a.text("id")
	}
	make(l.keys[0], "/v1/webhooks", fmt.Sprintf(`{"url": "%s/busy", "events": ["contact.updated"]}`, l.hooks.URL))
	make(l.keys[1], "/v1/webhooks", fmt.Sprintf(`{"url": "%s/neighbour", "events": ["contact.created"]}`, l.hooks.URL))
	make(l.keys[0], "/v1/automations", `{"name": "Call", "trigger": {"kind": "event", "event": "contact.created"},
		"condition": "event.data.firstName == \"Keyed\"",
		"steps": [{"operation": "tasks.create", "input": {"title": "Call {{ event.data.lastName }}"}}]}`)
	l.customer = make(l.keys[0], "/v1/customers", `{"name": "Acme", "type": "business"}`)
	for range 8 {
		l.registers = append(l.registers, make(l.keys[0], "/v1/contacts", `{"lastName": "Register", "notes": "0"}`))
		invoice := make(l.keys[0], "/v1/invoices", fmt.Sprintf(`{"customerId": "%s", "lineItems":
			[{"description": "Work", "quantity": "1", "unitAmountCents": 1000000000}]}`, l.customer))
		l.insist(ctx, post(l.keys[0], "/v1/invoices/"+invoice+"/issue", l.name("setup"), ""))
		l.ledgers = append(l.ledgers, invoice)
	}
	if l.customer == "" || len(l.report.wrongs) > 0 {
		return fmt.Errorf("the preparations failed")
	}
	return nil
}

// organization makes one that may do everything, and returns its key.
func (l *load) organization(ctx context.Context, owner, name, plan string) (key string, err error) {
	org, err := l.world.admin(ctx, "org", "create", "--name", name, "--plan", plan)
	if err != nil {
		return "", err
	}
	id, business := fmt.Sprint(org["id"]), fmt.Sprint(org["businessId"])
	var made map[string]any
	for _, command := range [][]string{
		{"user", "create", "--org", id, "--email", owner, "--name", "Owner", "--role", "owner", "--password-stdin"},
		{"agreement", "accept", "--business", business, "--kind", "business", "--by", owner},
		{"agreement", "accept", "--business", business, "--kind", "domain", "--by", owner},
		{"card", "add", "--org", id, "--test", "visa"},
		{"key", "create", "--business", business, "--name", "Load", "--permissions", "*"},
	} {
		if made, err = l.world.admin(ctx, command...); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(made["key"]), nil
}

// name is a text that comes only once.
func (l *load) name(what string) string { return fmt.Sprintf("%s-%06d", what, l.number.Add(1)) }

// receive takes webhooks, and refuses some, as receivers do.
func (l *load) receive(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	var e struct {
		ID         string         `json:"id"`
		ResourceID string         `json:"resourceId"`
		Timestamp  time.Time      `json:"timestamp"`
		Data       map[string]any `json:"data"`
	}
	if err != nil || json.Unmarshal(text, &e) != nil {
		l.report.wrong("a webhook that cannot be read: %.200s", text)
		return
	}
	if r.URL.Path == "/neighbour" {
		l.took(neighboursHooks, e.Timestamp, time.Now())
		return
	}
	l.mu.Lock()
	last, now := l.heard, time.Now()
	l.heard = now
	l.deliveries = append(l.deliveries, delivery{e.ID, e.ResourceID, fmt.Sprint(e.Data["notes"])})
	l.mu.Unlock()
	l.took(hooks, e.Timestamp, now)
	if !last.IsZero() {
		l.took(silence, last, now)
	}
}

// What takes its time.
const (
	automations     = "automations"
	orders          = "orders"
	mails           = "mails"
	hooks           = "webhooks"
	silence         = "silence between webhooks" // there is always one to send
	neighboursHooks = "webhooks of a quiet neighbour"
)

// run starts all callers; the returned function stops them and waits until they have.
func (l *load) run(ctx context.Context) func() {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, c := range []struct {
		callers int
		work    func(context.Context)
	}{
		{4, l.create}, {3, l.createKeyed}, {3, l.useRegister}, {2, l.useLedger}, {1, l.issue}, {1, l.mail},
		{1, l.order}, {1, l.upload}, {1, l.neighbour},
	} {
		for range c.callers {
			all.Go(func() {
				for ctx.Err() == nil {
					c.work(ctx)
					wait(ctx, l.world.think) //nolint:errcheck // it is time to stop
				}
			})
		}
	}
	return func() { cancel(); all.Wait() }
}

// create makes a contact without a key, and remembers what the answer promised.
func (l *load) create(ctx context.Context) {
	name := l.name("Plain")
	a := l.call(ctx, post(l.keys[0], "/v1/contacts", "", `{"firstName": "Plain", "lastName": "`+name+`"}`))
	l.mu.Lock()
	l.created[name] = a.outcome
	l.mu.Unlock()
}

// createKeyed sends one request twice at once, and again until both have the
// answer, which is the same.
func (l *load) createKeyed(ctx context.Context) {
	name := l.name("Keyed")
	var ids [2]string
	var both sync.WaitGroup
	number := int(l.number.Add(1))
	for i := range ids {
		both.Go(func() {
			end := l.history.begin()
			a, ok := l.insist(ctx, post(l.keys[0], "/v1/contacts", name,
				`{"firstName": "Keyed", "lastName": "`+name+`"}`))
			ids[i] = a.text("id")
			if ok {
				end(access{kind: key, register: number, value: ids[i]}, done)
			}
		})
	}
	both.Wait()
	l.mu.Lock()
	l.keyed[name] = ids[0]
	l.mu.Unlock()
}

// useRegister writes or reads the notes of a contact.
func (l *load) useRegister(ctx context.Context) {
	i := rand.IntN(len(l.registers)) //nolint:gosec // any of them
	path := "/v1/contacts/" + l.registers[i]
	if rand.IntN(2) == 0 { //nolint:gosec // either
		end := l.history.begin()
		a := l.call(ctx, get(l.keys[0], path))
		if a.outcome == done {
			end(access{kind: register, register: i, value: a.text("notes")}, done)
		}
		return
	}
	value := l.name("note")
	end := l.history.begin()
	a := l.call(ctx, request{key: l.keys[0], method: http.MethodPatch, path: path, body: `{"notes": "` + value + `"}`})
	end(access{kind: register, register: i, write: true, value: value}, a.outcome)
}

// useLedger pays a part of an invoice, or reads what is paid.
func (l *load) useLedger(ctx context.Context) {
	i := rand.IntN(len(l.ledgers)) //nolint:gosec // any of them
	path := "/v1/invoices/" + l.ledgers[i]
	if rand.IntN(3) == 0 { //nolint:gosec // one in three
		end := l.history.begin()
		a := l.call(ctx, get(l.keys[0], path))
		if paid, ok := a.body["amountPaidCents"].(float64); ok && a.outcome == done {
			end(access{kind: ledger, register: i, amount: int64(paid)}, done)
		}
		return
	}
	amount := 1 + rand.Int64N(1000) //nolint:gosec // any amount
	end := l.history.begin()
	_, ok := l.insist(ctx, post(l.keys[0], path+"/payments", l.name("pay"),
		fmt.Sprintf(`{"amountCents": %d, "method": "bank_transfer"}`, amount)))
	if ok {
		end(access{kind: ledger, register: i, write: true, amount: amount}, done)
	}
}

// issue makes an invoice and gives it its number.
func (l *load) issue(ctx context.Context) {
	a, ok := l.insist(ctx, post(l.keys[0], "/v1/invoices", l.name("invoice"),
		fmt.Sprintf(`{"customerId": "%s", "lineItems":
			[{"description": "Work", "quantity": "1", "unitAmountCents": 100}]}`, l.customer)))
	if !ok {
		return
	}
	if _, ok := l.insist(ctx, post(l.keys[0], "/v1/invoices/"+a.text("id")+"/issue", l.name("issue"), "")); ok {
		l.mu.Lock()
		l.invoices++
		l.mu.Unlock()
	}
}

// mail sends a message.
func (l *load) mail(ctx context.Context) {
	_, ok := l.insist(ctx, post(l.keys[0], "/v1/messages", l.name("mail"),
		`{"to": "ada@example.com", "subject": "Hello", "text": "Hello."}`))
	if ok {
		l.mu.Lock()
		l.messages++
		l.mu.Unlock()
	}
}

// order registers a domain, which costs money.
func (l *load) order(ctx context.Context) {
	name := l.name("order") + ".com"
	a, ok := l.insist(ctx, post(l.keys[0], "/v1/domain-registrations", name, `{"domain": "`+name+`",
		"maxAmountCents": 1200, "contact": {"firstName": "Ada", "lastName": "Lovelace",
		"address1": "12 St James's Square", "city": "London", "stateProvince": "London", "postalCode": "SW1Y 4JH",
		"country": "GB", "email": "ada@example.com", "phone": "+442079460018"}}`))
	if ok {
		l.mu.Lock()
		l.orders[name] = a.text("operationId")
		l.mu.Unlock()
	}
	wait(ctx, 5*l.world.think) //nolint:errcheck // it is time to stop
}

// upload sends a file.
func (l *load) upload(ctx context.Context) {
	text := strings.Repeat(l.name("text")+"\n", 1+rand.IntN(5000)) //nolint:gosec // up to 60 KB
	body := "--chaos\r\nContent-Disposition: form-data; name=\"file\"; filename=\"chaos.txt\"\r\n\r\n" + text +
		"\r\n--chaos--\r\n"
	a := l.call(ctx, request{key: l.keys[0], method: http.MethodPost, path: "/v1/files",
		kind: "multipart/form-data; boundary=chaos", body: body})
	switch a.outcome {
	case done:
		l.mu.Lock()
		l.files[a.text("id")] = sum(text)
		l.mu.Unlock()
	case refused:
		l.report.wrong("an upload was refused: %d %v", a.status, a.body)
	case notDone, unknown:
	}
}

// neighbour makes a contact in the other organization now and then.
func (l *load) neighbour(ctx context.Context) {
	l.insist(ctx, post(l.keys[1], "/v1/contacts", l.name("quiet"), `{"lastName": "Quiet"}`))
}
