// Package docs is the API reference at /docs, generated on the server from the
// same declarations as the document at /v1/openapi.json. It works without
// JavaScript; with it, a person can try a call with a key.
package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// DocumentPath is where the OpenAPI document is. It deliberately needs no key.
const DocumentPath = "/v1/openapi.json"

// IsDocument reports whether a request reads the document.
func IsDocument(r *http.Request) bool {
	return r.URL.Path == DocumentPath && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

//go:embed docs.html docs.css docs.js
var assets embed.FS

var page = template.Must(template.ParseFS(assets, "docs.html"))

// Door serves the document and the reference.
type Door struct {
	catalog  *op.Catalog
	baseURL  string
	document func() ([]byte, error)
	html     func() ([]byte, error)
}

// New prepares the documents. They are generated on first request.
func New(c *op.Catalog, baseURL string) *Door {
	d := &Door{catalog: c, baseURL: baseURL}
	d.document = sync.OnceValues(func() ([]byte, error) { return OpenAPI(c, baseURL) })
	d.html = sync.OnceValues(d.render)
	return d
}

// Mount adds the pages.
func (d *Door) Mount(mux *http.ServeMux) {
	mux.HandleFunc("GET "+DocumentPath,
		func(w http.ResponseWriter, r *http.Request) { serve(w, "application/json", d.document) })
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri "+
				"'none'; form-action 'none'; frame-ancestors 'none'")
		serve(w, "text/html; charset=utf-8", d.html)
	})
	for name, kind := range map[string]string{"docs.css": "text/css; charset=utf-8",
		"docs.js": "text/javascript; charset=utf-8"} {
		mux.HandleFunc("GET /docs/"+name, func(w http.ResponseWriter, r *http.Request) {
			serve(w, kind, func() ([]byte, error) { return assets.ReadFile(name) })
		})
	}
}

