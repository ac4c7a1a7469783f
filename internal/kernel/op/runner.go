package op

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
)

// Runner runs operations. Every call takes its path, whichever door it came through.
type Runner struct {
	DB     *db.DB
	Clock  *clock.Clock
	Log    *slog.Logger
	Events *event.Log
	Seal   Sealer // for stored answers that show a secret

	// Meter counts what agents use up; nil for nobody.
	Meter Meter

	// FindView finds saved views; nil where there are none.
	FindView ViewFinder

	// FlowTimeout ends a Flow that its provider keeps waiting; 60 seconds when zero.
	FlowTimeout time.Duration

	// KeyLifetime is how long answers are kept for replay; a day at least.
	KeyLifetime time.Duration

	keys keyLocks
}

// Sealer encrypts what is stored and must be read back. What was sealed for one place, a row and a column, does not
// open at another.
type Sealer interface {
	Seal(plain []byte, place string) ([]byte, error)
	Open(sealed []byte, place string) ([]byte, error)
}

// Request is one call, as a door hands it to the Runner.
type Request struct {
	Caller *Caller
	Door   Door
	ID     string // the request id

	Path  []string   // the path's values, in the order of the route
	Query url.Values // of REST
	// Body reads the JSON text; it is not called for a caller who is refused. nil is an empty body. From REST the text
	// holds the body's fields; from other doors, which leave Path and Query empty, it holds the whole input.
	Body func() ([]byte, error)
	// WholeInput says that Body holds the whole input even though the door is REST.
	WholeInput bool

	IfMatch  string  // If-Match: the versions that may be changed; empty for any
	Key      string  // the idempotency key
	HasKey   bool    // a key was sent, even an empty one
	KeyIsNew bool    // this is the first attempt with the key, so that nothing can be stored under it
	Stream   *Stream // the body of a Bytes operation

	// UseAllowance takes further requests from the caller's rate limit, for an operation that does the work of
	// several; nil where requests are not counted.
	UseAllowance func(more int) error

	// Watch is told what each transaction of the call did, before it commits; nil for nobody.
	Watch Watch

	// Malformed is what the door found wrong with the request. Runner.Do answers with it only after it has checked the
	// permission, so that others learn nothing about the operation.
	Malformed error
}

// inputDoor is the door by whose rules the body is decoded: body fields for REST, the whole input for all others.
func (q *Request) inputDoor() Door {
	if q.WholeInput {
		return AutomationDoor
	}
	return q.Door
}

// Do runs an operation, in this order: permission, path and query, stored answer, body, Prepare, transaction with its
// events and the answer to store. A stored answer comes before the body is checked: a retry of what was once accepted
// gets its answer even if the rules have changed since.
func (r *Runner) Do(ctx context.Context, o *Op, q Request) (Answer, error) {
	if err := o.PermitCaller(q.Caller, q.Door); err != nil {
		return Answer{}, err
	}
	if q.Malformed != nil {
		return Answer{}, q.Malformed
	}
	in := o.newBlankInput()
	// Other doors send path and query fields in the body, except to a Bytes operation, whose body is a stream.
	if q.Door == RESTDoor && !q.WholeInput || o.TakesStream() && (len(q.Path) > 0 || q.Query != nil) {
		if err := o.bindPathAndQuery(in, q.Path, q.Query); err != nil {
			return Answer{}, err
		}
	}
	if err := o.CheckIdempotencyKey(q); err != nil {
		return Answer{}, err
	}
	// The body is read only after everything that can refuse the request without it.
	var text []byte
	if q.Body != nil && !o.TakesStream() {
		var err error
		if text, err = q.Body(); err != nil {
			return Answer{}, err
		}
	}
	c := &Call{Caller: q.Caller, Org: q.Caller.Organization, Now: r.Clock.Now(), Door: q.Door, RequestID: q.ID, op: o,
		runner: r, useAllowance: q.UseAllowance, watch: q.Watch}
	ctx = db.WithLabel(ctx, o.Name)
	if q.IfMatch != "" {
		var err error
		if c.ifMatch, err = o.parseIfMatch(q); err != nil {
			return Answer{}, err
		}
	}
	var k *requestKey
	if q.HasKey && o.takesKeyFrom(q.Door, q.Caller) {
		c.Key = q.Key
		k = &requestKey{org: c.Org, value: q.Key, fingerprint: o.fingerprint(q.Path, q.Query, text)}
		// storeAnswer looks again inside the transaction of a Write, so this lookup may miss a rival. It is skipped for
		// a Write whose key is new. A Read looks for its stored answer only after it has read: until then it does not
		// know whether this caller may see it.
		if o.shape != readShape && (!q.KeyIsNew || o.shape != writeShape || o.BindsKey != nil) {
			answer, found, err := r.findStoredAnswer(ctx, c, k)
			if found || err != nil {
				return answer, err
			}
		}
	}
	if err := o.prepareInput(ctx, c, q.inputDoor(), in, text); err != nil {
		if k != nil && k.bound {
			return Answer{}, fault.KeyReused.New() // the key belongs to a request that was valid, so not to this one
		}
		return r.recheckKey(ctx, c, k, err)
	}
	switch o.shape {
	case readShape:
		return r.runRead(ctx, c, in, k)
	case writeShape:
		return r.runWrite(ctx, c, in, k)
	default:
		return r.runFlow(ctx, c, in, k, q.Stream)
	}
}

