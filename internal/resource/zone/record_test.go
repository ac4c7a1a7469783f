package zone_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// shaky is a DNS provider that fails when told to.
type shaky struct {
	zone.Provider
	mu    sync.Mutex
	fail  error
	after bool // it does its work, and then fails
	calls int
	slow  func(context.Context) // before it adds a record
}

func (s *shaky) set(after bool, fail error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.after = fail, after
}

// do makes a call, or lets it fail once.
func (s *shaky) do(work func() error) error {
	s.mu.Lock()
	fail, after := s.fail, s.after
	s.fail = nil
	s.calls++
	s.mu.Unlock()
	if fail != nil && !after {
		return fail
	}
	return errors.Join(work(), fail)
}

func (s *shaky) Add(ctx context.Context, name string, r zone.Record) error {
	if s.slow != nil {
		s.slow(ctx)
	}
	return s.do(func() error { return s.Provider.Add(ctx, name, r) })
}

func (s *shaky) Replace(ctx context.Context, name string, old, r zone.Record) error {
	return s.do(func() error { return s.Provider.Replace(ctx, name, old, r) })
}

func (s *shaky) Remove(ctx context.Context, name string, r zone.Record) error {
	return s.do(func() error { return s.Provider.Remove(ctx, name, r) })
}

// world is a service whose jobs run.
type world struct {
	*apptest.App
	t   testing.TB
	dns zone.Provider
}

func (w *world) get(path string) apptest.Result    { return w.SendREST(w.t, w.Key, "GET", path, "") }
func (w *world) remove(path string) apptest.Result { return w.SendREST(w.t, w.Key, "DELETE", path, "") }
func (w *world) put(path, body string) apptest.Result {
	return w.SendREST(w.t, w.Key, "PUT", path, body)
}

func (w *world) post(path, body string, headers ...string) apptest.Result {
	return w.SendREST(w.t, w.Key, "POST", path, body, headers...)
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

// activate does what verification does.
func (w *world) activate(domain, name string) string {
	w.t.Helper()
	w.exec("UPDATE domains SET status = 'active' WHERE id = $1", domain)
	if err := w.dns.CreateZone(context.Background(), name); err != nil {
		w.t.Fatal(err)
	}
	return domain
}

// zoned is a world with an active domain, example.com, behind a shaky provider.
type zoned struct {
	*world
	dns    *shaky
	domain string
	path   string
	step   func(string)
}

func eachZone(t *testing.T, fn func(z *zoned)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		z := &zoned{dns: &shaky{}}
		a := apptest.Start(t, e, app.Extra{Domains: func(c *domain.Config) {
			z.dns.Provider, c.DNS = c.DNS, z.dns
			c.Pause = func(step string) {
				if z.step != nil {
					z.step(step)
				}
			}
		}})
		z.world = &world{App: a, t: t, dns: z.dns}
		z.work()
		added := z.post("/v1/domains", `{"name": "example.com"}`).OK(t, 201).Text("id")
		z.domain = z.activate(added, "example.com")
		z.path = "/v1/domains/" + z.domain + "/dns-records"
		fn(z)
	})
}

// answers lists the zone's records except the built-in ones.
func (z *zoned) answers() string {
	z.t.Helper()
	all, err := z.dns.Records(context.Background(), "example.com")
	if err != nil {
		z.t.Fatal(err)
	}
	var out []string
	for _, r := range all {
		if !r.BuiltIn {
			out = append(out, r.Type+" "+r.Name+" "+r.Content)
		}
	}
	return strings.Join(out, ", ")
}

func (z *zoned) has(want string) {
	z.t.Helper()
	if got := z.answers(); got != want {
		z.t.Errorf("the zone has %q, want %q", got, want)
	}
}

func (z *zoned) events(kind string, want int) {
	z.t.Helper()
	if n := z.count("SELECT count(*) FROM events WHERE type = $1", kind); n != want {
		z.t.Errorf("%d events %s, want %d", n, kind, want)
	}
}

func record(kind, name, content string) string {
	return fmt.Sprintf(`{"type": %q, "name": %q, "content": %q}`, kind, name, content)
}

// A service that lacks a part says so at start.
func TestNewNeedsEverything(t *testing.T) {
	defer func() {
		if said, _ := recover().(string); !strings.HasPrefix(said, "zone: New needs Config.") {
			t.Errorf("it says %q", said)
		}
	}()
	zone.New(zone.Config{})
}

