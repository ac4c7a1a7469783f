package domain_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/zone"
)

const registrant = `{"firstName": "Ada", "lastName": "Lovelace", "address1": "12 St James's Square",
	"city": "London", "stateProvince": "London", "postalCode": "SW1Y 4JH", "country": "GB",
	"email": "ada@example.com", "phone": "+442079460018"}`

const company = `{"firstName": "Ada", "lastName": "Lovelace", "organizationName": "Analytical Engines",
	"jobTitle": "Director", "address1": "12 St James's Square", "city": "London", "stateProvince": "London",
	"postalCode": "SW1Y 4JH", "country": "GB", "email": "ada@example.com", "phone": "+442079460018"}`

// world is a service with a card, accepted agreements, running jobs and a DNS
// that the test writes.
type world struct {
	*apptest.App
	t   testing.TB
	txt *texts
	dns zone.Provider
}

// texts are TXT records by name, and MX records by name.
type texts struct {
	mu sync.Mutex
	by map[string][]string
	mx map[string][]*net.MX
}

func (x *texts) set(name string, values ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.by[name] = values
}

func (x *texts) lookup(_ context.Context, name string) ([]string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if v, ok := x.by[name]; ok {
		return v, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (x *texts) setMX(name string, hosts ...*net.MX) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mx = map[string][]*net.MX{name: hosts}
}

func (x *texts) lookupMX(_ context.Context, name string) ([]*net.MX, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if v := x.mx[name]; len(v) > 0 {
		return v, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// each runs fn on both engines: at once, or in turn where they share the
// providers that change puts in.
func each(t *testing.T, fn func(w *world), change ...func(*domain.Config)) {
	run := dbtest.EachEngineParallel
	if len(change) > 0 {
		run = dbtest.EachEngine
	}
	run(t, func(t *testing.T, e db.Engine) { fn(begin(t, e, change...)) })
}

func begin(t *testing.T, e db.Engine, change ...func(*domain.Config)) *world {
	t.Helper()
	w := &world{t: t, txt: &texts{by: map[string][]string{}}}
	x := w.extra(change...)
	w.App = apptest.Start(t, e, x)
	w.trusted(w.Tenant, "visa")
	w.work()
	return w
}

func (w *world) extra(change ...func(*domain.Config)) app.Extra {
	return app.Extra{Domains: func(c *domain.Config) {
		if w.txt != nil {
			c.LookupTXT, c.LookupMX = w.txt.lookup, w.txt.lookupMX
		}
		for _, f := range change {
			f(c)
		}
		w.dns = c.DNS
	}}
}

// work runs the background jobs until the test ends.
func (w *world) work() {
	if err := w.Jobs.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.Jobs.Stop(ctx); err != nil {
			w.t.Error(err)
		}
	})
}

// trusted accepts the domain agreements for a tenant and saves a card.
func (w *world) trusted(v apptest.Tenant, card string) {
	w.AsOperator(w.t, "agreements.accept", "business", v.Business,
		fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, v.Business, v.Owner))
	w.pay(v, card)
}

func (w *world) pay(v apptest.Tenant, card string) {
	w.AsOperator(w.t, "payment_methods.create_test", "organization", v.Org, fmt.Sprintf(`{"test": %q}`, card))
}

func (w *world) get(path string) apptest.Result    { return w.SendREST(w.t, w.Key, "GET", path, "") }
func (w *world) remove(path string) apptest.Result { return w.SendREST(w.t, w.Key, "DELETE", path, "") }

func (w *world) post(path, body string, headers ...string) apptest.Result {
	return w.SendREST(w.t, w.Key, "POST", path, body, headers...)
}

func (w *world) patch(path, body string) apptest.Result {
	return w.SendREST(w.t, w.Key, "PATCH", path, body)
}

func order(name, contact string, limit int) string {
	return fmt.Sprintf(`{"domain": %q, "maxAmountCents": %d, "contact": %s}`, name, limit, contact)
}

// register orders a name with its own key.
func (w *world) register(name string) apptest.Result {
	w.t.Helper()
	return w.post("/v1/domain-registrations", order(name, company, 100_000), "Idempotency-Key", string(id.New()))
}

// ended waits until an operation is over.
func (w *world) ended(operation string) apptest.Value {
	w.t.Helper()
	for range 3000 {
		o := w.get("/v1/operations/"+operation).OK(w.t, 200)
		if s := o.Text("status"); s == "succeeded" || s == "failed" {
			return o
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.t.Fatalf("the operation never ended: %s", w.get("/v1/operations/"+operation).Body)
	return apptest.Value{}
}

// registered registers a name and returns the domain's id.
func (w *world) registered(name string) string {
	w.t.Helper()
	o := w.ended(w.register(name).OK(w.t, 202).Text("operationId"))
	if o.Text("status") != "succeeded" {
		w.t.Fatalf("not registered: %s", o)
	}
	return o.Text("resourceId")
}

// count runs a statement that counts.
func (w *world) count(text string, args ...any) (n int) {
	w.t.Helper()
	err := w.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, text, args...)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// exec runs a statement, to create a state that only time brings.
func (w *world) exec(text string, args ...any) {
	w.t.Helper()
	err := w.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, text, args...)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventually waits for a condition.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.t.Fatalf("it never came: %s", what)
}

// rows lists the ids that a statement finds in the organization.
func rows(w *world, text string) (out []string) {
	w.t.Helper()
	err := w.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.QueryAll[string](ctx, tx, text, w.Org)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}
