package domain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/zone"
)

// external adds a domain that is registered elsewhere, and verifies it.
func (w *world) external(name, purpose string) string {
	w.t.Helper()
	v := w.post("/v1/domains", fmt.Sprintf(`{"name": %q, "purpose": %q}`, name, purpose)).OK(w.t, 201)
	w.txt.set(v.Text("verification.recordName"), v.Text("verification.recordValue"))
	return w.post("/v1/domains/"+v.Text("id")+"/verify", "{}").OK(w.t, 200).Text("id")
}

// mailRecords are a zone's records about mail, without the keys.
func (w *world) mailRecords(name string) string {
	w.t.Helper()
	rows, err := w.dns.Records(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		if r.BuiltIn || r.Name == "_frontdesk" {
			continue
		}
		text := r.Content
		if key, _, found := strings.Cut(text, " p="); found && strings.HasPrefix(text, "v=DKIM1;") {
			text = key
		}
		out = append(out, r.Type+" "+r.Name+" "+text)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

const allRecords = "MX @ frontdesk.example, TXT @ v=spf1 a:frontdesk.example ~all, TXT _dmarc v=DMARC1; p=none, " +
	"TXT fd-ed25519._domainkey v=DKIM1; k=ed25519;, TXT fd-rsa._domainkey v=DKIM1; k=rsa;"

func states(t testing.TB, v apptest.Value, want string) {
	t.Helper()
	if got := v.Text("email.spf") + " " + v.Text("email.dkim") + " " + v.Text("email.dmarc"); got != want {
		t.Errorf("%s has %s, want %s", v.Text("name"), got, want)
	}
}

// Email is turned on and off, any number of times, with the same keys.
func TestEmail(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		pending := w.post("/v1/domains", `{"name": "later.com"}`).OK(t, 201).Text("id")
		w.post("/v1/domains/"+pending+"/email", "{}").Refused(t, 409, "DOMAIN_NOT_VERIFIED")
		w.remove("/v1/domains/"+pending+"/email").OK(t, 204)
		w.post("/v1/domains/"+string(id.New())+"/email", "{}").Refused(t, 404, "NOT_FOUND")
		w.remove("/v1/domains/"+string(id.New())+"/email").Refused(t, 404, "NOT_FOUND")

		one := "/v1/domains/" + w.external("engines.com", "general")
		off := w.get(one).OK(t, 200)
		off.Same("email.enabled", false)
		if !off.At("email.spf").Null() || !off.At("email.dkimSelector").Null() {
			t.Errorf("email that is off: %s", off)
		}
		w.remove(one+"/email").OK(t, 204)
		on := w.post(one+"/email", "{}").OK(t, 200)
		on.Same("email.enabled", true)
		on.Same("email.dkimSelector", "fd-rsa")
		states(t, on, "published published published")
		if got := w.mailRecords("engines.com"); got != allRecords {
			t.Errorf("the zone has %s", got)
		}
		const published = `
			SELECT content FROM dns_records
			WHERE organization_id = $1 AND name LIKE '%domainkey' AND deleted_at IS NULL
			ORDER BY content`
		keys := rows(w, published)
		w.post(one+"/email", "{}").OK(t, 200)
		w.remove(one+"/email").OK(t, 204)
		w.remove(one+"/email").OK(t, 204)
		if got := w.mailRecords("engines.com"); got != "" {
			t.Errorf("the zone still has %s", got)
		}
		w.post(one+"/email", "{}").OK(t, 200)
		if again := rows(w, published); !slices.Equal(keys, again) || len(keys) != 2 {
			t.Errorf("other keys: %v, %v", keys, again)
		}
		if got := w.Events(t, "domain.email"); got != "domain.email.created domain.email.deleted domain.email.created" {
			t.Errorf("events %s", got)
		}
		w.exec("UPDATE domains SET status = 'expired' WHERE name = 'engines.com'")
		w.post(one+"/email", "{}").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		w.remove(one+"/email").OK(t, 204)
	})
}

// Callers' own records in the zone stay, and are reported.
func TestEmailBesideOwnRecords(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		one := "/v1/domains/" + w.external("engines.com", "marketing")
		own := w.post(one+"/dns-records",
			`{"type": "TXT", "name": "@", "content": "V=SPF1 include:other.example -all"}`).
			OK(t, 201).Text("id")
		w.post(one+"/dns-records", `{"type": "CNAME", "name": "_dmarc", "content": "dmarc.other.example"}`).OK(t, 201)
		w.post(one+"/dns-records", `{"type": "TXT", "name": "@", "content": "v=spf1-looks-like-it"}`).OK(t, 201)
		v := w.post(one+"/email", "{}").OK(t, 200)
		states(t, v, "custom published custom")
		const want = "CNAME _dmarc dmarc.other.example, TXT @ V=SPF1 include:other.example -all, TXT @ " +
			"v=spf1-looks-like-it, TXT fd-ed25519._domainkey v=DKIM1; k=ed25519;, TXT fd-rsa._domainkey v=DKIM1; k=rsa;"
		if got := w.mailRecords("engines.com"); got != want {
			t.Errorf("the zone has %s", got)
		}
		w.remove(one+"/dns-records/"+own).OK(t, 204)
		states(t, w.get(one).OK(t, 200), "missing published custom")
		states(t, w.post(one+"/email", "{}").OK(t, 200), "published published custom")
	})
}

