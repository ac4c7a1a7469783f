// Package docs serves the documentation: the OpenAPI document at /v1/openapi.json, the
// reference and the guide at /docs. The first two are generated from the declarations
// of the operations; the guide is the Markdown under docs/. The pages work without
// JavaScript; with it, a person can try a call with a key.
//
// The OpenAPI document is made in openapi.go: responses.go describes the answers,
// components.go collects what operations share, layout.go breaks the JSON into lines.
// A page of the reference is made in reference.go, its sample answers in answer.go, its
// curl command in code.go. The same declarations always give the same bytes, so that a
// diff of the committed document shows what changed in the contract.
//
// Start reading at Door.Mount for the pages, and at OpenAPI for the document.
package docs

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"frontdesk/internal/kernel/op"
	"frontdesk/third_party/inter"
)

// DocumentPath is where the OpenAPI document is. It deliberately needs no key.
const DocumentPath = "/v1/openapi.json"

// IsDocument reports whether a request reads the document.
func IsDocument(r *http.Request) bool {
	return r.URL.Path == DocumentPath && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

//go:embed docs.html docs.css docs.js
var assets embed.FS

var pageTemplates = template.Must(template.New("").Funcs(template.FuncMap{"lower": strings.ToLower}).
	ParseFS(assets, "docs.html"))

// Door serves the document and the reference.
type Door struct {
	catalog  *op.Catalog
	baseURL  string
	samples  func() map[string][]Sample
	document func() ([]byte, error)
	nouns    func() []*noun
	guide    func() ([]*chapter, error)

	mu        sync.Mutex
	pageCache map[string][]byte // rendered pages by their address
}

// New prepares the documents. They are generated on first request. samples returns, for
// each operation, how to call it with the client libraries.
func New(c *op.Catalog, baseURL string, samples func(*op.Catalog) map[string][]Sample) *Door {
	d := &Door{catalog: c, baseURL: baseURL, pageCache: map[string][]byte{}}
	d.samples = sync.OnceValue(func() map[string][]Sample { return samples(c) })
	d.document = sync.OnceValues(func() ([]byte, error) { return OpenAPI(c, baseURL) })
	d.nouns = sync.OnceValue(d.makeNouns)
	d.guide = sync.OnceValues(readGuide)
	return d
}

// Mount adds the pages.
func (d *Door) Mount(mux *http.ServeMux) {
	mux.HandleFunc("GET "+DocumentPath,
		func(w http.ResponseWriter, r *http.Request) { serveContent(w, "application/json", d.document) })
	mux.HandleFunc("GET /docs", d.startPage)
	mux.HandleFunc("GET /docs/api/{noun}", d.nounPage)
	mux.HandleFunc("GET /docs/guide", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/docs/guide/first-call", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /docs/guide/{page}", d.guidePage)
	mux.HandleFunc("GET /docs/guide/pictures/{name}", servePicture)
	for name, kind := range map[string]string{"docs.css": "text/css; charset=utf-8",
		"docs.js": "text/javascript; charset=utf-8"} {
		mux.HandleFunc("GET /docs/"+name, func(w http.ResponseWriter, r *http.Request) {
			serveContent(w, kind, func() ([]byte, error) { return assets.ReadFile(name) })
		})
	}
	mux.HandleFunc("GET /docs/inter.woff2", func(w http.ResponseWriter, r *http.Request) {
		serveContent(w, "font/woff2", func() ([]byte, error) { return inter.Latin, nil })
	})
}

func serveContent(w http.ResponseWriter, kind string, content func() ([]byte, error)) {
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

// view is what the frame of a page shows.
type view struct {
	Title   string
	Page    string // the template of its content
	At      string // the address of the page
	BaseURL string
	Nouns   []*noun
	Guide   []*chapter
	Noun    *noun
	Chapter *chapter
	Query   string
	Hits    []hit
}

// showPage answers with a page. One without a search query is rendered once and kept.
func (d *Door) showPage(w http.ResponseWriter, v view) {
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; font-src 'self'; "+
			"img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	serveContent(w, "text/html; charset=utf-8", func() ([]byte, error) {
		if v.Query != "" {
			return d.renderPage(v)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if text := d.pageCache[v.At]; text != nil {
			return text, nil
		}
		text, err := d.renderPage(v)
		d.pageCache[v.At] = text
		return text, err
	})
}

func (d *Door) renderPage(v view) (text []byte, err error) {
	v.BaseURL, v.Nouns = d.baseURL, d.nouns()
	if v.Guide, err = d.guide(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = pageTemplates.ExecuteTemplate(&b, "layout", v)
	return b.Bytes(), err
}

// hit is something that a search found.
type hit struct{ Text, Faint, Href string }

const maxQueryLength = 200

// startPage shows the list of pages, or what a search finds.
func (d *Door) startPage(w http.ResponseWriter, r *http.Request) {
	v := view{Title: "API reference", Page: "start", At: "/docs", Query: strings.TrimSpace(r.URL.Query().Get("query"))}
	if len(v.Query) > maxQueryLength {
		v.Query = strings.ToValidUTF8(v.Query[:maxQueryLength], "")
	}
	if v.Query != "" {
		v.Title, v.Hits = "Search", d.searchDocs(v.Query)
	}
	d.showPage(w, v)
}

// searchDocs finds operations, events and chapters in which every word occurs.
func (d *Door) searchDocs(query string) (hits []hit) {
	words := strings.Fields(strings.ToLower(query))
	has := func(text string) bool {
		text = strings.ToLower(text)
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}
	for _, n := range d.nouns() {
		for _, g := range n.Groups {
			for _, o := range g.Operations {
				if has(n.Name + " " + g.Name + " " + o.Name + " " + o.Path + " " + o.Summary + " " +
					strings.Join(o.Events, " ")) {
					hits = append(hits, hit{o.Summary, o.Method + " " + o.Path, n.Path() + "#" + o.Name})
				}
			}
		}
	}
	chapters, _ := d.guide()
	for _, c := range chapters {
		for _, s := range c.Sections {
			if has(c.Title + " " + s.Title + " " + s.Text) {
				hits = append(hits, hit{s.Title, "Guide: " + c.Title, c.Path() + s.Anchor})
			}
		}
	}
	return hits
}

func (d *Door) nounPage(w http.ResponseWriter, r *http.Request) {
	for _, n := range d.nouns() {
		if n.Key == r.PathValue("noun") {
			d.showPage(w, view{Title: n.Name, Page: "noun", At: n.Path(), Noun: n})
			return
		}
	}
	d.pageNotFound(w)
}

func (d *Door) guidePage(w http.ResponseWriter, r *http.Request) {
	chapters, _ := d.guide() // its error is answered where a page is rendered (renderPage)
	for _, c := range chapters {
		if c.Key == r.PathValue("page") {
			d.showPage(w, view{Title: c.Title, Page: "chapter", At: c.Path(), Chapter: c})
			return
		}
	}
	d.pageNotFound(w)
}

func (d *Door) pageNotFound(w http.ResponseWriter) {
	w.Header().Set("Location", "/docs")
	http.Error(w, "There is no such page. The reference begins at /docs.", http.StatusNotFound)
}
