package message_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/miekg/dns"
)

// resolver asks the embedded DNS server, as anybody may.
type resolver struct {
	t    *testing.T
	addr string
}

func (d *desk) resolver() resolver {
	d.t.Helper()
	l, err := d.DNS.Listen("127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := l.Stop(ctx); err != nil {
			d.t.Error(err)
		}
	})
	return resolver{d.t, l.Addr}
}

func (r resolver) ask(name string, kind uint16) (out []string) {
	r.t.Helper()
	c := dns.Client{Net: "tcp", Timeout: time.Minute}
	answer, _, err := c.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(name), kind), r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, a := range answer.Answer {
		switch v := a.(type) {
		case *dns.TXT:
			out = append(out, strings.Join(v.Txt, ""))
		case *dns.MX:
			out = append(out, fmt.Sprintf("%d %s", v.Preference, v.Mx))
		}
	}
	return out
}

func (r resolver) want(name string, kind uint16, want ...string) {
	r.t.Helper()
	if got := r.ask(name, kind); !slices.Equal(got, want) {
		r.t.Errorf("%s: %q, want %q", name, got, want)
	}
}

// wait asks until the answer has that many records.
func (r resolver) wait(name string, kind uint16, n int) {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); len(r.ask(name, kind)) != n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s never had %d records", name, n)
		}
	}
}

// signed verifies both signatures of a mail against the DNS.
func (r resolver) signed(content []byte, domain string) {
	r.t.Helper()
	found, err := dkim.VerifyWithOptions(bytes.NewReader(content),
		&dkim.VerifyOptions{LookupTXT: func(name string) ([]string, error) {
			if texts := r.ask(name, dns.TypeTXT); len(texts) > 0 {
				return texts, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}})
	if err != nil || len(found) != 2 {
		r.t.Fatalf("signatures: %v, %v", found, err)
	}
	for _, f := range found {
		if f.Err != nil || f.Domain != domain {
			r.t.Errorf("signature of %s: %v", f.Domain, f.Err)
		}
	}
}

// letter sends a message and returns the mail and its envelope's sender.
func (d *desk) letter(from string) (content []byte, m *mail.Message, sender string) {
	d.t.Helper()
	v, m, sender := d.sent(fmt.Sprintf(`"from": %q, "to": "ada@example.com", "subject": "Hello",
		"text": "From %s."`, from, from))
	err := d.DB.Read(d.t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		content, err = db.QueryOne[[]byte](ctx, tx, `
			SELECT content
			FROM mailbox_mails
			WHERE organization_id = $1 AND message_id = $2`,
			d.Org, v.ID("id"))
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return content, m, sender
}

// registered searches, quotes and registers a name, and polls until it is
// there.
func (d *desk) registered(name string) string {
	d.t.Helper()
	t := d.t
	d.AsOperator(t, "agreements.accept", "business", d.Business, fmt.Sprintf(`{"businessId": %q, "kind": "domain",
		"by": %q}`, d.Business, d.Owner))
	d.AsOperator(t, "payment_methods.create_test", "organization", d.Org, `{"test": "visa"}`)
	d.call(t, "domains.search", fmt.Sprintf(`{"query": %q}`, name)).OK(t, 200).Same("results.0.available", true)
	amount := d.call(t, "domains.quote", fmt.Sprintf(`{"domain": %q}`, name)).OK(t, 200).Number("amountCents")
	o := d.call(t, "domains.register", fmt.Sprintf(`{"idempotencyKey": %q, "domain": %q, "maxAmountCents": %d,
		"contact": {"firstName": "Ada", "lastName": "Lovelace",
		"address1": "12 St James's Square", "city": "London", "stateProvince": "London", "postalCode": "SW1Y 4JH",
		"country": "GB", "email": "ada@example.com", "phone": "+442079460018"}}`,
		id.New(), name, int(amount))).OK(t, 202).Text("operationId")
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		v := d.call(t, "operations.get", fmt.Sprintf(`{"id": %q}`, o)).OK(t, 200)
		if v.Text("status") == "succeeded" {
			return v.Text("resourceId")
		}
		if time.Now().After(end) {
			t.Fatalf("not registered: %s", v)
		}
	}
}

// A newly registered name sends mail that verifies, and receives mail. Its
// subdomains do so as their purpose says, and all of it ends.
func TestHostedEmail(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		name := "engines.com"
		d.call(t, "messages.create", `{"from": "ada@engines.com", "to": "b@example.com", "subject": "x",
			"text": "x"}`).Refused(t, 400, "VALIDATION_ERROR")
		d.refused(550, "hello@"+name, "Subject: x", "", "x")
		domain := d.registered(name)
		dig := d.resolver()
		dig.want(name, dns.TypeMX, "10 frontdesk.example.")
		dig.want(name, dns.TypeTXT, "v=spf1 a:frontdesk.example ~all")
		dig.want("_dmarc."+name, dns.TypeTXT, "v=DMARC1; p=none")
		dig.wait("fd-rsa._domainkey."+name, dns.TypeTXT, 1)
		dig.wait("fd-ed25519._domainkey."+name, dns.TypeTXT, 1)

		content, m, sender := d.letter("Ada@Engines.com")
		dig.signed(content, name)
		if m.Header.Get("Reply-To") != "" || !strings.HasPrefix(sender, "bounce+") ||
			!strings.HasSuffix(sender, "@engines.com") {
			t.Errorf("answers go to %q, reports to %q", m.Header.Get("Reply-To"), sender)
		}
		d.posted("ada@example.com", "anybody@"+name, "From: ada@example.com", "To: anybody@"+name, "Subject: Re: Hello",
			"In-Reply-To: "+m.Header.Get("Message-ID"), "", "Thank you")
		got := d.received(1).At("0")
		got.Same("to.0", "anybody@"+name)
		if got.At("inReplyToId").Null() {
			t.Errorf("it answers nothing: %s", got)
		}

		sub := d.call(t, "domains.subdomains.create", fmt.Sprintf(`{"id": %q, "name": "news.engines.com",
			"purpose": "transactional"}`, domain)).OK(t, 201)
		desk := d.call(t, "domains.subdomains.create", fmt.Sprintf(`{"id": %q,
			"name": "desk.engines.com"}`, domain)).OK(t, 201)
		dig.wait("_dmarc.news."+name, dns.TypeTXT, 1)
		dig.wait("_dmarc.desk."+name, dns.TypeTXT, 1)
		dig.want("news."+name, dns.TypeMX)
		dig.want("desk."+name, dns.TypeMX, "10 frontdesk.example.")
		d.call(t, "domains.get", fmt.Sprintf(`{"id": %q}`, sub.Text("id"))).OK(t, 200).Same("email.dkim", "published")
		content, m, _ = d.letter("robot@news.engines.com")
		dig.signed(content, "news."+name)
		if answers := m.Header.Get("Reply-To"); !strings.HasSuffix(answers, "@frontdesk.example>") {
			t.Errorf("answers to who only sends go to %q", answers)
		}
		d.refused(550, "robot@news.engines.com", "Subject: x", "", "x")
		d.posted("ada@example.com", "front@desk.engines.com", "From: ada@example.com", "Subject: Front", "", "x")
		d.received(2)

		// Nobody else sends from it.
		other := d.NewTenant(t, "enterprise")
		d.Door("rest", other)(t, "messages.create", `{"from": "ada@engines.com", "to": "b@example.com", "subject": "x",
			"text": "x"}`).Refused(t, 400, "VALIDATION_ERROR")

		d.call(t, "domains.subdomains.delete", fmt.Sprintf(`{"id": %q,
			"subdomainId": %q}`, domain, desk.Text("id"))).OK(t, 204)
		dig.wait("desk."+name, dns.TypeMX, 0)
		d.refused(550, "front@desk.engines.com", "Subject: x", "", "x")

		d.call(t, "domains.email.disable", fmt.Sprintf(`{"id": %q}`, domain)).OK(t, 204)
		for _, n := range []string{name, "_dmarc." + name, "fd-rsa._domainkey." + name, "fd-ed25519._domainkey." + name,
			"news." + name, "fd-rsa._domainkey.news." + name} {
			dig.want(n, dns.TypeTXT)
		}
		dig.want(name, dns.TypeMX)
		d.refused(550, "anybody@"+name, "Subject: x", "", "x")
		// It still sends, under the service's own signature.
		_, m, sender = d.letter("ada@engines.com")
		if got := m.Header["Dkim-Signature"]; len(got) != 2 || !strings.Contains(got[0], "d=frontdesk.example;") ||
			!strings.Contains(got[1], "d=frontdesk.example;") {
			t.Errorf("signed by %q", got)
		}
		if answers := m.Header.Get("Reply-To"); !strings.HasSuffix(answers, "@frontdesk.example>") ||
			!strings.HasSuffix(sender, "@frontdesk.example") {
			t.Errorf("answers go to %q, reports to %q", answers, sender)
		}
		d.call(t, "domains.email.enable", fmt.Sprintf(`{"id": %q}`, domain)).OK(t, 200).Same("email.enabled", true)
		dig.want(name, dns.TypeMX, "10 frontdesk.example.")
		content, _, _ = d.letter("ada@engines.com")
		dig.signed(content, name)
		if got := d.Events(t, "domain.email"); got != "domain.email.deleted domain.email.created" {
			t.Errorf("events %s", got)
		}
	})
}

