package docs_test

import (
	"encoding/json"
	"html"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/docs"
	"frontdesk/internal/kernel/op"
)

// The committed document matches the declarations.
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

// Readers and agents load the whole document, so it stays small by sharing what
// operations have in common.
func TestDocumentIsSmall(t *testing.T) {
	text, err := docs.OpenAPI(app.Describe(), "https://frontdesk.example")
	if err != nil {
		t.Fatal(err)
	}
	if limit := 650_000; len(text) > limit {
		t.Errorf("the document has %d bytes; the limit is %d: shorten what a doc says, or raise it for a new noun "+
			"or field", len(text), limit)
	}
}

// A shared response loses nothing: every status and code that an operation may
// answer with is listed for it.
func TestDocumentListsRefusals(t *testing.T) {
	text, err := docs.OpenAPI(app.Describe(), "https://frontdesk.example")
	if err != nil {
		t.Fatal(err)
	}
	type response struct {
		Ref         string `json:"$ref"`
		Description string
		Content     map[string]struct {
			Schema struct {
				Properties struct {
					Error struct {
						Properties struct{ Code struct{ Enum []string } }
					}
				}
			}
		}
	}
	var document struct {
		Paths      map[string]map[string]struct{ Responses map[string]response }
		Components struct{ Responses map[string]response }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, o := range app.Describe().All() {
		if o.Doors&op.RESTDoor == 0 {
			continue
		}
		listed := document.Paths[o.Path][strings.ToLower(o.Method)].Responses
		for status, kinds := range o.PossibleFaults() {
			r := listed[strconv.Itoa(status)]
			if r.Ref != "" {
				r = document.Components.Responses[strings.TrimPrefix(r.Ref, "#/components/responses/")]
			}
			var codes []string
			for _, k := range kinds {
				codes = append(codes, k.Code)
				if !strings.Contains(r.Description, "`"+k.Code+"`: "+k.Message) {
					t.Errorf("%s: %d does not explain %s", o.Name, status, k.Code)
				}
			}
			if got := r.Content["application/json"].Schema.Properties.Error.Properties.Code.Enum; !slices.Equal(got,
				codes) {
				t.Errorf("%s: %d has the codes %v, want %v", o.Name, status, got, codes)
			}
		}
	}
}

// An empty schema is true in JSON Schema, which client generators do not
// accept: every field has a type or reference.
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

// So does the committed list of events, and every event has a resource and a
// past verb.
func TestCommittedEvents(t *testing.T) {
	got, err := os.ReadFile("../../../docs/guide/events.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != docs.EventsMarkdown(app.Describe()) {
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
	r := a.SendREST(t, "", http.MethodGet, "/v1/openapi.json", "")
	var doc struct {
		OpenAPI string
		Info    struct{ Title, Version string }
		Paths   map[string]map[string]struct{ OperationID string }
	}
	err := json.Unmarshal(r.Body, &doc)
	if err != nil || r.Status != 200 || doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" {
		t.Fatalf("%d %v %+v", r.Status, err, doc.Info)
	}
	start := a.SendREST(t, "", http.MethodGet, "/docs", "")
	if start.Status != 200 || !strings.Contains(start.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%d %v", start.Status, start.Header)
	}
	// Every page that a page names is there, small, and whole.
	pages, wanted := map[string]string{}, []string{"/docs"}
	links := regexp.MustCompile(`href="(/docs(?:/(?:api|guide)/[^"#]*)?)(#[^"]*)?"`)
	for len(wanted) > 0 {
		at := wanted[0]
		wanted = wanted[1:]
		if pages[at] != "" {
			continue
		}
		p := a.SendREST(t, "", http.MethodGet, at, "")
		pages[at] = string(p.Body)
		if p.Status != 200 || len(p.Body) > 300_000 || strings.Contains(pages[at], "ZgotmplZ") {
			t.Errorf("%s: %d, %d bytes", at, p.Status, len(p.Body))
		}
		for _, m := range links.FindAllStringSubmatch(pages[at], -1) {
			wanted = append(wanted, m[1])
		}
	}
	anchors := map[string]bool{}
	for at, page := range pages {
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			anchors[at+"#"+m[1]] = true
		}
	}
	for at, page := range pages {
		for _, m := range links.FindAllStringSubmatch(page, -1) {
			if m[2] != "" && !anchors[m[1]+m[2]] {
				t.Errorf("%s leads to %s%s, which is not there", at, m[1], m[2])
			}
		}
	}
	if len(pages) < 40 {
		t.Errorf("%d pages", len(pages))
	}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if !strings.Contains(pages["/docs"], "#"+o.OperationID+`"`) {
				t.Errorf("%s %s is not in the reference", method, path)
			}
		}
	}
	// A pasted command must work: an operation that requires an idempotency key
	// shows one.
	for name, required := range map[string]bool{
		"invoices.record_payment": true,
		"domains.register":        true,
		"domains.renew":           true,
		"contacts.create":         false,
	} {
		at := regexp.MustCompile(`href="(/docs/api/[^#"]*)#` + name + `"`).FindStringSubmatch(pages["/docs"])
		_, entry, found := strings.Cut(pages[at[1]], `id="`+name+`"`)
		entry, _, _ = strings.Cut(entry, "</article>")
		shown := strings.Contains(entry, "-H &#39;Idempotency-Key: ")
		if !found || shown != required || strings.Contains(entry, "header, required") != required {
			t.Errorf("%s: a key is required: %t, and the reference says %s", name, required, entry)
		}
	}
	for _, asset := range []string{"/docs/docs.css", "/docs/docs.js"} {
		if r := a.SendREST(t, "", http.MethodGet, asset, ""); r.Status != 200 || len(r.Body) > 20_000 {
			t.Errorf("%s: %d, %d bytes", asset, r.Status, len(r.Body))
		}
	}
	if r := a.SendREST(t, "", http.MethodGet, "/docs?query=contact+merge", ""); !strings.Contains(string(r.Body),
		`href="/docs/api/contacts#contacts.merge"`) || strings.Contains(string(r.Body), "#invoices.list") {
		t.Errorf("the search finds %s", r.Body)
	}
	evil := a.SendREST(t, "", http.MethodGet, "/docs?query=%22%3E%3Cscript%3E", "")
	if strings.Contains(string(evil.Body), `"><script>`) || !strings.Contains(string(evil.Body), "Nothing has all") {
		t.Errorf("%s", evil.Body)
	}
	for _, missing := range []string{"/docs/api/nothing", "/docs/guide/nothing", "/docs/guide/README"} {
		if r := a.SendREST(t, "", http.MethodGet, missing, ""); r.Status != 404 {
			t.Errorf("%s: %d", missing, r.Status)
		}
	}
}

// Every sample of an answer is what the operation's own schema allows: valid JSON
// with its fields.
func TestSampleAnswers(t *testing.T) {
	a := apptest.Start(t, "sqlite")
	answer := regexp.MustCompile(`aria-label="An answer"><code>([^<]*)<`)
	n := 0
	for _, noun := range []string{"contacts", "invoices", "domains", "automations", "proposals"} {
		p := a.SendREST(t, "", http.MethodGet, "/docs/api/"+noun, "")
		for _, m := range answer.FindAllStringSubmatch(string(p.Body), -1) {
			n++
			var v map[string]any
			if err := json.Unmarshal([]byte(html.UnescapeString(m[1])), &v); err != nil || v["data"] == nil {
				t.Errorf("%v: %s", err, m[1])
			}
		}
	}
	if n < 80 {
		t.Errorf("%d answers", n)
	}
}
