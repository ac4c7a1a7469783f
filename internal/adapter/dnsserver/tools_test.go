package dnsserver_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/zone"
)

// tool finds a program that others wrote. Where scripts/with-powerdns runs the
// tests it is there; alone they may do without.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("FRONTDESK_TEST_POWERDNS") != "" {
			t.Fatal(err)
		}
		t.Skip(name + " is not installed")
	}
	return path
}

// dig reads what we say.
func TestDig(t *testing.T) {
	dig := tool(t, "dig")
	f := start(t, db.SQLite, 0)
	f.fill(t)
	host, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want, not string }{
		{"www.example.com A", "flags: qr aa; QUERY: 1, ANSWER: 1", "WARNING"},
		{"+tcp www.example.com AAAA", "2001:db8::2", "WARNING"},
		{"+tcp example.com MX", "10 mail.example.com.", "WARNING"},
		{"example.com TXT", `"quote \" and \\ back"`, "WARNING"},
		{"many.example.com A", "ANSWER: 40", "WARNING"}, // within EDNS
		{"+noedns +ignore many.example.com A", "flags: qr aa tc", "WARNING"},
		{"+noedns many.example.com A", "(TCP)", "WARNING"}, // dig asks again by itself
		{"no.example.com A", "status: NXDOMAIN", "WARNING"},
		{"www.example.com MX", "status: NOERROR", "ANSWER SECTION"},
		{"example.org A", "status: REFUSED", "ANSWER SECTION"},
		{"example.com AXFR", "Transfer failed", "SOA"},
		{"+ednsopt=10:0123456789abcdef www.example.com A", "192.0.2.2", "WARNING"},
	} {
		args := append([]string{"@" + host, "-p", port, "+norecurse", "+tries=1", "+time=60"},
			strings.Fields(c.args)...)
		out, err := exec.CommandContext(context.Background(), dig, args...).CombinedOutput()
		if err != nil && !strings.Contains(c.args, "AXFR") || !strings.Contains(string(out), c.want) ||
			strings.Contains(string(out), c.not) {
			t.Errorf("dig %s: %v\n%s", c.args, err, out)
		}
	}
}

// named would load what we export.
func TestZoneFile(t *testing.T) {
	check := tool(t, "named-checkzone")
	f := start(t, db.SQLite, 0)
	f.fill(t)
	f.add(t, "CAA", "@", `0 issue "letsencrypt.org; validationmethods=dns-01"`)
	f.add(t, "TXT", "long", strings.Repeat("long ", 200)+"größer")
	f.add(t, "MX", "quiet", ".", 0)
	records, err := f.Records(context.Background(), "example.com")
	if err != nil {
		t.Fatal(err)
	}
	lua := zone.Record{Type: "LUA", Name: "x", Content: "of one provider", TTL: 60}
	text := zone.FormatFile("example.com", append(records, lua))
	file := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(context.Background(), check, "-i", "local", "example.com", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "OK") {
		t.Errorf("%v\n%s\n%s", err, out, text)
	}
}
