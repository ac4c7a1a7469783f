package domain_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/mailhost"
)

// mailState is what a name of the organization does with mail.
func (w *world) mailState(name string) string {
	w.t.Helper()
	var out string
	err := w.DB.Read(w.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		sends, receives, err := w.Domains.Email.CanSendFrom(ctx, tx, w.Org, name)
		if err != nil {
			return err
		}
		org, taken, err := w.Domains.Email.FindReceiver(ctx, tx, name)
		if err != nil {
			return err
		}
		// Answers to mail from a domain that takes none come to the service's own.
		_, bounces, err := w.MailHosts.ReplyAddresses(ctx, tx, w.Org, "ada@"+name, "x@y")
		if err != nil {
			return err
		}
		_, err = w.MailHosts.FindTarget(ctx, tx, "ada@"+name)
		out = fmt.Sprint(sends, receives, org == w.Org, taken, bounces == name, errors.Is(err, mailhost.ErrNotHosted))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// Email that only sends leaves the MX records to others, for the domain and its
// subdomains, and can be widened and narrowed.
func TestEmailModes(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		one := "/v1/domains/" + w.external("engines.com", "general")
		w.post(one+"/subdomains", `{"name": "shop.engines.com"}`).OK(t, 201)
		if off := w.get(one).OK(t, 200); !off.At("email.mode").Null() {
			t.Errorf("the mode of no email: %s", off)
		}
		w.post(one+"/email", `{"mode": "receiving"}`).Issues(t, "mode")
		v := w.post(one+"/email", `{"mode": "sending"}`).OK(t, 200)
		v.Same("email.mode", "sending")
		states(t, v, "published published published")
		if got := w.mailRecords("engines.com"); strings.Contains(got, "MX") ||
			!strings.Contains(got, "TXT shop v=spf1") {
			t.Errorf("the zone has %s", got)
		}
		if got := w.mailState("engines.com"); got != "true false false false false true" {
			t.Errorf("only sending: %s", got)
		}
		keys, err := w.Domains.Email.LoadSigners(t.Context(), w.Org, "shop.engines.com")
		if err != nil || len(keys) != 2 {
			t.Errorf("the keys: %v, %v", keys, err)
		}
		// Adding what is missing takes no mail away.
		w.post(one+"/email", "{}").OK(t, 200).Same("email.mode", "sending")
		w.post(one+"/email", `{"mode": "full"}`).OK(t, 200).Same("email.mode", "full")
		if got := w.mailRecords("engines.com"); !strings.Contains(got, "MX @") || !strings.Contains(got, "MX shop") {
			t.Errorf("the zone has %s", got)
		}
		if got := w.mailState("engines.com"); got != "true true true true true false" {
			t.Errorf("full: %s", got)
		}
		w.post(one+"/email", `{"mode": "sending"}`).OK(t, 200)
		w.remove(one+"/email").OK(t, 204)
		w.post(one+"/email", "").OK(t, 200).Same("email.mode", "full")
		const want = "domain.email.created domain.email.updated domain.email.updated domain.email.deleted " +
			"domain.email.created"
		if got := w.Events(t, "domain.email"); got != want {
			t.Errorf("events %s", got)
		}

		// Of two who change it at once, one decides about all of it.
		apptest.RunAtOnce(4, func(i int) {
			w.post(one+"/email", fmt.Sprintf(`{"mode": %q}`, []string{"full", "sending"}[i%2]))
		})
		w.eventually("the zone follows the mode", func() bool {
			w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'domain.publish_email' AND state = 'ready'")
			full := w.get(one).OK(t, 200).Text("email.mode") == "full"
			return strings.Contains(w.mailRecords("engines.com"), "MX") == full &&
				w.count("SELECT count(*) FROM domain_email WHERE mode <> wanted_mode") == 0
		})
	})
}

// setup lists the records of a name with their state.
func setup(v apptest.Value) string {
	var out []string
	for i := range v.At("records").Len() {
		r := v.At(fmt.Sprintf("records.%d", i))
		out = append(out, r.Text("type")+" "+r.Text("name")+" "+r.Text("state"))
	}
	return strings.Join(out, ", ")
}

