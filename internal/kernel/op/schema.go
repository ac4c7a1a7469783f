package op

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds for fields that declare none, and for how deep any JSON may be nested.
const (
	defaultMaxLength = 255 // characters of a string
	defaultMaxItems  = 100 // elements of an array
	maxDepth         = 64
)

// valueKind is the JSON type of a value.
type valueKind uint8

const (
	anyValue valueKind = iota
	stringValue
	intValue
	numberValue
	boolValue
	arrayValue
	objectValue
	mapValue
)

func (k valueKind) String() string {
	return [...]string{"a value", "string", "integer", "number", "boolean", "array", "object", "object"}[k]
}

// holderKind is how a Go field holds a value that may be absent or null.
type holderKind uint8

const (
	heldDirectly   holderKind = iota // the value itself
	heldByPointer                    // nil when absent or null
	heldAsNullable                   // Nullable[T]
	heldAsOptional                   // Optional[T]
)

// schemaNode is the schema of one Go type, compiled once at start. Decoding checks JSON against it, and documents
// convert it to JSON Schema. The tags of struct fields refine it, so a field has a copy of the node of its type.
type schemaNode struct {
	kind         valueKind
	hold         holderKind
	nullable     bool
	min, max     int64 // length of strings in characters, of arrays in elements, value of integers; max -1 is no bound
	bounded      bool  // of integers: min and max apply
	notBlank     bool  // of strings: spaces alone are refused
	enum         []string
	format       string
	doc          string
	ref          string // of ids: the resource whose rows they name, or refUnrestricted
	pattern      *regexp.Regexp
	props        map[string]*schemaProp // of objects: the fields by name
	order        []*schemaProp          // and in the order of the Go struct
	elem         *schemaNode            // of arrays and maps
	isCommaList  bool                   // of arrays: a query filter, for which a string with commas will do as well
	oneOf        []valueKind            // of anyValue: the kinds it may have; empty allows all
	documentedAs *schemaNode            // the schema for documents, of raw JSON that is decoded later; nil for this one
	name         string                 // of structs: the name for documents
	output       bool                   // part of an answer
	object       reflect.Type           // of structs: the type without pointer or Nullable
	typ          reflect.Type
}

// schemaProp is one field of an object.
type schemaProp struct {
	name        string
	index       []int // of the Go field, for reflect
	origin      origin
	required    bool
	omitted     bool    // an answer leaves it out when it has no value
	short       string  // how a short answer shows it: shortName, shortCount, FullView for not at all
	defaultText *string // the default; nil for none
	node        *schemaNode
	position    int   // its index in order
	sentIndex   []int // of a field of Changes: the index of Changes.Sent, where decoding notes its name; nil for others
}

// origin is where a REST request has a field. Other doors have all fields in one object.
type origin uint8

const (
	originBody origin = iota
	originPath
	originQuery
)

// compileSchema builds the schema of a Go type. It panics on a type that JSON cannot have here. seen ends the recursion
// of a struct that contains itself.
func compileSchema(t reflect.Type, seen map[reflect.Type]*schemaNode) *schemaNode {
	if t.Implements(reflect.TypeFor[optionalField]()) {
		elem, nullable := reflect.Zero(t).Interface().(optionalField).optional()
		n := *compileSchema(elem, seen) // a copy: the type may also be held in other ways
		n.hold, n.nullable, n.typ = heldAsOptional, nullable, t
		if nullable {
			n.hold = heldAsNullable
		}
		return &n
	}
	if t.Kind() == reflect.Pointer {
		n := *compileSchema(t.Elem(), seen)
		n.hold, n.nullable, n.typ = heldByPointer, true, t
		return &n
	}
	n := &schemaNode{typ: t, max: -1}
	switch t {
	case reflect.TypeFor[id.ID]():
		n.kind, n.format = stringValue, "uuid"
		return n
	case reflect.TypeFor[clock.Time]():
		n.kind, n.format = stringValue, "date-time"
		return n
	case reflect.TypeFor[clock.Date]():
		n.kind, n.format = stringValue, "date"
		return n
	case reflect.TypeFor[jsontext.Value](): // raw JSON: anyValue
		return n
	case reflect.TypeFor[Upload]():
		n.kind, n.format = stringValue, "binary"
		return n
	}
	switch t.Kind() {
	case reflect.String:
		n.kind, n.max = stringValue, defaultMaxLength
	case reflect.Int, reflect.Int64:
		n.kind = intValue
	case reflect.Float64:
		n.kind = numberValue
	case reflect.Bool:
		n.kind = boolValue
	case reflect.Slice:
		n.kind, n.elem, n.max = arrayValue, compileSchema(t.Elem(), seen), defaultMaxItems
	case reflect.Map: // its keys are strings
		n.kind, n.elem = mapValue, compileSchema(t.Elem(), seen)
	case reflect.Struct:
		if s := seen[t]; s != nil {
			return s
		}
		seen[t] = n // before its fields, which may lead back to it
		n.kind, n.props, n.name, n.object = objectValue, map[string]*schemaProp{}, componentName(t), t
		n.addFields(t, nil, seen)
	default:
		panic(fmt.Sprintf("op: %s has no schema", t))
	}
	return n
}

