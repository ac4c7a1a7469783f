package webhook

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
)

// message is the body that is sent: the three fields that Standard Webhooks
// asks for, and the event as /v1/events shows it.
type message struct {
	Type           string     `json:"type"`
	Timestamp      clock.Time `json:"timestamp"`
	Data           db.JSON    `json:"data"`
	Previous       db.JSON    `json:"previous"`
	ID             id.ID      `json:"id"`
	OrganizationID id.ID      `json:"organizationId"`
	ResourceType   string     `json:"resourceType"`
	ResourceID     id.ID      `json:"resourceId"`
	ActorKind      string     `json:"actorKind"`
	ActorID        *id.ID     `json:"actorId"`
	Door           string     `json:"door"`
	RequestID      string     `json:"requestId"`
	ProposalID     *id.ID     `json:"proposalId"`
	ApprovedBy     *id.ID     `json:"approvedBy"`
}

func (m *message) encodeBody() ([]byte, error) { return json.Marshal(m) }

// TestType is the type of the event that webhooks.test sends. The event log never
// contains one.
const TestType = "webhook.test"

// buildMessage builds a delivery's message from its event. It returns nil when the event was
// erased or is past its retention.
func buildMessage(ctx context.Context, tx *db.Tx, d *Delivery) (*message, error) {
	if d.EventSeq == nil {
		return buildTestMessage(d), nil
	}
	e, err := event.GetBySeq(ctx, tx, d.OrganizationID, *d.EventSeq)
	if errors.Is(err, db.ErrNoRow) || err == nil && e.Data == nil {
		return nil, nil
	}
	return &message{Type: e.Type, Timestamp: e.At, Data: e.Data, Previous: e.Previous, ID: e.ID,
		OrganizationID: e.Organization,
		ResourceType:   event.ResourceType(e.Type), ResourceID: e.ResourceID,
		ActorKind: e.ActorKind, ActorID: e.ActorID, Door: e.Door, RequestID: e.RequestID,
		ProposalID: e.Proposal, ApprovedBy: e.ApprovedBy}, err
}

// buildTestMessage builds the message of a test, which has no event in the log.
func buildTestMessage(d *Delivery) *message {
	e := event.Event{}.BySystem()
	return &message{Type: TestType, Timestamp: d.CreatedAt, Data: db.JSON(fmt.Sprintf(`{"webhookId":%q}`, d.WebhookID)),
		ID: d.EventID, OrganizationID: d.OrganizationID,
		ResourceType: event.ResourceType(TestType), ResourceID: d.WebhookID, ActorKind: e.ActorKind, Door: e.Door,
		RequestID: string(d.EventID)}
}
