package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// malformed makes requests of which every one is wrong in some way.
type malformed struct {
	*rand.Rand
	ops  []*op.Op
	mine fixtures
	t    *testing.T
	sent string // the body of the last
}

func (m *malformed) pick(list ...string) string { return list[m.IntN(len(list))] }

func (m *malformed) junk(n int) string {
	b := make([]byte, 1+m.IntN(n))
	for i := range b {
		b[i] = byte(m.IntN(256))
	}
	return string(b)
}

// text is a random string, not always of printable characters.
func (m *malformed) text(n int) string {
	letters := []rune("aZ09 -_.~é漢🙂\u200f\"\\'%?#&=+;,<>{}[]")
	r := make([]rune, 1+m.IntN(n))
	for i := range r {
		r[i] = letters[m.IntN(len(letters))]
	}
	return string(r)
}

// badBody breaks the example body of an operation.
func (m *malformed) badBody(o *op.Op) string {
	good := body(m.t, o)
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(good), &fields); err != nil {
		m.t.Fatal(err)
	}
	quoted := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	switch m.IntN(11) {
	case 0:
		return good[:m.IntN(len(good)-1)+1]
	case 1:
		return good + m.pick("x", "{}", "]", "\x00", ",")
	case 2:
		return m.pick("[]", "null", "true", "1", `"x"`, "[{}]", " ", "{]", `{"a"}`, `{"a":}`, "{,}", "\ufeff{}", "NaN",
			"{'a':1}", "/**/{}")
	case 3:
		fields[m.text(20)+"?"] = m.text(5)
		return quoted(fields)
	case 4:
		return `{"dup":1,` + `"dup":2}`
	case 5:
		return `{"` + "\xff\xfe" + m.junk(3) + `":1}`
	case 6:
		return `{"deep":` + strings.Repeat("[", 65+m.IntN(3000)) + "1"
	case 7:
		return `{"long":"` + strings.Repeat("x", m.IntN(5000)) + `"}`
	case 8:
		return "{" + m.junk(60) + "!" // which may not close it
	case 9: // a field of a wrong kind
		for k := range fields {
			fields[k] = map[string]any{m.text(3): m.IntN(5)}
			return quoted(fields)
		}
		return "{"
	default: // U+0000, and strings past every bound
		for k := range fields {
			fields[k] = m.pick("a\x00b", strings.Repeat("é", 500_001))
			return quoted(fields)
		}
		return "{"
	}
}

func (m *malformed) badID() string {
	good := string(id.New())
	return m.pick(good[:35], good+"0", "0", strings.ReplaceAll(good, "-", ""), good[:8]+"_"+good[9:], "{"+good+"}",
		"g"+good[1:], m.text(40)+"!", m.junk(20)+"!", "null", "undefined", "%00", "..", "'; DROP TABLE contacts; --")
}

func (m *malformed) badQuery(o *op.Op) string {
	bad := func() string {
		return m.pick("-1", "x", "1.5", "", "99999999999999999999", "1e3", "0x10", "٣", " 1", "1 ", "true",
			m.text(10)+"z")
	}
	shared := m.pick("limit=0", "limit=101", "limit="+url.QueryEscape(bad()), "offset="+url.QueryEscape(bad()),
		"sortOrder="+url.QueryEscape(m.text(6)), "limit=%zz", "a=%", "limit=10;offset=1&limit=x")
	switch {
	case o.IsExport(): // it has no pages
		return m.pick("sortOrder="+url.QueryEscape(m.text(6)), "createdAfter=soon", "a=%")
	case o.Name != "contacts.list":
		return shared
	}
	return m.pick(shared, "query=%00", "query=%ff%fe", "query="+strings.Repeat("x", 201), "email=%00", "phone=%C0%80")
}

