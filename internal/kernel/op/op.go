// Package op defines what an operation is, and runs it. Everything that a caller can do with the service is an
// operation: a typed Go function with a Spec, declared once and called through any door (REST, agents, automations,
// the console, the admin command).
//
// Read op.go first: Spec, and the functions Read, Write, Flow and Bytes that declare an operation. Then read
// runner.go: Runner.Do takes a Request from a door, checks the caller (permission.go, spend.go), decodes the input
// (schema.go compiles a schema from Go types, decode.go reads JSON against it), looks for an answer that is stored
// under the idempotency key (idempotency.go), and calls the function with a Call (call.go). The change, its events and
// the stored answer commit in one transaction. Beside this main path are operations that call the outside world
// (flow.go), several operations in one transaction (series.go), and ready-made ones: get, list and delete (plain.go,
// nested.go), batch, export and restore.
//
// The package knows no door and no resource; they import it. A bad declaration panics at start; a bad request never
// panics.
package op

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/google/jsonschema-go/jsonschema"
)

// Spec declares an operation: everything that doors and documents need to know before anybody calls it. Only Name,
// Summary and, for REST, Route are required; newOperation and fillFromRoute fill in the rest.
type Spec struct {
	Name        string // "contacts.phone_numbers.create"; the MCP tool has _ for .
	Route       string // "POST /v1/contacts/{id}/phone-numbers"; {names} are path fields of the input
	Summary     string // one sentence
	Description string // more, where a caller needs it

	Resource string        // whose permission it needs; by default the route's first segment after /v1
	Doors    Door          // where it can be called; by default AnyDoor
	Status   int           // HTTP status of success; by default 201 for POST, 204 for DELETE, else 200
	Errors   []*fault.Kind // its own refusals, besides those that any operation can answer with
	Events   []string      // the types of events it emits
	Example  string        // one input as a JSON object, path and query fields included; it is checked at start

	KeyRequired bool      // an Idempotency-Key must be sent
	BindsKey    KeyFinder // the operation keeps its key itself; nil: the answer is kept under the key for 24 hours
	Secret      bool      // the answer shows a secret once, so a stored answer is encrypted
	Reads       bool      // the caller needs the permission to read the resource as well
	Gate        *Gate     // an agreement that the caller's business must have accepted; nil for none
	Public      bool      // needs no caller: the operation sets Call.Org to the organization that its token names
	Spends      bool      // it takes money, or lets money be taken later: the caller needs MaySpend
	SpendsWith  string    // the name of a bool in the body: it spends when that field is true
	Decides     bool      // it decides what agents proposed: the caller needs MayApprove
	Outward     bool      // it charges, sends or publishes, which cannot be taken back
	MayCreate   bool      // a PUT that creates what does not exist yet, and then answers 201: see Call.MarkCreated
	AnyOf       []string  // the caller needs one of these resources; the operation itself checks for the right one
	Immediate   bool      // it answers 202 and works on later, or finishes at once and answers 200
	Rehearses   bool      // a Flow that calls nobody outside while Call.Rehearsing, and so can be rehearsed
	Exceptions  []string  // fields that only .create or only .update takes, or that the answer lacks, on purpose

	Media string // the media type of what a Bytes operation answers with; by default any
}

// Gate refuses callers whose business has not accepted an agreement.
type Gate struct {
	Agreement string
	Refusal   *fault.Kind
}

// KeyFinder is set by an operation that keeps its idempotency keys for good, in rows of its own, and that decides
// itself whether two requests are the same. It reports whether a row has the key. If one has, the answers that are
// kept for 24 hours are not consulted. The operation then looks at c.Key before anything else: it answers with what
// the row holds, after c.MarkReplayed, or refuses with fault.KeyReused.
type KeyFinder func(ctx context.Context, tx *db.Tx, org id.ID, key string) (bool, error)

// Op is a declared operation. The types of its input and output are erased, so that doors can hold all operations in
// one list. It does not change after the start.
type Op struct {
	Spec
	Method string
	Path   string
	Action Action

	shape    shape
	in, out  *node
	list     bool // the output is a List of out
	rows     bool // the output is made of rows (Record)
	nothing  bool // the output is Nothing
	pathOf   []*prop
	queryOf  []*prop
	hasBody  bool
	needs    Permissions   // what a caller needs to call it
	batch    *batch        // what a batch does with each row; nil for other operations
	exported *Op           // the list that an export writes; nil for other operations
	getter   *Op           // the operation that GETs the same path, for If-Match; nil for none
	version  bool          // the answer is one resource with updatedAt, so it has a version
	badID    *fault.Kind   // refuses the first id of the path when it is no id; nil for the usual kind
	refers   bool          // the body may name rows of other resources
	blank    reflect.Value // an input with the defaults filled in
	prepares bool          // the input is a Preparer
	guess    *db.Guess     // learns whether a Read takes one statement, which then needs no transaction
	// fetchQuote gets what a rehearsal needs from outside, before its transaction; nil for nothing (see WithQuote).
	asks func(context.Context, *Call, any) (any, error)
	call func(context.Context, *Call, reflect.Value, *Stream) (any, error)
}

