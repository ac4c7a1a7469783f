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

	// What people say where the Summary speaks otherwise, so that tools are found: words and phrases, with commas
	// between. Words are for this operation; NounWords are for all of its noun, and the noun's list has them.
	Words, NounWords string

	Resource string        // whose permission it needs; by default the route's first segment after /v1
	Doors    Door          // where it can be called; by default AnyDoor
	Status   int           // HTTP status of success; by default 201 for POST, 204 for DELETE, else 200
	Errors   []*fault.Kind // its own refusals, besides those that any operation can answer with
	Events   []string      // the types of events it emits
	Example  string        // one input as a JSON object, path and query fields included; it is checked at start

	KeyRequired bool // an Idempotency-Key must be sent
	// the operation keeps its key itself; nil: the answer is kept under the key for 24 hours
	BindsKey KeyFinder
	Secret   bool           // the answer shows a secret once, so a stored answer is encrypted
	Reads    bool           // the caller needs the permission to read the resource as well
	Gate     *AgreementGate // an agreement that the caller's business must have accepted; nil for none
	// needs no caller: the operation sets Call.Org to the organization that its token names
	Public       bool
	Spends       bool   // it takes money, or lets money be taken later: the caller needs MaySpend
	SpendsIfTrue string // the name of a bool in the body: it spends when that field is true
	Decides      bool   // it decides what agents proposed: the caller needs MayApprove
	Outward      bool   // it charges, sends or publishes, which cannot be taken back
	// a PUT that creates what does not exist yet, and then answers 201: see Call.MarkCreated
	MayCreate bool
	// the caller needs one of these resources; the operation itself checks for the right one
	AnyOfResources []string
	MayFinishNow   bool // it answers 202 and works on later, or finishes at once and answers 200
	Rehearses      bool // a Flow that calls nobody outside while Call.Rehearsing, and so can be rehearsed
	// fields that only .create or only .update takes, like what never changes after creation, or that the answer
	// lacks, on purpose
	FieldExceptions []string

	MediaType string // the media type of what a Bytes operation answers with; by default any
}

// AgreementGate refuses callers whose business has not accepted an agreement.
type AgreementGate struct {
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

	shape             shape
	in, out           *schemaNode
	isList            bool // the output is a List of out
	hasRows           bool // the output is made of rows (Record)
	answersNothing    bool // the output is Nothing
	pathProps         []*schemaProp
	queryProps        []*schemaProp
	hasBody           bool
	neededPermissions Permissions        // what a caller needs to call it
	batch             *batchOperations   // what a batch does with each row; nil for other operations
	exportedList      *Op                // the list that an export writes; nil for other operations
	getter            *Op                // the operation that GETs the same path, for If-Match; nil for none
	isVersioned       bool               // the answer is one resource with updatedAt, so it has a version
	badIDFault        *fault.Kind        // refuses the first id of the path when it is no id; nil for the usual kind
	hasReferences     bool               // the body may name rows of other resources
	blankInput        reflect.Value      // an input with the defaults filled in
	hasPrepare        bool               // the input is a Preparer
	guess             *db.StatementGuess // learns whether a Read takes one statement, which then needs no transaction
	// fetchQuote gets what a rehearsal needs from outside, before its transaction; nil for nothing (see WithQuote).
	fetchQuote func(context.Context, *Call, any) (any, error)
	invoke     func(context.Context, *Call, reflect.Value, *Stream) (any, error)
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
	return declareTyped(s, readShape,
		func(ctx context.Context, c *Call, in In, _ *Stream) (Out, error) { return fn(ctx, c, in) })
}

// Write declares an operation that runs in one write transaction.
func Write[In, Out any](s Spec, fn func(context.Context, *Call, In) (Out, error)) *Op {
	return declareTyped(s, writeShape,
		func(ctx context.Context, c *Call, in In, _ *Stream) (Out, error) { return fn(ctx, c, in) })
}

// Flow declares an operation that calls the outside world. No transaction is open while it runs, because an outside
// call may take a minute; c.Read, c.Write and Finish open short ones between the calls.
func Flow[In, Out any](s Spec, fn func(context.Context, *Call, In) (Out, error)) *Op {
	return declareTyped(s, flowShape,
		func(ctx context.Context, c *Call, in In, _ *Stream) (Out, error) { return fn(ctx, c, in) })
}