// NewFollowUpCall returns a call for work that goes on after its request was answered, in a job. Its events name
// request as what caused them, and must be among the Events of o.
func (r *Runner) NewFollowUpCall(o *Op, caller *Caller, door Door, request string) *Call {
	return &Call{Caller: caller, Org: caller.Organization, Now: r.Clock.Now(), Door: door, RequestID: request, op: o,
		runner: r}
}

// prepareInput decodes the body, checks what it refers to and whether it spends, and runs the input's Prepare.
func (o *Op) prepareInput(ctx context.Context, c *Call, d Door, in reflect.Value, text []byte) error {
	if !o.TakesStream() { // a Bytes operation reads its own body
		if err := o.decodeInput(in, text, d); err != nil {
			return err
		}
		if err := o.permitReferences(c, in); err != nil {
			return err
		}
		if err := o.permitSpending(c.Caller, c.Door, in); err != nil {
			return err
		}
	}
	if err := o.applyView(ctx, c, in); err != nil {
		return err
	}
	if !o.hasPrepare {
		return nil
	}
	return o.asQueryFault(in.Addr().Interface().(Preparer).Prepare(ctx, c))
}

// bindPathAndQuery fills the fields of the path and of the query.
func (o *Op) bindPathAndQuery(in reflect.Value, values []string, params url.Values) error {
	for i, p := range o.pathProps {
		if tree := p.node.storeFromText(values[i], fieldByIndex(in, p.index)); tree != nil {
			return o.refusePathValue(p, tree)
		}
	}
	var tree *fault.Tree
	for _, p := range o.queryProps {
		given, ok := params[p.name]
		if !ok {
			if p.required {
				return refuseMissingQuery(p)
			}
			continue
		}
		if p.node.isCommaList {
			tree = tree.SetField(p.name, p.node.storeList(given, fieldByIndex(in, p.index)))
			continue
		}
		tree = tree.SetField(p.name, p.node.storeFromText(given[0], fieldByIndex(in, p.index)))
	}
	return tree.Fault(fault.BadInput)
}

// refusePathValue refuses a value of the path, with the code that its collection may have for bad ids.
func (o *Op) refusePathValue(p *schemaProp, tree *fault.Tree) error {
	k := o.badIDKind(p)
	f := k.WithDetails((*fault.Tree)(nil).SetField(p.name, tree))
	if k == fault.BadInput {
		f.Text = p.name + ": " + tree.Errors[0]
	}
	return f
}

// refuseMissingQuery refuses a request without a required query parameter.
func refuseMissingQuery(p *schemaProp) error {
	f := fault.MissingQuery.Say("The query parameter %s is required.", p.name)
	f.Details = (*fault.Tree)(nil).SetField(p.name, (*fault.Tree)(nil).Add(fault.MissingIssue))
	return f
}