// The records of email are shown with what the DNS has, wherever the zone is.
func TestEmailRecordsInTheDNS(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		path := w.external("engines.com", "general")
		one := "/v1/domains/" + path + "/email"
		off := w.get(one).OK(t, 200)
		off.Same("enabled", false)
		if off.At("records").Len() != 0 || !off.At("mode").Null() {
			t.Errorf("without email: %s", off)
		}
		w.get("/v1/domains/"+string(id.New())+"/email").Refused(t, 404, "NOT_FOUND")
		other := w.NewTenant(t, "enterprise")
		w.SendREST(t, other.Key, "GET", one, "").Refused(t, 404, "NOT_FOUND")
		sub := w.post("/v1/domains/"+path+"/subdomains", `{"name": "news.engines.com", "purpose": "marketing"}`).
			OK(t, 201).Text("id")
		w.post(one, "{}").OK(t, 200)

		copied := w.get(one).OK(t, 200)
		copied.Same("domainId", path)
		copied.Same("mode", "full")
		copied.Same("records.0.priority", 10)
		copied.Same("records.0.content", "frontdesk.example")
		copied.Same("records.1.content", "v=spf1 a:frontdesk.example ~all")
		const none = "MX engines.com missing, TXT engines.com missing, TXT fd-rsa._domainkey.engines.com missing, " +
			"TXT fd-ed25519._domainkey.engines.com missing, TXT _dmarc.engines.com missing"
		if got := setup(copied); got != none {
			t.Errorf("nothing published: %s", got)
		}
		news := w.get("/v1/domains/"+sub+"/email").OK(t, 200)
		if got := setup(news); !strings.HasPrefix(got, "TXT news.engines.com missing, TXT fd-rsa._domainkey.news.") {
			t.Errorf("a subdomain: %s", got)
		}
		content := func(i int) string { return copied.Text(fmt.Sprintf("records.%d.content", i)) }
		w.txt.setMX("engines.com", &net.MX{Host: "Frontdesk.example.", Pref: 10}, &net.MX{Host: "b.example.", Pref: 20})
		w.txt.set("engines.com", "unrelated", "V=SPF1 include:mail.example +A:frontdesk.example -all")
		w.txt.set("fd-rsa._domainkey.engines.com", strings.Replace(content(2), "; ", ";  ", 1)+";")
		w.txt.set("fd-ed25519._domainkey.engines.com", content(3))
		w.txt.set("_dmarc.engines.com", "v=DMARC1; p=reject")
		done := w.get(one).OK(t, 200)
		if got := setup(done); got != strings.ReplaceAll(none, "missing", "found") {
			t.Errorf("all published: %s", done)
		}
		if !done.At("records.1.problem").Null() || done.At("records.1.seen").Len() != 1 {
			t.Errorf("the policy that serves: %s", done)
		}

		w.txt.setMX("engines.com", &net.MX{Host: "mx.other.example.", Pref: 1},
			&net.MX{Host: "frontdesk.example.", Pref: 5})
		w.txt.set("engines.com", "v=spf1 include:mail.example -all a:frontdesk.example")
		w.txt.set("fd-rsa._domainkey.engines.com", content(2), "x")
		w.txt.set("fd-ed25519._domainkey.engines.com", content(2))
		w.txt.set("_dmarc.engines.com", "v=DMARC1 p=none")
		wrong := w.get(one).OK(t, 200)
		if got := setup(wrong); got != strings.ReplaceAll(none, "missing", "wrong") {
			t.Errorf("all wrong: %s", got)
		}
		wrong.Same("records.0.seen.0", "1 mx.other.example")
		for i, said := range []string{"first", "Add a:frontdesk.example", "only TXT", "another key", "no DMARC"} {
			if got := wrong.Text(fmt.Sprintf("records.%d.problem", i)); !strings.Contains(got, said) {
				t.Errorf("problem %d: %s", i, got)
			}
		}
		w.txt.setMX("engines.com", &net.MX{Host: "mx.other.example.", Pref: 1})
		w.txt.set("engines.com", "v=spf1 -all", "v=spf1 a:frontdesk.example -all")
		w.txt.set("_dmarc.engines.com", "v=DMARC1; p=none", "v=DMARC1; p=reject")
		twice := w.get(one).OK(t, 200)
		if got := setup(twice); got != strings.ReplaceAll(none, "missing", "wrong") {
			t.Errorf("twice: %s", got)
		}
		w.txt.set("engines.com", "v=spf1")
		w.get(one).OK(t, 200).Same("records.1.state", "wrong")

		// A stranger's text is cut, and shown even where it is none.
		w.txt.set("_dmarc.engines.com", append(make([]string, 30), "\xff")...)
		w.txt.set("fd-rsa._domainkey.engines.com", strings.Repeat("\xffx", 4000))
		long := w.get(one).OK(t, 200)
		if long.At("records.4.seen").Len() != 20 || len([]rune(long.Text("records.2.seen.0"))) != 500 {
			t.Errorf("a long answer: %s", long)
		}
		w.txt.set("_frontdesk.later.com", "\xff")
		later := w.post("/v1/domains", `{"name": "later.com"}`).OK(t, 201).Text("id")
		w.post("/v1/domains/"+later+"/verify", "").Refused(t, 409,
			"DOMAIN_NOT_VERIFIED").Same("details.seen.0", "\uFFFD")

		w.post(one, `{"mode": "sending"}`).OK(t, 200)
		if got := setup(w.get(one).OK(t, 200)); strings.Contains(got, "MX") {
			t.Errorf("only sending: %s", got)
		}
	})
}

// A DNS that does not answer is no reason to fail, and asked within a bound and
// outside every transaction.
func TestEmailRecordsOfASilentDNS(t *testing.T) {
	var silent bool
	dark := func(c *domain.Config) {
		ask := c.LookupTXT
		c.LookupTXT = func(ctx context.Context, name string) ([]string, error) {
			if _, bounded := ctx.Deadline(); !bounded || db.InTransaction(ctx) {
				return nil, errors.New("asked without a bound, or inside a transaction")
			}
			switch {
			case silent && strings.HasPrefix(name, "_dmarc."):
				return nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
			case silent:
				return nil, &net.DNSError{Err: "i/o timeout", IsTimeout: true}
			}
			return ask(ctx, name)
		}
	}
	each(t, func(w *world) {
		silent = false
		one := "/v1/domains/" + w.external("engines.com", "marketing") + "/email"
		w.post(one, "{}").OK(w.t, 200)
		silent = true
		v := w.get(one).OK(w.t, 200)
		for i, said := range []string{"did not answer", "did not answer", "did not answer", "SERVFAIL"} {
			v.Same(fmt.Sprintf("records.%d.state", i), "missing")
			if got := v.Text(fmt.Sprintf("records.%d.problem", i)); !strings.Contains(got, said) {
				w.t.Errorf("problem %d: %s", i, got)
			}
		}
	}, dark)
}
