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

// Call is one execution of an operation: who calls, when, for which organization and in which transaction. Every
// operation gets one, and takes the time, the organization and the transaction from it and from nowhere else.
type Call struct {
	Caller    *Caller
	Org       id.ID
	Now       clock.Time
	Door      Door
	RequestID string
	Tx        *db.Tx // open in a Read and a Write, and inside c.Write and Finish; nil otherwise
	Key       string // the idempotency key, where the operation takes one

	op             *Op
	runner         *Runner
	pendingEvents  []pendingEvent
	claim          *claim               // the hold of a Flow on its idempotency key; nil without a key
	finishedAnswer *Answer              // what Finish committed; nil before
	useAllowance   func(more int) error // see Request.UseAllowance
	ifMatch        *versionMatch        // the versions that the caller is ready to change (If-Match); nil for any
	replayed       bool                 // see MarkReplayed
	status         int                  // HTTP status of success

	inSeries   bool // in a Series: Read, Write and Finish join its open transaction instead of opening one
	rehearsing bool // in a Series whose transaction will be rolled back
	quote      any  // see Quote
	announced  []AnnouncedEvent
	watch      Watch // nil for nobody
}

// pendingEvent is an event that the call has emitted and that writeEvents writes when the work is done.
type pendingEvent struct {
	org  id.ID
	kind string // the event's type
	id   id.ID  // the row it is about
	data any
	text []byte // data as JSON, where a batch has encoded it already; nil otherwise
}

// NewID returns the id for a new row. A trace of the transaction notes that the row is new.
func (c *Call) NewID() id.ID {
	v := id.New()
	if c.Tx != nil {
		c.Tx.TraceInserted(v)
	}
	return v
}

// NewRecord returns the fields that every new row has.
func (c *Call) NewRecord() Record {
	return Record{ID: c.NewID(), CreatedAt: c.Now, UpdatedAt: c.Now, OrganizationID: c.Org}
}

// Emit adds an event to the transaction of the change; it is written after the operation has returned. data is the
// resource as GET returns it. When data is the very pointer that the operation returns, it is encoded only once. The
// type must be in Spec.Events.
func (c *Call) Emit(kind string, resource id.ID, data any) error {
	if !slices.Contains(c.op.Events, kind) {
		return fmt.Errorf("op: %s emits %s without declaring it", c.op.Name, kind)
	}
	c.pendingEvents = append(c.pendingEvents, pendingEvent{org: c.Org, kind: kind, id: resource, data: data})
	return nil
}

// EmittedCount is how many events the call has emitted in its current transaction.
func (c *Call) EmittedCount() int { return len(c.pendingEvents) }

// MarkReplayed says that the output is what an earlier call with the same key made, so that nothing is stored and the
// caller is told that it is a replay. It is for operations that keep their keys themselves (Spec.BindsKey).
func (c *Call) MarkReplayed() { c.replayed = true }

// MarkCreated has a PUT that created its row answer 201. Its Spec has MayCreate.
func (c *Call) MarkCreated() { c.status = http.StatusCreated }

// MarkFinishedNow has an operation that otherwise answers 202 answer 200, because its work is already done. Its Spec
// has MayFinishNow. It is called outside of transactions, because each transaction resets the status.
func (c *Call) MarkFinishedNow() { c.status = http.StatusOK }

// RequirePermission refuses a caller who lacks a permission that something in the input needs, beyond those that the
// operation itself needs. something begins the sentence of the refusal.
func (c *Call) RequirePermission(resource string, a Action, something string) error {
	if c.Door == AdminDoor || c.Door == SystemDoor || c.Caller.Permissions.Allow(resource, a) {
		return nil
	}
	verb := "write"
	if a == ActionRead {
		verb = "read"
	}
	return missingPermission(resource+":"+verb, "%s", something)
}

// EventCause is an event without type and data, for code that writes its own because of this call: it says in which
// organization, when, by whom and in which request.
func (c *Call) EventCause() event.Event {
	e := EventCauseOf(c.Caller, c.Door, c.Now, c.RequestID)
	e.Organization = c.Org
	return e
}

// EventCauseOf is EventCause where there is a caller but no operation.
func EventCauseOf(c *Caller, d Door, now clock.Time, requestID string) event.Event {
	return event.Event{Organization: c.Organization, At: now, ActorKind: string(c.Kind), ActorID: c.ActorIDOrNil(),
		Door: d.String(), RequestID: requestID, Chain: c.Chain, Proposal: IDOrNil(c.Proposal),
		ApprovedBy: IDOrNil(c.ApprovedBy), Agent: IDOrNil(c.Agent), External: c.External}
}