// refuseAsREST turns the issues of a whole input into the refusal that REST would give, so that every door answers
// alike. REST reads path, query and body one after the other, and each has its own code.
func (o *Op) refuseAsREST(tree *fault.Tree) error {
	if tree == nil {
		return nil
	}
	for _, p := range o.pathProps {
		if t := tree.Properties[p.name]; t != nil && t.Errors[0] != fault.MissingIssue {
			return o.refusePathValue(p, t)
		}
	}
	var ofQuery *fault.Tree
	for _, p := range o.queryProps {
		t := tree.Properties[p.name]
		if p.required && t != nil && t.Errors[0] == fault.MissingIssue {
			return refuseMissingQuery(p)
		}
		ofQuery = ofQuery.SetField(p.name, t)
	}
	if ofQuery != nil {
		return ofQuery.Fault(fault.BadInput)
	}
	return tree.Fault(fault.Invalid)
}

// badIDKind is the refusal for a value of the path that is no id.
func (o *Op) badIDKind(p *schemaProp) *fault.Kind {
	if o.badIDFault != nil && p == o.pathProps[0] {
		return o.badIDFault
	}
	return fault.BadInput
}

// decodeInput reads the body, or through other doors than REST the whole input.
func (o *Op) decodeInput(in reflect.Value, text []byte, d Door) error {
	if len(text) == 0 {
		switch {
		case d != RESTDoor:
			text = []byte("{}")
		case !o.requiresBody():
			return nil
		default:
			return (*fault.Tree)(nil).Add("The body is empty; send a JSON object").Fault(fault.Invalid)
		}
	}
	if d != RESTDoor {
		return o.refuseAsREST(decodeJSON(o.in, text, in, nil))
	}
	return decodeJSON(o.in, text, in, isBodyField).Fault(fault.Invalid)
}

func isBodyField(p *schemaProp) bool { return p.origin == originBody }

// requiresBody reports whether an empty body is refused. A POST for which {} would
// do may come without; a PUT of nothing would clear what there is.
func (o *Op) requiresBody() bool {
	return o.hasBody && (o.Method != http.MethodPost || !o.in.allowsEmptyBody())
}

// allowsEmptyBody reports whether {} would do.
func (n *schemaNode) allowsEmptyBody() bool {
	for _, p := range n.order {
		if p.origin == originBody && p.required {
			return false
		}
	}
	return true
}

// asQueryFault replaces the code for invalid bodies by that for queries, in what Prepare refused about an operation
// that has no body.
func (o *Op) asQueryFault(err error) error {
	var f *fault.Fault
	if !o.hasBody && errors.As(err, &f) && f.Kind == fault.Invalid {
		changed := *f
		changed.Kind = fault.BadInput
		return &changed
	}
	return err
}

// runRead runs a Read. A preview (POST) keeps its answer under a key as well: a retry gets the same answer, even if the
// data has changed since.
func (r *Runner) runRead(ctx context.Context, c *Call, in reflect.Value, k *requestKey) (a Answer, err error) {
	var out any
	err = r.DB.Read(db.WithStatementGuess(ctx, c.op.guess), func(ctx context.Context, tx *db.Tx) (err error) {
		c.Tx = tx
		out, err = c.op.invoke(ctx, c, in, nil)
		return err
	})
	if fault.IsKind(err, fault.Forbidden) {
		return Answer{}, err // a stored answer would show what this caller may not read
	}
	if err != nil {
		return r.recheckKey(ctx, c, k, err)
	}
	if k == nil {
		return c.newAnswer(out)
	}
	return r.runOncePerKey(ctx, c, k, func(context.Context) (any, error) { return out, nil })
}

// newAnswer is the answer of a call without an idempotency key, which is not stored.
func (c *Call) newAnswer(out any) (Answer, error) {
	if content, ok := out.(*Content); ok {
		return Answer{Status: c.op.Status, Content: content}, nil
	}
	body, _, err := c.op.encodeAnswer(out)
	return Answer{Status: c.op.Status, Body: body, Exposure: c.exposureIfNeeded(out)}, err
}

