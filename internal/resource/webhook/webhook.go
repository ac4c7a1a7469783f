// Package webhook sends events to others over HTTP, following Standard Webhooks
// (https://www.standardwebhooks.com): signed, at least once, first attempts in the
// order of the event log, and retries for three days that delay nothing else.
//
// A Webhook is an endpoint (webhook.go); a Delivery is one event for one endpoint
// (delivery.go). The event log calls enqueueDelivery for each event that a webhook
// listens for (enqueue.go). Jobs work deliveries off, one at a time for each
// endpoint and queue (queue.go): a worker sends (attempt.go), records the outcome
// and schedules the retry (settle.go), and takes up the next. ask.go is for
// callers who test or redeliver and wait for the answer. Deliveries themselves
// emit no events, so webhooks cannot trigger each other for ever.
//
// The network is never called inside a transaction, and only through
// kernel/outbound, which refuses private addresses. A webhook's secret is stored
// sealed and must not get into an event.
//
// Start reading at Service, then workQueue and nextStep in queue.go.
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

// Fields are what callers set of a webhook.
type Fields struct {
	URL         string   `json:"url" min:"1" max:"2048" doc:"https"`
	Events      []string `json:"events" min:"1" max:"100" doc:"event types like contact.created; * is every type"`
	Description *string  `json:"description" max:"1000"`
	Status      Status   `json:"status" default:"active" enum:"active,disabled"`
}

// Webhook is an endpoint that receives events.
type Webhook struct {
	op.Record
	Fields
	DisabledReason      *string     `json:"disabledReason" enum:"gone,failing,maker_left" doc:"null when a caller did"`
	PreviousSecretUntil *clock.Time `json:"previousSecretUntil" doc:"until then the previous secret also signs"`
	Secret              *string     `json:"secret" db:"-" doc:"signs deliveries; shown once, on creation or rotation"`

	Sealed   []byte `json:"-" db:"secret"`
	Previous []byte `json:"-" db:"previous_secret"`
	Epoch    int64  `json:"-" db:"epoch"` // goes up when all waiting deliveries are canceled
	Slow     bool   `json:"-" db:"slow"`  // its jobs run in the lane for slow endpoints

	// Of the two queues: the number of the job that works it, and when that job
	// runs next; nil for no job, zero while it works.
	SendTurn  int64       `json:"-" db:"send_turn"`
	SendAt    *clock.Time `json:"-" db:"send_at"`
	RetryTurn int64       `json:"-" db:"retry_turn"`
	RetryAt   *clock.Time `json:"-" db:"retry_at"`

	// MakerUserID is who last set the URL or enabled the webhook (keeper.go).
	MakerUserID *id.ID `json:"-" db:"maker_user_id"`
}

// Status says whether an endpoint receives events.
type Status string

const (
	statusActive   Status = "active"
	statusDisabled Status = "disabled"

	// Why the service disabled a webhook.
	reasonGone      = "gone"
	reasonFailing   = "failing"
	reasonMakerLeft = "maker_left"
)

var webhooks = db.NewTable[Webhook]("webhooks", db.Life{
	Noun:         "webhook",
	ExternalText: db.NoExternalText,
	Refs:         []db.Ref{db.RefTo("maker_user_id", "users", db.Keeps)},
	Sealed: []db.Sealed{
		{Column: "secret", Place: "'webhooks/' || id"},
		{Column: "previous_secret", Place: "'webhooks/' || id || '/previous'"},
	},
	Unexported: []string{"epoch", "slow", "send_turn", "send_at", "retry_turn", "retry_at"},
})

// maxWebhooks bounds how many deliveries one event can cause.
const maxWebhooks = 100

// LimitReached refuses another webhook.
var LimitReached = fault.DefineKind("WEBHOOK_LIMIT_REACHED", 409,
	"An organization has at most 100 webhooks. Delete one first.")

const webhookRefExample = `"id": "3f7a1c58-92d4-4e0b-b6a1-8c5d2e9f7041"`

// Operations lists everything that can be done with webhooks.
func (s *Service) Operations() []*op.Op {
	const ref = webhookRefExample
	return append([]*op.Op{
		op.ListRows(op.Spec{
			Name:      "webhooks.list",
			NounWords: "hook, system, server, endpoint, notify, integration, callback, zapier",
			Example:   `{"status": ["active"], "limit": 20}`,
		}, webhooks, func(in *webhookList, w *db.Where) { db.FilterOneOf(w, "status", in.Status) }),
		op.Write(op.Spec{
			Name:    "webhooks.create",
			Words:   "whenever, tell system, tell server, notify system",
			Outward: true,
			Route:   "POST /v1/webhooks",
			Summary: "Create a webhook.",
			Description: "The secret is shown only in this answer. Deliveries are signed with it as Standard " +
				"Webhooks says: headers webhook-id, webhook-timestamp and webhook-signature.",
			Errors: []*fault.Kind{LimitReached},
			Events: []string{"webhook.created"},
			Secret: true,
			Example: `{"url": "https://hooks.example.com/frontdesk", "events": ["contact.created", ` +
				`"contact.updated"], ` +
				`"description": "The CRM"}`,
		}, s.createWebhook),
		op.GetRow(op.Spec{
			Name: "webhooks.get",
			Description: "disabledReason says why the service disabled it: gone, the endpoint answered 410; " +
				"failing, nothing came through for three days; maker_left, the member who last set its URL left " +
				"the organization.",
		}, webhooks),
		op.Write(op.Spec{
			Name:    "webhooks.update",
			Route:   "PATCH /v1/webhooks/{id}",
			Summary: "Change fields of a webhook.",
			Description: "Disabling it cancels the deliveries that are waiting. Events of that time are not sent " +
				"later.",
			Events:  []string{"webhook.updated"},
			Example: `{` + ref + `, "events": ["*"], "description": null}`,
		}, s.updateWebhook),
		op.DeleteRow(op.Spec{Name: "webhooks.delete", Description: "Waiting deliveries are canceled."}, webhooks,
			s.stopDeliveries),
		op.RestoreRow("webhooks", "webhooks", webhooks, restoreDisabled),
		op.Write(op.Spec{
			Name:    "webhooks.rotate_secret",
			Words:   "key, leak",
			Route:   "POST /v1/webhooks/{id}/rotate-secret",
			Status:  200,
			Summary: "Give a webhook a new secret.",
			Description: "The secret is shown only in this answer. For 24 hours both the new and the previous secret " +
				"sign, so that the receiver can switch at its own pace. Another rotation in that time ends the " +
				"oldest at once.",
			Events:  []string{"webhook.secret_rotated"},
			Secret:  true,
			Example: `{` + ref + `}`,
		}, s.rotateSecret),
		op.Flow(op.Spec{
			Name:      "webhooks.test",
			Outward:   true,
			Rehearses: true,
			Route:     "POST /v1/webhooks/{id}/test",
			Status:    200,
			Summary:   "Send a test event to a webhook now.",
			Description: "Sends a signed event of the type webhook.test and answers with what came back. It is not " +
				"retried. Works for a disabled webhook too.",
			Events:  []string{"webhook.tested"},
			Example: `{` + ref + `}`,
		}, s.testWebhook),
	}, s.deliveryOperations()...)
}

