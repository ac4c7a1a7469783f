// Package event keeps the event log, which is also the audit trail: one row per change, written in the transaction of
// the change. A row says what happened to what, who did it, through which door and in which request.
//
// Read event.go first: Event, and Log.Append, which writes one. A listener (a webhook, an automation) is a row of
// event_listeners. If an event has listeners, Append also enqueues a job in the same transaction, the fan-out, which
// later calls the Handler of each listener (listen.go). Notifications hear all organizations (Log.OnAll). Work never
// reads the log by a cursor ("all after the last seq I saw"): transactions commit in another order than they take their
// numbers, so a cursor would skip events that commit late. order.go is for listeners that must act in the order of the
// log all the same. follow.go tells open pages what happens, and may miss some. The queries are at the end of
// listen.go; erase.go says what becomes of events when a person is erased.
//
// Events are never changed, except that erasing a person removes their data, and end only by their age.
package event

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Event is one thing that happened.
type Event struct {
	Organization id.ID      `db:"organization_id"`
	At           clock.Time `db:"created_at"`
	Type         string     `db:"type"` // "contact.phone_number.created"
	ResourceID   id.ID      `db:"resource_id"`
	ActorKind    string     `db:"actor_kind"` // user, agent, api, automation, system
	ActorID      *id.ID     `db:"actor_id"`
	Door         string     `db:"door"`
	RequestID    string     `db:"request_id"`
	Data         db.JSON    `db:"data"` // the resource as GET returns it
	// Previous has the former values of the fields that changed; null for a new row, and where they are not known.
	Previous db.JSON `db:"previous"`
	// Chain is what led to the event, the first cause first: automations, and before them the mail that started them.
	Chain []id.ID `db:"chain"`

	// Proposal is the agent's proposal that was being carried out, and ApprovedBy who approved it; null otherwise.
	Proposal   *id.ID `db:"proposal_id"`
	ApprovedBy *id.ID `db:"approved_by"`

	// Agent is the agent to whose limits it counts, even if an automation did it; null for none.
	Agent *id.ID `db:"agent_id"`
	// External says that people outside the organization wrote some of the data.
	External bool `db:"external"`

	ID  id.ID `db:"id"`  // given by Append
	Seq int64 `db:"seq"` // given by the database
}

// BySystem makes the service itself the actor, for what it does on a schedule or because a provider reported something.
func (e Event) BySystem() Event {
	e.ActorKind, e.Door, e.RequestID = "system", "system", string(id.NewRequestID())
	return e
}

// About is the event with its type and the row that it is about.
func (e Event) About(eventType string, row id.ID) Event {
	e.Type, e.ResourceID = eventType, row
	return e
}

// ResourceType is the type without its verb: "contact.phone_number".
func ResourceType(eventType string) string {
	i := strings.LastIndexByte(eventType, '.')
	return eventType[:max(i, 0)]
}

// SelectIDsOfRequest is a SELECT of the ids of a request's events. $1 is the organization, $2 the request and $3 when
// it began: there is an index by time and none by request.
const SelectIDsOfRequest = "SELECT id FROM events WHERE organization_id = $1 AND request_id = $2 AND created_at >= $3"

// Append writes e to the log, adds it to the trace of the transaction, and enqueues its fan-out if anybody listens. Its
// time is never before the last change of a row that the transaction has locked, so that the events of a row are in
// order even if two machines' clocks differ.
func (l *Log) Append(ctx context.Context, tx *db.Tx, e Event) error {
	var chain any
	if len(e.Chain) > 0 {
		chain = e.Chain
	}
	e.At = tx.TimeAfterLocked(e.At)
	e.External = e.External || tx.Author() == db.AuthorExternal
	tx.AddToTrace(e)
	args := []any{e.Organization, e.Type, id.New(), e.At, ResourceType(e.Type), e.ResourceID, e.ActorKind, e.ActorID,
		e.Door, e.RequestID, e.Data, chain, e.Previous, e.Proposal, e.ApprovedBy, e.Agent, e.External}
	row, err := insertEvent(ctx, tx, args)
	if err != nil || !row.Heard && !l.concernsAll(&e) {
		return err
	}
	return l.enqueueFanOut(ctx, tx, e.Organization, row.Seq)
}

const (
	insertText = `
		INSERT INTO events (organization_id, type, id, created_at, resource_type, resource_id, actor_kind,
			actor_id, door, request_id, data, chain, previous, proposal_id, approved_by, agent_id, external)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	heardText = `EXISTS (SELECT 1 FROM event_listeners l WHERE l.organization_id = $1 AND l.type = $2)
		OR EXISTS (SELECT 1 FROM event_listeners l WHERE l.organization_id = $1 AND l.type = '*')`
)

type insertedRow struct {
	Seq   int64 `db:"seq"`
	Heard bool  `db:"heard"` // somebody listens
}

// insertEvent writes the row and finds out whether anybody listens. PostgreSQL does both in one round trip. On SQLite,
// which has no round trip, a second statement is cheaper than RETURNING.
func insertEvent(ctx context.Context, tx *db.Tx, args []any) (row insertedRow, err error) {
	if tx.Engine() == db.Postgres {
		return db.QueryOne[insertedRow](ctx, tx, insertText+" RETURNING seq, "+heardText+" AS heard", args...)
	}
	if row.Seq, err = db.InsertReturningSeq(ctx, tx, insertText, args...); err != nil {
		return row, err
	}
	row.Heard, err = db.QueryOne[bool](ctx, tx, "SELECT "+heardText, args[:2]...)
	return row, err
}
