// Package event keeps the event log, which is also the audit trail: one row per
// change, written in the transaction of the change. It says what happened to
// what, who did it, through which door and in which request.
//
// A listener (a webhook, an automation) is a row of event_listeners. An event
// with listeners enqueues its own fan-out in its own transaction. Nobody follows
// the log by a cursor, which would skip events that commit late.
//
// Start reading at Log.Append.
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
	// the former values of the fields that changed; null when it was created, or nobody noted them
	Previous db.JSON `db:"previous"`
	// what led to it, first cause first: automations, and before them the mail that started them
	Chain []id.ID `db:"chain"`

	// the proposal that was carried out, and who decided it; null for what nobody had to decide
	Proposal   *id.ID `db:"proposal_id"`
	ApprovedBy *id.ID `db:"approved_by"`

	// the agent on whose account it happened, though an automation may have done it; null for nobody's
	Agent *id.ID `db:"agent_id"`
	// External says that strangers wrote some of what it tells.
	External bool `db:"external"`

	ID  id.ID `db:"id"`  // given by Append
	Seq int64 `db:"seq"` // given by the database
}

// BySystem makes the service itself the actor, for what it does on a schedule or
// because of news from outside.
func (e Event) BySystem() Event {
	e.ActorKind, e.Door, e.RequestID = "system", "system", string(id.OfRequest())
	return e
}

// ResourceType is the type without its verb: "contact.phone_number".
func ResourceType(eventType string) string {
	i := strings.LastIndexByte(eventType, '.')
	return eventType[:max(i, 0)]
}

// OfRequest is the ids of the events of a request, as SQL: $1 is the organization, $2
// the request and $3 when it began.
const OfRequest = "SELECT id FROM events WHERE organization_id = $1 AND request_id = $2 AND created_at >= $3"

// Append writes e to the log and enqueues its fan-out if anybody listens.
func (l *Log) Append(ctx context.Context, tx *db.Tx, e Event) error {
	var chain any
	if len(e.Chain) > 0 {
		chain = e.Chain
	}
	e.At = tx.NotBefore(e.At)
	e.External = e.External || tx.Author() == db.Stranger
	tx.Tell(e)
	args := []any{e.Organization, e.Type, id.New(), e.At, ResourceType(e.Type), e.ResourceID, e.ActorKind, e.ActorID,
		e.Door, e.RequestID, e.Data, chain, e.Previous, e.Proposal, e.ApprovedBy, e.Agent, e.External}
	row, err := insert(ctx, tx, args)
	if err != nil || !row.Heard {
		return err
	}
	return l.fanOut(ctx, tx, e.Organization, row.Seq)
}

const (
	insertText = `
		INSERT INTO events (organization_id, type, id, created_at, resource_type, resource_id, actor_kind,
			actor_id, door, request_id, data, chain, previous, proposal_id, approved_by, agent_id, external)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	heardText = `EXISTS (SELECT 1 FROM event_listeners l WHERE l.organization_id = $1 AND l.type = $2)
		OR EXISTS (SELECT 1 FROM event_listeners l WHERE l.organization_id = $1 AND l.type = '*')`
)

type inserted struct {
	Seq   int64 `db:"seq"`
	Heard bool  `db:"heard"`
}

// insert writes the row and asks whether anybody listens. PostgreSQL does both in
// one round trip. On SQLite a second statement is cheaper than RETURNING.
func insert(ctx context.Context, tx *db.Tx, args []any) (row inserted, err error) {
	if tx.Engine() == db.Postgres {
		return db.One[inserted](ctx, tx, insertText+" RETURNING seq, "+heardText+" AS heard", args...)
	}
	if row.Seq, err = db.Insert(ctx, tx, insertText, args...); err != nil {
		return row, err
	}
	row.Heard, err = db.One[bool](ctx, tx, "SELECT "+heardText, args[:2]...)
	return row, err
}
