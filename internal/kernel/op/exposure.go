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

// An agent that reads a mail may find instructions in it and follow them. So every answer that an agent may get is
// examined for text from outside the organization, and for whom it is about. Package guard decides by that what the
// agent may do next.

// Exposure is what an answer exposes its reader to: whether people outside the organization wrote some of it, and whom
// it is about.
type Exposure struct {
	External bool
	// About are the ids of the contacts, customers and conversations that it is about.
	About []id.ID
	// Opaque says that for some of it this cannot be found out: it holds raw JSON, or no row at all.
	Opaque bool
}

// ExternalHolder is a part of an answer that knows whether it holds text from outside the organization. Rows do, by
// Record. An answer without rows must have such a part: ExternalMark if it may hold such text, NoExternalText if not.
type ExternalHolder interface{ HoldsExternal() bool }

// HoldsExternal reports the mark of a row.
func (r Record) HoldsExternal() bool { return r.External }

// HoldsExternalText reports whether any part of a value holds text from outside the organization.
func HoldsExternalText(v any) bool { return exposureOf(v, 0).External }

// ExternalMark is embedded in a part of an answer that is not a row but may hold text from outside the organization.
type ExternalMark struct {
	External bool `json:"-" db:"external"`
}

// HoldsExternal reports the mark.
func (m ExternalMark) HoldsExternal() bool { return m.External }

// NoExternalText is embedded in an answer without rows that only holds what the organization or the caller wrote.
type NoExternalText struct{}

// HoldsExternal is always false.
func (NoExternalText) HoldsExternal() bool { return false }

// exposureOf looks through everything that an answer is made of. A row that was created at now or later is not counted
// among those the answer is about: whoever has just created it learns nothing new from it. 0 counts all.
func exposureOf(out any, now clock.Time) Exposure {
	if l, ok := out.(anyList); ok {
		out, _ = l.rowsAndCursor()
	}
	s := exposureFinder{now: now}
	if out == nil || reflect.TypeOf(out) == reflect.TypeFor[*Content]() {
		return s.Exposure
	}
	s.visitValue(reflect.ValueOf(out))
	s.Opaque = s.Opaque || s.rows == 0
	return s.Exposure
}

// exposureFinder collects the Exposure of a value.
type exposureFinder struct {
	Exposure
	rows int // how many rows there were
	now  clock.Time
}

// visitValue visits a value and all that it holds, except for types that cannot matter.
func (s *exposureFinder) visitValue(v reflect.Value) {
	switch p := partsOfType(v.Type()); {
	case !p.worth:
	case p.raw: // anything but null, whose text begins with n
		s.Opaque = s.Opaque || v.Len() > 0 && v.Bytes()[0] != 'n'
	case v.Kind() == reflect.Pointer, v.Kind() == reflect.Interface:
		if !v.IsNil() {
			s.visitValue(v.Elem())
		}
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		for i := range v.Len() {
			s.visitValue(v.Index(i))
		}
	case v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			s.visitValue(v.MapIndex(key))
		}
	case v.Kind() == reflect.Struct:
		s.visitStruct(v, p)
	}
}

// visitStruct visits a struct. The raw JSON of a row does not make the answer opaque when the row names whom it is
// about, because then the JSON is about them too.
func (s *exposureFinder) visitStruct(v reflect.Value, p *typeParts) {
	if p.holder {
		s.External = s.External || v.Interface().(ExternalHolder).HoldsExternal()
	}
	if p.row {
		s.rows++
	}
	known, made := false, false // whom the row is about is known; the row was created by this call
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
		if f := v.Field(i); !known || !partsOfType(f.Type()).raw {
			s.visitValue(f)
		}
	}
}

// typeParts is what visitValue needs to know of a type. It is found once per type.
type typeParts struct {
	worth  bool    // a value of the type can matter; others are not visited
	raw    bool    // it is raw JSON
	holder bool    // it is an ExternalHolder
	row    bool    // it embeds Record
	about  [][]int // the indexes of fields that name people and conversations
	self   []int   // the index of the row's own id
	fields []int   // of a struct, the fields to visit
}

var partsByType sync.Map // reflect.Type → *parts

// partsOfType is analyzeType with a cache.
func partsOfType(t reflect.Type) *typeParts {
	if p, ok := partsByType.Load(t); ok {
		return p.(*typeParts)
	}
	p := analyzeType(t, map[reflect.Type]bool{})
	partsByType.Store(t, &p)
	return &p
}

// analyzeType analyzes a type. above are the types that contain it. A type that contains itself is taken to matter,
// which ends the recursion.
func analyzeType(t reflect.Type, above map[reflect.Type]bool) (p typeParts) {
	if t == reflect.TypeFor[jsontext.Value]() {
		return typeParts{worth: true, raw: true}
	}
	if above[t] {
		return typeParts{worth: true}
	}
	above[t] = true
	defer delete(above, t)
	switch t.Kind() {
	case reflect.Interface:
		p.worth = true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		p.worth = analyzeType(t.Elem(), above).worth
	case reflect.Struct:
		p.holder = t.Implements(reflect.TypeFor[ExternalHolder]())
		p.about = db.CounterpartyFields(t)
		if f, ok := t.FieldByName("Record"); ok && f.Type == reflect.TypeFor[Record]() {
			self, _ := t.FieldByName("ID")
			p.row, p.self = true, self.Index
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && analyzeType(f.Type, above).worth {
				p.fields = append(p.fields, i)
			}
		}
		p.worth = p.holder || len(p.about) > 0 || len(p.fields) > 0
	}
	return p
}

// requireExternalMark panics when agents can call the operation and its answer cannot say whether it holds text from
// outside the organization.
func (o *Op) requireExternalMark(out reflect.Type) {
	if o.Doors&AgentDoor == 0 || o.answersNothing || out == reflect.TypeFor[*Content]() {
		return
	}
	if l, ok := reflect.Zero(out).Interface().(anyList); ok {
		out = reflect.TypeOf(l.zeroElement())
	}
	t := out
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	o.hasRows = partsOfType(t).row
	if !canCarryMark(out, map[reflect.Type]bool{}) {
		panic("its answer, " + out.String() + ", has no row and does not say whether people outside wrote it " +
			"(ExternalHolder, NoExternalText)")
	}
}

// canCarryMark reports whether a type, or something in it, is an ExternalHolder.
func canCarryMark(t reflect.Type, above map[reflect.Type]bool) bool {
	if above[t] {
		return false
	}
	above[t] = true
	if t.Implements(reflect.TypeFor[ExternalHolder]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return canCarryMark(t.Elem(), above)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && canCarryMark(f.Type, above) {
				return true
			}
		}
	}
	return false
}

// exposureIfNeeded examines an answer if somebody will use the result: the answer goes to an agent, is stored under a
// key, or goes to a step of a series or an automation. Otherwise the work is saved.
func (c *Call) exposureIfNeeded(out any) Exposure {
	if c.Caller.Agent == "" && c.Key == "" && !c.inSeries && c.Door != AutomationDoor {
		return Exposure{}
	}
	return exposureOf(out, c.Now)
}

// textAuthor says whose words the call writes, by which tables mark their rows.
func (c *Call) textAuthor() db.Author {
	switch {
	case c.Caller.External:
		return db.AuthorExternal
	case c.op.Public: // anybody may call it: what it writes to columns that outsiders can fill is theirs
		return db.AuthorJob
	}
	return db.AuthorOrganization
}

// AnswersRows reports whether the answer is a row or a list of rows, which carry the mark of text from outside.
func (o *Op) AnswersRows() bool { return o.hasRows }
