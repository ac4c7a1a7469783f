package domain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/zone"

	"github.com/miekg/dns"
)

// The tests named TestAttack replay, over the wire, what somebody tries who
// wants another organization's domain. The service asks a real DNS server that
// stands for the internet, and the embedded server answers real questions.

// The holder of a name below one that somebody registers later no longer
// answers for it: the parent's holder decides about the child.
func TestAttackChildShadowsRegisteredParent(t *testing.T) {
	eachWild(t, func(w *wild) {
		t, addr := w.t, w.serve()
		thief := w.NewTenant(t, "enterprise")
		path, record, _ := w.proved(thief, "login.victim.com")
		w.record(thief, path, "A", "@", "203.0.113.66")
		w.as(thief, "POST", path+"/email", "{}").OK(t, 200)
		if got := w.dig(addr, "login.victim.com"); got != "NOERROR 203.0.113.66" {
			t.Fatalf("before: %s", got)
		}
		w.registered("victim.com")
		if got := w.dig(addr, "login.victim.com"); got != "NXDOMAIN" {
			t.Errorf("the child of another organization answers below a registered name: %s", got)
		}
		w.as(thief, "GET", path, "").OK(t, 200).Same("status", "pending_verification")
		w.as(thief, "GET", path, "").OK(t, 200).Same("email.enabled", false)
		w.as(thief, "POST", "/v1/messages", letterFrom("ceo@login.victim.com", "")).Refused(t, 400, "VALIDATION_ERROR")
		if _, err := w.Messages.FindMailbox(t.Context(), "x@login.victim.com"); !errors.Is(err, mailhost.ErrNotHosted) {
			t.Errorf("mail to the child: %v", err)
		}
		w.notified(thief, "login.victim.com")
		w.net.publish(record)
		w.as(thief, "POST", path+"/verify", "").Refused(t, 409, "DOMAIN_NOT_VERIFIED")
	})
}

// A child that another organization proved answers only where the parent's zone
// delegates it.
func TestAttackChildWithoutDelegation(t *testing.T) {
	eachWild(t, func(w *wild) {
		t, addr := w.t, w.serve()
		thief := w.NewTenant(t, "enterprise")
		parent, _, _ := w.proved(w.Tenant, "victim.com")
		w.record(w.Tenant, parent, "A", "*", "192.0.2.1")
		child, _, _ := w.proved(thief, "login.victim.com")
		w.record(thief, child, "A", "@", "203.0.113.66")
		w.record(thief, child, "A", "deep.www", "203.0.113.67")
		for _, name := range []string{"login.victim.com", "LOGIN.Victim.com", "deep.www.login.victim.com"} {
			if got := w.dig(addr, name); got != "NOERROR 192.0.2.1" {
				t.Errorf("%s: %s, want what the parent's zone says", name, got)
			}
		}
		w.record(w.Tenant, parent, "NS", "login", "ns1.frontdesk.example")
		if got := w.dig(addr, "login.victim.com"); got != "NOERROR 203.0.113.66" {
			t.Errorf("delegated: %s", got)
		}
		if got := w.dig(addr, "other.victim.com"); got != "NOERROR 192.0.2.1" {
			t.Errorf("beside it: %s", got)
		}
	})
}