// asAnswerSchema turns a schema as inputs have it into that of an answer: every field is present unless it is declared
// as omitted, and lower bounds and patterns do not hold.
func (n *schemaNode) asAnswerSchema() *schemaNode {
	if n.output {
		return n
	}
	n.output = true
	if n.elem != nil {
		n.elem.asAnswerSchema()
	}
	for _, p := range n.order {
		p.required, p.defaultText = !p.omitted, nil
		if p.node.kind == stringValue || p.node.kind == arrayValue { // a row from before a rule need not follow it
			p.node.min, p.node.notBlank, p.node.pattern = 0, false, nil
		}
		p.node.asAnswerSchema()
	}
	return n
}

// documentName is the name of a struct in the OpenAPI document. A struct that is both an input and an answer has two
// names, because other fields are required.
func (n *schemaNode) documentName() string {
	if n.output || strings.HasSuffix(n.name, "Fields") || strings.HasSuffix(n.name, "Input") {
		return n.name
	}
	return n.name + "Input"
}

// documentTypes are the types by the names that documents have for them, to find two types of one name.
var documentTypes sync.Map // name → reflect.Type

// typeArgument matches the argument of a generic type: Changes[frontdesk/…/contact.Fields] is ChangesOfFields.
var typeArgument = regexp.MustCompile(`\[(?:.*[./])?(\w+)\]`)

// componentName is the Go type's name as documents write it; empty for a type without a name.
func componentName(t reflect.Type) string {
	s := typeArgument.ReplaceAllString(t.Name(), "Of$1")
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// jsonFieldName is the name in a field's json tag.
func jsonFieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// addFields adds the fields of a struct, and those of the structs it embeds as if they were its own. at is the index of
// the struct in the outermost one.
func (n *schemaNode) addFields(t reflect.Type, at []int, seen map[reflect.Type]*schemaNode) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(at), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if isChangesType(f.Type) {
				n.addChangeFields(f.Type, index, seen)
			} else {
				n.addFields(f.Type, index, seen)
			}
			continue
		}
		p := &schemaProp{index: index, position: len(n.order)}
		for tag, from := range map[string]origin{"json": originBody, "path": originPath, "query": originQuery} {
			if v, ok := f.Tag.Lookup(tag); ok {
				if p.name != "" {
					panic(fmt.Sprintf("op: %s.%s has two origins", t, f.Name))
				}
				p.name, _, _ = strings.Cut(v, ",")
				p.origin = from
			}
		}
		if !f.IsExported() || p.name == "" || p.name == "-" {
			continue
		}
		c := *compileSchema(f.Type, seen) // a copy, which the tags of this field refine
		c.doc = f.Tag.Get("doc")
		c.applyTags(t, f)
		// min:"1" on a field of the body also refuses spaces alone. A filter may look for spaces, and in a password,
		// whose min is larger, they count like any other character.
		c.notBlank = c.kind == stringValue && c.min == 1 && p.origin == originBody
		c.isCommaList = c.kind == arrayValue && p.origin == originQuery
		c.nullable = c.nullable || c.isCommaList
		p.node = &c
		if d, ok := f.Tag.Lookup("default"); ok {
			p.defaultText = &d
		}
		p.omitted = strings.Contains(f.Tag.Get("json"), ",omit")
		p.short = f.Tag.Get("view")
		// A field is required unless its type or a tag says that it may be absent.
		p.required = c.hold == heldDirectly && p.defaultText == nil && !p.omitted && !c.isCommaList &&
			f.Tag.Get("optional") == ""
		if p.origin == originPath {
			p.required = true
		}
		if n.props[p.name] != nil {
			panic(fmt.Sprintf("op: %s has two fields named %s", t, p.name))
		}
		n.props[p.name] = p
		n.order = append(n.order, p)
	}
}

