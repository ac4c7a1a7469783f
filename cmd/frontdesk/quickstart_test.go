package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// world is a DNS server whose records a test publishes.
type world struct {
	mu      sync.Mutex
	records []dns.RR
}

// publish adds a record, given as quickstart prints it.
func (w *world) publish(t *testing.T, kind, name, value string) {
	t.Helper()
	switch kind {
	case "TXT":
		var parts []string
		for len(value) > 250 {
			parts, value = append(parts, fmt.Sprintf("%q", value[:250])), value[250:]
		}
		value = strings.Join(append(parts, fmt.Sprintf("%q", value)), " ")
	case "PTR":
		reverse, err := dns.ReverseAddr(name)
		if err != nil {
			t.Fatal(err)
		}
		name, value = reverse, value+"."
	case "MX":
		value += "."
	}
	rr, err := dns.NewRR(fmt.Sprintf("%s. 60 IN %s %s", strings.TrimSuffix(name, "."), kind, value))
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, rr)
}

// ServeDNS answers a question.
func (w *world) ServeDNS(out dns.ResponseWriter, q *dns.Msg) {
	m := new(dns.Msg).SetReply(q)
	m.Rcode = dns.RcodeNameError
	w.mu.Lock()
	for _, rr := range w.records {
		if strings.EqualFold(rr.Header().Name, q.Question[0].Name) {
			m.Rcode = dns.RcodeSuccess
			if rr.Header().Rrtype == q.Question[0].Qtype {
				m.Answer = append(m.Answer, rr)
			}
		}
	}
	w.mu.Unlock()
	out.WriteMsg(m) //nolint:errcheck // the asker tells
}

func newWorld(t *testing.T) (w *world, addr string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	w = &world{}
	server := &dns.Server{PacketConn: conn, Handler: w, UDPSize: 4096}
	go server.ActivateAndServe()            //nolint:errcheck // it ends with the test
	t.Cleanup(func() { server.Shutdown() }) //nolint:errcheck // or was never up
	return w, conn.LocalAddr().String()
}

// printed matches a record in the table, with its state.
var printed = regexp.MustCompile(`(?m)^(ok|missing|wrong|optional) +(\w+) +(\S+)  (.+)$`)

