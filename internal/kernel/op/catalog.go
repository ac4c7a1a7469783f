package op

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
)

// Catalog is every operation of the service, by name.
type Catalog struct {
	list    []*Op
	byName  map[string]*Op
	routes  map[string]string // the operation of each
	happens []Happening
}

// NewCatalog collects operations, as Add does.
func NewCatalog(groups ...[]*Op) *Catalog {
	c := &Catalog{byName: map[string]*Op{}, routes: map[string]string{}}
	return c.Add(groups...)
}

// Add collects more operations. It panics when two share a name or a route.
// Those who name operations of others, and have some of their own, are given
// the catalog before it is filled.
func (c *Catalog) Add(groups ...[]*Op) *Catalog {
	for _, o := range slices.Concat(groups...) {
		if c.byName[o.Name] != nil {
			panic("two operations are named " + o.Name)
		}
		if o.Route != "" {
			if other := c.routes[o.Route]; other != "" {
				panic("operations " + other + " and " + o.Name + " share the route " + o.Route)
			}
			c.routes[o.Route] = o.Name
		}
		for _, r := range o.References() {
			bit(r.Resource, ActionRead) // panics on an unknown resource
		}
		c.byName[o.Name] = o
		c.list = append(c.list, o)
	}
	for _, o := range c.list {
		o.checkFields(c.byName[strings.TrimSuffix(o.Name, ".update")+".create"])
		if o.Method == http.MethodPatch || o.Method == http.MethodPut || o.Method == http.MethodDelete {
			o.getter = c.byName[c.routes[http.MethodGet+" "+o.Path]]
		}
	}
	return c
}

// checkFields panics when a noun takes a field, to create or to change a row, that its answer
// does not show, or takes it to change a row and not to create one: somebody added the field in
// one place and forgot another, and a caller's value would be lost.
func (o *Op) checkFields(create *Op) {
	if create == nil || !create.version || !o.version || !strings.HasSuffix(o.Name, ".update") {
		return
	}
	for _, by := range []*Op{create, o} {
		for _, p := range by.in.order {
			isWhole := by.out.props[p.name] != nil && create.in.props[p.name] != nil
			if p.origin == body && isWhole == slices.Contains(by.Exceptions, p.name) {
				panic("operation " + by.Name + " takes " + p.name +
					": it belongs in create and in the answer, or in Exceptions")
			}
		}
	}
}

// BadID gives the operations below a collection, like /v1/contacts, a code of
// their own for an id in the path that is none.
func (c *Catalog) BadID(collection string, k *fault.Kind) *Catalog {
	for _, o := range c.list {
		if strings.HasPrefix(o.Path, collection+"/{") {
			o.badID = k
		}
	}
	return c
}

// All lists the operations in the order of their declaration.
func (c *Catalog) All() []*Op { return c.list }

// Named finds an operation, or nil.
func (c *Catalog) Named(name string) *Op { return c.byName[name] }

// Happening is an event that no operation emits: the clock or the outside
// world brings it about.
type Happening struct {
	Type     string // "invoice.overdue"
	When     string // "dueAt passes"
	Resource string // whose readers may hear of it; by default the first segment of the type, as its path spells it
}

// Also declares such events. It panics when nobody could be allowed to hear of
// one.
func (c *Catalog) Also(h ...Happening) *Catalog {
	c.happens = append(c.happens, h...)
	for _, e := range h {
		_ = c.PermitHearing(0, e.Type) // which panics on an unknown resource
	}
	return c
}

// hearers are the resources that a caller must be allowed to read to hear of
// an event: its data is what their GET answers with.
func (c *Catalog) hearers(eventType string) (resources []string) {
	for _, o := range c.list {
		if slices.Contains(o.Events, eventType) {
			resources = append(resources, o.Resource)
		}
	}
	for _, h := range c.happens {
		if h.Type != eventType {
			continue
		}
		noun, _, _ := strings.Cut(h.Type, ".")
		resources = append(resources, cmp.Or(h.Resource, noun+"s"))
	}
	slices.Sort(resources)
	resources = slices.Compact(resources)
	// A resource may also change on the way through the account: a new
	// organization has a business. What nobody else reads is the account's.
	resources = slices.DeleteFunc(resources, func(r string) bool { return r == Account || r == Free })
	if len(resources) == 0 {
		return []string{Account}
	}
	return resources
}

// PermitHearing refuses a caller who may not read what an event tells of.
func (c *Catalog) PermitHearing(p Permissions, eventType string) error {
	for _, resource := range c.hearers(eventType) {
		switch {
		case p.Allow(resource, ActionRead):
		case resource == Account:
			return fault.Forbidden.Say("Only owners and admins may listen to %s.", eventType)
		default:
			return lacks(resource+":"+ActionRead.String(), "Listening to %s", eventType)
		}
	}
	return nil
}

// EventType is a kind of event, and what brings it about.
type EventType struct {
	Type       string
	Operations []string // that emit it
	When       string   // else, or beside them
}

// EventTypes lists every kind of event of the service by name.
func (c *Catalog) EventTypes() []EventType {
	found := map[string]*EventType{}
	at := func(name string) *EventType {
		if found[name] == nil {
			found[name] = &EventType{Type: name}
		}
		return found[name]
	}
	for _, o := range c.list {
		for _, e := range o.Events {
			t := at(e)
			t.Operations = append(t.Operations, o.Name)
		}
	}
	for _, h := range c.happens {
		at(h.Type).When = h.When
	}
	out := make([]EventType, 0, len(found))
	for _, t := range found {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b EventType) int { return cmp.Compare(a.Type, b.Type) })
	return out
}

// Emits reports whether there is such a kind of event.
func (c *Catalog) Emits(eventType string) bool {
	return slices.ContainsFunc(c.list, func(o *Op) bool { return slices.Contains(o.Events, eventType) }) ||
		slices.ContainsFunc(c.happens, func(h Happening) bool { return h.Type == eventType })
}

// NoEvent says that there is no such kind of event.
func (c *Catalog) NoEvent(name string) string {
	return "There is no event " + strconv.Quote(name) + "; " + DidYouMean(name, c.EventNames(), "the guide lists them")
}

// EventNames lists the kinds of events.
func (c *Catalog) EventNames() []string {
	types := c.EventTypes()
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Type
	}
	return names
}
