// Package webhook tells others of events over HTTP, as Standard Webhooks asks
// (https://www.standardwebhooks.com): signed, at least once, first attempts in
// the order of the log, and retries for three days that delay nothing.
//
// A webhook is an endpoint (webhook.go); a delivery is one event for one
// endpoint (delivery.go). The fan-out of the event log writes deliveries
// (hear.go); jobs work them off, one at a time for each endpoint (shift.go).
// Deliveries themselves make no events, so nothing goes in circles.
//
// The network is never called from inside a transaction, and only through
// kernel/outbound. Start reading at Service, then step in shift.go.
package webhook

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Webhook is an endpoint that is told of events.
type Webhook struct {
	op.Record
	URL                 string      `json:"url" max:"2048"`
	Events              []string    `json:"events" doc:"the types of events it is told of; * is every type"`
	Description         *string     `json:"description" max:"1000"`
	Status              string      `json:"status" enum:"active,disabled" doc:"a disabled endpoint is told of nothing, not even later"`
	DisabledReason      *string     `json:"disabledReason" enum:"gone,failing,maker_left" doc:"why the service disabled it: it answered 410, nothing came through for three days, or the member who last set its URL left the organization. Null when a caller did"`
	PreviousSecretUntil *clock.Time `json:"previousSecretUntil" doc:"until when the secret before the last rotation signs as well"`
	Secret              *string     `json:"secret" db:"-" doc:"signs what is sent; shown once, in the answer that creates or rotates it"`

	Sealed   []byte `json:"-" db:"secret"`
	Previous []byte `json:"-" db:"previous_secret"`
	Epoch    int64  `json:"-" db:"epoch"`
	Slow     bool   `json:"-" db:"slow"`

	SendTurn  int64       `json:"-" db:"send_turn"`
	SendAt    *clock.Time `json:"-" db:"send_at"`
	RetryTurn int64       `json:"-" db:"retry_turn"`
	RetryAt   *clock.Time `json:"-" db:"retry_at"`

	// MakerUserID is for whom it is told: who last said where to, or enabled it.
	MakerUserID *id.ID `json:"-" db:"maker_user_id"`
}

const (
	active   = "active"
	disabled = "disabled"

	gone      = "gone"
	failing   = "failing"
	makerLeft = "maker_left"
)

var webhooks = db.NewTable[Webhook]("webhooks", "webhook")

// maxWebhooks bounds what one event costs its organization.
const maxWebhooks = 100

// ErrTooMany refuses one webhook more.
var ErrTooMany = fault.Define("WEBHOOK_LIMIT_REACHED", 409, "An organization has at most 100 webhooks. Delete one first.")

const webhookRefExample = `"id": "3f7a1c58-92d4-4e0b-b6a1-8c5d2e9f7041"`

// Operations lists everything that can be done with webhooks.
func (s *Service) Operations() []*op.Op {
	const ref = webhookRefExample
	return append([]*op.Op{
		op.Read(op.Spec{Name: "webhooks.list", Route: "GET /v1/webhooks", Summary: "List webhooks, newest first.",
			Example: `{"status": "active", "limit": 20}`}, listWebhooks),
		op.Write(op.Spec{Name: "webhooks.create", Outward: true, Route: "POST /v1/webhooks", Summary: "Create a webhook.",
			Description: "The secret is shown only in this answer. What is sent is signed with it as Standard Webhooks says: headers webhook-id, webhook-timestamp and webhook-signature.",
			Errors:      []*fault.Kind{ErrTooMany}, Events: []string{"webhook.created"}, Secret: true,
			Example: `{"url": "https://hooks.example.com/frontdesk", "events": ["contact.created", "contact.updated"], "description": "The CRM"}`}, s.createWebhook),
		op.Read(op.Spec{Name: "webhooks.get", Route: "GET /v1/webhooks/{id}", Summary: "Get a webhook.",
			Example: `{` + ref + `}`}, getWebhook),
		op.Write(op.Spec{Name: "webhooks.update", Route: "PATCH /v1/webhooks/{id}", Summary: "Change fields of a webhook.",
			Description: "Disabling it cancels what is waiting to be sent.", Events: []string{"webhook.updated"},
			Example: `{` + ref + `, "events": ["*"], "description": null}`}, s.updateWebhook),
		op.Write(op.Spec{Name: "webhooks.delete", Route: "DELETE /v1/webhooks/{id}", Summary: "Delete a webhook.",
			Description: "What is waiting to be sent is canceled.", Events: []string{"webhook.deleted"},
			Example: `{` + ref + `}`}, s.deleteWebhook),
		op.Write(op.Spec{Name: "webhooks.rotate_secret", Route: "POST /v1/webhooks/{id}/rotate-secret", Status: 200, Summary: "Give a webhook a new secret.",
			Description: "The secret is shown only in this answer. For 24 hours both the new and the previous secret sign, so that the receiver can change in its own time. A rotation in that time ends the older one at once.",
			Events:      []string{"webhook.secret_rotated"}, Secret: true, Example: `{` + ref + `}`}, s.rotateSecret),
		op.Flow(op.Spec{Name: "webhooks.test", Outward: true, Route: "POST /v1/webhooks/{id}/test", Status: 200, Summary: "Send a test event to a webhook now.",
			Description: "Sends a signed event of the type webhook.test and answers with what came back. It is not retried. Works for a disabled webhook too.",
			Events:      []string{"webhook.tested"}, Example: `{` + ref + `}`}, s.testWebhook),
	}, s.deliveryOperations()...)
}