// shape is which of Read, Write, Flow and Bytes declared an operation.
type shape uint8

const (
	readShape shape = iota
	writeShape
	flowShape
	bytesShape
)

// Read declares an operation that only reads, from one snapshot of the database.
func Read[In, Out any](s Spec, fn func(context.Context, *Call, In) (Out, error)) *Op {
	return declare(s, readShape,
		func(ctx context.Context, c *Call, in In, _ *Stream) (Out, error) { return fn(ctx, c, in) })
}

// Write declares an operation that runs in one write transaction.
func Write[In, Out any](s Spec, fn func(context.Context, *Call, In) (Out, error)) *Op {
	return declare(s, writeShape,
		func(ctx context.Context, c *Call, in In, _ *Stream) (Out, error) { return fn(ctx, c, in) })
}

// Flow declares an operation that calls the outside world. No transaction is open while it runs, because an outside
// call may take a minute; c.Read, c.Write and Finish open short ones between the calls.
func Flow[In, Out any](s Spec, fn func(context.Context, *Call, In) (Out, error)) *Op {
	return declare(s, flowShape,
		func(ctx context.Context, c *Call, in In, _ *Stream) (Out, error) { return fn(ctx, c, in) })
}

// Bytes declares an operation that takes its body as a stream or answers with
// a *Content. REST only, and without a transaction, like a Flow.
func Bytes[In, Out any](s Spec, fn func(context.Context, *Call, In, *Stream) (Out, error)) *Op {
	if s.Doors == 0 {
		s.Doors = REST
	}
	return declare(s, bytesShape, fn)
}

// Preparer is an input with work to do before the transaction, so that others do not wait for it: parsing, hashing,
// reading versions. Prepare may read, through c.Read, and must not write.
type Preparer interface {
	Prepare(context.Context, *Call) error
}

