package op

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/fault"
)

// Catalog is every operation of the service by its name, and every type of event. It is filled at start and then only
// read.
type Catalog struct {
	list             []*Op
	byName           map[string]*Op
	routes           map[string]string // route → name of the operation
	backgroundEvents []BackgroundEvent
}

// NewCatalog collects operations, as Add does.
func NewCatalog(groups ...[]*Op) *Catalog {
	c := &Catalog{byName: map[string]*Op{}, routes: map[string]string{}}
	return c.Add(groups...)
}

// Add collects more operations, and panics when two share a name or a route. A package that looks operations up by name
// and declares some itself, such as proposal, is given the catalog first and adds its own afterwards.
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
		for _, r := range o.ReferenceFields() {
			permissionBit(r.Resource, ActionRead) // panics on a resource that no operation has, such as a misspelt one
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

// checkFields panics when create or update takes a field that the answer does not show, or that the other one does not
// take: somebody added the field in one place and forgot another, and a caller's value would be lost or could never be
// changed. It panics also on an entry of Spec.FieldExceptions that is not needed.
func (o *Op) checkFields(create *Op) {
	if create == nil || !create.isVersioned || !o.isVersioned || !strings.HasSuffix(o.Name, ".update") {
		return
	}
	for _, by := range []*Op{create, o} {
		for _, p := range by.in.order {
			isWhole := by.out.props[p.name] != nil && create.in.props[p.name] != nil && o.in.props[p.name] != nil
			if p.origin == originBody && isWhole == slices.Contains(by.FieldExceptions, p.name) {
				panic("operation " + by.Name + " takes " + p.name +
					": it belongs in create, in update and in the answer, or in FieldExceptions")
			}
		}
	}
}

// SetBadIDFault gives the operations below a collection, like /v1/contacts, an error code of their own for a path whose
// first value is not an id.
func (c *Catalog) SetBadIDFault(collection string, k *fault.Kind) *Catalog {
	for _, o := range c.list {
		if strings.HasPrefix(o.Path, collection+"/{") {
			o.badIDFault = k
		}
	}
	return c
}

// All lists the operations in the order of their declaration.
func (c *Catalog) All() []*Op { return c.list }

// Named returns the operation with this name, or nil.
func (c *Catalog) Named(name string) *Op { return c.byName[name] }

// BackgroundEvent is a type of event that no operation emits: time passes, or a provider reports something, and a job
// writes it.
type BackgroundEvent struct {
	Type     string // "invoice.overdue"
	When     string // "dueAt passes"
	Resource string // whoever may read it may receive the event; by default the type's first segment and an s
}

// AddBackgroundEvents declares such events. It panics on a resource that no operation has, because then nobody could be
// allowed to receive the event.
func (c *Catalog) AddBackgroundEvents(h ...BackgroundEvent) *Catalog {
	c.backgroundEvents = append(c.backgroundEvents, h...)
	for _, e := range h {
		_ = c.PermitListening(0, e.Type) // for its panic on an unknown resource
	}
	return c
}

// eventResources are the resources that a caller must be allowed to read to receive an event, because its data is what
// their GET answers with.
func (c *Catalog) eventResources(eventType string) (resources []string) {
	for _, o := range c.list {
		if slices.Contains(o.Events, eventType) {
			resources = append(resources, o.Resource)
		}
	}
	for _, h := range c.backgroundEvents {
		if h.Type != eventType {
			continue
		}
		noun, _, _ := strings.Cut(h.Type, ".")
		resources = append(resources, cmp.Or(h.Resource, noun+"s"))
	}
	slices.Sort(resources)
	resources = slices.Compact(resources)
	// An operation of the account may emit another resource's event: creating an organization also creates a business.
	// The permission for that resource is enough then. Only events that no other resource emits need the account's.
	resources = slices.DeleteFunc(resources, func(r string) bool { return r == Account || r == Unrestricted })
	if len(resources) == 0 {
		return []string{Account}
	}
	return resources
}

// PermitListening refuses a caller who may not read what an event of this type is about.
func (c *Catalog) PermitListening(p Permissions, eventType string) error {
	for _, resource := range c.eventResources(eventType) {
		switch {
		case p.Allow(resource, ActionRead):
		case resource == Account:
			return fault.Forbidden.Say("Only owners and admins may listen to %s.", eventType)
		default:
			return missingPermission(resource+":"+ActionRead.String(), "Listening to %s", eventType)
		}
	}
	return nil
}

// EventType is a type of event and what causes it.
type EventType struct {
	Type       string
	Operations []string // the names of the operations that emit it
	When       string   // what else causes it; empty for nothing
}

// EventTypes lists every type of event of the service, sorted by name.
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
	for _, h := range c.backgroundEvents {
		at(h.Type).When = h.When
	}
	out := make([]EventType, 0, len(found))
	for _, t := range found {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b EventType) int { return cmp.Compare(a.Type, b.Type) })
	return out
}

// HasEventType reports whether there is an event of this type.
func (c *Catalog) HasEventType(eventType string) bool {
	return slices.ContainsFunc(c.list, func(o *Op) bool { return slices.Contains(o.Events, eventType) }) ||
		slices.ContainsFunc(c.backgroundEvents, func(h BackgroundEvent) bool { return h.Type == eventType })
}

// UnknownEventText is the sentence that there is no event of this type, with the most similar one.
func (c *Catalog) UnknownEventText(name string) string {
	return "There is no event " + strconv.Quote(name) + "; " + DidYouMean(name, c.EventNames(), "the guide lists them")
}

// EventNames lists the types of events by name.
func (c *Catalog) EventNames() []string {
	types := c.EventTypes()
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Type
	}
	return names
}