// The former holder of a sold domain loses it to whoever proves it, with
// everything that depends on it. While the former proof stands, nobody else
// gets it.
func TestAttackSoldDomain(t *testing.T) {
	eachWild(t, func(w *wild) {
		t := w.t
		former := w.NewTenant(t, "enterprise")
		old, record, oldValue := w.proved(former, "sold.com")
		w.record(former, old, "CNAME", "www", "trap.example")
		w.record(former, old, "TXT", "_acme-challenge", "trap")
		w.as(former, "POST", old+"/email", "{}").OK(t, 200)
		w.as(former, "POST", old+"/subdomains", `{"name": "desk.sold.com"}`).OK(t, 201)
		waiting := w.as(former, "POST", "/v1/messages", letterFrom("ceo@sold.com", fmt.Sprintf(`, "scheduledAt": %q`,
			w.Clock.Now().Add(time.Hour)))).OK(t, 201)

		// The same name in other letters is the same name.
		fresh, _, value := w.claim(w.Tenant, "SOLD.com.")
		w.net.publish(record, oldValue, value)
		w.post(fresh+"/verify", "").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		w.as(former, "GET", old, "").OK(t, 200).Same("status", "active")
		w.as(former, "POST", "/v1/messages", letterFrom("ceo@sold.com", "")).OK(t, 201)

		w.net.publish(record, value)
		w.post(fresh+"/verify", "").OK(t, 200).Same("status", "active")
		gone := w.as(former, "GET", old, "").OK(t, 200)
		gone.Same("status", "pending_verification")
		gone.Same("email.enabled", false)
		if !gone.At("verification.verifiedAt").Null() {
			t.Errorf("it is still called verified: %s", gone)
		}
		for _, from := range []string{"ceo@sold.com", "ceo@desk.sold.com", "ceo@SOLD.com"} {
			w.as(former, "POST", "/v1/messages", letterFrom(from, "")).Refused(t, 400, "VALIDATION_ERROR")
		}
		for _, to := range []string{"x@sold.com", "x@desk.sold.com"} {
			if _, err := w.Messages.FindMailbox(t.Context(), to); !errors.Is(err, mailhost.ErrNotHosted) {
				t.Errorf("mail to %s: %v", to, err)
			}
		}
		left := w.get(fresh+"/dns-records?limit=100").OK(t, 200).String()
		if strings.Contains(left, "trap") || strings.Contains(left, "DKIM") || strings.Contains(left, "spf1") {
			t.Errorf("the zone begins with the former holder's records: %s", left)
		}
		w.as(former, "GET", old+"/dns-records", "").Refused(t, 409, "DNS_ZONE_MISSING")
		w.notified(former, "sold.com")
		w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'message.deliver' AND state = 'ready' AND run_at > $1",
			w.Clock.Now())
		w.eventually("what waited fails", func() bool {
			return w.as(former, "GET", "/v1/messages/"+waiting.Text("id"), "").OK(t, 200).Text("status") == "failed"
		})
		why := w.as(former, "GET", "/v1/messages/"+waiting.Text("id"), "").OK(t, 200).Text("errorMessage")
		if !strings.Contains(why, "sold.com") || !strings.Contains(why, "not active") ||
			strings.Contains(why, "too long") {
			t.Errorf("it says %q", why)
		}
		// The new holder sends, and creates subdomains that the former one had.
		w.post("/v1/messages", letterFrom("ceo@sold.com", "")).OK(t, 201)
		w.post(fresh+"/subdomains", `{"name": "desk.sold.com"}`).OK(t, 201)
		// A proof that is no longer in the DNS is worth nothing.
		w.as(former, "POST", old+"/verify", "").Refused(t, 409, "DOMAIN_NOT_VERIFIED")
	})
}

// Whoever proves a name while the former holder's zone still exists gets an
// empty one, whatever the DNS provider has not done yet.
func TestAttackInheritedZone(t *testing.T) {
	var d *stubbornDNS
	eachWild(t, func(w *wild) {
		t := w.t
		former := w.NewTenant(t, "enterprise")
		old, record, _ := w.proved(former, "again.com")
		w.record(former, old, "CNAME", "www", "trap.example")
		d.keep.Store(true)
		w.as(former, "DELETE", old, "").OK(t, 204)
		fresh, _, value := w.claim(w.Tenant, "again.com")
		w.net.publish(record, value)
		w.post(fresh+"/verify", "").OK(t, 200)
		d.keep.Store(false)
		if left := w.get(fresh+"/dns-records?limit=100").OK(t, 200).String(); strings.Contains(left, "trap") {
			t.Errorf("the zone begins with the former holder's records: %s", left)
		}
		// One that was registered here and left has a zone until it is deleted.
		left := w.registered("leaver.com")
		w.record(w.Tenant, "/v1/domains/"+left, "A", "www", "203.0.113.66")
		w.exec("UPDATE domains SET status = 'transferred', transfer_requested_at = $1 WHERE name = 'leaver.com'",
			w.Clock.Now())
		w.exec("DELETE FROM domain_holds WHERE name = 'leaver.com'")
		next, _, _ := w.proved(former, "leaver.com")
		theirs := w.as(former, "GET", next+"/dns-records?limit=100", "").OK(t, 200).String()
		if strings.Contains(theirs, "203.0.113.66") {
			t.Errorf("the zone begins with the former holder's records: %s", theirs)
		}
	}, func(c *domain.Config) {
		d = &stubbornDNS{Provider: c.DNS}
		c.DNS = d
	})
}

