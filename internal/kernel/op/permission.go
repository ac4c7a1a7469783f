package op

import (
	"fmt"
	"slices"
	"strings"
)

// Action is what an operation does to its resource.
type Action uint8

// The four actions, the columns of an agent's permission table.
const (
	See Action = iota
	Create
	Change
	Delete
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

// Resources are the rows of the permission table. Sub-resources follow their parent.
var Resources = []string{"automations", "businesses", "contacts", "customers", "domains", "email_opt_ins", "email_templates",
	"files", "invoices", "messages", "properties", "tasks", "webhooks"}

// Account is the resource of what manages the account itself: members, keys,
// agents, agreements, cards. No key and no agent can be given it.
const Account = "account"

// Free is the resource of what every caller may do.
const Free = "free"

// Permissions is a set of (resource, action), one bit each.
type Permissions uint64

// Everything on every resource that keys and agents can be given.
func Everything() (p Permissions) {
	for _, r := range Resources {
		for a := range actions {
			p = p.With(r, a)
		}
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
	i := slices.Index(Resources, resource)
	if resource == Account {
		i = len(Resources)
	}
	if i < 0 {
		panic("op: no resource " + resource)
	}
	return 1 << (i*int(actions) + int(a))
}

// Cells lists the set as the cells of an agent's table, "contacts.create".
func (p Permissions) Cells() []string {
	out := []string{}
	for _, r := range append(slices.Clone(Resources), Account) {
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
		if a, ok := ActionNamed(verb); ok && (resource == Account || slices.Contains(Resources, resource)) {
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
		if !slices.Contains(Resources, resource) || verb != "read" && verb != "write" {
			return 0, fmt.Errorf("%q is not a permission; use * or <resource>:read or <resource>:write with one of %s", g, strings.Join(Resources, ", "))
		}
		if verb == "read" {
			p = p.With(resource, See)
		} else {
			p = p.With(resource, Create).With(resource, Change).With(resource, Delete)
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
	for _, r := range Resources {
		if p.Allow(r, See) {
			out = append(out, r+":read")
		}
		if p.Allow(r, Create) && p.Allow(r, Change) && p.Allow(r, Delete) {
			out = append(out, r+":write")
			continue
		}
		for a := Create; a < actions; a++ {
			if p.Allow(r, a) {
				out = append(out, r+":"+a.String())
			}
		}
	}
	return out
}
