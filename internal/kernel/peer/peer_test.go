package peer

import (
	"net/http"
	"testing"
)

func TestAddress(t *testing.T) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8", " 192.0.2.7", "2001:db8::/32", ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"198.51.100.1:5000", nil, "198.51.100.1"},
		{"198.51.100.1:5000", []string{"203.0.113.9"}, "198.51.100.1"}, // forged: it is no proxy of ours
		{"10.1.2.3:5000", []string{"203.0.113.9"}, "203.0.113.9"},
		{"10.1.2.3:5000", []string{"6.6.6.6, 203.0.113.9"}, "203.0.113.9"}, // the client wrote the first
		{"10.1.2.3:5000", []string{"6.6.6.6", "203.0.113.9, 192.0.2.7"}, "203.0.113.9"},
		{"10.1.2.3:5000", []string{"203.0.113.9:61234"}, "203.0.113.9"}, // some proxies add the port
		{"10.1.2.3:5000", []string{"6.6.6.6, [2001:4860::8888]:443, 192.0.2.7:80"}, "2001:4860::8888"},
		{"10.1.2.3:5000", nil, "10.1.2.3"},
		{"10.1.2.3:5000", []string{"nonsense"}, "10.1.2.3"},
		{"10.1.2.3:5000", []string{"6.6.6.6, nonsense"}, "10.1.2.3"},
		{"[::ffff:10.1.2.3]:5000", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"[2001:db8::1]:5000", []string{"2001:4860::8888"}, "2001:4860::8888"},
		{"@", []string{"203.0.113.9"}, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := proxies.Address(r).String(); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
	if _, err := ParseProxies([]string{"example.com"}); err == nil {
		t.Error("a name passes for an address")
	}
	key := func(remote string) string { return Proxies(nil).Key(&http.Request{RemoteAddr: remote}).String() }
	if key("[2001:db8:1:2:3::4]:1") != key("[2001:db8:1:2:ffff::9]:2") || key("192.0.2.1:1") == key("192.0.2.2:1") ||
		key("@") == key("192.0.2.1:1") {
		t.Error("the keys of limits")
	}
}
