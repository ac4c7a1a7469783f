// Package clients writes the client libraries in clients/ from the list of
// operations: the same declarations that the OpenAPI document comes from. Each
// library is a generated part over a runtime written by hand.
//
// Describe (api.go) turns the operations into an API: nouns with their operations,
// named types and fields, error codes, as a client must know them. Generate
// (generate.go) runs one template per language over it (templates/);
// typescript.go, python.go and golang.go have what the templates call. names.go
// spells the API's names as each language does. example.go and the *Example
// functions turn an operation's example into a call, for the reference pages and
// for the samples at /docs.
//
// The shell below (frontdesk api) uses the same API to parse commands. Nothing
// here knows a single resource: whatever is special about one belongs into its
// declaration. The output must not depend on the order of a map, because it is
// committed and compared.
//
// Start reading at Describe, then Generate.
package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/internal/door/docs"
	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// API is everything that a client offers.
type API struct {
	Types  []*Type // answers, and what inputs are made of, by name
	Inputs []*Type // the parameters of single operations, by name
	Codes  []Code
	Nouns  []*Noun // at the top, by name
	Events []string
}

// Noun is a group of operations, like contacts.phone_numbers.
type Noun struct {
	Name       string // phone_numbers
	Full       string // contacts.phone_numbers
	Operations []*Operation
	Nouns      []*Noun
}

// Operation is one call.
type Operation struct {
	Name        string // contacts.phone_numbers.create
	Verb        string // create
	Noun        *Noun
	Summary     string
	Description string
	Method      string
	Path        string   // /v1/contacts/{id}/phone-numbers
	PathFields  []*Field // in the order of the path
	Input       *Type    // the fields of the query or of the body; nil when there are none
	InBody      bool     // where the input goes
	Form        bool     // the body is multipart/form-data
	Output      *Shape   // of data, or of one element of a list; nil when there is none
	List        bool
	Cursor      bool // the list can be walked by cursor
	Bytes       bool // answers with a stream
	TakesKey    bool // an Idempotency-Key header applies
	KeyRequired bool
	Matches     bool // an If-Match header applies
	ReadOnly    bool
	Waits       bool // it can wait for a change of status
	MayPropose  bool // a proposal can hold it
	Example     string
}

// NeedsInput reports whether a call must have an input.
func (o *Operation) NeedsInput() bool {
	return o.Input != nil && slices.ContainsFunc(o.Input.Fields, func(f *Field) bool { return f.Required })
}

// Type is an object with a name.
type Type struct {
	Name   string
	Doc    string
	Fields []*Field
	Input  bool // sent, and not received: what is absent stays as it is
	Batch  bool // BatchResult, which is generic: its data has the type of the noun's rows
}

// Field is one member of an object, or of a path or query.
type Field struct {
	Name     string
	Wire     string // of a field of the path: its name in Operation.Path
	Doc      string
	Required bool
	Default  string
	Shape
}

// Kind is a kind of value that clients treat in its own way.
type Kind string

// The kinds of values.
const (
	String  Kind = "string"
	Integer Kind = "integer"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Time    Kind = "time"
	Date    Kind = "date"
	Bytes   Kind = "bytes"
	Any     Kind = "any"
	Array   Kind = "array"
	Map     Kind = "map"
	Object  Kind = "object" // a Type, by its name
	Union   Kind = "union"
)

// Shape is the type of a value.
type Shape struct {
	Kind Kind
	Name string   // of an Object
	Type *Type    // of an Object
	Elem *Shape   // of an Array or a Map
	Of   []*Shape // of a Union
	Enum []string
	Null bool
	Row  *Shape // of a BatchResult: the type of its data
}

// Code is an error code.
type Code struct {
	Name    string
	Status  int
	Message string
}