// Subdomains follow the domain above them, as it is when their turn comes.
func TestEmailOfSubdomains(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		one := "/v1/domains/" + w.external("engines.com", "general")
		add := func(name, purpose string) string {
			return w.post(one+"/subdomains", fmt.Sprintf(`{"name": %q, "purpose": %q}`, name+".engines.com", purpose)).
				OK(t, 201).Text("id")
		}
		has := func(name string) bool { return strings.Contains(w.mailRecords("engines.com"), name) }
		early := add("early", "transactional")
		w.get("/v1/domains/"+early).OK(t, 200).Same("email.enabled", false)
		for _, method := range []string{"POST", "DELETE"} {
			w.SendREST(t, w.Key, method, "/v1/domains/"+early+"/email", "").Refused(t, 409, "DNS_ZONE_MISSING")
		}
		w.post(one+"/email", "{}").OK(t, 200)
		states(t, w.get("/v1/domains/"+early).OK(t, 200), "published published published")
		if has("MX early") || !has("TXT fd-rsa._domainkey.early v=DKIM1") || !has("TXT early v=spf1") ||
			!has("TXT _dmarc.early") {
			t.Errorf("the zone has %s", w.mailRecords("engines.com"))
		}
		var made [6]string
		apptest.RunAtOnce(len(made), func(i int) { made[i] = add(fmt.Sprintf("n%d", i), "general") })
		for i, sub := range made {
			w.eventually("records of a subdomain", func() bool {
				return w.get("/v1/domains/"+sub).OK(t, 200).Text("email.dmarc") == "published" &&
					has(fmt.Sprintf("MX n%d ", i))
			})
		}
		list := w.get(one+"/subdomains").OK(t, 200)
		if list.Len() != 7 {
			t.Fatalf("subdomains: %s", list)
		}
		for i := range 7 {
			states(t, list.At(fmt.Sprint(i)), "published published published")
		}
		w.remove(one+"/subdomains/"+made[0]).OK(t, 204)
		w.eventually("the records gone", func() bool { return !has("n0") })
		w.remove(one+"/email").OK(t, 204)
		if got := w.mailRecords("engines.com"); got != "" {
			t.Errorf("the zone still has %s", got)
		}
		w.get("/v1/domains/"+early).OK(t, 200).Same("email.enabled", false)
	})
}

// A provider that falls silent halfway leaves email off, and the next call, or
// otherwise the job, continues.
func TestEmailResumes(t *testing.T) {
	var silent atomic.Int64
	flaky := func(c *domain.Config) { c.DNS = &silentDNS{c.DNS, &silent} }
	each(t, func(w *world) {
		t := w.t
		v := w.external("engines.com", "general")
		one := "/v1/domains/" + v
		silent.Store(3)
		if r := w.post(one+"/email", "{}"); r.Status < 500 {
			t.Errorf("a silent provider: %d %s", r.Status, r.Body)
		}
		silent.Store(0)
		w.get(one).OK(t, 200).Same("email.enabled", false)
		if got := w.Events(t, "domain.email"); got != "" {
			t.Errorf("events %s", got)
		}
		// The clock cannot be moved, so the job is.
		w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'domain.publish_email'")
		w.eventually("the job", func() bool { return w.get(one).OK(t, 200).At("email.enabled").String() == "true" })
		if got := w.mailRecords("engines.com"); got != allRecords {
			t.Errorf("the zone has %s", got)
		}
		w.post(one+"/email", "{}").OK(t, 200)
		if got := w.Events(t, "domain.email"); got != "domain.email.created" {
			t.Errorf("events %s", got)
		}
	}, flaky)
}

// silentDNS does not answer the third and later additions while told so.
type silentDNS struct {
	zone.Provider
	silent *atomic.Int64
}

func (s *silentDNS) Add(ctx context.Context, name string, r zone.Record) error {
	if n := s.silent.Load(); n > 0 {
		if n == 1 {
			return errors.New("the provider did not answer in time")
		}
		s.silent.Add(-1)
	}
	return s.Provider.Add(ctx, name, r)
}

