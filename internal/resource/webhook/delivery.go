package webhook

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Delivery is one event for one webhook, with the outcome of its last attempt,
// and all attempts in its history.
type Delivery struct {
	op.Record
	WebhookID      id.ID          `json:"webhookId"`
	EventID        id.ID          `json:"eventId" doc:"the webhook-id header; the same in every attempt"`
	EventType      string         `json:"eventType"`
	Status         DeliveryStatus `json:"status" enum:"pending,retrying,succeeded,failed,canceled"`
	Attempts       int64          `json:"attempts" doc:"how often it was sent"`
	URL            *string        `json:"url" max:"2048" doc:"where the last attempt went"`
	AttemptedAt    *clock.Time    `json:"attemptedAt" doc:"when the last attempt began"`
	NextAttemptAt  *clock.Time    `json:"nextAttemptAt"`
	CompletedAt    *clock.Time    `json:"completedAt" doc:"when it succeeded or was given up"`
	DurationMs     *int64         `json:"durationMs" doc:"how long the last attempt took"`
	ResponseStatus *int64         `json:"responseStatus" doc:"null without an answer"`
	ResponseBody   *string        `json:"responseBody" max:"2048" doc:"the first 2 KB"`
	ErrorMessage   *string        `json:"errorMessage" max:"1000" doc:"why the last attempt failed"`
	RequestBody    *string        `json:"requestBody" db:"-" max:"10000000" doc:"null when the event was erased"`
	History        *[]Attempt     `json:"history" db:"-" doc:"the latest attempts, at most eleven, oldest first"`

	Epoch    int64  `json:"-" db:"epoch"`     // the webhook's, when it was enqueued
	EventSeq *int64 `json:"-" db:"event_seq"` // nil for a test
	Failures int    `json:"-" db:"failures"`  // of scheduled attempts
}

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

const (
	deliveryPending   DeliveryStatus = "pending"
	deliveryRetrying  DeliveryStatus = "retrying"
	deliverySucceeded DeliveryStatus = "succeeded"
	deliveryFailed    DeliveryStatus = "failed"
	deliveryCanceled  DeliveryStatus = "canceled"
)

var deliveries = op.NewNested[Delivery]("webhook_deliveries", db.Life{
	Noun:         "delivery",
	ExternalText: db.NoExternalText,
	ExternalOnly: []string{"response_body", "error_message"},
	Parent:       db.RefTo("webhook_id", "webhooks", db.EndsAtPurge),
	Refs:         []db.Ref{db.RefTo("event_id", "events", db.Keeps)},
	Permanent:    true,
	Expire:       db.Expiry{After: func(r config.Retention) time.Duration { return r.Deliveries }},
	// An endpoint's answer may repeat what it received.
	Erase: life.BlankColumns("response_body = NULL").OnlyWhere("response_body IS NOT NULL").
		AlsoFind(findDeliveries),
	Unexported: []string{"epoch", "event_seq", "failures"},
})

func (s *Service) deliveryOperations() []*op.Op {
	const ref = webhookRefExample + `, "deliveryId": "b1d60f4e-5c87-4a92-9e3d-70a4c8f2165b"`
	return []*op.Op{
		op.Read(op.Spec{
			Name:      "webhooks.deliveries.list",
			NounWords: "notice, attempt, callback",
			Words:     "fail",
			Route:     "GET /v1/webhooks/{id}/deliveries",
			Summary:   "List a webhook's deliveries, newest first.",
			Description: "Deliveries are kept for 30 days. A retrying one has more attempts to come; a canceled one " +
				"was not sent, because its webhook was disabled or deleted first.",
			Example: `{` + webhookRefExample + `, "status": ["failed"], "eventType": "contact.created"}`,
		}, listDeliveries),
		op.GetChild(op.Spec{
			Name:        "webhooks.deliveries.get",
			Description: "Only this answer has requestBody and history.",
		}, deliveries, fillHistory),
		op.Read(op.Spec{
			Name:     "webhooks.deliveries.newest",
			Summary:  "Get the newest delivery of each of many webhooks.",
			Resource: "webhooks",
			Doors:    op.ConsoleDoor,
			Example:  `{"ids": ["3f7a1c58-92d4-4e0b-b6a1-8c5d2e9f7041"]}`,
		}, deliveries.NewestPerParent),
		op.Flow(op.Spec{
			Name:      "webhooks.deliveries.redeliver",
			Words:     "send again, missed, resend, was down, repeat",
			Outward:   true,
			Rehearses: true,
			Route:     "POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver",
			Status:    200,
			Summary:   "Send a delivery again now.",
			Description: "Answers with what came back. Works for every delivery, even one that succeeded, and for a " +
				"disabled webhook. A failure does not affect the attempts to come.",
			Events:  []string{"webhook.delivery.redelivered"},
			Example: `{` + ref + `}`,
		}, s.redeliver),
	}
}

// fillHistory fills in what only the answer for one delivery has: its attempts and its body.
func fillHistory(ctx context.Context, c *op.Call, d *Delivery) error {
	attempts, err := d.loadHistory(ctx, c.Tx)
	if err != nil {
		return err
	}
	d.History = &attempts
	m, err := buildMessage(ctx, c.Tx, d)
	if err != nil || m == nil {
		return err
	}
	body, err := m.encodeBody()
	text := string(body)
	d.RequestBody = &text
	return err
}

type deliveryRef struct {
	ID         id.ID `path:"id" doc:"the webhook"`
	DeliveryID id.ID `path:"deliveryId" doc:"the delivery"`
}

type deliveryList struct {
	ID id.ID `path:"id" doc:"the webhook"`
	op.Page
	Status    []DeliveryStatus `query:"status" enum:"pending,retrying,succeeded,failed,canceled"`
	EventType *string          `query:"eventType" doc:"exactly this type"`
}

func listDeliveries(ctx context.Context, c *op.Call, in deliveryList) (*op.List[Delivery], error) {
	w := deliveries.WhereParent(c, in.ID)
	db.FilterOneOf(w, "status", in.Status)
	db.FilterEqual(w, "event_type", in.EventType)
	return deliveries.ListUncounted(ctx, c, in.ID, w, in.Page)
}