// Describe reads the operations that REST offers.
func Describe(c *op.Catalog) *API {
	d := &describer{api: &API{}, shared: op.Schemas{}, nouns: map[string]*Noun{}, codes: map[string]Code{}}
	names := map[string]bool{}
	for _, o := range c.All() {
		names[o.Name] = o.Doors&op.RESTDoor != 0 && o.Path != ""
	}
	for _, o := range c.All() {
		if names[o.Name] {
			d.describeOperation(o, names)
		}
	}
	for _, o := range c.EventTypes() {
		d.api.Events = append(d.api.Events, o.Type)
	}
	d.describeTypes()
	for _, name := range slices.Sorted(maps.Keys(d.codes)) {
		d.api.Codes = append(d.api.Codes, d.codes[name])
	}
	sortNouns(&d.api.Nouns)
	slices.SortFunc(d.api.Inputs, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
	return d.api
}

// All lists the operations, noun by noun, those of nested nouns first.
func (a *API) All() (out []*Operation) {
	a.eachNoun(func(n *Noun) { out = append(out, n.Operations...) })
	return out
}

// eachNoun visits every noun, nested ones before the noun that holds them.
func (a *API) eachNoun(visit func(*Noun)) {
	var walk func([]*Noun)
	walk = func(nouns []*Noun) {
		for _, n := range nouns {
			walk(n.Nouns)
			visit(n)
		}
	}
	walk(a.Nouns)
}

func sortNouns(nouns *[]*Noun) {
	slices.SortFunc(*nouns, func(a, b *Noun) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range *nouns {
		slices.SortFunc(n.Operations, func(a, b *Operation) int { return strings.Compare(a.Verb, b.Verb) })
		sortNouns(&n.Nouns)
	}
}

// describer collects an API while it goes through the operations.
type describer struct {
	api    *API
	shared op.Schemas // the named types that operations refer to
	nouns  map[string]*Noun
	codes  map[string]Code
}

// findOrAddNoun finds a noun by its full name. It adds missing ones, and those above them.
func (d *describer) findOrAddNoun(full string) *Noun {
	if n := d.nouns[full]; n != nil {
		return n
	}
	n := &Noun{Name: full[strings.LastIndexByte(full, '.')+1:], Full: full}
	d.nouns[full] = n
	list := &d.api.Nouns
	if i := strings.LastIndexByte(full, '.'); i >= 0 {
		list = &d.findOrAddNoun(full[:i]).Nouns
	}
	*list = append(*list, n)
	return n
}

// splitOperationName splits an operation's name into noun and verb. Where the noun is an operation itself,
// like domains.registration.transfer beside domains.registration.transfer.cancel, it becomes
// part of the verb: domains.registration.cancel_transfer.
func splitOperationName(name string, names map[string]bool) (noun, verb string) {
	i := strings.LastIndexByte(name, '.')
	noun, verb = name[:i], name[i+1:]
	if names[noun] {
		j := strings.LastIndexByte(noun, '.')
		noun, verb = noun[:j], verb+"_"+noun[j+1:]
	}
	return noun, verb
}

// describeOperation adds an operation to its noun, with its input, its output and its error codes.
// names are all operations that REST offers.
func (d *describer) describeOperation(o *op.Op, names map[string]bool) {
	noun, verb := splitOperationName(o.Name, names)
	out := &Operation{
		Name: o.Name, Verb: verb, Noun: d.findOrAddNoun(noun), Summary: o.Summary, Description: o.Description,
		Method: o.Method, Path: o.Path, Form: o.IsForm(), List: o.AnswersList(), Bytes: o.AnswersBytes(),
		TakesKey: o.TakesIdempotencyKey(), KeyRequired: o.KeyRequired, Matches: o.TakesIfMatch(),
		ReadOnly:   o.ReadOnly(),
		MayPropose: !o.ReadOnly() && !o.TakesStream() && o.Doors&op.AgentDoor != 0, Example: o.Example,
	}
	out.Noun.Operations = append(out.Noun.Operations, out)
	var query []*Field
	for _, p := range o.Parameters(d.shared) {
		f := &Field{Name: p.Name, Wire: p.Name, Doc: p.Doc, Required: p.Required, Shape: *shapeOfSchema(p.Schema),
			Default: string(p.Schema.Default)}
		switch {
		case p.In == "query":
			query = append(query, f)
			out.Cursor = out.Cursor || p.Name == "cursor"
			out.Waits = out.Waits || p.Name == "waitSeconds"
		case p.Name == "id" && strings.Contains(noun, "."):
			f.Name = camelCase(docs.PathNoun(o, p.Name)) + "Id"
			out.PathFields = append(out.PathFields, f)
		default:
			out.PathFields = append(out.PathFields, f)
		}
	}
	input := docs.InputName(o)
	body, _ := o.BodySchema(d.shared)
	switch {
	case body != nil && query != nil:
		panic("clients: " + o.Name + " has a query and a body; give the templates a place for both")
	case body != nil:
		out.Input = &Type{Name: input, Fields: fieldsOfSchema(body), Input: true}
		out.InBody = true
	case query != nil:
		out.Input = &Type{Name: strings.TrimSuffix(input, "Input") + "Params", Fields: query, Input: true}
	}
	if out.Input != nil {
		out.Input.Doc = "what " + o.Name + " takes"
		// Two operations may come to the same name, like automations.executions.list and
		// automation_executions.list. The later one is named after its whole name.
		if slices.ContainsFunc(d.api.Inputs, func(t *Type) bool { return t.Name == out.Input.Name }) {
			out.Input.Name = pascalCase(o.Name) + "Params"
		}
		d.api.Inputs = append(d.api.Inputs, out.Input)
	}
	if s, _ := o.OutputSchema(d.shared); s != nil {
		out.Output = shapeOfSchema(s)
	}
	for status, kinds := range o.PossibleFaults() {
		for _, k := range kinds { // a code may come with several statuses; the lowest is named
			if old, ok := d.codes[k.Code]; !ok || status < old.Status {
				d.codes[k.Code] = Code{k.Code, status, k.Message}
			}
		}
	}
}

// describeTypes turns the shared schemas into types, and tells the results of batches what their rows
// are: the output of the same noun's create.
func (d *describer) describeTypes() {
	for _, name := range slices.Sorted(maps.Keys(d.shared)) {
		d.api.Types = append(d.api.Types, &Type{
			Name: name, Fields: fieldsOfSchema(d.shared[name]), Batch: name == batchResult,
			Input: strings.HasSuffix(name, "Input") || strings.HasSuffix(name, "Fields"),
		})
	}
	for _, t := range slices.Concat(d.api.Types, d.api.Inputs) {
		for _, f := range t.Fields {
			d.resolveTypes(&f.Shape)
		}
	}
	for _, n := range d.nouns {
		for _, o := range n.Operations {
			d.resolveTypes(o.Output)
			if o.Output != nil && o.Output.Kind == Array && o.Output.Elem.Name == batchResult {
				i := slices.IndexFunc(n.Operations, func(c *Operation) bool { return c.Verb == "create" })
				o.Output.Elem.Row = n.Operations[i].Output
			}
		}
	}
}

// resolveTypes finds the types that the names of objects in a shape stand for.
func (d *describer) resolveTypes(s *Shape) {
	if s == nil {
		return
	}
	d.resolveTypes(s.Elem)
	for _, u := range s.Of {
		d.resolveTypes(u)
	}
	for _, t := range d.api.Types {
		if s.Kind == Object && t.Name == s.Name {
			s.Type = t
		}
	}
}

const batchResult = "BatchResult"

func fieldsOfSchema(s *jsonschema.Schema) (out []*Field) {
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		out = append(out, &Field{Name: name, Doc: p.Description, Required: slices.Contains(s.Required, name),
			Default: string(p.Default), Shape: *shapeOfSchema(p)})
	}
	return out
}

// shapeOfSchema is the shape of a JSON schema. An object without a name panics, because the
// libraries could not name its type.
func shapeOfSchema(s *jsonschema.Schema) *Shape {
	out := &Shape{}
	for _, e := range s.Enum {
		if text, ok := e.(string); ok {
			out.Enum = append(out.Enum, text)
		}
	}
	kind := s.Type
	for _, t := range s.Types {
		if t == "null" {
			out.Null = true
		} else {
			kind = t
		}
	}
	switch {
	case s.Ref != "":
		out.Kind, out.Name = Object, s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.AnyOf != nil:
		return shapeOfUnion(s.AnyOf)
	case kind == "":
		out.Kind = Any
	case kind == "string":
		out.Kind = map[string]Kind{"date-time": Time, "date": Date, "binary": Bytes}[s.Format]
		if out.Kind == "" {
			out.Kind = String
		}
	case kind == "array":
		out.Kind, out.Elem = Array, shapeOfSchema(s.Items)
	case kind == "object" && s.Properties != nil:
		panic(fmt.Sprintf("clients: an object without a name: %v", s.PropertyOrder))
	case kind == "object":
		out.Kind, out.Elem = Map, &Shape{Kind: Any}
		if s.AdditionalProperties != nil {
			out.Elem = shapeOfSchema(s.AdditionalProperties)
		}
	default:
		out.Kind = Kind(kind)
	}
	return out
}

// shapeOfUnion is the shape of an anyOf. One that only adds null to a schema is no union.
func shapeOfUnion(schemas []*jsonschema.Schema) *Shape {
	out := &Shape{Kind: Union}
	for _, s := range schemas {
		if s.Type == "null" {
			out.Null = true
		} else {
			out.Of = append(out.Of, shapeOfSchema(s))
		}
	}
	if len(out.Of) == 1 {
		null := out.Null
		*out = *out.Of[0]
		out.Null = out.Null || null
	}
	return out
}