// Whoever deletes a domain removes its own zone, and nobody else's.
func TestAttackZoneOfAnother(t *testing.T) {
	eachWild(t, func(w *wild) {
		t := w.t
		thief := w.NewTenant(t, "enterprise")
		gone := func(name string) bool {
			_, err := w.dns.Records(t.Context(), name)
			return zone.ProviderStatus(err) == 404
		}
		w.registered("leaver.com")
		w.exec("UPDATE domains SET status = 'transferred', transfer_requested_at = $1 WHERE name = 'leaver.com'",
			w.Clock.Now())
		w.exec("DELETE FROM domain_holds WHERE name = 'leaver.com'")
		path, _, _ := w.claim(thief, "leaver.com")
		w.as(thief, "DELETE", path, "").OK(t, 204)
		own, _, _ := w.proved(thief, "own.com")
		w.exec("UPDATE domains SET status = 'pending_verification' WHERE name = 'own.com'") // its proof has lapsed
		w.as(thief, "DELETE", own, "").OK(t, 204)
		w.eventually("its own zone is gone", func() bool { return gone("own.com") })
		w.eventually("nothing else waits", func() bool {
			return w.count("SELECT count(*) FROM jobs WHERE kind = 'domain.drop_zone' AND state <> 'done'") == 0
		})
		if gone("leaver.com") {
			t.Error("the zone of another organization is gone")
		}
	})
}

// stubbornDNS removes no zone while it is told to keep them.
type stubbornDNS struct {
	zone.Provider
	keep atomic.Bool
}

func (d *stubbornDNS) DeleteZone(ctx context.Context, name string) error {
	if d.keep.Load() {
		return errors.New("test: the provider is away")
	}
	return d.Provider.DeleteZone(ctx, name)
}

// Of many organizations that prove one name at once, one gets it.
func TestAttackVerifyAtOnce(t *testing.T) {
	eachWild(t, func(w *wild) {
		t := w.t
		const n = 6
		var who [n]apptest.Tenant
		var paths, values [n]string
		record := ""
		for i := range n {
			who[i] = w.NewTenant(t, "enterprise")
			paths[i], record, values[i] = w.claim(who[i], "race.com")
		}
		w.net.publish(record, values[:]...)
		var codes [n]string
		apptest.RunAtOnce(n, func(i int) {
			r := w.as(who[i], "POST", paths[i]+"/verify", "")
			codes[i] = fmt.Sprint(r.Status, " ", r.Code())
		})
		active := 0
		for i := range n {
			if w.as(who[i], "GET", paths[i], "").OK(t, 200).Text("status") == "active" {
				active++
			} else if codes[i] != "409 DOMAIN_UNAVAILABLE" {
				t.Errorf("who came late was told %s", codes[i])
			}
		}
		if active != 1 {
			t.Errorf("%d organizations have it: %v", active, codes)
		}
		const holder = `
			SELECT count(*) FROM domain_holds h
			JOIN domains d ON d.id = h.domain_id AND d.status = 'active'
			WHERE h.name = 'race.com'`
		if w.count(holder) != 1 {
			t.Error("the holder is not the one that is active")
		}
	})
}

// A proof belongs to one organization: another cannot use it, nor for a name
// above or below it.
func TestAttackForeignProof(t *testing.T) {
	eachWild(t, func(w *wild) {
		t := w.t
		thief := w.NewTenant(t, "enterprise")
		_, record, value := w.proved(w.Tenant, "victim.com")
		path, _, _ := w.claim(thief, "Victim.COM")
		w.as(thief, "POST", path+"/verify", "").Refused(t, 409, "DOMAIN_NOT_VERIFIED")
		// A wildcard answers for every name with the same value.
		other := w.NewTenant(t, "enterprise")
		below, lower, _ := w.claim(other, "shop.victim.com")
		w.net.publish(lower, value)
		w.as(other, "POST", below+"/verify", "").Refused(t, 409, "DOMAIN_NOT_VERIFIED")
		for _, name := range []string{"com", "co.uk", "com.", "github.io", "CO.UK.", "xn--p1ai"} {
			w.as(thief, "POST", "/v1/domains", fmt.Sprintf(`{"name": %q}`, name)).Refused(t, 400, "VALIDATION_ERROR")
		}
		// After the domain is deleted and added again, the old value is worth
		// nothing.
		own := w.get("/v1/domains").OK(t, 200).Text("0.id")
		w.remove("/v1/domains/"+own).OK(t, 204)
		again, _, next := w.claim(w.Tenant, "victim.com")
		if next == value {
			t.Error("the value is used twice")
		}
		w.net.publish(record, value)
		w.post(again+"/verify", "").Refused(t, 409, "DOMAIN_NOT_VERIFIED")
	})
}

