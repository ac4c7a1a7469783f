package domain_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/zone"
)

// An external domain is added, proved and removed, through every door.
func TestExternalDomain(t *testing.T) {
	w := &world{txt: &texts{by: map[string][]string{}}}
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		w.App, w.t = a, t
		d := call(t, "domains.create", `{"name": "Shop.Example.COM"}`).OK(t, 201)
		for path, want := range map[string]any{"name": "shop.example.com", "kind": "apex",
			"status": "pending_verification",
			"source": "external", "purpose": "general",
			"verification.recordName": "_frontdesk.shop.example.com", "email.enabled": false} {
			d.Same(path, want)
		}
		if !d.At("registration").Null() || !d.At("verification.verifiedAt").Null() {
			t.Errorf("the domain: %s", d)
		}
		ref := `{"id": "` + d.Text("id") + `"}`
		name, value := d.Text("verification.recordName"), d.Text("verification.recordValue")
		call(t, "domains.verify", ref).Refused(t, 409, "DOMAIN_NOT_VERIFIED").Same("details.recordValue", value)
		w.txt.set(name, "something else")
		call(t, "domains.verify", ref).Refused(t, 409, "DOMAIN_NOT_VERIFIED").Same("details.seen.0", "something else")
		call(t, "domains.subdomains.create", `{"id": "`+d.Text("id")+`", "name": "a.shop.example.com"}`).
			Refused(t, 409, "DOMAIN_NOT_VERIFIED")
		w.txt.set(name, "v=spf1 -all", value)
		call(t, "domains.verify", ref).OK(t, 200).Same("status", "active")
		call(t, "domains.verify", ref).OK(t, 200).Same("status", "active")
		if rows, err := w.dns.Records(t.Context(), "shop.example.com"); err != nil || len(rows) == 0 {
			t.Errorf("the zone: %v, %v", rows, err)
		}

		sub := call(t, "domains.subdomains.create",
			`{"id": "`+d.Text("id")+`", "name": "Mail.shop.example.com", "purpose": "marketing"}`).OK(t, 201)
		for path, want := range map[string]any{"name": "mail.shop.example.com", "kind": "subdomain", "status": "active",
			"purpose": "marketing", "parentDomainId": d.Text("id")} {
			sub.Same(path, want)
		}
		if !sub.At("verification").Null() {
			t.Errorf("a subdomain has a record to publish: %s", sub)
		}
		for _, bad := range []string{"a.b.shop.example.com", "other.com", "shop.example.com", "x.example.com"} {
			call(t, "domains.subdomains.create", `{"id": "`+d.Text("id")+`", "name": "`+bad+`"}`).Issues(t, "name")
		}
		call(t, "domains.subdomains.create", `{"id": "`+d.Text("id")+`", "name": "mail.shop.example.com"}`).
			Refused(t, 409, "DOMAIN_EXISTS")

		call(t, "domains.create", `{"name": "shop.example.com"}`).Refused(t, 409, "DOMAIN_EXISTS")
		call(t, "domains.create", `{"name": "a.shop.example.com"}`).Refused(t, 409, "DOMAIN_PARENT_EXISTS").
			Same("details.parentDomainId", d.Text("id"))
		call(t, "domains.create", `{"name": "a.b.shop.example.com"}`).Refused(t, 409, "DOMAIN_NESTING_UNSUPPORTED")
		call(t, "domains.create", `{"name": "a.mail.shop.example.com"}`).Refused(t, 409, "DOMAIN_NESTING_UNSUPPORTED")
		call(t, "domains.create", `{"name": "example.com", "purpose": "nope"}`).Issues(t, "purpose")

		if list := call(t, "domains.list", `{}`).OK(t, 200); list.Len() != 1 {
			t.Errorf("not the apex domains alone: %s", list)
		}
		under := call(t, "domains.subdomains.list", ref)
		if under.OK(t, 200).Len() != 1 {
			t.Errorf("subdomains: %s", under.Body)
		}
		both := `{"id": "` + d.Text("id") + `", "subdomainId": "` + sub.Text("id") + `"}`
		call(t, "domains.subdomains.get", both).OK(t, 200).Same("name", "mail.shop.example.com")
		call(t, "domains.get", `{"id": "`+sub.Text("id")+`"}`).OK(t, 200).Same("kind", "subdomain")
		call(t, "domains.delete", ref).Refused(t, 409, "DOMAIN_SUBDOMAINS_EXIST").
			Same("details.subdomains.0.id", sub.Text("id"))
		call(t, "domains.subdomains.delete", both).OK(t, 204)
		call(t, "domains.subdomains.get", both).Refused(t, 404, "NOT_FOUND")
		for _, gone := range []string{"domains.registration.get", "domains.registration.contact.get",
			"domains.registration.transfer.cancel"} {
			call(t, gone, ref).Refused(t, 404, "NOT_FOUND")
		}
		call(t, "domains.registration.transfer", ref).Refused(t, 422, "REGISTRAR_UNSUPPORTED_OPERATION").
			Same("details.operation", "transfer")
		call(t, "domains.delete", ref).OK(t, 204)
		call(t, "domains.get", ref).Refused(t, 404, "NOT_FOUND")
		want := "domain.created domain.verified domain.subdomain.created domain.subdomain.deleted domain.deleted"
		if got := a.Events(t, "domain"); got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	}, w.extra())
}