// A waiting message is sent even if email is turned off in the meantime, and
// fails once its domain is no longer active.
func TestHostedEmailLater(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		domain := d.registered("engines.com")
		later := func() apptest.Value {
			at := d.Clock.Now().Add(time.Hour).String()
			return d.call(t, "messages.create", fmt.Sprintf(`{"from": "ada@engines.com", "to": ["b@example.com",
				"c@example.com"], "subject": "x", "text": "x", "scheduledAt": %q}`, at)).OK(t, 201)
		}
		until := func(v apptest.Value, status string) apptest.Value {
			t.Helper()
			for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
				now := d.call(t, "messages.get", ref(v)).OK(t, 200)
				if now.Text("status") == status {
					return now
				}
				if time.Now().After(end) {
					t.Fatalf("never %s: %s", status, now)
				}
			}
		}
		first := later()
		d.call(t, "domains.email.disable", fmt.Sprintf(`{"id": %q}`, domain)).OK(t, 204)
		due(t, d.App)
		until(first, "sent")
		second := later()
		err := d.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE domains SET status = 'expired' WHERE name = 'engines.com'")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		due(t, d.App)
		why := until(second, "failed").Text("errorMessage")
		if !strings.HasPrefix(why, "b@example.com: engines.com is not active") || strings.Contains(why, "too long") {
			t.Errorf("it says %q", why)
		}
	})
}