// declare erases the types of an operation. It is generic and so compiled once per pair of types; all that needs
// no types is in newOperation, to keep the program small.
func declare[In, Out any](s Spec, sh shape, fn func(context.Context, *Call, In, *Stream) (Out, error)) *Op {
	o := newOp(s, sh, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	_, o.prepares = any(new(In)).(Preparer)
	o.call = func(ctx context.Context, c *Call, in reflect.Value, stream *Stream) (any, error) {
		return fn(ctx, c, in.Interface().(In), stream)
	}
	return o
}

// newOp builds an operation and panics, with its name, on whatever is wrong with the declaration.
func newOp(s Spec, sh shape, in, out reflect.Type) *Op {
	defer func() {
		if v := recover(); v != nil {
			panic(fmt.Sprintf("operation %s: %v", s.Name, v))
		}
	}()
	o := &Op{Spec: s, shape: sh, guess: &db.Guess{}}
	if o.Doors == 0 {
		o.Doors = AnyDoor
	}
	o.Method, o.Path, _ = strings.Cut(s.Route, " ")
	if s.Name == "" || s.Summary == "" || o.Path == "" && o.Doors&REST != 0 {
		panic("needs Name, Summary and, for REST, a Route")
	}
	if o.BindsKey != nil && (sh != writeShape || !o.KeyRequired) {
		panic("only a Write that requires a key binds it")
	}
	o.settle()
	o.in = compile(in, map[reflect.Type]*node{})
	if o.in.kind != objectValue {
		panic("the input must be a struct")
	}
	o.out = compileOut(o, out)
	o.checkMarked(out)
	o.version = !o.list && o.out != nil && o.out.props["updatedAt"] != nil
	o.origins()
	o.checkReferences()
	o.blank = reflect.New(in).Elem()
	o.checkSpending()
	for _, p := range o.in.order {
		if p.def != nil {
			if tree := p.node.fromText(*p.def, field(o.blank, p.index)); tree != nil {
				panic(fmt.Sprintf("the default of %s: %v", p.name, tree.Errors))
			}
		}
	}
	if s.Example != "" {
		if tree := decodeJSON(o.in, []byte(s.Example), o.fresh(), nil); tree != nil {
			panic(tree.Fault(fault.Invalid).Error() + " in the example")
		}
	}
	return o
}

// settle fills in what follows from the route: status, action, resource and the permissions that a caller needs.
func (o *Op) settle() {
	if o.Status == 0 {
		o.Status = map[string]int{http.MethodPost: 201, http.MethodDelete: 204}[o.Method]
		if o.Status == 0 {
			o.Status = 200
		}
	}
	if !slices.Contains([]int{200, 201, 202, 204}, o.Status) {
		panic("the status of success is 200, 201, 202 or 204")
	}
	switch o.Method {
	case http.MethodGet:
		o.Action = ActionRead
	case "": // not for REST
		o.Action = ActionUpdate
		if o.shape == readShape {
			o.Action = ActionRead
		}
	case http.MethodPost:
		// A POST that creates is create; an action on what exists is update.
		o.Action = ActionUpdate
		if o.Status != 200 {
			o.Action = ActionCreate
		}
	case http.MethodDelete:
		o.Action = ActionDelete
	default:
		o.Action = ActionUpdate
	}
	if o.Resource == "" {
		segments := strings.Split(o.Path, "/")
		if len(segments) < 3 {
			panic("needs a Resource")
		}
		o.Resource = strings.ReplaceAll(segments[2], "-", "_")
	}
	declareResource(o.Resource)
	if o.Resource != Free {
		o.needs = bit(o.Resource, o.Action)
		if o.Reads {
			o.needs |= bit(o.Resource, ActionRead)
		}
		if o.MayCreate {
			o.needs |= bit(o.Resource, ActionCreate)
		}
	}
}

// compileOut is the schema of what an operation answers with, per row for a list; nil for nothing and for bytes.
func compileOut(o *Op, t reflect.Type) *node {
	if t == reflect.TypeFor[Nothing]() {
		if o.Status != 204 {
			panic("an operation that answers nothing has status 204")
		}
		o.nothing = true
		return nil
	}
	if t == reflect.TypeFor[*Content]() {
		return nil
	}
	if l, ok := reflect.Zero(t).Interface().(lister); ok {
		o.list = true
		t = reflect.TypeOf(l.element())
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n, ok := answers.Load(t); ok {
		return n.(*node)
	}
	n := compile(t, map[reflect.Type]*node{}).asAnswer()
	answers.Store(t, n)
	return n
}

// answers caches the schemas of answers by their Go type, which most operations of a noun share. A schema does
// not change once it is in here. (reflect.Type → *schemaNode)
var answers sync.Map

// origins sorts the fields of the input by where REST finds them, and panics when the route and the input
// disagree about the fields of the path.
func (o *Op) origins() {
	for _, segment := range strings.Split(o.Path, "/") {
		if !strings.HasPrefix(segment, "{") {
			continue
		}
		p := o.in.props[strings.Trim(segment, "{}")]
		if p == nil || p.origin != path {
			panic("the route names " + segment + ", the input has no such path field")
		}
		o.pathOf = append(o.pathOf, p)
	}
	paths := 0
	for _, p := range o.in.order {
		switch p.origin {
		case path:
			paths++
		case query:
			o.queryOf = append(o.queryOf, p)
		case body:
			o.hasBody = true
		}
	}
	if paths != len(o.pathOf) && o.Path != "" {
		panic("the input has path fields that the route does not name")
	}
	if o.hasBody && (o.Method == http.MethodGet || o.Method == http.MethodDelete) {
		panic(o.Method + " takes no body")
	}
}

// fresh returns a new input that holds the defaults.
func (o *Op) fresh() reflect.Value {
	v := reflect.New(o.blank.Type()).Elem()
	v.Set(o.blank)
	return v
}

// TakesKey reports whether a request may have an idempotency key: every POST with JSON may.
func (o *Op) TakesKey() bool {
	return o.Method == http.MethodPost && o.shape != bytesShape && !o.Public
}

// takesKeyFrom is TakesIdempotencyKey for a door and a caller. A step of an automation or of a proposal has a key
// whatever its method: it may be run again after a crash, and a PATCH that comes a second time would undo what somebody
// changed in between.
func (o *Op) takesKeyFrom(d Door, c *Caller) bool {
	again := d == Automation || c.Proposal != ""
	return o.TakesKey() || again && (o.shape == writeShape || o.shape == flowShape) && !o.Public
}

// MayOmitBody reports whether a request may come without a body and a Content-Type: there is none to send, or it is
// an action for which {} would do.
func (o *Op) MayOmitBody() bool { return !o.hasBody || o.IsAction() && !o.needsBody() }

// Streams reports whether the operation was declared with Bytes, and so reads its own body.
func (o *Op) Streams() bool { return o.shape == bytesShape }

// ReadOnly reports whether the operation only reads.
func (o *Op) ReadOnly() bool {
	return o.shape == readShape || o.shape == bytesShape && o.Method == http.MethodGet && len(o.Events) == 0
}

// AsksOutside reports whether the answer may hold what a provider outside said. Only a Flow can call the network
// (inside a transaction that panics), so nothing has to be declared.
func (o *Op) AsksOutside() bool { return o.shape == flowShape }

// Evaluates reports whether the operation is a preview: it computes something from what the caller sent, and changes
// nothing. Only previews are declared with Read and called with POST.
func (o *Op) Evaluates() bool { return o.shape == readShape && o.Method == http.MethodPost }

// ReachesOut reports whether people or programs outside the service may notice a call.
func (o *Op) ReachesOut() bool { return o.Outward || o.shape == flowShape }

// Lists reports whether the operation answers with a page of rows.
func (o *Op) Lists() bool { return o.list }

// InputSchema is the JSON Schema of the whole input, path and query included, without references to other schemas.
func (o *Op) InputSchema() *jsonschema.Schema { return o.in.schema(nil, true) }

// PathFields names the path's fields in their order.
func (o *Op) PathFields() []string {
	out := make([]string, len(o.pathOf))
	for i, p := range o.pathOf {
		out[i] = p.name
	}
	return out
}

// Check says what is wrong with a whole input that is not complete yet. A string for which open reports true is a
// placeholder: it stands for any value, and is not checked.
func (o *Op) Check(text []byte, open func(string) bool) *fault.Tree {
	return decodeOpen(o.in, text, o.fresh(), nil, open)
}

// TakesBody reports whether the body takes a field of this name.
func (o *Op) TakesBody(name string) bool {
	p := o.in.props[name]
	return p != nil && p.origin == body
}

// Getter is the operation that GETs the path which this one changes, or nil.
func (o *Op) Getter() *Op { return o.getter }

// CheckInput refuses a whole input that does not fit the schema. The database is not asked.
func (o *Op) CheckInput(text []byte) error { return o.decode(o.fresh(), text, Automation) }

// AllowedBy reports whether the permissions suffice for the operation.
func (o *Op) AllowedBy(p Permissions) bool {
	if o.batch != nil { // parseBatchRow checks again, per row
		return o.batch.create.AllowedBy(p) || o.batch.update.AllowedBy(p)
	}
	if len(o.AnyOf) > 0 {
		return slices.ContainsFunc(o.AnyOf, func(r string) bool { return p.Allow(r, o.Action) })
	}
	return p&o.needs == o.needs
}

// Permit refuses a caller who may not use the operation through this door.
func (o *Op) Permit(c *Caller, d Door) error {
	if d == System {
		return nil // the service itself
	}
	if o.Doors&d == 0 {
		return fault.NotFound.Say("There is no operation %s here.", o.Name)
	}
	if o.Public || d == Admin {
		return nil
	}
	if !o.AllowedBy(c.Permissions) {
		verb := "write"
		// With Reads, a caller who may act on the resource can still lack the permission to read it.
		if o.Action == ActionRead || c.Permissions.Allow(o.Resource, o.Action) {
			verb = "read"
		}
		if o.Resource == Account {
			return fault.Forbidden.Say("Only an owner or admin can do this, and an API key with the permission * " +
				"that one of them made.")
		}
		return lacks(o.Resource+":"+verb, "This")
	}
	if err := o.permitPerson(c); err != nil {
		return err
	}
	if o.Gate != nil && !c.agreedTo(o.Gate.Agreement) {
		return o.Gate.Refusal.With(map[string]string{"url": c.AgreementURL})
	}
	return nil
}

// lacks refuses something, the beginning of a sentence, because the caller lacks a permission.
func lacks(permission, something string, args ...any) error {
	f := fault.Forbidden.Say(something+" needs the permission %s.", append(args, permission)...)
	f.Details = map[string]string{"permission": permission}
	return f
}

// TakesQuery reports whether the query takes a parameter of this name.
func (o *Op) TakesQuery(name string) bool {
	p := o.in.props[name]
	return p != nil && p.origin == query
}

// QueryFields names the query's fields.
func (o *Op) QueryFields() []string {
	out := make([]string, len(o.queryOf))
	for i, p := range o.queryOf {
		out[i] = p.name
	}
	return out
}