// addChangeFields adds the fields of an embedded Changes, each of which may be left out. Changes has the fields To (0)
// and Sent (1).
func (n *schemaNode) addChangeFields(t reflect.Type, at []int, seen map[reflect.Type]*schemaNode) {
	first := len(n.order)
	n.addFields(t.Field(0).Type, append(slices.Clone(at), 0), seen)
	for _, p := range n.order[first:] {
		p.required, p.defaultText, p.sentIndex = false, nil, append(slices.Clone(at), 1)
	}
}

// applyTags applies the tags min, max, itemMax, enum, format, ref, pattern and kinds of a field, and panics on a wrong
// one.
func (n *schemaNode) applyTags(t reflect.Type, f reflect.StructField) {
	number := func(tag string) (int64, bool) {
		v, ok := f.Tag.Lookup(tag)
		if !ok {
			return 0, false
		}
		x, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("op: %s.%s: %s is not a number", t, f.Name, tag))
		}
		return x, true
	}
	lo, hasMin := number("min")
	hi, hasMax := number("max")
	if n.kind == intValue && (hasMin || hasMax) {
		n.min, n.max, n.bounded = -1<<53, 1<<53, true // what a JSON number holds exactly
	}
	if hasMin {
		n.min = lo
	}
	if hasMax {
		n.max = hi
	}
	target := n
	if n.kind == arrayValue { // the tags below are about the elements
		e := *n.elem
		n.elem, target = &e, &e
		if m, ok := number("itemMax"); ok {
			e.max = m
		}
	}
	if v := f.Tag.Get("enum"); v != "" {
		target.enum = strings.Split(v, ",")
	}
	if v := f.Tag.Get("format"); v != "" {
		if formatChecks[v] == nil {
			panic(fmt.Sprintf("op: %s.%s: there is no format %s", t, f.Name, v))
		}
		target.format = v
	}
	if target.ref = f.Tag.Get("ref"); target.ref != "" && !target.holdsID() {
		panic(fmt.Sprintf("op: %s.%s: only an id can have a ref", t, f.Name))
	}
	if v := f.Tag.Get("pattern"); v != "" {
		target.pattern = regexp.MustCompile(v)
	}
	if v := f.Tag.Get("kinds"); v != "" {
		for _, k := range strings.Split(v, ",") {
			i := slices.IndexFunc([]valueKind{stringValue, numberValue, boolValue, arrayValue, objectValue},
				func(s valueKind) bool { return s.String() == k })
			if i < 0 {
				panic(fmt.Sprintf("op: %s.%s: there is no kind %s", t, f.Name, k))
			}
			n.oneOf = append(n.oneOf, []valueKind{stringValue, numberValue, boolValue, arrayValue, objectValue}[i])
		}
	}
}

// NotBlankPattern is the pattern that documents give for strings that must not be blank.
const NotBlankPattern = `\S`

