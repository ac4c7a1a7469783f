// Package op is what an operation is: declared once as a typed Go function
// with a Spec, and run by one Runner whichever door its caller came through.
//
// Start reading at Spec, then Write, then Runner.Do. The package knows no
// door and no resource. A bad declaration panics at start; a bad request
// never panics.
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

// Spec is everything the doors need to know before anyone calls.
type Spec struct {
	Name        string // "contacts.phone_numbers.create"; the MCP tool has _ for .
	Route       string // "POST /v1/contacts/{id}/phone-numbers"; {names} are path fields of the input
	Summary     string // one sentence
	Description string // more, where a caller needs it

	Resource string        // of the permission; by default the first segment of the route
	Doors    Door          // who may enter; by default AnyDoor
	Status   int           // of success; by default 201 for POST, 204 for DELETE, else 200
	Errors   []*fault.Kind // what it refuses with, beyond what every operation does
	Events   []string      // what it emits
	Example  string        // one input as a JSON object, path and query fields included

	KeyRequired bool      // an Idempotency-Key must be sent
	BindsKey    KeyFinder // nil: the answer is kept under the key for 24 hours
	Secret      bool      // the answer shows a secret once, so a stored answer is sealed
	Reads       bool      // the caller must be allowed to read the resource as well
	Gate        *Gate     // a further condition on the caller; nil for none
	Public      bool      // needs no caller: the operation sets Call.Org to what its token names
	Spends      bool      // it takes money, or lets money be taken later: the caller needs MaySpend
	SpendsWith  string    // it spends when this field of its body is true
	Decides     bool      // it decides what agents proposed: the caller needs MayApprove
	Outward     bool      // it charges, sends or publishes, which cannot be taken back
	MayCreate   bool      // a PUT that creates what is not there: see Call.Created
	AnyOf       []string  // resources of which the caller needs one; the operation asks for the one it works on
	Immediate   bool      // of an order, which answers 202: it may also be done at once, and answer 200
	Rehearses   bool      // a Flow that does nothing outside while Call.Rehearsing
	Exceptions  []string  // fields that .create or .update takes and the other, or the row, lacks on purpose

	Media string // the type of what a Bytes operation answers; by default any
}

// Gate lets only those through whose business accepted an agreement.
type Gate struct {
	Agreement string
	Refusal   *fault.Kind
}

// KeyFinder is set by an operation that binds its key for good, in a row of
// its own, and says itself which requests are the same. It reports whether the
// key has such a row. The operation then looks at c.Key first: it answers with
// what the row tells after c.Replay, or refuses with fault.KeyReused. The
// answers kept for 24 hours only tell of a key that has no such row.
type KeyFinder func(ctx context.Context, tx *db.Tx, org id.ID, key string) (bool, error)

// Op is a declared operation, its types erased so that doors can hold a list.
type Op struct {
	Spec
	Method string
	Path   string
	Action Action

	shape    shape
	in, out  *node
	list     bool // the output is a List of out
	rows     bool // the output is a row, or rows
	nothing  bool // the output is Nothing
	pathOf   []*prop
	queryOf  []*prop
	hasBody  bool
	needs    Permissions   // to be called
	batch    *batch        // of an operation on many rows
	exported *Op           // the list that an export writes; nil for none
	getter   *Op           // what GET answers at the same path; nil for none
	version  bool          // the answer is one resource, which has a version
	badID    *fault.Kind   // for the first id of the path; nil for the usual one
	refers   bool          // the body may name rows of other resources
	blank    reflect.Value // an input with the defaults filled in
	prepares bool
	guess    *db.Guess                                      // whether reading takes one statement
	asks     func(context.Context, *Call, any) (any, error) // before a rehearsal; nil for nothing
	call     func(context.Context, *Call, reflect.Value, *Stream) (any, error)
}

type shape uint8

const (
	readShape shape = iota
	writeShape
	flowShape
	bytesShape
)

// Read declares an operation that only reads; it runs on one snapshot.
func Read[In, Out any](s Spec, fn func(context.Context, *Call, In) (Out, error)) *Op {
	return declare(s, readShape,
		func(ctx context.Context, c *Call, in In, _ *Stream) (Out, error) { return fn(ctx, c, in) })
}

// Write declares an operation that runs in one write transaction.
func Write[In, Out any](s Spec, fn func(context.Context, *Call, In) (Out, error)) *Op {
	return declare(s, writeShape,
		func(ctx context.Context, c *Call, in In, _ *Stream) (Out, error) { return fn(ctx, c, in) })
}

