package op

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Call is one execution: who, when, for which organization, and in which
// transaction.
type Call struct {
	Caller    *Caller
	Org       id.ID
	Now       clock.Time
	Door      Door
	RequestID string
	Tx        *db.Tx // open in a Read and a Write, and inside c.Write and Finish
	Key       string // the idempotency key, where the operation takes one

	op     *Op
	runner *Runner
	emits  []emit
	claim  *claim               // of a Flow under an idempotency key
	answer *Answer              // what Finish committed
	spend  func(more int) error // takes further requests from the caller's allowance; nil where none counts
	match  *match               // the version that the caller wants to change; nil for any
	replay bool
	status int // of success

	within     bool // the transaction is another's: Read, Write and Finish use it
	rehearsing bool
	asked      any
	announced  []Announced
	watch      Watch // nil for nobody
}

type emit struct {
	org  id.ID
	kind string
	id   id.ID
	data any
	text []byte // data, where it is encoded already
}

// NewID returns the id of a new row.
func (c *Call) NewID() id.ID {
	v := id.New()
	if c.Tx != nil {
		c.Tx.NoteFresh(v)
	}
	return v
}

// NewRecord returns the common part of a new row.
func (c *Call) NewRecord() Record {
	return Record{ID: c.NewID(), CreatedAt: c.Now, UpdatedAt: c.Now, OrganizationID: c.Org}
}

// Emit writes one event in the transaction of the change, once its work is done.
// Data is the resource as GET returns it. Passing the pointer that the operation
// returns avoids encoding it twice.
func (c *Call) Emit(kind string, resource id.ID, data any) error {
	if !slices.Contains(c.op.Events, kind) {
		return fmt.Errorf("op: %s emits %s without declaring it", c.op.Name, kind)
	}
	c.emits = append(c.emits, emit{org: c.Org, kind: kind, id: resource, data: data})
	return nil
}

// Emitted is how many events the call has emitted so far in its transaction.
func (c *Call) Emitted() int { return len(c.emits) }

// Replay says that the output is what an earlier call made under the same key.
// It is for operations that bind their key themselves (Spec.BindsKey).
func (c *Call) Replay() { c.replay = true }

// Created says that a PUT created what it names, and so answers 201. The Spec says
// that it may.
func (c *Call) Created() { c.status = http.StatusCreated }

// Immediately says that an order was done at once, and so answers 200. The Spec
// says that it may. It is called outside of transactions.
func (c *Call) Immediately() { c.status = http.StatusOK }

// Require refuses a caller who lacks a permission that something in the input
// needs, beyond those of the operation.
func (c *Call) Require(resource string, a Action, something string) error {
	if c.Door == Admin || c.Door == System || c.Caller.Permissions.Allow(resource, a) {
		return nil
	}
	verb := "write"
	if a == ActionRead {
		verb = "read"
	}
	return lacks(resource+":"+verb, "%s", something)
}

// Cause is an event that another resource writes because of this call: for
// whom, when and by whom.
func (c *Call) Cause() event.Event {
	e := CauseOf(c.Caller, c.Door, c.Now, c.RequestID)
	e.Organization = c.Org
	return e
}

// CauseOf is the same for a caller who called no operation.
func CauseOf(c *Caller, d Door, now clock.Time, requestID string) event.Event {
	return event.Event{Organization: c.Organization, At: now, ActorKind: string(c.Kind), ActorID: c.ActorID(),
		Door: d.String(), RequestID: requestID, Chain: c.Chain, Proposal: Named(c.Proposal),
		ApprovedBy: Named(c.ApprovedBy), Agent: Named(c.Agent), External: c.External}
}

// Named is an id as a row keeps it: nil for none.
func Named(v id.ID) *id.ID {
	if v == "" {
		return nil
	}
	return &v
}

// Read opens a snapshot: in Prepare, and in a Flow between outside calls.
func (c *Call) Read(ctx context.Context, fn func(context.Context, *db.Tx) error) error {
	if c.within && c.Tx != nil {
		return fn(ctx, c.Tx)
	}
	return c.runner.DB.Read(ctx, fn)
}

// record writes the emitted events. data is the encoded output.
func (c *Call) record(ctx context.Context, out any, data []byte) error {
	for _, e := range c.emits {
		text := data
		if e.text != nil {
			text = e.text
		} else if reflect.TypeOf(out).Kind() != reflect.Pointer || e.data != out {
			var err error
			if text, err = json.Marshal(e.data, stable); err != nil {
				return fmt.Errorf("op: event %s: %w", e.kind, err)
			}
		}
		was, err := previous(c.Tx.Before(e.id), e.data)
		if err != nil {
			return fmt.Errorf("op: event %s: %w", e.kind, err)
		}
		about := c.Cause()
		about.Organization, about.Type, about.ResourceID = e.org, e.kind, e.id
		about.Data, about.Previous = text, was
		about.External = about.External || IsExternal(e.data)
		if err := c.runner.Events.Append(ctx, c.Tx, about); err != nil {
			return err
		}
	}
	return nil
}

// Answer is the result of an operation: the REST body, envelope included.
type Answer struct {
	Status  int
	Body    []byte // nil for 204
	Replay  bool   // an earlier request's answer, kept under the idempotency key
	Content *Content
	Sight   Sight
}

// stable writes maps in the order of their keys.
var stable = json.Deterministic(true)

// The envelope of a single resource.
const (
	envelopeOpen  = `{"data":`
	envelopeClose = `}`
)

// encode writes the envelope. data is the part that a single resource fills.
func (o *Op) encode(out any) (body, data []byte, err error) {
	if o.nothing {
		return nil, nil, nil
	}
	var buf bytes.Buffer
	buf.Grow(512)
	if l, ok := out.(lister); ok {
		buf.Grow(8192)
		e := jsontext.NewEncoder(&buf)
		if err := e.WriteToken(jsontext.BeginObject); err != nil {
			return nil, nil, err
		}
		if err := l.envelope(e); err != nil {
			return nil, nil, err
		}
		if err := e.WriteToken(jsontext.EndObject); err != nil {
			return nil, nil, err
		}
		return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil, nil
	}
	buf.WriteString(envelopeOpen)
	if err := json.MarshalWrite(&buf, out, stable); err != nil {
		return nil, nil, err
	}
	n := buf.Len()
	buf.WriteString(envelopeClose)
	return buf.Bytes(), buf.Bytes()[len(envelopeOpen):n], nil
}

// Stream is the body of a Bytes operation as it arrives.
type Stream struct {
	io.Reader
	ContentType string
	Length      int64 // -1 if unknown
	Head        bool  // the caller wants only the headers of the answer
}

// Content is a Bytes operation's answer: bytes that can be served in part, or,
// with Write, a text that is written as it comes and whose length nobody knows.
type Content struct {
	Name     string
	Type     string
	ETag     string
	Modified time.Time
	io.ReadSeekCloser
	Write func(ctx context.Context, w io.Writer) error
}

// maxRanges is how many parts of a content one request may ask for. Each is a request
// of its own to a bucket.
const maxRanges = 10

// Serve answers with the bytes, or those parts of them that are asked for.
func (c *Content) Serve(w http.ResponseWriter, r *http.Request, from io.ReadSeeker) {
	if strings.Count(r.Header.Get("Range"), ",") >= maxRanges {
		r.Header.Del("Range") // RFC 9110 §14.2: it gets the whole
	}
	http.ServeContent(w, r, "", c.Modified, from)
}