// Records are added, listed, replaced and removed, through every door.
func TestRecords(t *testing.T) {
	w := &world{}
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		w.App, w.t = a, t
		d := call(t, "domains.create", `{"name": "example.com"}`).OK(t, 201).Text("id")
		in := func(more string) string { return `{"id": "` + d + `"` + more + `}` }
		ref := func(r apptest.Value, more string) string { return in(`, "recordId": "` + r.Text("id") + `"` + more) }
		const create, list = "domains.dns_records.create", "domains.dns_records.list"

		call(t, list, in("")).Refused(t, 409, "DNS_ZONE_MISSING")
		call(t, create, in(`, "type": "A", "content": "192.0.2.1"`)).Refused(t, 409, "DNS_ZONE_MISSING")
		w.activate(d, "example.com")

		built := call(t, list, in(`, "sortOrder": "asc"`)).OK(t, 200)
		if built.Len() != 2 || built.Text("0.type") != "SOA" || built.Text("1.type") != "NS" ||
			built.Text("0.managedBy") != "system" || built.Text("1.name") != "@" {
			t.Fatalf("the built-in records: %s", built)
		}
		for _, i := range []string{"0", "1"} {
			call(t, "domains.dns_records.delete", ref(built.At(i), "")).Refused(t, 409, "DNS_RECORD_MANAGED")
			call(t, "domains.dns_records.update", ref(built.At(i), `, "type": "A", "content": "192.0.2.1"`)).
				Refused(t, 409, "DNS_RECORD_MANAGED")
		}

		r := call(t, create, in(`, "type": "A", "name": "WWW.example.com", "content": "192.0.2.1"`)).OK(t, 201)
		for path, want := range map[string]any{"type": "A", "name": "www", "content": "192.0.2.1", "ttl": 3600.0,
			"managedBy": "user", "domainId": d} {
			r.Same(path, want)
		}
		if !r.At("priority").Null() || !r.At("deletedAt").Null() {
			t.Errorf("the record: %s", r)
		}
		mx := call(t, create,
			in(`, "type": "MX", "content": "mail.example.com", "priority": 10, "ttl": 600`)).OK(t, 201)
		mx.Same("name", "@")
		mx.Same("priority", 10.0)
		call(t, "domains.dns_records.get", ref(mx, "")).OK(t, 200).Same("content", "mail.example.com")

		rows := call(t, list, in(`, "limit": 2`))
		if two := rows.OK(t, 200); two.Text("0.id") != mx.Text("id") || two.Text("1.id") != r.Text("id") {
			t.Errorf("newest first: %s", rows.Body)
		} else {
			rows.Page(t).Same("total", 4.0)
			rows.Page(t).Same("hasMore", true)
		}
		for filter, want := range map[string]int{`, "type": "MX"`: 1, `, "name": "www"`: 1,
			`, "name": "www.example.com."`: 1, `, "name": "@"`: 3,
			`, "type": "A", "name": "@"`: 0, `, "type": "SOA"`: 1} {
			if rows := call(t, list, in(filter)).OK(t, 200); rows.Len() != want {
				t.Errorf("%s: %s", filter, rows)
			}
		}

		was := call(t, list, in(`, "type": "SOA"`)).OK(t, 200)
		changed := call(t, "domains.dns_records.update",
			ref(r, `, "type": "AAAA", "name": "web", "content": "2001:DB8::1", "ttl": 60`)).OK(t, 200)
		for path, want := range map[string]any{"id": r.Text("id"), "type": "AAAA", "name": "web",
			"content": "2001:db8::1",
			"ttl":     60.0} {
			changed.Same(path, want)
		}
		if now := call(t, list, in(`, "type": "SOA"`)).OK(t, 200); now.Text("0.content") == was.Text("0.content") ||
			now.Text("0.id") != was.Text("0.id") {
			t.Errorf("the SOA: %s, then %s", was, now)
		}
		// The same again changes nothing.
		call(t, "domains.dns_records.update",
			ref(r, `, "type": "AAAA", "name": "web", "content": "2001:db8:0::1", "ttl": 60`)).OK(t, 200).
			Same("updatedAt", changed.Text("updatedAt"))

		call(t, create, in(`, "type": "AAAA", "name": "web", "content": "2001:db8::1"`)).Refused(t, 409,
			"DNS_RECORD_EXISTS")
		call(t, create, in(`, "type": "CNAME", "name": "web", "content": "example.net"`)).
			Refused(t, 409, "DNS_RECORD_CONFLICT")
		alias := call(t, create, in(`, "type": "CNAME", "name": "shop", "content": "Example.NET."`)).OK(t, 201)
		alias.Same("content", "example.net")
		call(t, create, in(`, "type": "TXT", "name": "shop", "content": "hello"`)).Refused(t, 409,
			"DNS_RECORD_CONFLICT")
		call(t, "domains.dns_records.update", ref(r, `, "type": "A", "name": "shop", "content": "192.0.2.1"`)).
			Refused(t, 409, "DNS_RECORD_CONFLICT")
		call(t, "domains.dns_records.update",
			ref(alias, `, "type": "A", "name": "shop", "content": "192.0.2.1"`)).OK(t, 200)

		for field, bad := range map[string]string{
			"content":  `"type": "A", "content": "example.com"`,
			"type":     `"type": "CNAME", "content": "example.net"`,
			"priority": `"type": "MX", "content": "mail.example.com"`,
			"name":     `"type": "A", "name": "a b", "content": "192.0.2.1"`,
			"ttl":      `"type": "A", "content": "192.0.2.1", "ttl": 59`,
		} {
			call(t, create, in(", "+bad)).Issues(t, field)
			call(t, "domains.dns_records.update", ref(r, ", "+bad)).Issues(t, field)
		}
		call(t, create, in(`, "type": "PTR", "content": "example.net"`)).Issues(t, "type")
		call(t, create, in(`, "type": "TXT", "content": "`+strings.Repeat("x", 2049)+`"`)).Issues(t, "content")
		call(t, create, in(`, "type": "TXT", "content": "`+strings.Repeat("x", 2048)+`"`)).OK(t, 201)
		call(t, list, in(`, "name": "a b"`)).Refused(t, 400, "INVALID_INPUT")

		call(t, "domains.dns_records.delete", ref(r, "")).OK(t, 204)
		call(t, "domains.dns_records.get", ref(r, "")).Refused(t, 404, "NOT_FOUND")
		call(t, "domains.dns_records.delete", ref(r, "")).Refused(t, 404, "DNS_ERROR")
		call(t, "domains.dns_records.update",
			ref(r, `, "type": "A", "content": "192.0.2.1"`)).Refused(t, 404, "DNS_ERROR")
		for kind, want := range map[string]int{"created": 4, "updated": 2, "deleted": 1} {
			if n := w.count("SELECT count(*) FROM events WHERE type = $1", "domain.dns_record."+kind); n != want {
				t.Errorf("%d events %s, want %d", n, kind, want)
			}
		}

		sub := call(t, "domains.subdomains.create", in(`, "name": "mail.example.com"`)).OK(t, 201).Text("id")
		call(t, list, `{"id": "`+sub+`"}`).Refused(t, 409, "DNS_ZONE_MISSING").Same("details.parentDomainId", d)
		call(t, list, `{"id": "`+string(id.New())+`"}`).Refused(t, 404, "NOT_FOUND")
	}, app.Extra{Domains: func(c *domain.Config) { w.dns = c.DNS }})
}

