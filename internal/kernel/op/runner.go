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

// Runner is the single path from any door to any operation.
type Runner struct {
	DB     *db.DB
	Clock  *clock.Clock
	Log    *slog.Logger
	Events *event.Log
	Seal   Sealer // for stored answers that show a secret

	// Meter counts what agents use up; nil for nobody.
	Meter Meter

	// FlowTimeout ends a Flow that its provider keeps waiting; 60 seconds when zero.
	FlowTimeout time.Duration

	// KeyLifetime is how long answers are kept for replay; a day at least.
	KeyLifetime time.Duration

	keys keyLocks
}

// Sealer encrypts what is stored and must be read back, bound to its place.
type Sealer interface {
	Seal(plain []byte, place string) ([]byte, error)
	Open(sealed []byte, place string) ([]byte, error)
}

// Request is one call as a door took it apart.
type Request struct {
	Caller *Caller
	Door   Door
	ID     string // the request id

	Path  []string   // the path's values, in the order of the route
	Query url.Values // of REST
	// Body gives the JSON text when it is wanted; nil is an empty body.
	// From REST it holds the body's fields; from other doors, which leave
	// Path and Query empty, the whole input.
	Body func() ([]byte, error)
	// Whole says that Body holds the whole input even though the door is REST.
	Whole bool

	Match  string  // If-Match: the versions that may be changed; empty for any
	Key    string  // the idempotency key
	HasKey bool    // one was sent, even an empty one
	NewKey bool    // and the door knows that it is new
	Stream *Stream // of a Bytes operation

	// Spend takes more requests from the caller's allowance, for an operation that
	// does the work of several; nil where none are counted.
	Spend func(more int) error

	// Watch is told of each transaction of the call; nil for nobody.
	Watch Watch

	// Malformed is what the door found wrong with the request. Only a caller
	// who may use the operation is told.
	Malformed error
}

// reads is the door whose way of taking the input apart applies.
func (q *Request) reads() Door {
	if q.Whole {
		return Automation
	}
	return q.Door
}

// Do runs an operation: permission, input, stored answer, validation, Prepare,
// transaction, events, stored answer, in this order.
func (r *Runner) Do(ctx context.Context, o *Op, q Request) (Answer, error) {
	if err := o.Permit(q.Caller, q.Door); err != nil {
		return Answer{}, err
	}
	if q.Malformed != nil {
		return Answer{}, q.Malformed
	}
	in := o.fresh()
	// A stream has no body that could name its path and its query.
	if q.Door == REST && !q.Whole || o.Streams() && (len(q.Path) > 0 || q.Query != nil) {
		if err := o.bind(in, q.Path, q.Query); err != nil {
			return Answer{}, err
		}
	}
	if err := o.CheckKey(q); err != nil {
		return Answer{}, err
	}
	var text []byte
	if q.Body != nil && !o.Streams() {
		var err error
		if text, err = q.Body(); err != nil {
			return Answer{}, err
		}
	}
	c := &Call{Caller: q.Caller, Org: q.Caller.Organization, Now: r.Clock.Now(), Door: q.Door, RequestID: q.ID, op: o,
		runner: r, spend: q.Spend, watch: q.Watch}
	ctx = db.WithLabel(ctx, o.Name)
	if q.Match != "" {
		var err error
		if c.match, err = o.matching(q); err != nil {
			return Answer{}, err
		}
	}
	var k *key
	if q.HasKey && o.takesKeyFrom(q.Door, q.Caller) {
		c.Key = q.Key
		k = &key{org: c.Org, value: q.Key, print: o.fingerprint(q.Path, q.Query, text)}
		// The transaction of a Write looks again. This look is for what has an
		// answer, which should not be held to today's rules. A Read looks after
		// it has read: only then it knows whether the caller may.
		if o.shape != readShape && (!q.NewKey || o.shape != writeShape || o.BindsKey != nil) {
			answer, found, err := r.stored(ctx, c, k)
			if found || err != nil {
				return answer, err
			}
		}
	}
	if err := o.prepare(ctx, c, q.reads(), in, text); err != nil {
		if k != nil && k.bound {
			return Answer{}, fault.KeyReused.New() // it is bound to a request that was valid
		}
		return r.secondLook(ctx, c, k, err)
	}
	switch o.shape {
	case readShape:
		return r.read(ctx, o, c, in, k)
	case writeShape:
		return r.write(ctx, o, c, in, k)
	default:
		return r.flow(ctx, o, c, in, k, q.Stream)
	}
}