// From three answers to a settings file, and from the printed records to green.
func TestQuickstart(t *testing.T) {
	w, resolver := newWorld(t)
	dir := t.TempDir()
	file, data := filepath.Join(dir, "etc", "frontdesk.toml"), filepath.Join(dir, "data")
	quickstart := func(in string, args ...string) (code int, out string) {
		t.Helper()
		var o, e bytes.Buffer
		code = runCommand(append([]string{"quickstart", "--file", file, "--data", data, "--dns-resolver", resolver,
			"--every", "20ms"}, args...), strings.NewReader(in), &o, &e)
		return code, o.String() + e.String()
	}
	for name, c := range map[string]struct {
		in, want string
		args     []string
	}{
		"no name":     {"", `is not a name like`, []string{"localhost", "--yes"}},
		"no address":  {"", `--public-addresses`, []string{"desk.example.com", "--yes", "--public-addresses", "desk"}},
		"no mail":     {"", `is not a mail address`, []string{"desk.example.com", "--yes", "--email", "ada"}},
		"no relay":    {"\n\n", `not in the form smtp://`, []string{"desk.example.com", "--relay", "a://b:secret@c"}},
		"three tries": {"a\nb\nc\n", `is not a mail address`, []string{"desk.example.com"}},
	} {
		code, out := quickstart(c.in, append(c.args, "--wait", "0s")...)
		if code == 0 || !strings.Contains(out, c.want) || strings.Contains(out, "secret") {
			t.Errorf("%s: exit %d, %s", name, code, out)
		}
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%s: a file was written", name)
		}
	}
	// A person: one wrong answer, then three right ones.
	code, out := quickstart("not an address\nada@example.com\n192.0.2.10,2001:db8::10\n"+
		"smtp://ada:s%22cret@relay.example:587\n", "Desk.example.com", "--wait", "0s")
	if code != 1 || !strings.Contains(out, "run this again later: frontdesk quickstart desk.example.com --file "+file) {
		t.Fatalf("exit %d, %s", code, out)
	}
	text, err := os.ReadFile(file)
	info, _ := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	for _, want := range []string{`domain = "desk.example.com"`, `public_addresses = "192.0.2.10,2001:db8::10"`,
		`acme_email = "ada@example.com"`, `smtp_host = "relay.example"`, `smtp_password = "s\"cret"`,
		`smtp_listen = ":25"`, `data = "` + data + `"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	rows := printed.FindAllStringSubmatch(out, -1)
	var kinds []string
	for _, r := range rows {
		kinds = append(kinds, r[2]+" "+r[1])
	}
	if got := strings.Join(kinds, ", "); got != "A missing, AAAA missing, MX missing, TXT missing, TXT missing, "+
		"TXT missing, TXT missing, PTR optional, PTR optional" {
		t.Errorf("%s in\n%s", got, out)
	}
	// What others published is shown, without what would control a terminal.
	w.publish(t, "A", "desk.example.com", "198.51.100.1")
	w.mu.Lock()
	w.records = append(w.records, &dns.TXT{Hdr: dns.RR_Header{Name: "_dmarc.desk.example.com.", Rrtype: dns.TypeTXT,
		Class: dns.ClassINET}, Txt: []string{`\027[2Jevil`}})
	w.mu.Unlock()
	code, out = quickstart("", "desk.example.com", "--wait", "0s")
	if code != 1 || !strings.Contains(out, "198.51.100.1 is not this server") || !strings.Contains(out, "[2Jevil") ||
		strings.Contains(out, "\x1b") {
		t.Errorf("exit %d, %q", code, out)
	}
	w.mu.Lock()
	w.records = nil
	w.mu.Unlock()
	// Published while it waits.
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, r := range rows {
			w.publish(t, r[2], r[3], r[4])
		}
	}()
	code, out = quickstart("", "desk.example.com", "--wait", "5m")
	<-done
	if code != 0 || !strings.Contains(out, "Everything that is needed is published") {
		t.Errorf("exit %d, %s", code, out)
	}
	// Neither asked nor written again, and not for another name.
	if code, out := quickstart("", "other.example.com", "--wait", "0s"); code != 1 ||
		!strings.Contains(out, "is for desk.example.com, not for other.example.com") {
		t.Errorf("exit %d, %s", code, out)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, text) {
		t.Errorf("the settings changed: %s, %v", after, err)
	}
	// The doctor sees the same.
	var o, e bytes.Buffer
	runCommand([]string{"doctor", "--config", file}, strings.NewReader(""), &o, &e)
	for _, want := range []string{"ok    DNS            A desk.example.com is 192.0.2.10.",
		"ok    DNS            MX desk.example.com is 10 desk.example.com.",
		"ok    DNS            PTR 2001:db8::10 is desk.example.com.",
		"serve obtains one for desk.example.com"} {
		if !strings.Contains(o.String(), want) {
			t.Errorf("no %q in\n%s%s", want, &o, &e)
		}
	}
}

// A release says what it was made from, in words and as JSON.
func TestVersion(t *testing.T) {
	defer func(v, c, a string) { releaseVersion, releaseCommit, releaseTime = v, c, a }(releaseVersion, releaseCommit,
		releaseTime)
	releaseVersion, releaseCommit, releaseTime = "v1.2.3", "0123abc", "2026-01-02T03:04:05Z"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--version"}, "frontdesk v1.2.3\n"},
		{[]string{"version"}, "frontdesk v1.2.3\ncommit 0123abc\ntime   2026-01-02T03:04:05Z\nbuilt  with go"},
		{[]string{"version", "--json"}, `"commit": "0123abc"`},
	} {
		var o, e bytes.Buffer
		if code := runCommand(c.args, strings.NewReader(""), &o, &e); code != 0 ||
			!strings.Contains(o.String(), c.want) {
			t.Errorf("%v: exit %d, %s%s", c.args, code, &o, &e)
		}
	}
}

// systemd is told when the server is ready.
func TestTellSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenPacket("unixgram", path) //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	if err := tellSystemd(t.Context(), "READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, _, err := c.ReadFrom(b); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("%q, %v", b[:n], err)
	}
}
