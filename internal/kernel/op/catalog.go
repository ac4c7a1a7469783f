package op

import (
	"cmp"
	"slices"
	"strconv"
)

// Catalog is every operation of the service, by name.
type Catalog struct {
	list    []*Op
	byName  map[string]*Op
	happens []Happening
}

// NewCatalog collects operations. It panics when two share a name or a route.
func NewCatalog(groups ...[]*Op) *Catalog {
	c := &Catalog{byName: map[string]*Op{}}
	routes := map[string]string{}
	for _, o := range slices.Concat(groups...) {
		if c.byName[o.Name] != nil {
			panic("two operations are named " + o.Name)
		}
		if o.Route != "" {
			if other := routes[o.Route]; other != "" {
				panic("operations " + other + " and " + o.Name + " share the route " + o.Route)
			}
			routes[o.Route] = o.Name
		}
		c.byName[o.Name] = o
		c.list = append(c.list, o)
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
	Type string // "invoice.overdue"
	When string // "dueAt passes"
}

// Also declares such events.
func (c *Catalog) Also(h ...Happening) *Catalog {
	c.happens = append(c.happens, h...)
	return c
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
	types := c.EventTypes()
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Type
	}
	return "There is no event " + strconv.Quote(name) + "; " + DidYouMean(name, names, "the guide lists them")
}