// Continue is a call for work that goes on after its request was answered. Its
// events name request as what caused them. o lists those that the work may emit.
func (r *Runner) Continue(o *Op, caller *Caller, door Door, request string) *Call {
	return &Call{Caller: caller, Org: caller.Organization, Now: r.Clock.Now(), Door: door, RequestID: request, op: o,
		runner: r}
}

// prepare reads the body and lets the input prepare itself.
func (o *Op) prepare(ctx context.Context, c *Call, d Door, in reflect.Value, text []byte) error {
	if !o.Streams() { // which reads its own body
		if err := o.decode(in, text, d); err != nil {
			return err
		}
		if err := o.permitReferences(c, in); err != nil {
			return err
		}
		if err := o.permitSpending(c.Caller, c.Door, in); err != nil {
			return err
		}
	}
	if !o.prepares {
		return nil
	}
	return o.asInput(in.Addr().Interface().(Preparer).Prepare(ctx, c))
}

// bind fills the path's and the query's fields.
func (o *Op) bind(in reflect.Value, values []string, params url.Values) error {
	for i, p := range o.pathOf {
		if tree := p.node.fromText(values[i], field(in, p.index)); tree != nil {
			return o.badPath(p, tree)
		}
	}
	var tree *fault.Tree
	for _, p := range o.queryOf {
		given, ok := params[p.name]
		if !ok {
			if p.required {
				return missingQuery(p)
			}
			continue
		}
		if p.node.listed {
			tree = tree.Set(p.name, p.node.list(given, field(in, p.index)))
			continue
		}
		tree = tree.Set(p.name, p.node.fromText(given[0], field(in, p.index)))
	}
	return tree.Fault(fault.BadInput)
}

// badPath refuses a value of the path.
func (o *Op) badPath(p *prop, tree *fault.Tree) error {
	k := o.badIDKind(p)
	f := k.With((*fault.Tree)(nil).Set(p.name, tree))
	if k == fault.BadInput {
		f.Text = p.name + ": " + tree.Errors[0]
	}
	return f
}

func missingQuery(p *prop) error {
	f := fault.MissingQuery.Say("The query parameter %s is required.", p.name)
	f.Details = (*fault.Tree)(nil).Set(p.name, (*fault.Tree)(nil).Add(fault.Missing))
	return f
}

// asREST refuses what is wrong with a whole input as REST would, which reads
// path, query and body one after the other.
func (o *Op) asREST(tree *fault.Tree) error {
	if tree == nil {
		return nil
	}
	for _, p := range o.pathOf {
		if t := tree.Properties[p.name]; t != nil && t.Errors[0] != fault.Missing {
			return o.badPath(p, t)
		}
	}
	var ofQuery *fault.Tree
	for _, p := range o.queryOf {
		t := tree.Properties[p.name]
		if p.required && t != nil && t.Errors[0] == fault.Missing {
			return missingQuery(p)
		}
		ofQuery = ofQuery.Set(p.name, t)
	}
	if ofQuery != nil {
		return ofQuery.Fault(fault.BadInput)
	}
	return tree.Fault(fault.Invalid)
}

// badIDKind is the code for a path id that is none.
func (o *Op) badIDKind(p *prop) *fault.Kind {
	if o.badID != nil && p == o.pathOf[0] {
		return o.badID
	}
	return fault.BadInput
}

// decode reads the body, or through other doors than REST the whole input.
func (o *Op) decode(in reflect.Value, text []byte, d Door) error {
	if len(text) == 0 {
		switch {
		case d != REST:
			text = []byte("{}")
		case !o.needsBody():
			return nil
		default:
			return (*fault.Tree)(nil).Add("The body is empty; send a JSON object").Fault(fault.Invalid)
		}
	}
	if d != REST {
		return o.asREST(decodeJSON(o.in, text, in, nil))
	}
	return decodeJSON(o.in, text, in, fromBody).Fault(fault.Invalid)
}

func fromBody(p *prop) bool { return p.origin == body }

// needsBody reports whether an empty body is refused. A POST for which {} would
// do may come without; a PUT of nothing would clear what there is.
func (o *Op) needsBody() bool {
	return o.hasBody && (o.Method != http.MethodPost || !o.in.optionalBody())
}

// optionalBody reports whether {} would do.
func (n *node) optionalBody() bool {
	for _, p := range n.order {
		if p.origin == body && p.required {
			return false
		}
	}
	return true
}

// asInput gives what Prepare refused about a query the code for queries.
func (o *Op) asInput(err error) error {
	var f *fault.Fault
	if !o.hasBody && errors.As(err, &f) && f.Kind == fault.Invalid {
		changed := *f
		changed.Kind = fault.BadInput
		return &changed
	}
	return err
}

