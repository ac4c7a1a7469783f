package domain_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/domain"

	"github.com/miekg/dns"
)

// internet is a DNS server that knows what the test publishes.
type internet struct {
	addr string

	mu     sync.Mutex
	txt    map[string][]string // by lower-case name without the trailing dot
	failed map[string]int      // response codes by name
	asked  map[string]int
}

func connect(t testing.TB) *internet {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	n := &internet{addr: conn.LocalAddr().String(), txt: map[string][]string{}, failed: map[string]int{},
		asked: map[string]int{}}
	server := &dns.Server{PacketConn: conn, Handler: n}
	done := make(chan error, 1)
	go func() { done <- server.ActivateAndServe() }()
	t.Cleanup(func() {
		conn.Close() //nolint:errcheck // the answer was sent
		<-done
	})
	return n
}

func (n *internet) ServeDNS(w dns.ResponseWriter, r *dns.Msg) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := new(dns.Msg)
	m.SetReply(r)
	q := r.Question[0]
	name := strings.ToLower(strings.TrimSuffix(q.Name, "."))
	n.asked[name]++
	if code := n.failed[name]; code != 0 {
		m.Rcode = code
	} else if values := n.txt[name]; q.Qtype == dns.TypeTXT && len(values) > 0 {
		for _, v := range values {
			m.Answer = append(m.Answer, &dns.TXT{
				Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 1},
				Txt: []string{v},
			})
		}
	} else {
		m.Rcode = dns.RcodeNameError
	}
	_ = w.WriteMsg(m) // who does not get it asks again
}

// publish makes these the TXT records of a name; without records, the name does
// not exist.
func (n *internet) publish(name string, values ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.txt[name] = values
	delete(n.failed, name)
}

// fail answers questions about a name with a response code.
func (n *internet) fail(name string, code int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed[name] = code
}

// wild is a world that asks an internet.
type wild struct {
	*world
	net *internet
}

// eachWild runs fn on both engines. The jobs run, and the tenant may register.
func eachWild(t *testing.T, fn func(w *wild), change ...func(*domain.Config)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		n := connect(t)
		s := apptest.Settings(t, e)
		s.DNSResolver = n.addr
		w := wildAt(t, n, s, change...)
		w.trusted(w.Tenant, "visa")
		w.work()
		fn(w)
	})
}

func wildAt(t *testing.T, n *internet, s config.Settings, change ...func(*domain.Config)) *wild {
	w := &wild{&world{t: t}, n}
	x := w.extra(func(c *domain.Config) {
		for _, f := range change {
			f(c)
		}
	})
	w.App = apptest.StartWith(t, s, x)
	return w
}

// as calls the service for a tenant.
func (w *wild) as(v apptest.Tenant, method, path, body string, headers ...string) apptest.Result {
	w.t.Helper()
	return w.SendREST(w.t, v.Key, method, path, body, headers...)
}

// claim adds a domain and returns its path and its TXT record.
func (w *wild) claim(v apptest.Tenant, name string) (path, record, value string) {
	w.t.Helper()
	d := w.as(v, "POST", "/v1/domains", fmt.Sprintf(`{"name": %q}`, name)).OK(w.t, 201)
	return "/v1/domains/" + d.Text("id"), d.Text("verification.recordName"), d.Text("verification.recordValue")
}

// proved adds a domain, publishes its record and verifies it.
func (w *wild) proved(v apptest.Tenant, name string) (path, record, value string) {
	w.t.Helper()
	path, record, value = w.claim(v, name)
	w.net.publish(record, value)
	w.as(v, "POST", path+"/verify", "").OK(w.t, 200).Same("status", "active")
	return path, record, value
}

func (w *wild) record(v apptest.Tenant, domain, kind, name, content string) {
	w.t.Helper()
	body := fmt.Sprintf(`{"type": %q, "name": %q, "content": %q}`, kind, name, content)
	w.as(v, "POST", domain+"/dns-records", body).OK(w.t, 201)
}

// dig asks the embedded server for the addresses of a name.
func (w *wild) dig(addr, name string) string {
	w.t.Helper()
	c := dns.Client{Net: "tcp", Timeout: time.Minute}
	m, _, err := c.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA), addr)
	if err != nil {
		w.t.Fatal(err)
	}
	out := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range m.Answer {
		if a, ok := rr.(*dns.A); ok {
			out = append(out, a.A.String())
		}
	}
	return strings.Join(out, " ")
}

// serve makes the embedded DNS server listen until the test ends.
func (w *wild) serve() string {
	w.t.Helper()
	l, err := w.DNS.Listen("127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := l.Stop(ctx); err != nil {
			w.t.Error(err)
		}
	})
	return l.Addr
}

// notified waits for a mail to the owner of a tenant whose subject has these
// words.
func (w *wild) notified(v apptest.Tenant, subject string) apptest.Value {
	w.t.Helper()
	var found apptest.Value
	w.eventually("a mail about "+subject, func() bool {
		list := w.as(v, "GET", "/v1/messages?direction=outbound&limit=100", "").OK(w.t, 200)
		for i := range list.Len() {
			m := list.At(fmt.Sprint(i))
			if strings.Contains(m.Text("subject"), subject) && m.Text("to.0") == v.Owner {
				found = m
				return m.Text("status") == "sent"
			}
		}
		return false
	})
	return found
}

func letterFrom(address, more string) string {
	return fmt.Sprintf(`{"from": %q, "to": "b@example.com", "subject": "x", "text": "x"%s}`, address, more)
}

// looked waits until the daily check is done.
func (w *wild) looked() {
	w.t.Helper()
	w.eventually("the proofs are looked at", func() bool {
		w.exec(`
			UPDATE jobs SET run_at = 0
			WHERE kind IN ('domain.look_again', 'domains.look_due') AND state = 'ready' AND run_at > 0`)
		return w.count(`
			SELECT count(*) FROM domains WHERE status = 'active' AND source = 'external' AND kind = 'apex'
				AND proof_looked_at < $1`, w.Clock.Now().Add(-time.Hour)) == 0
	})
}
