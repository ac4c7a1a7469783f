package docs_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/docs"
)

// The committed document is what the declarations say.
func TestCommittedDocument(t *testing.T) {
	want, err := docs.OpenAPI(app.Describe(), "https://frontdesk.example")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(got)) != string(want) {
		t.Error("api/openapi.json is not what the declarations say; run make generate")
	}
}

// A schema that says nothing is true in JSON Schema, which generators of
// clients do not take: every field says something.
func TestFieldsSaySomething(t *testing.T) {
	text, err := docs.OpenAPI(app.Describe(), "https://frontdesk.example")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var look func(at string, v any)
	look = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				if _, empty := inner.(bool); empty && strings.HasSuffix(at, "/properties") {
					t.Errorf("%s/%s needs a doc", at, name)
				}
				look(at+"/"+name, inner)
			}
		case []any:
			for i, inner := range v {
				look(at+"/"+strconv.Itoa(i), inner)
			}
		}
	}
	look("", document)
}

// So is the committed list of events, and every event has a resource and a past verb.
func TestCommittedEvents(t *testing.T) {
	got, err := os.ReadFile("../../../docs/guide/events.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != docs.Events(app.Describe()) {
		t.Error("docs/guide/events.md is not what the declarations say; run make generate")
	}
	for _, v := range app.Describe().EventTypes() {
		if !regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`).MatchString(v.Type) || len(v.Operations) == 0 && v.When == "" {
			t.Errorf("%+v", v)
		}
	}
}

// The document needs no key, and the reference shows every operation.
func TestPages(t *testing.T) {
	a := apptest.Start(t, "sqlite")
	r := a.Send(t, "", http.MethodGet, "/v1/openapi.json", "")
	var doc struct {
		OpenAPI string
		Info    struct{ Title, Version string }
		Paths   map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(r.Body, &doc); err != nil || r.Status != 200 || doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" {
		t.Fatalf("%d %v %+v", r.Status, err, doc.Info)
	}
	page := a.Send(t, "", http.MethodGet, "/docs", "")
	if page.Status != 200 || !strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%d %v", page.Status, page.Header)
	}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if !strings.Contains(string(page.Body), `id="`+o.OperationID+`"`) {
				t.Errorf("%s %s is not in the reference", method, path)
			}
		}
	}
	// A line that is pasted must work: what insists on a key shows one.
	for name, required := range map[string]bool{"invoices.record_payment": true, "domains.register": true, "domains.renew": true, "contacts.create": false} {
		_, entry, found := strings.Cut(string(page.Body), `id="`+name+`"`)
		entry, _, _ = strings.Cut(entry, "</form>")
		if !found || strings.Contains(entry, "-H &#39;Idempotency-Key: ") != required || strings.Contains(entry, "header, required") != required {
			t.Errorf("%s: a key is required: %t, and the reference says %s", name, required, entry)
		}
	}
	for _, asset := range []string{"/docs/docs.css", "/docs/docs.js"} {
		if r := a.Send(t, "", http.MethodGet, asset, ""); r.Status != 200 || len(r.Body) > 20_000 {
			t.Errorf("%s: %d, %d bytes", asset, r.Status, len(r.Body))
		}
	}
	if strings.Contains(string(page.Body), "ZgotmplZ") {
		t.Error("the template refused something")
	}
}