func serve(w http.ResponseWriter, kind string, content func() ([]byte, error)) {
	text, err := content()
	if err != nil {
		http.Error(w, "The page could not be written.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache")
	w.Write(text) //nolint:errcheck // the reader is gone
}

// group is the operations under one heading.
type group struct {
	Name, Anchor string
	Operations   []operation
}

// operation is one entry of the reference.
type operation struct {
	Name, Short, Method, Path, Summary, Description string
	Permission                                      string
	Events                                          []string
	Fields                                          []fieldLine
	HasBody, IsForm                                 bool
	Example                                         string // the part in the body
	Curl                                            string
	Key, KeyRequired                                bool
	Answer                                          string
	Output                                          []fieldLine
	Refusals                                        []refusal
}

// fieldLine is one field of an input or an output.
type fieldLine struct {
	Name, In, Type, Doc, Example string
	Required                     bool
	Depth                        int
}

type refusal struct {
	Status  int
	Code    string
	Message string
}

func (d *Door) render() ([]byte, error) {
	groups := map[string]*group{}
	for _, o := range d.catalog.All() {
		if o.Doors&op.REST == 0 || o.Path == "" {
			continue
		}
		tag := tagOf(o)
		if groups[tag] == nil {
			groups[tag] = &group{Name: tag, Anchor: strings.ToLower(strings.ReplaceAll(tag, " ", "-"))}
		}
		groups[tag].Operations = append(groups[tag].Operations, d.describe(o))
	}
	var list []*group
	for _, g := range groups {
		list = append(list, g)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	var buf bytes.Buffer
	err := page.Execute(&buf, struct {
		BaseURL string
		Groups  []*group
	}{d.baseURL, list})
	return buf.Bytes(), err
}

func (d *Door) describe(o *op.Op) operation {
	example := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(o.Example), &example); err != nil {
		panic("docs: " + o.Name + ": " + err.Error()) // the declaration was checked at start
	}
	v := operation{Name: o.Name, Short: o.Name[strings.LastIndexByte(o.Name, '.')+1:], Method: o.Method, Path: o.Path,
		Summary: o.Summary, Description: o.Description, Events: o.Events, Key: o.TakesKey(), KeyRequired: o.KeyRequired}
	if !o.Public && o.Resource != op.Free {
		v.Permission = o.Resource + ":write"
		if o.Action == op.ActionRead {
			v.Permission = o.Resource + ":read"
		}
	}
	params := o.Parameters(nil)
	sort.SliceStable(params, func(i, j int) bool { return params[i].In == "path" && params[j].In != "path" })
	path := o.Path
	var query []string
	for _, p := range params {
		text := strings.Trim(string(example[p.Name]), `"`)
		v.Fields = append(v.Fields,
			fieldLine{Name: p.Name, In: p.In, Type: typeOf(p.Schema), Doc: p.Doc, Required: p.Required, Example: text})
		if _, ok := example[p.Name]; ok {
			if p.In == "path" {
				path = strings.ReplaceAll(path, "{"+p.Name+"}", text)
			} else {
				query = append(query, p.Name+"="+text)
			}
			delete(example, p.Name)
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	v.Curl = fmt.Sprintf("curl %s'%s%s'", method(o.Method), d.baseURL, path)
	if !o.Public {
		v.Curl += " \\\n  -H \"Authorization: Bearer $KEY\""
	}
	if o.KeyRequired {
		v.Curl += " \\\n  -H 'Idempotency-Key: one-of-your-own'"
	}
	if s, _ := o.BodySchema(nil); s != nil {
		v.HasBody = true
		v.Fields = append(v.Fields, lines(s, "body", 0)...)
		text, err := json.MarshalIndent(example, "", "  ")
		if err != nil {
			panic(err)
		}
		v.Example = string(text)
		compact, err := json.Marshal(example)
		if err != nil {
			panic(err)
		}
		if o.IsForm() {
			v.Curl += curlForm(s, example)
			v.HasBody, v.IsForm = false, true
		} else {
			v.Curl += " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(string(compact), "'",
				`'\''`) + "'"
		}
	}
	if s, list := o.OutputSchema(nil); s != nil {
		v.Answer = "with one record in data"
		if list {
			v.Answer = "with a list in data and its page in meta.pagination"
		}
		v.Output = lines(s, "", 0)
	}
	v.Answer = fmt.Sprintf("%d %s", o.Status, v.Answer)
	if o.MayCreate {
		v.Answer = "201 if it created, or " + v.Answer
	}
	if o.Immediate {
		v.Answer = "200 if it was done at once, or " + v.Answer
	}
	for status, kinds := range o.Faults() {
		for _, k := range kinds {
			v.Refusals = append(v.Refusals, refusal{status, k.Code, k.Message})
		}
	}
	sort.Slice(v.Refusals, func(i, j int) bool {
		a, b := v.Refusals[i], v.Refusals[j]
		return a.Status < b.Status || a.Status == b.Status && a.Code < b.Code
	})
	return v
}

// curlForm is the example as the parts of a form.
func curlForm(s *jsonschema.Schema, example map[string]json.RawMessage) (out string) {
	for _, name := range s.PropertyOrder {
		text := strings.Trim(string(example[name]), `"`)
		if s.Properties[name].Format == "binary" {
			text = "@letter.pdf"
		}
		if text != "" {
			out += fmt.Sprintf(" \\\n  -F '%s=%s'", name, text)
		}
	}
	return out
}

func method(m string) string {
	if m == http.MethodGet {
		return ""
	}
	return "-X " + m + " "
}

// lines lists the fields of an object, with those of nested objects below
// theirs.
func lines(s *jsonschema.Schema, in string, depth int) (out []fieldLine) {
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		out = append(out, fieldLine{Name: name, In: in, Type: typeOf(p), Doc: p.Description,
			Required: slices.Contains(s.Required, name), Depth: depth})
		inner := p
		if p.Items != nil {
			inner = p.Items
		}
		if inner.Properties != nil && depth < 3 {
			out = append(out, lines(inner, in, depth+1)...)
		}
	}
	return out
}

func typeOf(s *jsonschema.Schema) string {
	t := s.Type
	if t == "" {
		t = strings.Join(s.Types, " or ")
	}
	if s.Items != nil {
		t = strings.Replace(t, "array", "array of "+typeOf(s.Items), 1)
	}
	if s.Format != "" {
		t += ", " + s.Format
	}
	if len(s.Enum) > 0 {
		var options []string
		for _, e := range s.Enum {
			if e != nil {
				options = append(options, fmt.Sprint(e))
			}
		}
		t += ": " + strings.Join(options, ", ")
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		t += fmt.Sprintf(", %v to %v", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		t += fmt.Sprintf(", %v or more", *s.Minimum)
	}
	if s.Default != nil {
		t += ", default " + string(s.Default)
	}
	return t
}
