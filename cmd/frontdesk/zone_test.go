package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"

	"github.com/miekg/dns"
)

// A domain is registered, gets a record, and the binary answers for it on its
// DNS port; then the operator prints the zone, beside the server and alone.
func TestDNS(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		_, base := settings(t, e)
		base = append(base, "--dns-nameservers", "ns1.example.net,NS2.example.net.")
		c := cli{t, base}
		org := c.ok("", "admin", "org", "create", "--name", "Analytical Engines", "--plan", "enterprise")
		orgID, business := org["organizationId"].(string), org["businessId"].(string)
		c.ok("a long password", "admin", "user", "create", "--org", orgID, "--email", "ada@example.com", "--name",
			"Ada",
			"--role", "owner", "--password-stdin")
		for _, kind := range []string{"business", "domain"} {
			c.ok("", "admin", "agreement", "accept", "--business", business, "--kind", kind, "--by", "ada@example.com")
		}
		c.ok("", "admin", "card", "add", "--org", orgID, "--test", "visa")
		key := c.ok("", "admin", "key", "create", "--business", business, "--name", "k", "--permissions",
			"*")["key"].(string)
		server := listentest.FreeAddress(t)
		t.Run("beside a server", func(t *testing.T) {
			c.t = t
			url := startServer(t, append(base, "--dns-listen", server))
			call := func(method, path, body string) (data map[string]any) {
				t.Helper()
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Authorization", "Bearer "+key)
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Idempotency-Key", path)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				text, err := io.ReadAll(res.Body)
				out := struct {
					Data *map[string]any `json:"data"`
				}{&data}
				if err != nil || res.StatusCode > 299 || json.Unmarshal(text, &out) != nil {
					t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
				}
				return data
			}
			order := call("POST", "/v1/domain-registrations",
				`{"domain": "engines.com", "maxAmountCents": 1200, "contact": {"firstName": "Ada",
					"lastName": "Lovelace",
				"address1": "12 St James's Square", "city": "London", "stateProvince": "London",
					"postalCode": "SW1Y 4JH",
					"country": "GB", "email": "ada@example.com", "phone": "+442079460018"}}`)
			var done map[string]any
			for range 1200 {
				if done = call("GET", "/v1/operations/"+order["operationId"].(string),
					""); done["status"] == "succeeded" {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			if done["status"] != "succeeded" {
				t.Fatalf("%v", done)
			}
			path := "/v1/domains/" + done["resourceId"].(string) + "/dns-records"
			call("PUT", path+"/"+call("POST", path,
				`{"type": "A", "name": "www", "content": "192.0.2.1"}`)["id"].(string),
				`{"type": "A", "name": "www", "content": "192.0.2.2"}`)
			for _, transport := range []string{"udp", "tcp"} {
				m := new(dns.Msg)
				m.SetQuestion("www.engines.com.", dns.TypeA)
				r, _, err := (&dns.Client{Net: transport, Timeout: time.Minute}).Exchange(m, server)
				if err != nil || !r.Authoritative || len(r.Answer) != 1 ||
					r.Answer[0].(*dns.A).A.String() != "192.0.2.2" {
					t.Errorf("%s: %v, %v", transport, r, err)
				}
			}
			if code, out, errs := c.run("", "admin", "domain", "zone", "Engines.com."); code != 0 ||
				!strings.HasPrefix(out, "$ORIGIN engines.com.\n") || !strings.Contains(out, "\tA\t192.0.2.2\n") ||
				!strings.Contains(out, "\tNS\tns2.example.net.\n") {
				t.Errorf("%d %s %s", code, out, errs)
			}
		})
		c.t = t
		if code, out, errs := c.run("", "admin", "domain", "zone", "engines.com"); code != 0 ||
			!strings.Contains(out, "\tA\t192.0.2.2\n") {
			t.Errorf("%d %s %s", code, out, errs)
		}
		if code, _, errs := c.run("", "admin", "domain", "zone", "other.com"); code == 0 ||
			!strings.Contains(errs, "no zone other.com") {
			t.Errorf("%d %s", code, errs)
		}
	})
}

// Settings of DNS that cannot be are told before anything starts.
func TestDNSSettings(t *testing.T) {
	for want, args := range map[string][]string{
		"--dns-provider":     {"--dns-provider", "bind"},
		"--dns-listen":       {"--dns-listen", "8053"},
		"--dns-nameservers":  {"--dns-nameservers", "ns 1"},
		"--powerdns-api-key": {"--dns-provider", "powerdns"},
		"--powerdns-url":     {"--dns-provider", "powerdns", "--powerdns-api-key", "k", "--powerdns-url", "here"},
		"--dnsimple-token":   {"--dns-provider", "dnsimple"},
		"--dns-rate-limit":   {"--dns-rate-limit=-1"},
		"DNS provider": {"--dns-provider", "powerdns", "--powerdns-api-key", "k", "--powerdns-url",
			"http://127.0.0.1:1"},
		"Nobody answers":      {"--dns-listen="},
		"is not a host name":  {"--dns-nameservers", "localhost"},
		"is not known":        {"--dns-provider", "x"},
		"127.0.0.1:0 is free": {"--dns-listen", "127.0.0.1:0"},
	} {
		c := cli{t, []string{"--data", t.TempDir(), "--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0"}}
		if _, out, errs := c.run("", append([]string{"doctor"}, args...)...); !strings.Contains(out+errs, want) {
			t.Errorf("%v: %s%s, want %s", args, out, errs, want)
		}
	}
}
