package powerdns_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"frontdesk/internal/adapter/powerdns"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/domain/domaintest"
)

// real is a client of the server that scripts/with-powerdns started.
func real(t *testing.T) *powerdns.Client {
	t.Helper()
	address := os.Getenv("FRONTDESK_TEST_POWERDNS")
	if address == "" {
		t.Skip("needs a PowerDNS server; run it with scripts/with-powerdns")
	}
	return powerdns.New(address, os.Getenv("FRONTDESK_TEST_POWERDNS_KEY"), []string{"ns1.example.net", "ns2.example.net"})
}

func TestDNS(t *testing.T) { domaintest.DNS(t, real(t)) }

func TestPing(t *testing.T) {
	who, err := real(t).Ping(context.Background())
	if err != nil || !strings.HasPrefix(who, "PowerDNS 4.") && !strings.HasPrefix(who, "PowerDNS 5.") {
		t.Errorf("%q, %v", who, err)
	}
	_, err = powerdns.New(os.Getenv("FRONTDESK_TEST_POWERDNS"), "wrong", nil).Ping(context.Background())
	if err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("with a wrong key: %v", err)
	}
}

// What the server says is passed on with its status; what it does not say is
// an error without one.
func TestTroubles(t *testing.T) {
	status, body := 500, `{"error": "the backend is down"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		w.Write([]byte(body))
	}))
	c := powerdns.New(s.URL, "key", nil)
	ask := func() error { _, err := c.Records(context.Background(), "example.com"); return err }
	if err := ask(); err == nil || err.Error() != "dns: 500: the backend is down" {
		t.Errorf("%v", err)
	}
	status, body = 502, "<html>"
	if err := ask(); err == nil || err.Error() != "dns: 502: Bad Gateway" {
		t.Errorf("%v", err)
	}
	status, body = 200, "<html>"
	if err := ask(); err == nil || strings.HasPrefix(err.Error(), "dns:") {
		t.Errorf("%v", err)
	}
	s.Close()
	if err := c.Add(context.Background(), "example.com", domain.Record{Type: "A", Name: "@", Content: "192.0.2.1", TTL: 60}); err == nil || strings.HasPrefix(err.Error(), "dns:") {
		t.Errorf("%v", err)
	}
}