// read runs a Read. A POST that only reads, a preview, keeps its answer under
// a key as well: what is replayed is what was said then.
func (r *Runner) read(ctx context.Context, o *Op, c *Call, in reflect.Value, k *key) (a Answer, err error) {
	var out any
	err = r.DB.Read(db.WithGuess(ctx, o.guess), func(ctx context.Context, tx *db.Tx) (err error) {
		c.Tx = tx
		out, err = o.call(ctx, c, in, nil)
		return err
	})
	if fault.Has(err, fault.Forbidden) {
		return Answer{}, err
	}
	if err != nil {
		return r.secondLook(ctx, c, k, err)
	}
	if k == nil {
		return c.answered(out)
	}
	return r.once(ctx, c, k, func(context.Context) (any, error) { return out, nil })
}

// answered is the answer of a call that nothing is kept of.
func (c *Call) answered(out any) (Answer, error) {
	if content, ok := out.(*Content); ok {
		return Answer{Status: c.op.Status, Content: content}, nil
	}
	body, _, err := c.op.encode(out)
	return Answer{Status: c.op.Status, Body: body, Sight: c.sight(out)}, err
}

// commit runs fn in one write transaction together with its events and, under
// a key, the stored answer.
func (r *Runner) commit(ctx context.Context, c *Call, k *key, fn func(context.Context) (any, error)) (a Answer, out any,
	err error) {
	org, caller := c.Org, c.Caller
	err = r.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		// It may be run again, and may have moved to another organization.
		c.Org, c.Caller = org, caller
		c.Tx, c.emits, c.replay, c.status = tx, c.emits[:0], false, c.op.Status
		tx.WrittenBy(c.author())
		defer func() { c.Tx = nil }()
		c.follow()
		if k != nil {
			if err := k.begin(ctx, c); err != nil {
				return err
			}
		}
		if c.match != nil {
			tx.Guard(c.match.row, func(ctx context.Context) error { return c.match.check(ctx, c) })
		}
		if out, err = fn(ctx); err != nil {
			return err
		}
		if tx.Guarded() {
			return fmt.Errorf("op: %s changes a row that it did not lock", c.op.Name)
		}
		body, data, err := c.op.encode(out)
		if err != nil {
			return fmt.Errorf("op: %s: encode: %w", c.op.Name, err)
		}
		if err := c.record(ctx, out, data); err != nil {
			return err
		}
		if err := c.count(ctx); err != nil {
			return err
		}
		a = Answer{Status: c.status, Body: body, Replay: c.replay, Sight: c.sight(out)}
		if k != nil && !c.replay {
			return k.finish(ctx, c, a)
		}
		return nil
	})
	return a, out, err
}

func (r *Runner) write(ctx context.Context, o *Op, c *Call, in reflect.Value, k *key) (Answer, error) {
	work := func(ctx context.Context) (any, error) {
		// The input is copied for each run: a closure may be run again.
		again := reflect.New(in.Type()).Elem()
		again.Set(in)
		return o.call(ctx, c, again, nil)
	}
	if k == nil {
		a, _, err := r.commit(ctx, c, nil, work)
		return a, err
	}
	return r.once(ctx, c, k, work)
}

// once does the work of a key, unless somebody has done it or is at it.
func (r *Runner) once(ctx context.Context, c *Call, k *key, work func(context.Context) (any, error)) (Answer, error) {
	if r.DB.Engine() == db.SQLite {
		// One process owns the file, so a lock in memory tells a rival at once.
		release, ok := r.keys.try(k)
		if !ok {
			return Answer{}, fault.KeyInFlight.New()
		}
		defer release()
	}
	a, _, err := r.commit(ctx, c, k, work)
	if err != nil {
		return r.secondLook(ctx, c, k, err)
	}
	return a, nil
}

// secondLook decides what an error means for a request under a key. Somebody
// else may have answered between our first look and our lock, and be the very
// reason for the error: what can be done only once was done. Or the connection
// broke in the commit. The row tells.
func (r *Runner) secondLook(ctx context.Context, c *Call, k *key, err error) (Answer, error) {
	if k == nil || fault.Has(err, fault.KeyInFlight) {
		return Answer{}, err
	}
	answer, found, look := r.stored(context.WithoutCancel(ctx), c, k)
	switch {
	case found || look != nil:
		return answer, look
	case errors.Is(err, errStored):
		return Answer{}, fault.Unavailable.Because(err)
	}
	return Answer{}, err
}

// protect turns a panic in a Flow into an error.
func protect(fn func() (any, error)) (out any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &db.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn()
}
