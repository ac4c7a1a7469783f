package op

import (
	"reflect"
	"slices"
	"sync"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json/jsontext"
)

// Sight is what an answer shows its reader beside what was asked for: whether
// strangers wrote some of it, and whom it tells of.
type Sight struct {
	External bool
	// About are the people and conversations of the house that it tells of.
	About []id.ID
	// Opaque says that it holds what nobody can tell that of: a JSON text, or no row
	// at all.
	Opaque bool
}

// ExternalHolder is a part of an answer that is no row and knows whether strangers
// wrote some of it. An answer without a row must be one, or say that it cannot be.
type ExternalHolder interface{ HoldsExternal() bool }

// HoldsExternal tells the mark of a row.
func (r Record) HoldsExternal() bool { return r.External }

// IsExternal reports whether a value holds what strangers wrote.
func IsExternal(v any) bool { return sightOf(v, 0).External }

// Mark is the mark of a part of an answer that is no row of its own.
type Mark struct {
	External bool `json:"-" db:"external"`
}

// HoldsExternal tells the mark.
func (m Mark) HoldsExternal() bool { return m.External }

// OwnWords is embedded in an answer without rows in which only the house, or the
// caller, can have written.
type OwnWords struct{}

// HoldsExternal says no.
func (OwnWords) HoldsExternal() bool { return false }

// sightOf looks at everything that an answer is made of. Rows that were made now tell
// their maker nothing of themselves.
func sightOf(out any, now clock.Time) Sight {
	if l, ok := out.(lister); ok {
		out, _ = l.page()
	}
	s := looker{now: now}
	if out == nil || reflect.TypeOf(out) == reflect.TypeFor[*Content]() {
		return s.Sight
	}
	s.look(reflect.ValueOf(out))
	s.Opaque = s.Opaque || s.rows == 0
	return s.Sight
}

type looker struct {
	Sight
	rows int
	now  clock.Time
}

func (s *looker) look(v reflect.Value) {
	switch p := partsOf(v.Type()); {
	case !p.worth:
	case p.raw:
		s.Opaque = s.Opaque || v.Len() > 0 && v.Bytes()[0] != 'n'
	case v.Kind() == reflect.Pointer, v.Kind() == reflect.Interface:
		if !v.IsNil() {
			s.look(v.Elem())
		}
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		for i := range v.Len() {
			s.look(v.Index(i))
		}
	case v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			s.look(v.MapIndex(key))
		}
	case v.Kind() == reflect.Struct:
		s.lookInside(v, p)
	}
}

func (s *looker) lookInside(v reflect.Value, p *parts) {
	if p.holder {
		s.External = s.External || v.Interface().(ExternalHolder).HoldsExternal()
	}
	if p.row {
		s.rows++
	}
	known, made := false, false
	if p.row && s.now != 0 {
		made = v.FieldByName("CreatedAt").Int() >= int64(s.now)
	}
	for _, index := range p.about {
		f := v.FieldByIndex(index)
		if made && slices.Equal(index, p.self) {
			known = true
			continue
		}
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				continue
			}
			f = f.Elem()
		}
		known = true
		if row := id.ID(f.String()); !slices.Contains(s.About, row) {
			s.About = append(s.About, row)
		}
	}
	for _, i := range p.fields {
		if f := v.Field(i); !known || !partsOf(f.Type()).raw { // it is about whom the row is about
			s.look(f)
		}
	}
}

// parts is what of a type can matter.
type parts struct {
	worth  bool // it is worth looking at a value
	raw    bool // a JSON text
	holder bool
	row    bool
	about  [][]int // fields that name people and conversations
	self   []int   // the row's own id
	fields []int   // of a struct, those worth looking at
}

var partsByType sync.Map // reflect.Type → *parts

func partsOf(t reflect.Type) *parts {
	if p, ok := partsByType.Load(t); ok {
		return p.(*parts)
	}
	p := findParts(t, map[reflect.Type]bool{})
	partsByType.Store(t, &p)
	return &p
}

// findParts looks at a type. above are the types that hold it: one that holds itself
// is worth looking at.
func findParts(t reflect.Type, above map[reflect.Type]bool) (p parts) {
	if t == reflect.TypeFor[jsontext.Value]() {
		return parts{worth: true, raw: true}
	}
	if above[t] {
		return parts{worth: true}
	}
	above[t] = true
	defer delete(above, t)
	switch t.Kind() {
	case reflect.Interface:
		p.worth = true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		p.worth = findParts(t.Elem(), above).worth
	case reflect.Struct:
		p.holder = t.Implements(reflect.TypeFor[ExternalHolder]())
		p.about = db.AboutFields(t)
		if f, ok := t.FieldByName("Record"); ok && f.Type == reflect.TypeFor[Record]() {
			self, _ := t.FieldByName("ID")
			p.row, p.self = true, self.Index
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && findParts(f.Type, above).worth {
				p.fields = append(p.fields, i)
			}
		}
		p.worth = p.holder || len(p.about) > 0 || len(p.fields) > 0
	}
	return p
}

// checkMarked panics for an operation of agents whose answer cannot say whether
// strangers wrote some of it.
func (o *Op) checkMarked(out reflect.Type) {
	if o.Doors&Agent == 0 || o.nothing || out == reflect.TypeFor[*Content]() {
		return
	}
	if l, ok := reflect.Zero(out).Interface().(lister); ok {
		out = reflect.TypeOf(l.element())
	}
	t := out
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	o.rows = partsOf(t).row
	if !marks(out, map[reflect.Type]bool{}) {
		panic("its answer, " + out.String() + ", has no row and does not say whether strangers wrote it " +
			"(ExternalHolder, OwnWords)")
	}
}

// marks reports whether a value of a type can carry the mark.
func marks(t reflect.Type, above map[reflect.Type]bool) bool {
	if above[t] {
		return false
	}
	above[t] = true
	if t.Implements(reflect.TypeFor[ExternalHolder]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return marks(t.Elem(), above)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && marks(f.Type, above) {
				return true
			}
		}
	}
	return false
}

// sight looks at an answer where somebody wants to know: an agent's, one that is
// kept, one that another step uses.
func (c *Call) sight(out any) Sight {
	if c.Caller.Agent == "" && c.Key == "" && !c.within && c.Door != Automation {
		return Sight{}
	}
	return sightOf(out, c.Now)
}

// author is who words what the call writes.
func (c *Call) author() db.Author {
	switch {
	case c.Caller.External:
		return db.Stranger
	case c.op.Public: // what it puts into a column that strangers can fill is theirs
		return db.Service
	}
	return db.House
}

// ShowsRows reports whether an answer is made of rows, which carry the mark of
// strangers' words.
func (o *Op) ShowsRows() bool { return o.rows }