// Other holders show at verification, whoever comes first, even at once.
func TestVerifyHeld(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		var won, lost atomic.Int64
		var tenants []apptest.Tenant
		ids := make([]string, 6)
		var values []string
		for i := range ids {
			v := w.NewTenant(t, "enterprise")
			d := w.SendREST(t, v.Key, "POST", "/v1/domains", `{"name": "contested.example"}`).OK(t, 201)
			tenants, ids[i], values = append(tenants, v), d.Text("id"),
				append(values, d.Text("verification.recordValue"))
		}
		w.txt.set("_frontdesk.contested.example", values...)
		apptest.RunAtOnce(len(ids), func(i int) {
			r := w.SendREST(t, tenants[i].Key, "POST", "/v1/domains/"+ids[i]+"/verify", "")
			switch {
			case r.Status == 200:
				won.Add(1)
			case r.Code() == "DOMAIN_UNAVAILABLE":
				lost.Add(1)
			default:
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if won.Load() != 1 || lost.Load() != 5 {
			t.Errorf("%d have it, %d were refused", won.Load(), lost.Load())
		}
	})
}

// The refusals to delete a registered domain, one after the other.
func TestDeleteRegistered(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		ref := w.registered("leaving.com")
		path := "/v1/domains/" + ref
		w.remove(path).Refused(t, 409, "REGISTERED_DOMAIN_NOT_EXPIRED")
		sub := w.post(path+"/subdomains", `{"name": "www.leaving.com"}`).OK(t, 201).Text("id")
		record := zone.Record{Type: "A", Name: "www", Content: "192.0.2.1", TTL: 60}
		if err := w.dns.Add(t.Context(), "leaving.com", record); err != nil {
			t.Fatal(err)
		}
		w.exec("UPDATE domains SET status = 'expired', transfer_requested_at = created_at WHERE id = $1", ref)
		w.exec(`
			INSERT INTO operations (id, organization_id, created_at, updated_at, type, status, resource_name,
				workflow_id, domain_id, step, wanted, charged_at, automatic)
			VALUES ($1, $2, 0, 0, 'domain_renewal', 'running', 'leaving.com', 'w', $3, '', $4, 0, FALSE)`,
			id.New(), w.Org, ref, domain.Order{})
		w.remove(path).Refused(t, 409, "REGISTERED_DOMAIN_RENEWAL_IN_FLIGHT")
		w.exec("UPDATE operations SET status = 'succeeded' WHERE type = 'domain_renewal'")
		w.remove(path).Refused(t, 409, "REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT")
		w.exec("UPDATE domains SET transfer_requested_at = NULL WHERE id = $1", ref)
		w.remove(path).Refused(t, 409, "REGISTERED_DOMAIN_DNS_NOT_EMPTY").
			Same("details.records.0.content", "frontdesk.example")
		w.remove(path+"/email").OK(t, 204)
		no := w.remove(path).Refused(t, 409, "REGISTERED_DOMAIN_DNS_NOT_EMPTY")
		no.Same("details.records.0.content", "192.0.2.1")
		w.get(path+"/dns-records/"+no.Text("details.records.0.id")).OK(t, 200).Same("content", "192.0.2.1")
		if err := w.dns.Remove(t.Context(), "leaving.com", record); err != nil {
			t.Fatal(err)
		}
		below := w.remove(path).Refused(t, 409, "DOMAIN_SUBDOMAINS_EXIST")
		below.Same("details.subdomains.0.name", "www.leaving.com")
		below.Same("details.subdomains.0.id", sub)
		w.remove(path+"/subdomains/"+sub).OK(t, 204)
		w.remove(path).OK(t, 204)
		w.eventually("the zone is gone", func() bool {
			_, err := w.dns.Records(t.Context(), "leaving.com")
			return err != nil
		})
		if n := w.count("SELECT count(*) FROM domain_holds"); n != 0 {
			t.Errorf("%d names are still held", n)
		}
	})
}