// Proofs are checked every day. A record that is missing for a week ends the
// domain's verification; a DNS that only fails does so after a month.
func TestAttackProofOnce(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		n, s := connect(t), apptest.Settings(t, e)
		s.DNSResolver = n.addr
		var tenant apptest.Tenant
		var kept, sold, dark, record, value, waiting string
		at := func(name string, ahead time.Duration, fn func(w *wild)) {
			t.Run(name, func(t *testing.T) {
				s := s
				s.ClockOffset = ahead
				w := wildAt(t, n, s)
				if tenant.Org == "" {
					tenant = w.Tenant
				}
				w.Tenant = tenant
				w.work()
				fn(w)
			})
			if t.Failed() {
				t.FailNow()
			}
		}
		status := func(w *wild, want ...string) {
			w.t.Helper()
			for i, path := range []string{kept, sold, dark} {
				w.get(path).OK(w.t, 200).Same("status", want[i])
			}
		}
		const active, pending = "active", "pending_verification"
		at("begin", 0, func(w *wild) {
			kept, _, _ = w.proved(tenant, "kept.com")
			sold, record, value = w.proved(tenant, "sold.com")
			dark, _, _ = w.proved(tenant, "dark.com")
			w.record(tenant, sold, "A", "www", "192.0.2.1")
			w.post(sold+"/email", "{}").OK(w.t, 200)
			w.post(sold+"/subdomains", `{"name": "desk.sold.com"}`).OK(w.t, 201)
			later := time.Now().Add(9 * formatDay).UTC().Format(time.RFC3339)
			waiting = w.post("/v1/messages",
				letterFrom("ceo@desk.sold.com", fmt.Sprintf(`, "scheduledAt": %q`, later))).
				OK(w.t, 201).Text("id")
		})
		n.publish(record)
		n.fail("_frontdesk.dark.com", dns.RcodeServerFailure)
		at("the next day it is missed", formatDay+time.Hour, func(w *wild) {
			w.looked()
			status(w, active, active, active)
		})
		at("on the seventh it stands", 7*formatDay+2*time.Hour, func(w *wild) {
			w.looked()
			status(w, active, active, active)
			w.post("/v1/messages", letterFrom("ceo@sold.com", "")).OK(w.t, 201)
		})
		at("after a week it is over", 8*formatDay+4*time.Hour, func(w *wild) {
			t := w.t
			w.looked()
			status(w, active, pending, active)
			mail := w.notified(tenant, "sold.com is no longer verified")
			if text := mail.Text("text"); !strings.Contains(text, value) ||
				!strings.Contains(text, "_frontdesk.sold.com") {
				t.Errorf("the mail says %s", text)
			}
			for _, from := range []string{"ceo@sold.com", "ceo@desk.sold.com"} {
				w.post("/v1/messages", letterFrom(from, "")).Refused(t, 400, "VALIDATION_ERROR")
			}
			for _, to := range []string{"x@sold.com", "x@desk.sold.com"} {
				if _, err := w.Messages.FindMailbox(t.Context(), to); !errors.Is(err, mailhost.ErrNotHosted) {
					t.Errorf("mail to %s: %v", to, err)
				}
			}
			w.post(sold+"/email", "{}").Refused(t, 409, "DOMAIN_NOT_VERIFIED")
			w.eventually("its mail records are gone",
				func() bool { return w.mailRecords("sold.com") == "A www 192.0.2.1" })
			if got := w.Events(t, "domain.unverified"); got != "domain.unverified" {
				t.Errorf("events %s", got)
			}
		})
		at("what was written for later fails", 9*formatDay+time.Hour, func(w *wild) {
			w.eventually("it fails", func() bool {
				return w.get("/v1/messages/"+waiting).OK(w.t, 200).Text("status") == "failed"
			})
			n.publish(record, value)
			w.post(sold+"/verify", "").OK(w.t, 200).Same("status", active)
			if got := w.mailRecords("sold.com"); got != "A www 192.0.2.1" {
				w.t.Errorf("who proves a domain again finds %s", got)
			}
			w.post("/v1/messages", letterFrom("ceo@desk.sold.com", "")).OK(w.t, 201)
		})
		n.fail("_frontdesk.dark.com", dns.RcodeRefused)
		at("a DNS that fails is no absence", 20*formatDay, func(w *wild) {
			w.looked()
			status(w, active, active, active)
		})
		at("and no proof for ever", 31*formatDay, func(w *wild) {
			w.looked()
			status(w, active, active, pending)
			w.notified(tenant, "dark.com is no longer verified")
		})
	})
}

