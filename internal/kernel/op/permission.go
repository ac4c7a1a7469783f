package op

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Action is what an operation does to its resource.
type Action uint8

// The four actions, the columns of an agent's permission table.
const (
	ActionRead Action = iota
	ActionCreate
	ActionUpdate
	ActionDelete
	actions
)

func (a Action) String() string { return [...]string{"read", "create", "update", "delete"}[a] }

// ActionNamed reads the name of an action.
func ActionNamed(s string) (Action, bool) {
	for a := range actions {
		if a.String() == s {
			return a, true
		}
	}
	return 0, false
}

// Resources are the rows of the permission table, by name: those that the
// operations declare. Sub-resources follow their parent.
func Resources() []string { return resources.Load().names }

// resourceSet is the declared resources. The number of a resource is its place
// in the order of declaration, so that a set of permissions never changes its
// meaning while the service runs.
type resourceSet struct {
	names   []string // by name, without the account
	numbers map[string]int
}

var (
	resources atomic.Pointer[resourceSet]
	declaring sync.Mutex
)

func init() { resources.Store(&resourceSet{numbers: map[string]int{Account: 0}}) }

// maxResources is how many fit into Permissions.
const maxResources = 64 / int(actions)

// declareResource adds the resource of an operation, if it is new.
func declareResource(name string) {
	declaring.Lock()
	defer declaring.Unlock()
	known := resources.Load()
	if _, ok := known.numbers[name]; ok || name == Free {
		return
	}
	if len(known.numbers) == maxResources {
		panic("op: too many resources")
	}
	next := &resourceSet{names: append(slices.Clone(known.names), name), numbers: maps.Clone(known.numbers)}
	slices.Sort(next.names)
	next.numbers[name] = len(known.numbers)
	resources.Store(next)
}

// Account is the resource of what manages the account itself: members, keys,
// agents, agreements, cards. No key and no agent can be given it.
const Account = "account"

// Free is the resource of what every caller may do.
const Free = "free"

// Permissions is a set of (resource, action), one bit each.
type Permissions uint64

// Everything on every resource that keys and agents can be given.
func Everything() (p Permissions) {
	for _, r := range Resources() {
		for a := range actions {
			p = p.With(r, a)
		}
	}
	return p
}

// Reads is to read every resource.
func Reads() (p Permissions) {
	for _, r := range append(slices.Clone(Resources()), Account) {
		p = p.With(r, ActionRead)
	}
	return p
}

// With adds one permission.
func (p Permissions) With(resource string, a Action) Permissions { return p | bit(resource, a) }

// Allow reports whether the set holds the permission.
func (p Permissions) Allow(resource string, a Action) bool {
	return resource == Free || p&bit(resource, a) != 0
}

func bit(resource string, a Action) Permissions {
	i, ok := resources.Load().numbers[resource]
	if !ok {
		panic("op: no operation has the resource " + resource)
	}
	return 1 << (i*int(actions) + int(a))
}

// Cells lists the set as the cells of an agent's table, "contacts.create".
func (p Permissions) Cells() []string {
	out := []string{}
	for _, r := range append(slices.Clone(Resources()), Account) {
		for a := range actions {
			if p.Allow(r, a) {
				out = append(out, r+"."+a.String())
			}
		}
	}
	return out
}

// FromCells reads what Cells wrote. A cell that no longer means anything
// allows nothing.
func FromCells(cells []string) (p Permissions) {
	for _, cell := range cells {
		resource, verb, _ := strings.Cut(cell, ".")
		if a, ok := ActionNamed(verb); ok && (resource == Account || slices.Contains(Resources(), resource)) {
			p = p.With(resource, a)
		}
	}
	return p
}

// ParseGrants reads the permission list of an API key: "contacts:read",
// "contacts:write" (which creates, changes and deletes) or "*".
func ParseGrants(list []string) (p Permissions, err error) {
	for _, g := range list {
		if g == "*" {
			p |= Everything()
			continue
		}
		resource, verb, _ := strings.Cut(g, ":")
		if !slices.Contains(Resources(), resource) || verb != "read" && verb != "write" {
			return 0, fmt.Errorf("%q is not a permission; use * or <resource>:read or <resource>:write with one of %s",
				g,
				strings.Join(Resources(), ", "))
		}
		if verb == "read" {
			p = p.With(resource, ActionRead)
		} else {
			p = p.With(resource, ActionCreate).With(resource, ActionUpdate).With(resource, ActionDelete)
		}
	}
	return p, nil
}

// Grants writes the set as the permission list of a key; a resource of which
// only some writes are allowed lists each action.
func (p Permissions) Grants() []string {
	if p&Everything() == Everything() {
		return []string{"*"}
	}
	out := []string{}
	for _, r := range Resources() {
		if p.Allow(r, ActionRead) {
			out = append(out, r+":read")
		}
		if p.Allow(r, ActionCreate) && p.Allow(r, ActionUpdate) && p.Allow(r, ActionDelete) {
			out = append(out, r+":write")
			continue
		}
		for a := ActionCreate; a < actions; a++ {
			if p.Allow(r, a) {
				out = append(out, r+":"+a.String())
			}
		}
	}
	return out
}