type webhookRef struct {
	ID id.ID `path:"id" doc:"the webhook"`
}

type webhookList struct {
	op.Browse
	SortBy string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt"`
	Status []Status `query:"status" enum:"active,disabled"`
}

func (s *Service) createWebhook(ctx context.Context, c *op.Call, in Fields) (*Webhook, error) {
	// A new endpoint counts as slow until it has answered quickly, so one that
	// never answers cannot take a place from those that do.
	v := Webhook{Record: c.NewRecord(), Fields: in, Slow: true, MakerUserID: c.Caller.UserIDOrNil()}
	if err := s.checkFields(&v, true, true); err != nil {
		return nil, err
	}
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	n, err := webhooks.Count(ctx, c.Tx, db.InOrganization(c.Org))
	if err != nil {
		return nil, err
	}
	if n >= maxWebhooks {
		return nil, LimitReached.New()
	}
	secret := newSecret()
	if v.Sealed, err = s.seal.Seal([]byte(secret), secretPlace(v.ID)); err != nil {
		return nil, err
	}
	if err := webhooks.Insert(ctx, c.Tx, &v); err != nil {
		return nil, err
	}
	if err := v.updateListener(ctx, c.Tx); err != nil {
		return nil, err
	}
	shown := v
	shown.Secret = &secret
	return &shown, c.Emit("webhook.created", v.ID, &v) // without the secret, which the log must not keep
}

// updateListener makes the event log send the webhook what its status and types ask for.
func (v *Webhook) updateListener(ctx context.Context, tx *db.Tx) error {
	var types []string
	if v.Status == statusActive {
		types = v.Events
	}
	return event.SetListenedTypes(ctx, tx, v.OrganizationID, event.Listener{Kind: listenerKind, ID: v.ID}, types)
}

type webhookUpdate struct {
	webhookRef
	op.Changes[Fields]
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
	if v.URL != url || v.Status == statusActive && before == statusDisabled {
		v.MakerUserID = c.Caller.UserIDOrNil()
	}
	if err := s.checkFields(v, in.Has("url"), in.Has("events")); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	v.Slow = v.Slow || in.Has("url")
	if v.Status != before {
		v.DisabledReason = nil
	}
	if v.Status == statusDisabled && before == statusActive {
		if err := s.cancelWaiting(ctx, c.Tx, v); err != nil {
			return nil, err
		}
	}
	if err := v.updateListener(ctx, c.Tx); err != nil {
		return nil, err
	}
	if err := webhooks.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("webhook.updated", v.ID, v)
}

// stopDeliveries ends what a deleted webhook would still have been sent.
func (s *Service) stopDeliveries(ctx context.Context, c *op.Call, v *Webhook) error {
	if err := event.SetListenedTypes(ctx, c.Tx, c.Org, event.Listener{Kind: listenerKind, ID: v.ID}, nil); err != nil {
		return err
	}
	return s.cancelWaiting(ctx, c.Tx, v)
}

// rotateSecret gives a webhook a new secret. The old one also signs for a day, so that the
// receiver can switch at its own pace.
func (s *Service) rotateSecret(ctx context.Context, c *op.Call, in webhookRef) (*Webhook, error) {
	v, err := webhooks.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	old, err := s.seal.Open(v.Sealed, secretPlace(v.ID))
	if err != nil {
		return nil, err
	}
	if v.Previous, err = s.seal.Seal(old, previousSecretPlace(v.ID)); err != nil {
		return nil, err
	}
	secret := newSecret()
	if v.Sealed, err = s.seal.Seal([]byte(secret), secretPlace(v.ID)); err != nil {
		return nil, err
	}
	until := c.Now.Add(secretOverlap)
	v.PreviousSecretUntil, v.UpdatedAt = &until, c.Now
	if err := webhooks.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	shown := *v
	shown.Secret = &secret
	return &shown, c.Emit("webhook.secret_rotated", v.ID, v)
}

// restoreDisabled brings a deleted webhook back disabled, so that nothing is sent until
// somebody who may do so enables it.
func restoreDisabled(ctx context.Context, c *op.Call, v *Webhook, was bool) error {
	if !was {
		return nil
	}
	v.Status = statusDisabled
	return webhooks.Save(ctx, c.Tx, v)
}