// A daily check that was under way when the domain was verified again, or lost
// to somebody else, decides nothing.
func TestAttackLookDuringVerify(t *testing.T) {
	var during atomic.Pointer[func()]
	eachWild(t, func(w *wild) {
		t := w.t
		path, record, value := w.proved(w.Tenant, "slow.com")
		w.net.publish(record)
		w.exec("UPDATE domains SET proof_looked_at = 1, proof_gone_at = 1 WHERE name = 'slow.com'")
		again := func() {
			w.exec("UPDATE domains SET status = 'pending_verification' WHERE name = 'slow.com'")
			w.net.publish(record, value)
			w.post(path+"/verify", "").OK(t, 200)
		}
		during.Store(&again)
		w.eventually("it was looked at", func() bool {
			w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'domains.look_due' AND state = 'ready' AND run_at > 0")
			return during.Load() == nil &&
				w.count("SELECT count(*) FROM jobs WHERE kind = 'domain.look_again' AND state <> 'done'") == 0
		})
		w.get(path).OK(t, 200).Same("status", "active")
		if w.count("SELECT count(*) FROM domains WHERE name = 'slow.com' AND proof_gone_at IS NULL") != 1 {
			t.Error("the old look was written down")
		}
	}, func(c *domain.Config) {
		look := c.LookupTXT
		c.LookupTXT = func(ctx context.Context, name string) ([]string, error) {
			seen, err := look(ctx, name)
			if fn := during.Swap(nil); fn != nil {
				(*fn)()
			}
			return seen, err
		}
	})
}

// A DNS that fails to answer is a refusal that says so, over the wire.
func TestVerifyFailingDNS(t *testing.T) {
	eachWild(t, func(w *wild) {
		path, record, value := w.claim(w.Tenant, "broken.com")
		for code, said := range map[int]string{dns.RcodeServerFailure: "SERVFAIL", dns.RcodeRefused: "REFUSED"} {
			w.net.fail(record, code)
			no := w.post(path+"/verify", "").Refused(w.t, 409, "DOMAIN_NOT_VERIFIED")
			no.Same("details.recordValue", value)
			if got := no.Text("details.problem"); !strings.HasPrefix(got, said) || no.At("details.seen").Len() != 0 {
				w.t.Errorf("%s: %s", said, no)
			}
		}
		w.net.publish(record, "something else")
		no := w.post(path+"/verify", "").Refused(w.t, 409, "DOMAIN_NOT_VERIFIED")
		no.Same("details.seen.0", "something else")
		if !no.At("details.problem").Null() {
			w.t.Errorf("a problem: %s", no)
		}
	})
}

// A name that is free at the registrar belongs to nobody: whoever once proved
// it loses it to whoever registers it.
func TestAttackHeldAfterExpiry(t *testing.T) {
	eachWild(t, func(w *wild) {
		t := w.t
		former := w.NewTenant(t, "enterprise")
		path, record, _ := w.proved(former, "dropped.com")
		w.record(former, path, "A", "www", "203.0.113.66")
		w.register("dropped.com").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		w.net.publish(record)
		ref := w.registered("dropped.com")
		w.as(former, "GET", path, "").OK(t, 200).Same("status", "pending_verification")
		left := w.get("/v1/domains/"+ref+"/dns-records?limit=100").OK(t, 200).String()
		if strings.Contains(left, "203.0.113.66") {
			t.Errorf("the zone begins with the former holder's records: %s", left)
		}
		w.notified(former, "dropped.com")
	})
}

// A write that a former holder left open does not end in the new holder's zone.
func TestAttackWriteAfterEviction(t *testing.T) {
	var d *watchedAdd
	eachWild(t, func(w *wild) {
		t := w.t
		former := w.NewTenant(t, "enterprise")
		old, record, _ := w.proved(former, "late.com")
		d.fail.Store(true)
		w.as(former, "POST", old+"/dns-records", `{"type": "A", "name": "www", "content": "203.0.113.66"}`)
		d.fail.Store(false)
		fresh, _, value := w.claim(w.Tenant, "late.com")
		w.net.publish(record, value)
		w.post(fresh+"/verify", "").OK(t, 200)
		w.eventually("the open write is settled", func() bool {
			w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'dns.settle' AND state = 'ready' AND run_at > 0")
			return w.count("SELECT count(*) FROM jobs WHERE kind = 'dns.settle' AND state <> 'done'") == 0
		})
		if left := w.get(fresh+"/dns-records?limit=100").OK(t, 200).String(); strings.Contains(left, "203.0.113.66") {
			t.Errorf("the former holder wrote into the zone: %s", left)
		}
	}, func(c *domain.Config) {
		d = &watchedAdd{Provider: c.DNS}
		c.DNS = d
	})
}