// Only the organization that has a domain sends from it or gets its mail, and
// only while it is active and its email is on.
func TestEmailIsWhose(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		one := "/v1/domains/" + w.external("engines.com", "general")
		sub := w.post(one+"/subdomains", `{"name": "news.engines.com", "purpose": "marketing"}`).OK(t, 201).Text("id")
		other := w.NewTenant(t, "enterprise")
		w.SendREST(t, other.Key, "POST", one+"/email", "{}").Refused(t, 404, "NOT_FOUND")
		w.SendREST(t, other.Key, "DELETE", one+"/email", "").Refused(t, 404, "NOT_FOUND")
		check := func(org id.ID, name string, sends, receives bool, signs int) {
			t.Helper()
			err := w.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				s, r, err := w.Domains.Email.CanSendFrom(ctx, tx, org, name)
				if s != sends || r != receives {
					t.Errorf("%s sends %t, receives %t", name, s, r)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if keys, err := w.Domains.Email.LoadSigners(t.Context(), org, name); len(keys) != signs ||
				(err == nil) != sends ||
				fault.IsKind(err, fault.Internal) {
				t.Errorf("%d keys of %s: %v", len(keys), name, err)
			}
		}
		check(w.Org, "engines.com", true, false, 0) // with the service's own keys
		w.post(one+"/email", "{}").OK(t, 200)
		check(w.Org, "engines.com", true, true, 2)
		check(w.Org, "news.engines.com", true, false, 2)
		check(other.Org, "engines.com", false, false, 0)
		w.exec("UPDATE domains SET status = 'expired' WHERE name = 'engines.com'")
		check(w.Org, "engines.com", false, false, 0)
		check(w.Org, "news.engines.com", false, false, 0)
		w.exec("UPDATE domains SET status = 'active' WHERE name = 'engines.com'")
		w.remove(one+"/subdomains/"+sub).OK(t, 204)
		check(w.Org, "news.engines.com", false, false, 0)
		w.remove(one).OK(t, 204)
		check(w.Org, "engines.com", false, false, 0)
	})
}

// A name has one SPF record. A second is refused with the text that allows both, which the record of hosted email
// takes; ours cannot be taken out, and what was added outlives a change of mode.
func TestSingleSPF(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		one := "/v1/domains/" + w.external("engines.com", "general")
		w.post(one+"/email", "{}").OK(t, 200)
		const other = "v=spf1 include:_spf.other.example -all"
		details := w.post(one+"/dns-records", `{"type": "TXT", "name": "@", "content": "`+other+`"}`).
			Refused(t, 409, "DNS_SPF_EXISTS").At("details")
		merged, record := details.Text("content"), one+"/dns-records/"+details.Text("recordId")
		if !strings.HasPrefix(merged, "v=spf1 ") || !strings.Contains(merged, " include:_spf.other.example ~all") {
			t.Fatalf("merged: %s", merged)
		}
		w.patch(record, `{"content": "`+other+`"}`).Refused(t, 409, "DNS_RECORD_MANAGED")
		w.patch(record, `{"name": "www"}`).Refused(t, 409, "DNS_RECORD_MANAGED")
		w.SendREST(t, w.Key, "PUT", record, `{"type": "TXT", "content": "`+merged+`"}`).Refused(t, 409,
			"DNS_RECORD_MANAGED")
		w.remove(record).Refused(t, 409, "DNS_RECORD_MANAGED")
		changed := w.patch(record, `{"content": "`+merged+`", "ttl": 300}`).OK(t, 200)
		changed.Same("content", merged)
		changed.Same("managedBy", "email")
		w.post(one+"/email", `{"mode": "sending"}`).OK(t, 200)
		w.get(record).OK(t, 200).Same("content", merged)
		w.patch(record, `{"content": "v=spf1 a ~all"}`).Refused(t, 409, "DNS_RECORD_MANAGED")

		// Of somebody's own records there is one, too.
		own := w.post(one+"/dns-records", `{"type": "TXT", "name": "news", "content": "`+other+`"}`).OK(t, 201).
			Text("id")
		w.post(one+"/dns-records", `{"type": "TXT", "name": "news", "content": "v=spf1 mx -all"}`).
			Refused(t, 409, "DNS_SPF_EXISTS")
		text := w.post(one+"/dns-records", `{"type": "TXT", "name": "news", "content": "hello"}`).OK(t, 201).Text("id")
		w.patch(one+"/dns-records/"+text, `{"content": "v=spf1 mx -all"}`).Refused(t, 409, "DNS_SPF_EXISTS")
		w.patch(one+"/dns-records/"+own, `{"content": "v=spf1 mx -all"}`).OK(t, 200).Same("content", "v=spf1 mx -all")
		w.remove(one+"/email").OK(t, 204)
	})
}
