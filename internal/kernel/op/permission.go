package op

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Action is what an operation does to its resource. A permission is a resource and an action.
type Action uint8

// The four actions, the columns of an agent's permission table.
const (
	ActionRead Action = iota
	ActionCreate
	ActionUpdate
	ActionDelete
	actionCount // how many there are
)

func (a Action) String() string { return [...]string{"read", "create", "update", "delete"}[a] }

// ParseAction reads the name of an action, as Action.String writes it.
func ParseAction(s string) (Action, bool) {
	for a := range actionCount {
		if a.String() == s {
			return a, true
		}
	}
	return 0, false
}

// Resources are the resources that keys and agents can be given permissions for, sorted: all that operations declare,
// without the account. What belongs to a parent, like a phone number, has its parent's.
func Resources() []string { return declaredResources.Load().names }

// resourceSet is the declared resources. A resource keeps the number that it got when it was declared, because
// Permissions has a bit per number. The numbers may differ in the next process, so bits are never stored; cells and
// grants, which are text, are.
type resourceSet struct {
	names   []string       // sorted, without the account
	numbers map[string]int // all of them
}

var (
	declaredResources atomic.Pointer[resourceSet]
	declareMutex      sync.Mutex
)

func init() { declaredResources.Store(&resourceSet{numbers: map[string]int{Account: 0}}) }

// maxResources is how many resources fit into the 64 bits of Permissions.
const maxResources = 64 / int(actionCount)

// declareResource adds the resource of an operation, if it is new.
func declareResource(name string) {
	declareMutex.Lock()
	defer declareMutex.Unlock()
	known := declaredResources.Load()
	if _, ok := known.numbers[name]; ok || name == Unrestricted {
		return
	}
	if len(known.numbers) == maxResources {
		panic("op: too many resources")
	}
	next := &resourceSet{names: append(slices.Clone(known.names), name), numbers: maps.Clone(known.numbers)}
	slices.Sort(next.names)
	next.numbers[name] = len(known.numbers)
	declaredResources.Store(next)
}

// Account is the resource of operations that manage the account itself: members, keys, agents, agreements, cards. It
// is not among Resources, so it cannot be chosen for a key or an agent.
const Account = "account"

// Unrestricted is the resource of operations that every caller may use.
const Unrestricted = "free"

// Permissions is a set of (resource, action), one bit each.
type Permissions uint64

// Everything is all actions on all resources that keys and agents can be given, which the account is not.
func Everything() (p Permissions) {
	for _, r := range Resources() {
		for a := range actionCount {
			p = p.With(r, a)
		}
	}
	return p
}

// ReadEverything is the permission to read every resource, the account included.
func ReadEverything() (p Permissions) {
	for _, r := range append(slices.Clone(Resources()), Account) {
		p = p.With(r, ActionRead)
	}
	return p
}

// With is the set with one permission more.
func (p Permissions) With(resource string, a Action) Permissions {
	return p | permissionBit(resource, a)
}

// Allow reports whether the set holds the permission.
func (p Permissions) Allow(resource string, a Action) bool {
	return resource == Unrestricted || p&permissionBit(resource, a) != 0
}

// permissionBit is the bit of a permission. It panics on a resource that no operation has.
func permissionBit(resource string, a Action) Permissions {
	i, ok := declaredResources.Load().numbers[resource]
	if !ok {
		panic("op: no operation has the resource " + resource)
	}
	return 1 << (i*int(actionCount) + int(a))
}

// Cells lists the set as the cells of an agent's permission table: "contacts.create".
func (p Permissions) Cells() []string {
	out := []string{}
	for _, r := range append(slices.Clone(Resources()), Account) {
		for a := range actionCount {
			if p.Allow(r, a) {
				out = append(out, r+"."+a.String())
			}
		}
	}
	return out
}

// ParseCells reads what Cells wrote. A cell of a resource or action that no longer exists is ignored.
func ParseCells(cells []string) (p Permissions) {
	for _, cell := range cells {
		resource, verb, _ := strings.Cut(cell, ".")
		if a, ok := ParseAction(verb); ok && (resource == Account || slices.Contains(Resources(), resource)) {
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

// FormatGrants writes the set as the permission list of a key. Where only some of create, update and delete are
// allowed, it lists each, which ParseGrants does not read: a key cannot be given that.
func (p Permissions) FormatGrants() []string {
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
		for a := ActionCreate; a < actionCount; a++ {
			if p.Allow(r, a) {
				out = append(out, r+":"+a.String())
			}
		}
	}
	return out
}