// Bytes declares an operation that takes its body as a stream or answers with
// a *Content. REST only, and without a transaction, like a Flow.
func Bytes[In, Out any](s Spec, fn func(context.Context, *Call, In, *Stream) (Out, error)) *Op {
	if s.Doors == 0 {
		s.Doors = RESTDoor
	}
	return declareTyped(s, bytesShape, fn)
}

// Preparer is an input with work to do before the transaction, so that others do not wait for it: parsing, hashing,
// reading versions. Prepare may read, through c.Read, and must not write.
type Preparer interface {
	Prepare(context.Context, *Call) error
}

// declareTyped erases the types of an operation. It is generic and so compiled once per pair of types; all that needs
// no types is in newOperation, to keep the program small.
func declareTyped[In, Out any](s Spec, sh shape, fn func(context.Context, *Call, In, *Stream) (Out, error)) *Op {
	o := newOperation(s, sh, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	_, o.hasPrepare = any(new(In)).(Preparer)
	o.invoke = func(ctx context.Context, c *Call, in reflect.Value, stream *Stream) (any, error) {
		return fn(ctx, c, in.Interface().(In), stream)
	}
	return o
}

// newOperation builds an operation and panics, with its name, on whatever is wrong with the declaration.
func newOperation(s Spec, sh shape, in, out reflect.Type) *Op {
	defer func() {
		if v := recover(); v != nil {
			panic(fmt.Sprintf("operation %s: %v", s.Name, v))
		}
	}()
	o := &Op{Spec: s, shape: sh, guess: &db.StatementGuess{}}
	if o.Doors == 0 {
		o.Doors = AnyDoor
	}
	o.Method, o.Path, _ = strings.Cut(s.Route, " ")
	if s.Name == "" || s.Summary == "" || o.Path == "" && o.Doors&RESTDoor != 0 {
		panic("needs Name, Summary and, for REST, a Route")
	}
	if o.BindsKey != nil && (sh != writeShape || !o.KeyRequired) {
		panic("only a Write that requires a key binds it")
	}
	o.fillFromRoute()
	o.in = compileSchema(in, map[reflect.Type]*schemaNode{})
	if o.in.kind != objectValue {
		panic("the input must be a struct")
	}
	o.out = compileOutput(o, out)
	o.requireExternalMark(out)
	o.isVersioned = !o.isList && o.out != nil && o.out.props["updatedAt"] != nil
	o.resolveOrigins()
	o.requireStoredFields(in)
	o.requireReferenceTags()
	o.blankInput = reflect.New(in).Elem()
	o.checkSpending()
	for _, p := range o.in.order {
		if p.defaultText != nil {
			if tree := p.node.storeFromText(*p.defaultText, fieldByIndex(o.blankInput, p.index)); tree != nil {
				panic(fmt.Sprintf("the default of %s: %v", p.name, tree.Errors))
			}
		}
	}
	if s.Example != "" {
		if tree := decodeJSON(o.in, []byte(s.Example), o.newBlankInput(), nil); tree != nil {
			panic(tree.Fault(fault.Invalid).Error() + " in the example")
		}
	}
	return o
}

// fillFromRoute fills in what follows from the route: status, action, resource and the permissions that a caller needs.
func (o *Op) fillFromRoute() {
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
	if o.Resource != Unrestricted {
		o.neededPermissions = permissionBit(o.Resource, o.Action)
		if o.Reads {
			o.neededPermissions |= permissionBit(o.Resource, ActionRead)
		}
		if o.MayCreate {
			o.neededPermissions |= permissionBit(o.Resource, ActionCreate)
		}
	}
}

// compileOutput is the schema of what an operation answers with, per row for a list; nil for nothing and for bytes.
func compileOutput(o *Op, t reflect.Type) *schemaNode {
	if t == reflect.TypeFor[Nothing]() {
		if o.Status != 204 {
			panic("an operation that answers nothing has status 204")
		}
		o.answersNothing = true
		return nil
	}
	if t == reflect.TypeFor[*Content]() {
		return nil
	}
	if l, ok := reflect.Zero(t).Interface().(anyList); ok {
		o.isList = true
		t = reflect.TypeOf(l.zeroElement())
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n, ok := answerSchemas.Load(t); ok {
		return n.(*schemaNode)
	}
	n := compileSchema(t, map[reflect.Type]*schemaNode{}).asAnswerSchema()
	answerSchemas.Store(t, n)
	return n
}

// answerSchemas caches the schemas of answers by their Go type, which most operations of a noun share. A schema does
// not change once it is in here. (reflect.Type → *schemaNode)
var answerSchemas sync.Map

// resolveOrigins sorts the fields of the input by where REST finds them, and panics when the route and the input
// disagree about the fields of the path.
func (o *Op) resolveOrigins() {
	for _, segment := range strings.Split(o.Path, "/") {
		if !strings.HasPrefix(segment, "{") {
			continue
		}
		p := o.in.props[strings.Trim(segment, "{}")]
		if p == nil || p.origin != originPath {
			panic("the route names " + segment + ", the input has no such path field")
		}
		o.pathProps = append(o.pathProps, p)
	}
	paths := 0
	for _, p := range o.in.order {
		switch p.origin {
		case originPath:
			paths++
		case originQuery:
			o.queryProps = append(o.queryProps, p)
		case originBody:
			o.hasBody = true
		}
	}
	if paths != len(o.pathProps) && o.Path != "" {
		panic("the input has path fields that the route does not name")
	}
	if o.hasBody && (o.Method == http.MethodGet || o.Method == http.MethodDelete) {
		panic(o.Method + " takes no body")
	}
}

// requireStoredFields panics on a field of the body that is tagged db:"-". The tag has a meaning only in a struct that
// the row shares: the answer would show what the caller sent, and the database would not keep it.
func (o *Op) requireStoredFields(in reflect.Type) {
	for _, p := range o.in.order {
		if p.origin == originBody && in.FieldByIndex(p.index).Tag.Get("db") == "-" {
			panic(p.name + ` is tagged db:"-": callers set it, but it would not be stored. ` +
				"Give it a column, or declare it in the input and in the row each")
		}
	}
}

// newBlankInput returns a new input that holds the defaults.
func (o *Op) newBlankInput() reflect.Value {
	v := reflect.New(o.blankInput.Type()).Elem()
	v.Set(o.blankInput)
	return v
}

// TakesIdempotencyKey reports whether a request may have an idempotency key: every POST with JSON may.
func (o *Op) TakesIdempotencyKey() bool {
	return o.Method == http.MethodPost && o.shape != bytesShape && !o.Public
}

// takesKeyFrom is TakesIdempotencyKey for a door and a caller. A step of an automation or of a proposal and a form of
// the desk have a key whatever the method: they may come again, and a PATCH that comes a second time would undo what
// somebody changed in between.
func (o *Op) takesKeyFrom(d Door, c *Caller) bool {
	again := d == AutomationDoor || d == ConsoleDoor || c.Proposal != ""
	return o.TakesIdempotencyKey() || again && (o.shape == writeShape || o.shape == flowShape) && !o.Public
}

// MayOmitBody reports whether a request may come without a body and a Content-Type: there is none to send, or it is
// an action for which {} would do.
func (o *Op) MayOmitBody() bool { return !o.hasBody || o.IsAction() && !o.requiresBody() }

// TakesStream reports whether the operation was declared with Bytes, and so reads its own body.
func (o *Op) TakesStream() bool { return o.shape == bytesShape }

// ReadOnly reports whether the operation only reads.
func (o *Op) ReadOnly() bool {
	return o.shape == readShape || o.shape == bytesShape && o.Method == http.MethodGet && len(o.Events) == 0
}

// AnswersFromOutside reports whether the answer may hold what a provider outside said. Only a Flow can call the network
// (inside a transaction that panics), so nothing has to be declared.
func (o *Op) AnswersFromOutside() bool { return o.shape == flowShape }

// IsPreview reports whether the operation is a preview: it computes something from what the caller sent, and changes
// nothing. Only previews are declared with Read and called with POST.
func (o *Op) IsPreview() bool { return o.shape == readShape && o.Method == http.MethodPost }

// ReachesOutside reports whether people or programs outside the service may notice a call.
func (o *Op) ReachesOutside() bool { return o.Outward || o.shape == flowShape }

// AnswersList reports whether the operation answers with a page of rows.
func (o *Op) AnswersList() bool { return o.isList }

// InputSchema is the JSON Schema of the whole input, path and query included, without references to other schemas.
func (o *Op) InputSchema() *jsonschema.Schema { return o.in.toJSONSchema(nil, true) }

// PathFields names the path's fields in their order.
func (o *Op) PathFields() []string {
	out := make([]string, len(o.pathProps))
	for i, p := range o.pathProps {
		out[i] = p.name
	}
	return out
}

// Check says what is wrong with a whole input that is not complete yet. A string for which open reports true is a
// placeholder: it stands for any value, and is not checked.
func (o *Op) Check(text []byte, open func(string) bool) *fault.Tree {
	return decodeOpenJSON(o.in, text, o.newBlankInput(), nil, open)
}

// HasBodyField reports whether the body takes a field of this name.
func (o *Op) HasBodyField(name string) bool {
	p := o.in.props[name]
	return p != nil && p.origin == originBody
}

// GetOperation is the operation that GETs the path which this one changes, or nil.
func (o *Op) GetOperation() *Op { return o.getter }

// CheckInput refuses a whole input that does not fit the schema. The database is not asked.
func (o *Op) CheckInput(text []byte) error {
	return o.decodeInput(o.newBlankInput(), text, AutomationDoor)
}

// AllowedBy reports whether the permissions suffice for the operation.
func (o *Op) AllowedBy(p Permissions) bool {
	if o.batch != nil { // parseBatchRow checks again, per row
		return o.batch.create.AllowedBy(p) || o.batch.update.AllowedBy(p) || o.batch.remove.AllowedBy(p)
	}
	if len(o.AnyOfResources) > 0 {
		return slices.ContainsFunc(o.AnyOfResources, func(r string) bool { return p.Allow(r, o.Action) })
	}
	return p&o.neededPermissions == o.neededPermissions
}

// PermitCaller refuses a caller who may not use the operation through this door.
func (o *Op) PermitCaller(c *Caller, d Door) error {
	if d == SystemDoor {
		return nil // the service itself
	}
	if o.Doors&d == 0 {
		return fault.NotFound.Say("There is no operation %s here.", o.Name)
	}
	if o.Public || d == AdminDoor {
		return nil
	}
	if !o.AllowedBy(c.Permissions) {
		verb := "read" // with Reads, even a caller who may act on the resource can lack it
		if o.Action != ActionRead && !c.Permissions.Allow(o.Resource, o.Action) ||
			o.MayCreate && !c.Permissions.Allow(o.Resource, ActionCreate) {
			verb = "write"
		}
		if o.Resource == Account {
			return fault.Forbidden.Say("Only an owner or admin can do this, and an API key with the permission * " +
				"that one of them made.")
		}
		return missingPermission(o.Resource+":"+verb, "This")
	}
	if err := o.permitMember(c); err != nil {
		return err
	}
	if o.Gate != nil && !c.hasAccepted(o.Gate.Agreement) {
		return o.Gate.Refusal.WithDetails(map[string]string{"url": c.AgreementURL})
	}
	return nil
}

// missingPermission refuses something, the beginning of a sentence, because the caller lacks a permission.
func missingPermission(permission, something string, args ...any) error {
	f := fault.Forbidden.Say(something+" needs the permission %s.", append(args, permission)...)
	f.Details = map[string]string{"permission": permission}
	return f
}

// TakesField reports whether the input has a field of this name, wherever REST has it.
func (o *Op) TakesField(name string) bool { return o.in.props[name] != nil }

// HasQueryField reports whether the query takes a parameter of this name.
func (o *Op) HasQueryField(name string) bool {
	p := o.in.props[name]
	return p != nil && p.origin == originQuery
}

// QueryFields names the query's fields.
func (o *Op) QueryFields() []string {
	out := make([]string, len(o.queryProps))
	for i, p := range o.queryProps {
		out[i] = p.name
	}
	return out
}