// IDOrNil is an id as a nullable column stores it: nil for the empty id.
func IDOrNil(v id.ID) *id.ID {
	if v == "" {
		return nil
	}
	return &v
}

// Read opens a snapshot of the database, in Prepare and in a Flow between outside calls. In a Series it uses the open
// transaction, so that a step sees what the steps before it wrote.
func (c *Call) Read(ctx context.Context, fn func(context.Context, *db.Tx) error) error {
	if c.inSeries && c.Tx != nil {
		return fn(ctx, c.Tx)
	}
	return c.runner.DB.Read(ctx, fn)
}

// writeEvents writes the emitted events, each with the values that it changed. data is the encoded output.
func (c *Call) writeEvents(ctx context.Context, out any, data []byte) error {
	for _, e := range c.pendingEvents {
		text := data
		if e.text != nil {
			text = e.text
		} else if reflect.TypeOf(out).Kind() != reflect.Pointer || e.data != out {
			var err error
			if text, err = json.Marshal(e.data, sortedKeys); err != nil {
				return fmt.Errorf("op: event %s: %w", e.kind, err)
			}
		}
		was, err := previousValues(c.Tx.RowBefore(e.id), e.data)
		if err != nil {
			return fmt.Errorf("op: event %s: %w", e.kind, err)
		}
		entry := c.EventCause()
		entry.Organization, entry.Type, entry.ResourceID = e.org, e.kind, e.id
		entry.Data, entry.Previous = text, was
		entry.External = entry.External || HoldsExternalText(e.data)
		if err := c.runner.Events.Append(ctx, c.Tx, entry); err != nil {
			return err
		}
	}
	return nil
}

// Answer is the result of an operation. Its body is what REST answers with, envelope included; other doors take it
// apart again.
type Answer struct {
	Status   int
	Body     []byte   // nil for 204
	Replay   bool     // an earlier request's answer, kept under the idempotency key
	Content  *Content // of a Bytes operation that answers with a file; nil otherwise
	Exposure Exposure // for the guard of agents; empty where nobody needs it
}

// sortedKeys has JSON written with the keys of maps in order, so that equal values have equal bytes.
var sortedKeys = json.Deterministic(true)

// The envelope of a single resource.
const (
	envelopeOpen  = `{"data":`
	envelopeClose = `}`
)

// encodeAnswer writes the answer's body. data is the part of it inside the envelope, for the event log; nil for a list.
func (o *Op) encodeAnswer(out any) (body, data []byte, err error) {
	if o.answersNothing {
		return nil, nil, nil
	}
	var buf bytes.Buffer
	buf.Grow(512)
	if l, ok := out.(anyList); ok {
		buf.Grow(8192)
		e := jsontext.NewEncoder(&buf)
		if err := e.WriteToken(jsontext.BeginObject); err != nil {
			return nil, nil, err
		}
		if err := l.writeEnvelope(e); err != nil {
			return nil, nil, err
		}
		if err := e.WriteToken(jsontext.EndObject); err != nil {
			return nil, nil, err
		}
		return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil, nil
	}
	buf.WriteString(envelopeOpen)
	if err := json.MarshalWrite(&buf, out, sortedKeys); err != nil {
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
	Length      int64 // as the caller declares it; -1 if unknown
	Head        bool  // a HEAD request: the caller wants only the headers of the answer
}

// Content is what a Bytes operation answers with: a file of which parts can be served (Range), or, with Write, a text
// that is produced while it is sent and whose length is not known.
type Content struct {
	Name     string
	Type     string
	ETag     string
	Modified time.Time
	io.ReadSeekCloser
	Write func(ctx context.Context, w io.Writer) error
}

// maxRanges is how many ranges of a file one request may ask for. Each costs a request of its own to the bucket that
// holds the file, so an unlimited list would multiply one small request by thousands.
const maxRanges = 10

// Serve answers with the bytes of from, or with those ranges of them that the request asks for.
func (c *Content) Serve(w http.ResponseWriter, r *http.Request, from io.ReadSeeker) {
	if strings.Count(r.Header.Get("Range"), ",") >= maxRanges {
		r.Header.Del("Range") // RFC 9110 §14.2: a server may ignore Range and send the whole
	}
	http.ServeContent(w, r, "", c.Modified, from)
}
