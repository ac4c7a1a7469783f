// Package event appends to the event log, which is the audit trail too: one
// row per change, written in the transaction of the change, saying what
// happened to what, who did it, through which door and in which request.
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
	Organization id.ID
	At           clock.Time
	Type         string // "contact.phone_number.created"
	ResourceID   id.ID
	ActorKind    string // user, agent, api, automation, system
	ActorID      *id.ID
	Door         string
	RequestID    string
	Data         db.JSON // the resource as GET returns it
}

// ResourceType is the type without its verb: "contact.phone_number".
func ResourceType(eventType string) string {
	i := strings.LastIndexByte(eventType, '.')
	return eventType[:max(i, 0)]
}

// Append writes e into the log.
func Append(ctx context.Context, tx *db.Tx, e Event) error {
	_, err := db.Exec(ctx, tx, `
		INSERT INTO events (id, organization_id, created_at, type, resource_type, resource_id, actor_kind, actor_id, door, request_id, data)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		id.New(), e.Organization, e.At, e.Type, ResourceType(e.Type), e.ResourceID, e.ActorKind, e.ActorID, e.Door, e.RequestID, e.Data)
	return err
}
