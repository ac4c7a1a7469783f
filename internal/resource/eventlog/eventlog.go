// Package eventlog lets callers read the event log over the API: what happened, to
// what, who did it and how they came in. Webhooks, automations and the audit trail
// are made of the same events.
//
// It only reads. The operations that change something write their events in their
// own transaction (kernel/event), and nothing here may change or delete one. Event
// is a row as callers see it; listEvents has the filters, which follow the indexes
// of the table.
package eventlog

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Event is one thing that happened. It never changes.
type Event struct {
	op.Record
	Type         string  `json:"type" doc:"what happened, for example contact.created"`
	ResourceType string  `json:"resourceType" doc:"the kind of resource, for example contact"`
	ResourceID   id.ID   `json:"resourceId"`
	ActorKind    string  `json:"actorKind" enum:"user,agent,api,automation,system"`
	ActorID      *id.ID  `json:"actorId" doc:"the user, agent, API key or automation; null for the service itself"`
	Door         string  `json:"door" enum:"rest,agent,automation,console,admin,system" doc:"how the caller came in"`
	RequestID    string  `json:"requestId" view:"full" doc:"the request that caused it"`
	Data         db.JSON `json:"data" view:"full" doc:"the resource as GET returned it right after"`
	Previous     db.JSON `json:"previous" doc:"former values of what changed; null for creations"`
	ProposalID   *id.ID  `json:"proposalId" doc:"the proposal that was carried out"`
	ApprovedBy   *id.ID  `json:"approvedBy" doc:"the user who approved that proposal"`

	Seq int64 `json:"-" db:"seq"`
}

// eventColumns selects an Event. An event never changes and is never deleted by callers, so the fields that
// every resource has are filled in here.
const eventColumns = `id, created_at, created_at AS updated_at, NULL AS deleted_at, organization_id, external, type,
	resource_type, resource_id,
	actor_kind, actor_id, door, request_id, data, previous, proposal_id, approved_by, seq`

// Operations lists what can be done with the log.
func Operations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:      "events.list",
			NounWords: "log, history, audit, activity, happen, trail, protocol",
			Words: "yesterday, happen, who did, who changed, who deleted, changed since, last hour, agent did, " +
				"agent do, last night",
			Route:       "GET /v1/events",
			Resource:    "webhooks",
			Summary:     "List events, newest first.",
			Description: "Events feed webhooks and automations, and are the audit trail.",
			Example:     `{"type": "contact.created", "since": "2026-01-31T12:00:00Z", "limit": 20}`,
		}, listEvents),
		op.Read(op.Spec{
			Name:     "events.get",
			Route:    "GET /v1/events/{id}",
			Resource: "webhooks",
			Summary:  "Get an event.",
			Example:  `{"id": "2b9e6f0c-41d7-4d0b-8a55-7c3f1e9d2a64"}`,
		}, getEvent),
	}
}

type eventList struct {
	op.CursorPage
	Type         *string     `query:"type" doc:"exactly this type"`
	ResourceType *string     `query:"resourceType" doc:"a type without its verb, for example contact.phone_number"`
	ResourceID   *id.ID      `query:"resourceId"`
	ResourceIDs  []id.ID     `query:"resourceIds" doc:"one of these"`
	ActorID      *id.ID      `query:"actorId" doc:"the user, agent, API key or automation that did it"`
	Since        *clock.Time `query:"since" doc:"at this time or later"`
	Until        *clock.Time `query:"until" doc:"before this time"`
}

func listEvents(ctx context.Context, c *op.Call, in eventList) (*op.List[Event], error) {
	w := db.InOrganization(c.Org)
	db.FilterEqual(w, "resource_id", in.ResourceID)
	if len(in.ResourceIDs) > 0 {
		w.AmongRows(db.IndexedRows{Where: "resource_id = ANY(?)", Args: []any{in.ResourceIDs}})
	}
	if in.Type != nil {
		// The index begins with the resource's type, so both are compared.
		w.Filter("(resource_type = ? AND type = ?)", event.ResourceType(*in.Type), *in.Type)
	}
	if in.ResourceType != nil {
		w.AmongRows(db.IndexedRows{Where: "resource_type = ?", Args: []any{*in.ResourceType}})
	}
	if in.ActorID != nil {
		w.AmongRows(db.IndexedRows{Where: "actor_id = ?", Args: []any{*in.ActorID}})
	}
	if in.Until != nil {
		w.And("created_at < ?", *in.Until)
	}
	if in.Since != nil {
		w.And("created_at >= ?", *in.Since)
	}
	return op.BrowseLog(ctx, c, db.PermanentTable[Event]{Name: event.Table, Columns: eventColumns}, in.CursorPage, w)
}

// LogPlace is where the event is in the order of the log.
func (e Event) LogPlace() db.Cursor { return db.Cursor{Value: int64(e.CreatedAt), Seq: e.Seq} }

type eventRef struct {
	ID id.ID `path:"id" doc:"the event"`
}

func getEvent(ctx context.Context, c *op.Call, in eventRef) (*Event, error) {
	v, err := db.QueryOne[Event](ctx, c.Tx,
		"SELECT "+eventColumns+" FROM "+event.Table+" WHERE organization_id = $1 AND id = $2", c.Org, in.ID)
	return &v, db.AsNotFound(err, "event")
}
