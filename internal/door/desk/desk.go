// Package desk is the parts that the console's pages for people are made of:
// the frame, one list, one object page, one form, one timeline, the palette and
// live updates. Each is written once. A noun declares its columns, filters,
// fields, actions and words as a Noun, in one small file of a room
// (desk/people, desk/money, …), and gets all of its pages from that.
//
// The pages only call operations, through the Runner and as the person who is
// signed in, so they can do what an API call could and nothing else.
//
// Start reading at Noun (noun.go), then list.go and object.go. A hand-made page
// is a Route whose function gets a Visit: v.Do runs an operation, v.Show shows a
// template inside the frame (frame.go).
package desk

import (
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/peer"

	"github.com/google/jsonschema-go/jsonschema"
)

// Desk holds the nouns and the pages, joined.
type Desk struct {
	Runner   *op.Runner
	Catalog  *op.Catalog
	Accounts *account.Accounts
	Log      *slog.Logger
	Live     *Live
	BaseURL  string // where people and programs reach the service
	AgentURL string // the address that an agent's client connects to; empty when there is none
	Proxies  peer.Proxies

	// SignInPage asks whoever sent a form without a session to sign in, and then goes on
	// with the form.
	SignInPage func(*Visit, *Kept) error

	mux     *http.ServeMux
	nouns   []noun
	routes  []Route
	schemas sync.Map // of inputs, by operation
	counts  counts
}

// Route is a page: its pattern as http.ServeMux has it, and what shows it.
type Route struct {
	Pattern string
	Show    func(*Visit) error
	Who     Access // may see it
	// Streams means that Show reads the body itself: it is neither parsed as a form
	// nor bounded.
	Streams bool
	// SeenFirst means that a form is not carried out after signing in again: it agrees to
	// something that whoever signs in must have seen.
	SeenFirst bool
}

// Add adds hand-made pages.
func (d *Desk) Add(routes ...Route) { d.routes = append(d.routes, routes...) }

// Pages maps the pattern of each page to what shows it.
type Pages map[string]func(*Visit) error

// AddPages adds hand-made pages for one kind of visitor.
func (d *Desk) AddPages(who Access, pages Pages) {
	for _, pattern := range slices.Sorted(maps.Keys(pages)) {
		d.Add(Route{Pattern: pattern, Show: pages[pattern], Who: who})
	}
}

// AddNouns adds nouns and their pages.
func (d *Desk) AddNouns(nouns ...noun) {
	for _, n := range nouns {
		n.check(d)
		d.nouns = append(d.nouns, n)
		d.routes = append(d.routes, n.pages(d)...)
	}
}

// Routes lists all pages.
func (d *Desk) Routes() []Route {
	return append([]Route{
		{Pattern: "GET /search", Show: search},
		{Pattern: "POST /undo", Show: undo},
		{Pattern: "GET /keys", Show: keysPage},
		{Pattern: "POST /view", Show: chooseView},
		{Pattern: "POST /views", Show: saveView},
		{Pattern: "GET /draft", Show: readDraft},
		{Pattern: "POST /draft", Show: saveDraft},
		{Pattern: "POST /draft/discard", Show: discardDraft},
		{Pattern: "POST /business", Show: chooseBusiness},
	}, d.routes...)
}

// noun finds a noun by its path.
func (d *Desk) noun(path string) noun {
	for _, n := range d.nouns {
		if n.path() == path {
			return n
		}
	}
	return nil
}

// ofOps finds the noun that has a list's operations.
func (d *Desk) ofOps(ops string) noun {
	for _, n := range d.nouns {
		if n.ops() == ops {
			return n
		}
	}
	return nil
}

// ofType finds the noun whose events have a resource type.
func (d *Desk) ofType(resourceType string) noun {
	for _, n := range d.nouns {
		if n.resourceType() == resourceType {
			return n
		}
	}
	return nil
}

// schema is the input of an operation, or nil when there is no such operation.
func (d *Desk) schema(operation string) *jsonschema.Schema {
	if s, ok := d.schemas.Load(operation); ok {
		return s.(*jsonschema.Schema)
	}
	o := d.Catalog.Named(operation)
	if o == nil || o.TakesStream() {
		return nil
	}
	s := o.InputSchema()
	d.schemas.Store(operation, s)
	return s
}

// property is one field of an operation's input, or nil.
func (d *Desk) property(operation, field string) *jsonschema.Schema {
	s := d.schema(operation)
	if s == nil {
		return nil
	}
	return s.Properties[field]
}

// kindOf is the JSON type of a field, without null.
func kindOf(s *jsonschema.Schema) string {
	if s == nil {
		return ""
	}
	if s.Type != "" {
		return s.Type
	}
	for _, t := range s.Types {
		if t != "null" {
			return t
		}
	}
	return ""
}

// nullable reports whether a field takes null.
func nullable(s *jsonschema.Schema) bool { return s != nil && slices.Contains(s.Types, "null") }