// watchedAdd does not answer while told so.
type watchedAdd struct {
	zone.Provider
	fail atomic.Bool
}

func (d *watchedAdd) Add(ctx context.Context, name string, r zone.Record) error {
	if d.fail.Load() {
		return errors.New("test: connection reset")
	}
	return d.Provider.Add(ctx, name, r)
}

// With a DNS server that lets the nearest zone answer, a child of another
// organization's domain has no zone unless the parent's zone delegates it.
func TestAttackChildAtProvider(t *testing.T) {
	eachWild(t, func(w *wild) {
		t := w.t
		thief := w.NewTenant(t, "enterprise")
		early, _, _ := w.proved(thief, "early.victim.com")
		w.record(thief, early, "A", "@", "203.0.113.66")
		parent, _, _ := w.proved(w.Tenant, "victim.com")
		w.eventually("the earlier child has no zone", func() bool {
			_, err := w.dns.Records(t.Context(), "early.victim.com")
			return zone.ProviderStatus(err) == 404
		})
		w.notified(thief, "The DNS records of early.victim.com were removed")
		w.as(thief, "GET", early, "").OK(t, 200).Same("status", "active")
		w.proved(thief, "login.victim.com")
		if _, err := w.dns.Records(t.Context(), "login.victim.com"); zone.ProviderStatus(err) != 404 {
			t.Errorf("the child has a zone: %v", err)
		}
		w.record(w.Tenant, parent, "NS", "web", "ns1.frontdesk.example")
		w.proved(thief, "web.victim.com")
		if _, err := w.dns.Records(t.Context(), "web.victim.com"); err != nil {
			t.Errorf("delegated: %v", err)
		}
	}, func(c *domain.Config) { c.HonorsDelegation = false })
}

// Whoever proves a name that another organization has as a subdomain gets that
// name, once the proof of the domain above it is gone, and nothing else.
func TestAttackSubdomainProof(t *testing.T) {
	eachWild(t, func(w *wild) {
		t := w.t
		other := w.NewTenant(t, "enterprise")
		apex, record, value := w.proved(w.Tenant, "victim.com")
		w.record(w.Tenant, apex, "A", "www", "192.0.2.1")
		sub := w.post(apex+"/subdomains", `{"name": "desk.victim.com"}`).OK(t, 201).Text("id")
		path, lower, proof := w.claim(other, "desk.victim.com")
		w.net.publish(lower, proof)
		w.as(other, "POST", path+"/verify", "").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		w.net.fail(record, dns.RcodeServerFailure)
		w.as(other, "POST", path+"/verify", "").Refused(t, 409, "DOMAIN_UNAVAILABLE")
		w.net.publish(record)
		w.as(other, "POST", path+"/verify", "").OK(t, 200).Same("status", "active")
		w.get("/v1/domains/"+sub).OK(t, 200).Same("status", "pending_verification")
		w.post("/v1/domains/"+sub+"/verify", "").Refused(t, 409, "DOMAIN_NOT_VERIFIED")
		w.get(apex).OK(t, 200).Same("status", "active")
		if got := w.mailRecords("victim.com"); got != "A www 192.0.2.1" {
			t.Errorf("the zone of the domain above it has %s", got)
		}
		w.post("/v1/messages", letterFrom("x@desk.victim.com", "")).Refused(t, 400, "VALIDATION_ERROR")
		w.notified(w.Tenant, "desk.victim.com")
		// The proof of the domain above comes back: what was lost stays lost.
		w.exec("UPDATE domains SET status = 'pending_verification' WHERE name = 'victim.com' AND kind = 'apex'")
		w.net.publish(record, value)
		w.post(apex+"/verify", "").OK(t, 200)
		w.get("/v1/domains/"+sub).OK(t, 200).Same("status", "pending_verification")
		w.as(other, "GET", path, "").OK(t, 200).Same("status", "active")
	})
}