// Flow declares an operation that calls the outside world. It has no
// transaction; c.Read, c.Write and Finish open short ones around the calls.
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

// Preparer is an input that works before the transaction: parsing, hashing,
// reading versions. It may read, through c.Read, and must not write.
type Preparer interface {
	Prepare(context.Context, *Call) error
}

// declare erases the types. What needs none is in newOp, which the compiler
// would otherwise write out for every operation.
func declare[In, Out any](s Spec, sh shape, fn func(context.Context, *Call, In, *Stream) (Out, error)) *Op {
	o := newOp(s, sh, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	_, o.prepares = any(new(In)).(Preparer)
	o.call = func(ctx context.Context, c *Call, in reflect.Value, stream *Stream) (any, error) {
		return fn(ctx, c, in.Interface().(In), stream)
	}
	return o
}

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

// settle fills in what the route implies.
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

// answers are the schemas of answers by their type, which most operations of a noun
// share. They do not change once they are here.
var answers sync.Map

// origins checks that path and input name the same fields.
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

// fresh is a new input with its defaults.
func (o *Op) fresh() reflect.Value {
	v := reflect.New(o.blank.Type()).Elem()
	v.Set(o.blank)
	return v
}

// TakesKey reports whether an idempotency key applies: to every POST with JSON.
func (o *Op) TakesKey() bool {
	return o.Method == http.MethodPost && o.shape != bytesShape && !o.Public
}

// takesKeyFrom reports whether a key applies through a door. A step of an
// automation or of a proposal has one whatever the method: it may be run again after a crash, and a
// PATCH that comes a second time would undo what somebody changed meanwhile.
func (o *Op) takesKeyFrom(d Door, c *Caller) bool {
	again := d == Automation || c.Proposal != ""
	return o.TakesKey() || again && (o.shape == writeShape || o.shape == flowShape) && !o.Public
}

// MayOmitBody reports whether a request may come without a body and its type:
// an action for which {} would do.
func (o *Op) MayOmitBody() bool { return !o.hasBody || o.IsAction() && !o.needsBody() }

// Streams reports whether the operation takes its body as a stream.
func (o *Op) Streams() bool { return o.shape == bytesShape }

// ReadOnly reports whether the operation only reads.
func (o *Op) ReadOnly() bool {
	return o.shape == readShape || o.shape == bytesShape && o.Method == http.MethodGet && len(o.Events) == 0
}

// AsksOutside reports whether the answer may hold what somebody outside said. Only a
// Flow can call the network (in a transaction it panics), so nothing has to be declared.
func (o *Op) AsksOutside() bool { return o.shape == flowShape }

// Evaluates reports whether the operation changes nothing and works out what the caller
// wrote: a preview. Only such a one reads with a POST.
func (o *Op) Evaluates() bool { return o.shape == readShape && o.Method == http.MethodPost }

// ReachesOut reports whether a call may be noticed outside of the service.
func (o *Op) ReachesOut() bool { return o.Outward || o.shape == flowShape }

// Lists reports whether the operation answers with a page of rows.
func (o *Op) Lists() bool { return o.list }

// InputSchema is the self-contained schema of the whole input.
func (o *Op) InputSchema() *jsonschema.Schema { return o.in.schema(nil, true) }

// PathFields names the path's fields in their order.
func (o *Op) PathFields() []string {
	out := make([]string, len(o.pathOf))
	for i, p := range o.pathOf {
		out[i] = p.name
	}
	return out
}

// Check says what is wrong with a whole input as far as it is known: a string
// for which open holds stands for any value, and is filled in later.
func (o *Op) Check(text []byte, open func(string) bool) *fault.Tree {
	return decodeOpen(o.in, text, o.fresh(), nil, open)
}

// TakesBody reports whether the body has a field.
func (o *Op) TakesBody(name string) bool {
	p := o.in.props[name]
	return p != nil && p.origin == body
}

// Getter is the operation that shows what this one changes, or nil.
func (o *Op) Getter() *Op { return o.getter }

// CheckInput refuses a whole input that the operation would refuse before it looks
// at anything else.
func (o *Op) CheckInput(text []byte) error { return o.decode(o.fresh(), text, Automation) }

// AllowedBy reports whether the permissions suffice for the operation.
func (o *Op) AllowedBy(p Permissions) bool {
	if o.batch != nil { // each row is asked again
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

// lacks refuses something for want of a permission.
func lacks(permission, something string, args ...any) error {
	f := fault.Forbidden.Say(something+" needs the permission %s.", append(args, permission)...)
	f.Details = map[string]string{"permission": permission}
	return f
}

// TakesQuery reports whether a query parameter means something.
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