// toJSONSchema converts the node to JSON Schema 2020-12. If refs is not nil, named structs below the top level are put
// there and replaced by references.
func (n *schemaNode) toJSONSchema(refs map[string]*jsonschema.Schema, top bool) *jsonschema.Schema {
	if n.documentedAs != nil {
		return n.documentedAs.toJSONSchema(refs, false)
	}
	s := &jsonschema.Schema{Description: n.doc}
	typ := ""
	length := func(lo, hi **int) {
		if n.min > 0 {
			v := int(n.min)
			*lo = &v
		}
		if n.max >= 0 {
			v := int(n.max)
			*hi = &v
		}
	}
	switch n.kind {
	case stringValue:
		typ, s.Format = "string", jsonSchemaFormat(n.format)
		if n.enum == nil { // the choices say it all
			length(&s.MinLength, &s.MaxLength)
		}
		switch {
		case n.pattern != nil:
			s.Pattern = n.pattern.String()
		case n.notBlank && n.enum == nil && (n.format == "" || n.format == operationFormat):
			s.Pattern = NotBlankPattern
		}
	case intValue:
		typ = "integer"
		if n.bounded {
			if lo := float64(n.min); n.min > -1<<53 {
				s.Minimum = &lo
			}
			if hi := float64(n.max); n.max < 1<<53 {
				s.Maximum = &hi
			}
		}
	case numberValue:
		typ = "number"
	case boolValue:
		typ = "boolean"
	case arrayValue:
		typ, s.Items = "array", n.elem.toJSONSchema(refs, false)
		length(&s.MinItems, &s.MaxItems)
	case mapValue:
		typ, s.AdditionalProperties = "object", n.elem.toJSONSchema(refs, false)
	case anyValue:
		n.writeAlternatives(s)
		return s
	case objectValue:
		if refs != nil && n.name != "" && !top {
			name := n.documentName()
			if other, used := documentTypes.LoadOrStore(name, n.object); used && other != n.object {
				panic(fmt.Sprintf("op: both %s and %s would be %s in the document", other, n.object, name))
			}
			if _, ok := refs[name]; !ok {
				refs[name] = nil // a struct that contains itself finds its name taken, and the recursion ends
				c := *n
				c.nullable, c.doc = false, ""
				refs[name] = c.toJSONSchema(refs, true)
			}
			r := &jsonschema.Schema{Ref: "#/components/schemas/" + name, Description: n.doc}
			if n.nullable { // a reference cannot say "or null" itself
				r.Description = ""
				return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{r, {Type: "null"}}, Description: n.doc}
			}
			return r
		}
		typ = "object"
		s.Properties = map[string]*jsonschema.Schema{}
		for _, p := range n.order {
			s.PropertyOrder = append(s.PropertyOrder, p.name)
			s.Properties[p.name] = p.node.toJSONSchema(refs, false)
			if p.defaultText != nil {
				s.Properties[p.name].Default = p.node.defaultJSON(*p.defaultText)
			}
			if p.required {
				s.Required = append(s.Required, p.name)
			}
		}
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // written as false
	}
	for _, e := range n.enum {
		s.Enum = append(s.Enum, e)
	}
	if !n.nullable {
		s.Type = typ
		return s
	}
	s.Types = []string{typ, "null"}
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

// writeAlternatives writes the kinds that a raw value may have: one as its type, several as anyOf, which client
// generators understand better than a list of types.
func (n *schemaNode) writeAlternatives(s *jsonschema.Schema) {
	var kinds []*jsonschema.Schema
	for _, k := range n.oneOf {
		c := &jsonschema.Schema{Type: k.String()}
		if k == arrayValue {
			c.Items = &jsonschema.Schema{Type: "string"}
		}
		kinds = append(kinds, c)
	}
	if n.nullable && len(kinds) > 0 {
		kinds = append(kinds, &jsonschema.Schema{Type: "null"})
	}
	if len(kinds) == 1 {
		s.Type, s.Items = kinds[0].Type, kinds[0].Items
		return
	}
	s.AnyOf = kinds
}

// defaultJSON is a default from a tag as JSON.
func (n *schemaNode) defaultJSON(text string) []byte {
	if n.kind == stringValue {
		return []byte(strconv.Quote(text))
	}
	return []byte(text)
}