// Changes that others make at the provider show up, with an id that stays.
func TestRecordsFromElsewhere(t *testing.T) {
	eachZone(t, func(z *zoned) {
		ctx := context.Background()
		theirs := zone.Record{Type: "TXT", Name: "note", Content: "made elsewhere", TTL: 300}
		if err := z.dns.Provider.Add(ctx, "example.com", theirs); err != nil {
			z.t.Fatal(err)
		}
		seen := z.get(z.path+"?type=TXT").OK(z.t, 200)
		seen.Same("0.managedBy", "user")
		one := z.path + "/" + seen.Text("0.id")
		z.get(z.path+"?type=TXT").OK(z.t, 200).Same("0.id", seen.Text("0.id"))

		theirs.TTL = 900
		if err := z.dns.Provider.Add(ctx, "example.com", theirs); err != nil {
			z.t.Fatal(err)
		}
		z.get(one).OK(z.t, 200).Same("ttl", 900.0)
		z.put(one, record("TXT", "note", "changed here")).OK(z.t, 200).Same("id", seen.Text("0.id"))
		z.has("TXT note changed here")

		theirs.Content = "changed here"
		if err := z.dns.Provider.Remove(ctx, "example.com", theirs); err != nil {
			z.t.Fatal(err)
		}
		z.get(one).Refused(z.t, 404, "NOT_FOUND")
		z.put(one, record("TXT", "note", "once more")).Refused(z.t, 404, "DNS_ERROR")
		z.remove(one).Refused(z.t, 404, "DNS_ERROR")
	})
}

// Writes to one zone take turns: of two for the same alias name one is refused,
// and none of many is lost.
func TestRecordRaces(t *testing.T) {
	eachZone(t, func(z *zoned) {
		race := func(bodies ...string) map[int]int {
			var mu sync.Mutex
			var wg sync.WaitGroup
			statuses := map[int]int{}
			for _, body := range bodies {
				wg.Go(func() {
					r := z.post(z.path, body)
					mu.Lock()
					defer mu.Unlock()
					statuses[r.Status]++
				})
			}
			wg.Wait()
			return statuses
		}
		for i := range 5 {
			name := fmt.Sprintf("www%d", i)
			got := race(record("CNAME", name, "example.net"), record("CNAME", name, "example.org"),
				record("A", name, "192.0.2.1"), record("CNAME", name, "example.net"))
			if got[201] != 1 || got[409] != 3 {
				t.Errorf("%v", got)
			}
		}
		var many []string
		for i := range 20 {
			many = append(many, record("A", "pool", fmt.Sprintf("192.0.2.%d", i+1)))
		}
		if got := race(many...); got[201] != 20 {
			t.Errorf("%v", got)
		}
		if n := z.get(z.path + "?name=pool").Page(z.t).At("total").String(); n != "20" {
			t.Errorf("%s records of pool", n)
		}
		if n := strings.Count(z.answers(), "A pool "); n != 20 {
			t.Errorf("the zone has %d of pool", n)
		}
	})
}