// A subdomain that is deleted by its own id takes its email records with it,
// like one that is removed from its domain.
func TestDeleteSubdomainByItself(t *testing.T) {
	each(t, func(w *world) {
		path := "/v1/domains/" + w.registered("engines.com")
		sub := w.post(path+"/subdomains", `{"name": "desk.engines.com"}`).OK(w.t, 201).Text("id")
		has := func() bool {
			records, err := w.dns.Records(w.t.Context(), "engines.com")
			return err == nil && slices.ContainsFunc(records, func(r zone.Record) bool { return r.Name == "desk" })
		}
		w.eventually("its records are there", has)
		w.post("/v1/domains/"+sub+"/subdomains", `{"name": "x.desk.engines.com"}`).
			Refused(w.t, 409, "DOMAIN_NESTING_UNSUPPORTED")
		w.remove("/v1/domains/"+sub).OK(w.t, 204)
		w.eventually("its records are gone", func() bool { return !has() })
	})
}

// Whoever takes a name while its former holder's zone is being removed gets a
// zone.
func TestNameTakenWhileItsZoneGoes(t *testing.T) {
	var take atomic.Pointer[func()]
	each(t, func(w *world) {
		again := func() {
			w.exec(`
				INSERT INTO domain_holds (organization_id, created_at, name, domain_id, zone_ready)
				VALUES ($1, 0, 'again.example.com', $2, TRUE)`, w.Org, id.New())
		}
		take.Store(&again)
		v := w.post("/v1/domains", `{"name": "again.example.com"}`).OK(w.t, 201)
		w.txt.set(v.Text("verification.recordName"), v.Text("verification.recordValue"))
		w.post("/v1/domains/"+v.Text("id")+"/verify", "").OK(w.t, 200)
		w.remove("/v1/domains/"+v.Text("id")).OK(w.t, 204)
		w.eventually("somebody has it again", func() bool { return w.count("SELECT count(*) FROM domain_holds") == 1 })
		w.eventually("and its zone", func() bool {
			_, err := w.dns.Records(w.t.Context(), "again.example.com")
			return err == nil
		})
	}, func(c *domain.Config) {
		c.Pause = func(step string) {
			if step == "zone-dropped" {
				(*take.Load())()
			}
		}
	})
}

