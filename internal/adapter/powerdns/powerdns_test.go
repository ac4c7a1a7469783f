package powerdns_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"frontdesk/internal/adapter/powerdns"
	"frontdesk/internal/resource/zone"
	"frontdesk/internal/resource/zone/zonetest"
)

// real is a client of the server that scripts/with-powerdns started.
func real(t *testing.T) *powerdns.Client {
	t.Helper()
	address := os.Getenv("FRONTDESK_TEST_POWERDNS")
	if address == "" {
		t.Skip("needs a PowerDNS server; run it with scripts/with-powerdns")
	}
	return powerdns.New(address, os.Getenv("FRONTDESK_TEST_POWERDNS_KEY"),
		[]string{"ns1.example.net", "ns2.example.net"})
}

func TestDNS(t *testing.T) { zonetest.Exercise(t, real(t)) }

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

// Types that only PowerDNS has are listed as they are, and can be removed.
func TestOwnTypes(t *testing.T) {
	patched := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			text, _ := io.ReadAll(r.Body)
			patched = string(text)
			return
		}
		fmt.Fprint(w,
			`{"rrsets": [{"name": "lua.example.com.", "type": "LUA", "ttl": 60,
				"records": [{"content": "A \"ifportup(443, {'192.0.2.1'})\"", "disabled": false}]},
			{"name": "off.example.com.", "type": "A", "ttl": 60, "records": [{"content": "192.0.2.1",
				"disabled": true}]}]}`)
	}))
	defer s.Close()
	c := powerdns.New(s.URL, "key", nil)
	all, err := c.Records(context.Background(), "example.com")
	if err != nil || len(all) != 1 || all[0].Type != "LUA" || all[0].Name != "lua" || all[0].TTL != 60 ||
		all[0].Content != `A "ifportup(443, {'192.0.2.1'})"` {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := c.Remove(context.Background(), "example.com", all[0]); err != nil ||
		!strings.Contains(patched, `"DELETE"`) || !strings.Contains(patched, `"LUA"`) {
		t.Errorf("%v, %s", err, patched)
	}
}

// What the server says is passed on with its status; what it does not say is
// an error without one.
func TestTroubles(t *testing.T) {
	status, body := 500, `{"error": "the backend is down"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
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
	r := zone.Record{Type: "A", Name: "@", Content: "192.0.2.1", TTL: 60}
	if err := c.Add(context.Background(), "example.com", r); err == nil || strings.HasPrefix(err.Error(), "dns:") {
		t.Errorf("%v", err)
	}
}