// next is one request. What it breaks is its kind.
func (m *malformed) next() (r *http.Request, kind string) {
	kind = m.pick("body", "body", "body", "id", "query", "query", "header", "header")
	o := m.ops[m.IntN(len(m.ops))]
	path, _ := fill(m.t, o, func(c string) (id.ID, bool) { return m.mine[c], true })
	method, text, query := o.Method, body(m.t, o), ""
	h := http.Header{"Content-Type": {"application/json"}}
	writes := method == "POST" || method == "PATCH"
	switch {
	case kind == "body" && writes:
		text = m.badBody(o)
	case kind == "id" && len(o.PathFields()) > 0:
		seen, which := -1, m.IntN(len(o.PathFields()))
		path, _ = fill(m.t, o, func(c string) (id.ID, bool) {
			if seen++; seen == which {
				return id.ID(m.badID()), true
			}
			return m.mine[c], true
		})
	case kind == "query" && o.HasQueryField("sortOrder"):
		query = m.badQuery(o)
	case kind == "header" && method == "POST":
		if m.IntN(2) == 0 {
			h.Set("Content-Type", m.pick("", "text/plain", "application/x-www-form-urlencoded",
				"application/json; charset=utf-16", "multipart/form-data", m.junk(10), "application/jsonx"))
		} else {
			h["Idempotency-Key"] = []string{m.pick("", strings.Repeat("k", 256+m.IntN(1000)), strings.Repeat("é", 256),
				"\xff\xfe", "a\x00b")}
		}
	default:
		kind = "path"
		path = m.pick("/v1//contacts", "/v1/../contacts", "/v1/./contacts", "/v1/contacts/", "/v1/contacts//",
			"/v1/%2e%2e/contacts", "/v1/CONTACTS", "/v1/contacts%00",
			"/v1/"+m.text(12)+"$", "/v1/contacts/"+string(m.mine["/v1/contacts"])+"/"+m.text(8)+"$",
			"/v1/contacts/"+string(m.mine["/v1/contacts"])+"/emails/")
		if m.IntN(4) == 0 {
			path, method = "/v1/contacts", m.pick("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO")
		}
	}
	r = &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: h, Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: "test", RequestURI: path}
	if writes && method == o.Method {
		r.Body = struct {
			*strings.Reader
			nothing
		}{strings.NewReader(text), nothing{}}
		r.ContentLength, m.sent = int64(len(text)), text
	}
	return r.WithContext(context.Background()), kind
}

type nothing struct{}

func (nothing) Close() error { return nil }

// At least 100,000 malformed requests: each is a 4xx with the envelope, none
// is a 5xx, none leaves anything behind.
func TestMalformedRequests(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	apptest.EachEngineParallel(t, func(t *testing.T, a *apptest.App) {
		want := 100_000
		if testing.Short() || a.DB.Engine() == db.Postgres {
			want = 5_000 // the same requests meet the same checks before any engine
		}
		m := &malformed{Rand: rand.New(rand.NewPCG(seed, 1)), t: t, mine: build(t, a, a.Tenant)}
		for _, o := range a.Catalog.All() {
			if o.Doors&op.RESTDoor != 0 && o.Resource != op.Unrestricted {
				m.ops = append(m.ops, o)
			}
		}
		before := census(t, a)
		handler := a.Handler()
		kinds := map[string]int{}
		for reached := 0; reached < want; {
			m.sent = ""
			r, kind := m.next()
			if kind != "path" {
				reached++ // its handler has to refuse it
			}
			r.Header.Set("Authorization", "Bearer "+a.Key)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			kinds[fmt.Sprint(kind, " ", w.Code)]++
			var envelope struct {
				Error struct{ Code, Message string }
			}
			if w.Code < 400 || w.Code > 499 || json.Unmarshal(w.Body.Bytes(), &envelope) != nil ||
				envelope.Error.Code == "" ||
				envelope.Error.Message == "" {
				b, _ := json.Marshal(r.Header)
				t.Fatalf("seed %d: %s %q ?%s %s %.500q: %d %s", seed, r.Method, r.URL.Path, r.URL.RawQuery, b, m.sent,
					w.Code,
					w.Body)
			}
		}
		if after := census(t, a); after != before {
			t.Errorf("rows before %s, after %s", before, after)
		}
		if strings.Contains(a.Logs.String(), "level=ERROR") {
			t.Error("something failed inside")
		}
		t.Logf("%d requests that reach a handler: %v", want, kinds)
	})
}

func census(t *testing.T, a *apptest.App) string {
	t.Helper()
	var counts []int
	err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		for _, table := range []string{"contacts", "contact_emails", "contact_phone_numbers", "contact_addresses",
			"customers", "businesses", "property_definitions", "property_values",
			"events", "idempotency"} {
			n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table)
			if err != nil {
				return err
			}
			counts = append(counts, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(counts)
}