// commitWork runs fn in one write transaction and commits its events and, under a key, the answer together with it.
func (r *Runner) commitWork(ctx context.Context, c *Call, k *requestKey,
	fn func(context.Context) (any, error)) (a Answer, out any, err error) {
	org, caller := c.Org, c.Caller
	err = r.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		// The database may run this function again after a conflict. The run before may have changed the organization
		// and the caller, as a Public operation does.
		c.Org, c.Caller = org, caller
		c.Tx, c.pendingEvents, c.replayed, c.status = tx, c.pendingEvents[:0], false, c.op.Status
		tx.SetAuthor(c.textAuthor())
		defer func() { c.Tx = nil }()
		c.startTrace()
		if k != nil {
			if err := k.lockForWrite(ctx, c); err != nil {
				return err
			}
		}
		if c.ifMatch != nil { // versions are compared once the row is locked, so that nobody changes it in between
			tx.GuardRow(c.ifMatch.row, func(ctx context.Context) error { return c.ifMatch.checkVersion(ctx, c) })
		}
		if out, err = fn(ctx); err != nil {
			return err
		}
		if tx.GuardPending() { // a bug: If-Match was never compared
			return fmt.Errorf("op: %s changes a row that it did not lock", c.op.Name)
		}
		// The answer is encoded inside the transaction, because it is stored with it and events share its bytes. The
		// Meter comes after the events, which are what it counts.
		body, data, err := c.op.encodeAnswer(out)
		if err != nil {
			return fmt.Errorf("op: %s: encode: %w", c.op.Name, err)
		}
		if err := c.writeEvents(ctx, out, data); err != nil {
			return err
		}
		if err := c.meterTransaction(ctx); err != nil {
			return err
		}
		a = Answer{Status: c.status, Body: body, Replay: c.replayed, Exposure: c.exposureIfNeeded(out)}
		if k != nil && !c.replayed {
			return k.storeAnswer(ctx, c, a)
		}
		return nil
	})
	return a, out, err
}

// runWrite runs a Write, under its key if it has one.
func (r *Runner) runWrite(ctx context.Context, c *Call, in reflect.Value, k *requestKey) (Answer, error) {
	work := func(ctx context.Context) (any, error) {
		// The transaction may run again, and the function may change its input: each run gets a copy.
		again := reflect.New(in.Type()).Elem()
		again.Set(in)
		return c.op.invoke(ctx, c, again, nil)
	}
	if k == nil {
		a, _, err := r.commitWork(ctx, c, nil, work)
		return a, err
	}
	return r.runOncePerKey(ctx, c, k, work)
}

// runOncePerKey does the work of a request with a key, unless another request with the key has done it or is doing it.
func (r *Runner) runOncePerKey(ctx context.Context, c *Call, k *requestKey,
	work func(context.Context) (any, error)) (Answer, error) {
	if r.DB.Engine() == db.SQLite {
		// Only one process uses the file, so a lock in memory is enough to refuse a second request at once. On
		// PostgreSQL, lockForWrite uses a lock of the database.
		release, ok := r.keys.tryLock(k)
		if !ok {
			return Answer{}, fault.KeyInFlight.New()
		}
		defer release()
	}
	a, _, err := r.commitWork(ctx, c, k, work)
	if err != nil {
		return r.recheckKey(ctx, c, k, err)
	}
	return a, nil
}

// recheckKey decides what an error means for a request with a key. Another request with the key may have finished
// between our first lookup and our lock, and be the very reason for the error: what can be done only once was done. Or
// the connection broke during the commit, and the commit may have succeeded. In both cases the stored answer is found
// now, and is the right answer.
func (r *Runner) recheckKey(ctx context.Context, c *Call, k *requestKey, err error) (Answer, error) {
	if k == nil || fault.IsKind(err, fault.KeyInFlight) {
		return Answer{}, err
	}
	answer, found, lookupErr := r.findStoredAnswer(context.WithoutCancel(ctx), c, k)
	switch {
	case found || lookupErr != nil:
		return answer, lookupErr
	case errors.Is(err, errAlreadyStored):
		return Answer{}, fault.Unavailable.Because(err)
	}
	return Answer{}, err
}

// recoverPanic turns a panic into an error, as a transaction does for a Read and a Write, so that a Flow still releases
// its key.
func recoverPanic(fn func() (any, error)) (out any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &db.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn()
}