// The former holder of a name has no access to the zone of the current one.
func TestZoneOfFormerDomain(t *testing.T) {
	each(t, func(w *world) {
		former := "/v1/domains/" + w.registered("sold.com")
		records := former + "/dns-records"
		const record = `{"type": "A", "name": "www", "content": "192.0.2.1"}`
		w.exec("UPDATE domains SET status = 'transferred', transfer_requested_at = created_at WHERE name = 'sold.com'")
		w.exec("DELETE FROM domain_holds WHERE name = 'sold.com'")
		mine := w.post(records, record).OK(w.t, 201).Text("id") // it may still be delegated to us
		other := w.NewTenant(w.t, "enterprise")
		v := w.SendREST(w.t, other.Key, "POST", "/v1/domains", `{"name": "sold.com"}`).OK(w.t, 201)
		w.txt.set(v.Text("verification.recordName"), v.Text("verification.recordValue"))
		w.SendREST(w.t, other.Key, "POST", "/v1/domains/"+v.Text("id")+"/verify", "").OK(w.t, 200).Same("status",
			"active")
		w.post(records, strings.Replace(record, "www", "evil", 1)).Refused(w.t, 409, "DNS_ZONE_MISSING")
		w.get(records).Refused(w.t, 409, "DNS_ZONE_MISSING")
		w.remove(records+"/"+mine).Refused(w.t, 409, "DNS_ZONE_MISSING")
		w.SendREST(w.t, other.Key, "POST", "/v1/domains/"+v.Text("id")+"/dns-records",
			strings.Replace(record, "www", "new", 1)).
			OK(w.t, 201)
		w.remove(former).OK(w.t, 204)
	})
}

// Impossible names, and those that only look odd.
func TestNames(t *testing.T) {
	for in, want := range map[string]string{"example.com": "example.com", "EXAMPLE.Com": "example.com",
		"example.com.": "example.com", "example.com。": "example.com", "example。com．": "example.com",
		"bücher.de": "xn--bcher-kva.de", "XN--BCHER-KVA.de": "xn--bcher-kva.de",
		"shop.a-b.co.uk": "shop.a-b.co.uk", "пример.рф": "xn--e1afmkfd.xn--p1ai", "例え.jp": "xn--r8jz45g.jp",
		strings.Repeat("a", 63) + ".com": strings.Repeat("a", 63) + ".com"} {
		if got, issue := domain.ParseName(in); got != want || issue != "" {
			t.Errorf("%s is %q (%s), want %q", in, got, issue, want)
		}
	}
	bad := map[string]string{"": "Required", "two words.com": "spaces", " a.com": "spaces", "a.com..": "empty label",
		".": "empty label", ".a.com": "empty label", "a..com": "empty label",
		strings.Repeat("a", 64) + ".com": "63 characters", strings.Repeat("ü", 63) + ".com": "xn-- form",
		strings.Repeat("abcdefg.", 40) + "com": "253", "pаypal.com": "scripts",
		"xn--zzzzzzzzzz99.com": "stands for nothing", "xn--.com": "hyphen", "xn--abc.com": "", "-a.com": "hyphen",
		"a-.com": "hyphen", "a_b.com": "underscore",
		"https://a.com": "name alone", "a.com/x": "name alone", "a@b.com": "name alone", "127.0.0.1": "address",
		"a.123": "number", "localhost": "ending", "com": "ending", "co.uk": "ending",
		"a\x00b.com": "host name", "a!b.com": "host name", "☃☃.com": ""}
	for in, want := range bad {
		if got, issue := domain.ParseName(in); issue == "" && want != "" || !strings.Contains(issue, want) {
			t.Errorf("%q is taken as %q, or refused with %q; want something about %q", in, got, issue, want)
		}
	}
	each(t, func(w *world) {
		for in := range bad {
			if want := bad[in]; want == "" || strings.ContainsRune(in, 0) {
				continue
			}
			w.post("/v1/domains", fmt.Sprintf(`{"name": %q}`, in)).Issues(w.t, "name")
		}
	})
}

// A service that lacks a part says so at start.
func TestNewNeedsEverything(t *testing.T) {
	defer func() {
		if said, _ := recover().(string); !strings.HasPrefix(said, "domain: New needs Config.") {
			t.Errorf("it says %q", said)
		}
	}()
	domain.New(domain.Config{})
}