type webhookRef struct {
	ID id.ID `path:"id" doc:"the webhook"`
}

type webhookList struct {
	op.Page
	Status *string `query:"status" enum:"active,disabled"`
}

func listWebhooks(ctx context.Context, c *op.Call, in webhookList) (*op.List[Webhook], error) {
	w := db.In(c.Org)
	db.Equal(w, "status", in.Status)
	rows, err := webhooks.List(ctx, c.Tx, w, in.DB())
	return op.ListOf(in.Page, rows), err
}

type webhookCreate struct {
	URL         string   `json:"url" min:"1" max:"2048" doc:"https"`
	Events      []string `json:"events" min:"1" max:"100" doc:"types of events, for example contact.created; * is every type"`
	Description *string  `json:"description" max:"1000"`
	Status      string   `json:"status" default:"active" enum:"active,disabled"`
}

func (s *Service) createWebhook(ctx context.Context, c *op.Call, in webhookCreate) (*Webhook, error) {
	// An endpoint is taken for slow until it has answered: one that never does
	// never takes a place from those that do.
	v := Webhook{Record: c.NewRecord(), URL: in.URL, Events: in.Events, Description: in.Description, Status: in.Status, Slow: true,
		MakerUserID: c.Caller.UserID()}
	if err := s.check(&v, true, true); err != nil {
		return nil, err
	}
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	n, err := webhooks.Count(ctx, c.Tx, db.In(c.Org))
	if err != nil {
		return nil, err
	}
	if n >= maxWebhooks {
		return nil, ErrTooMany.New()
	}
	secret := newSecret()
	if v.Sealed, err = s.seal.Seal([]byte(secret), place(v.ID)); err != nil {
		return nil, err
	}
	if err := webhooks.Insert(ctx, c.Tx, &v); err != nil {
		return nil, err
	}
	if err := v.listen(ctx, c.Tx); err != nil {
		return nil, err
	}
	shown := v
	shown.Secret = &secret
	return &shown, c.Emit("webhook.created", v.ID, &v) // without the secret: the log keeps none
}

// listen follows the webhook's status and types in the event log.
func (v *Webhook) listen(ctx context.Context, tx *db.Tx) error {
	var types []string
	if v.Status == active {
		types = v.Events
	}
	return event.Listen(ctx, tx, v.OrganizationID, listenerKind, v.ID, types)
}

func getWebhook(ctx context.Context, c *op.Call, in webhookRef) (*Webhook, error) {
	return webhooks.Get(ctx, c.Tx, c.Org, in.ID)
}

type webhookUpdate struct {
	webhookRef
	URL         op.Maybe[string]   `json:"url" min:"1" max:"2048"`
	Events      op.Maybe[[]string] `json:"events" min:"1" max:"100"`
	Description op.Opt[string]     `json:"description" max:"1000"`
	Status      op.Maybe[string]   `json:"status" enum:"active,disabled"`
}

func (s *Service) updateWebhook(ctx context.Context, c *op.Call, in webhookUpdate) (*Webhook, error) {
	v, err := webhooks.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	before, url := v.Status, v.URL
	if !op.Apply(v, &in) {
		return v, nil
	}
	if v.URL != url || v.Status == active && before == disabled {
		v.MakerUserID = c.Caller.UserID()
	}
	if err := s.check(v, in.URL.Set, in.Events.Set); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	v.Slow = v.Slow || in.URL.Set
	if v.Status != before {
		v.DisabledReason = nil
	}
	if v.Status == disabled && before == active {
		if err := s.retire(ctx, c.Tx, v); err != nil {
			return nil, err
		}
	}
	if err := v.listen(ctx, c.Tx); err != nil {
		return nil, err
	}
	if err := webhooks.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("webhook.updated", v.ID, v)
}

func (s *Service) deleteWebhook(ctx context.Context, c *op.Call, in webhookRef) (op.Nothing, error) {
	v, err := webhooks.Remove(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := event.Listen(ctx, c.Tx, c.Org, listenerKind, v.ID, nil); err != nil {
		return op.Nothing{}, err
	}
	if err := s.retire(ctx, c.Tx, v); err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("webhook.deleted", v.ID, v)
}

func (s *Service) rotateSecret(ctx context.Context, c *op.Call, in webhookRef) (*Webhook, error) {
	v, err := webhooks.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	old, err := s.seal.Open(v.Sealed, place(v.ID))
	if err != nil {
		return nil, err
	}
	if v.Previous, err = s.seal.Seal(old, previousPlace(v.ID)); err != nil {
		return nil, err
	}
	secret := newSecret()
	if v.Sealed, err = s.seal.Seal([]byte(secret), place(v.ID)); err != nil {
		return nil, err
	}
	until := c.Now.Add(overlap)
	v.PreviousSecretUntil, v.UpdatedAt = &until, c.Now
	if err := webhooks.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	shown := *v
	shown.Secret = &secret
	return &shown, c.Emit("webhook.secret_rotated", v.ID, v)
}
