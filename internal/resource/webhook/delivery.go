package webhook

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Delivery is one event for one webhook, and what came of it: of its last
// attempt, and in the history of all of them.
type Delivery struct {
	op.Record
	WebhookID      id.ID       `json:"webhookId"`
	EventID        id.ID       `json:"eventId" doc:"the header webhook-id: the same in every attempt"`
	EventType      string      `json:"eventType"`
	Status         string      `json:"status" enum:"pending,retrying,succeeded,failed,canceled" doc:"pending before the first attempt, retrying while more are to come, canceled when the webhook was disabled or deleted first"`
	Attempts       int64       `json:"attempts" doc:"how often it was sent"`
	URL            *string     `json:"url" max:"2048" doc:"where the last attempt went"`
	AttemptedAt    *clock.Time `json:"attemptedAt" doc:"when the last attempt began"`
	NextAttemptAt  *clock.Time `json:"nextAttemptAt"`
	CompletedAt    *clock.Time `json:"completedAt" doc:"when it succeeded, or was given up"`
	DurationMs     *int64      `json:"durationMs" doc:"how long the last attempt took"`
	ResponseStatus *int64      `json:"responseStatus" doc:"null when nothing came back"`
	ResponseBody   *string     `json:"responseBody" max:"2048" doc:"its first 2 KB"`
	ErrorMessage   *string     `json:"errorMessage" max:"1000" doc:"why the last attempt failed"`
	RequestBody    *string     `json:"requestBody" db:"-" max:"10000000" doc:"what is sent; only when one delivery is asked for, and null when the event was erased"`
	History        *[]Attempt  `json:"history" db:"-" doc:"its attempts, the first one first, up to the eleven latest; only when one delivery is asked for"`

	Epoch    int64  `json:"-" db:"epoch"`
	EventSeq *int64 `json:"-" db:"event_seq"`
	Failures int    `json:"-" db:"failures"`
}

const (
	pending   = "pending"
	retrying  = "retrying"
	succeeded = "succeeded"
	failed    = "failed"
	canceled  = "canceled"
)

var deliveries = op.Nested[Delivery]{Rows: db.NewTable[Delivery]("webhook_deliveries", "delivery"), Parent: "webhooks", Noun: "webhook", Column: "webhook_id"}

func (s *Service) deliveryOperations() []*op.Op {
	const ref = webhookRefExample + `, "deliveryId": "b1d60f4e-5c87-4a92-9e3d-70a4c8f2165b"`
	return []*op.Op{
		op.Read(op.Spec{Name: "webhooks.deliveries.list", Route: "GET /v1/webhooks/{id}/deliveries", Summary: "List a webhook's deliveries, newest first.",
			Description: "Deliveries are kept for 30 days.", Example: `{` + webhookRefExample + `, "status": "failed", "eventType": "contact.created"}`}, listDeliveries),
		op.Read(op.Spec{Name: "webhooks.deliveries.get", Route: "GET /v1/webhooks/{id}/deliveries/{deliveryId}", Summary: "Get a delivery.",
			Example: `{` + ref + `}`}, getDelivery),
		op.Read(op.Spec{Name: "webhooks.deliveries.newest", Summary: "Get the newest delivery of each of many webhooks.", Resource: "webhooks", Doors: op.Console,
			Example: `{"ids": ["3f7a1c58-92d4-4e0b-b6a1-8c5d2e9f7041"]}`}, deliveries.Newest),
		op.Flow(op.Spec{Name: "webhooks.deliveries.redeliver", Outward: true, Route: "POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver", Status: 200,
			Summary:     "Send a delivery again now.",
			Description: "Answers with what came back. Works for every delivery, also one that succeeded, and for a disabled webhook. When it fails, nothing changes about the attempts to come.",
			Events:      []string{"webhook.delivery.redelivered"}, Example: `{` + ref + `}`}, s.redeliver),
	}
}

type deliveryRef struct {
	ID         id.ID `path:"id" doc:"the webhook"`
	DeliveryID id.ID `path:"deliveryId" doc:"the delivery"`
}

type deliveryList struct {
	ID id.ID `path:"id" doc:"the webhook"`
	op.Page
	Status    *string `query:"status" enum:"pending,retrying,succeeded,failed,canceled"`
	EventType *string `query:"eventType" doc:"exactly this type"`
}

func listDeliveries(ctx context.Context, c *op.Call, in deliveryList) (*op.List[Delivery], error) {
	w := deliveries.Under(c, in.ID)
	db.Equal(w, "status", in.Status)
	db.Equal(w, "event_type", in.EventType)
	return deliveries.ListUncounted(ctx, c, in.ID, w, in.Page)
}

func getDelivery(ctx context.Context, c *op.Call, in deliveryRef) (*Delivery, error) {
	d, err := deliveries.Get(ctx, c, in.ID, in.DeliveryID)
	if err != nil {
		return nil, err
	}
	attempts, err := d.history(ctx, c.Tx)
	if err != nil {
		return nil, err
	}
	d.History = &attempts
	m, err := messageOf(ctx, c.Tx, d)
	if err != nil || m == nil {
		return d, err
	}
	body, err := m.body()
	text := string(body)
	d.RequestBody = &text
	return d, err
}
