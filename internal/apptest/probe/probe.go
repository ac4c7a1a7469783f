// Package probe is a resource that only tests register. With it they test what the
// kernel promises, independently of any real resource.
//
// Boxes hold items with gapless numbers, a capacity that is never exceeded and
// unique tags, and the last box cannot be deleted: these rules break if writes are
// not locked as they should be. A charge is a Flow through Provider, a fake payment
// provider, which can be slow, fail, or answer after the deadline: it shows whether
// an interrupted Flow is repeated without charging twice.
package probe

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"sync"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

//go:embed *.sql
var migrations embed.FS

// What the probe refuses.
var (
	Last     = fault.DefineKind("PROBE_LAST", 409, "The last box cannot be deleted.")
	Full     = fault.DefineKind("PROBE_FULL", 422, "The box is full.")
	Taken    = fault.DefineKind("PROBE_TAKEN", 409, "The tag is taken.")
	Declined = fault.DefineKind("PROBE_DECLINED", 402, "The charge was declined. Use a new key.")
	Refused  = fault.DefineKind("PROBE_REFUSED", 422, "The provider refused.")
)

// NewExtra is what a test adds to the service.
func NewExtra(p *Provider) app.Extra {
	return app.Extra{Operations: Operations(p), Migrations: []fs.FS{migrations}}
}

// Box is a root.
type Box struct {
	op.Record
	Name     string `json:"name"`
	Capacity int    `json:"capacity"`
}

// Item hangs under a box.
type Item struct {
	op.Record
	BoxID  id.ID   `json:"boxId"`
	Number int     `json:"number"`
	Amount int     `json:"amount"`
	Tag    *string `json:"tag"`
}

// Charge is money that the provider took.
type Charge struct {
	op.Record
	Attempt id.ID `json:"attempt"`
	Amount  int   `json:"amount"`
}

var (
	boxes = db.NewTable[Box]("probe_boxes", db.Life{Noun: "box", ExternalText: db.NoExternalText, OnlyInTests: true})
	items = op.NewNested[Item]("probe_items", db.Life{Noun: "item", ExternalText: db.NoExternalText,
		Parent: db.RefTo("box_id", "probe_boxes"), OnlyInTests: true})
	charges = db.NewTable[Charge]("probe_charges", db.Life{Noun: "charge", ExternalText: db.NoExternalText,
		OnlyInTests: true})
)

// Operations lists the probe's operations.
func Operations(p *Provider) []*op.Op {
	const doors = op.RESTDoor | op.AutomationDoor
	return []*op.Op{
		op.Write(op.Spec{
			Name:     "probe.boxes.create",
			Route:    "POST /v1/probe-boxes",
			Summary:  "Create a box.",
			Resource: "contacts",
			Doors:    doors,
			Events:   []string{"probe_box.created"},
			Example:  `{"name": "a"}`,
		}, createBox),
		op.Write(op.Spec{
			Name:     "probe.boxes.delete",
			Route:    "DELETE /v1/probe-boxes/{id}",
			Summary:  "Delete a box.",
			Resource: "contacts",
			Doors:    doors,
			Events:   []string{"probe_box.deleted"},
			Example:  `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`,
		}, deleteBox),
		op.Read(op.Spec{
			Name:     "probe.items.list",
			Route:    "GET /v1/probe-boxes/{id}/items",
			Summary:  "List items.",
			Resource: "contacts",
			Doors:    doors,
			Example:  `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`,
		}, listItems),
		op.Write(op.Spec{
			Name:     "probe.items.create",
			Route:    "POST /v1/probe-boxes/{id}/items",
			Summary:  "Add an item.",
			Resource: "contacts",
			Doors:    doors,
			Events:   []string{"probe_box.item.created"},
			Errors:   []*fault.Kind{Full, Taken},
			Example:  `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "amount": 1}`,
		}, addItem),
		op.Write(op.Spec{
			Name:     "probe.secrets.create",
			Route:    "POST /v1/probe-secrets",
			Summary:  "Show a secret once.",
			Resource: "contacts",
			Doors:    doors,
			Secret:   true,
			Example:  `{}`,
		}, createSecret),
		op.Flow(op.Spec{
			Name:        "probe.charges.create",
			Route:       "POST /v1/probe-charges",
			Summary:     "Charge through the provider.",
			Resource:    "contacts",
			Doors:       doors,
			KeyRequired: true,
			Events:      []string{"probe_charge.created"},
			Errors:      []*fault.Kind{Declined, Refused},
			Example:     `{"amount": 100}`,
		}, p.createCharge),
	}
}

type boxCreate struct {
	Name     string `json:"name" min:"1"`
	Capacity int    `json:"capacity" default:"1000000" min:"0" max:"1000000000"`
}

func createBox(ctx context.Context, c *op.Call, in boxCreate) (*Box, error) {
	b := &Box{Record: c.NewRecord(), Name: in.Name, Capacity: in.Capacity}
	if err := boxes.Insert(ctx, c.Tx, b); err != nil {
		return nil, err
	}
	return b, c.Emit("probe_box.created", b.ID, b)
}

type boxRef struct {
	ID id.ID `path:"id"`
}

func deleteBox(ctx context.Context, c *op.Call, in boxRef) (op.Nothing, error) {
	// A rule over a whole set: the organization is its root.
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return op.Nothing{}, err
	}
	if err := db.Lock(ctx, c.Tx, "probe_boxes", c.Org, in.ID); err != nil {
		return op.Nothing{}, db.AsNotFound(err, "box")
	}
	n, err := boxes.Count(ctx, c.Tx, db.InOrganization(c.Org))
	if err != nil {
		return op.Nothing{}, err
	}
	if n == 1 {
		return op.Nothing{}, Last.New()
	}
	b, err := boxes.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("probe_box.deleted", b.ID, b)
}

type itemList struct {
	boxRef
	op.Page
}

func listItems(ctx context.Context, c *op.Call, in itemList) (*op.List[Item], error) {
	return items.List(ctx, c, in.ID, in.Page)
}

type itemAdd struct {
	boxRef
	Amount int     `json:"amount" min:"1" max:"1000000"`
	Tag    *string `json:"tag"`
}

// addItem numbers an item and checks the capacity. Both are only right because the box
// is locked.
func addItem(ctx context.Context, c *op.Call, in itemAdd) (*Item, error) {
	box, err := boxes.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	type state struct {
		Sum  int `db:"sum"`
		Next int `db:"next"`
	}
	s, err := db.QueryOne[state](ctx, c.Tx, `
		SELECT CAST(coalesce(sum(amount), 0) AS bigint), coalesce(max(number), 0) + 1
		FROM probe_items
		WHERE organization_id = $1 AND box_id = $2 AND deleted_at IS NULL`, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if s.Sum+in.Amount > box.Capacity {
		return nil, Full.New()
	}
	v := &Item{Record: c.NewRecord(), BoxID: in.ID, Number: s.Next, Amount: in.Amount, Tag: in.Tag}
	n,
		err := db.Exec(ctx, c.Tx,
		`
			INSERT INTO probe_items (id, organization_id, created_at, updated_at, box_id, number, amount, tag)
			VALUES ($1, $2, $3, $3, $4, $5, $6, $7)
			ON CONFLICT (organization_id, tag)
			WHERE deleted_at IS NULL DO NOTHING`,
		v.ID, c.Org, c.Now, v.BoxID, v.Number, v.Amount, v.Tag)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, Taken.New()
	}
	return v, c.Emit("probe_box.item.created", v.ID, v)
}

// Secret is shown once.
type Secret struct {
	Secret string `json:"secret"`
}

func createSecret(context.Context, *op.Call, struct{}) (*Secret, error) {
	return &Secret{"hush-" + string(id.New())}, nil
}

// Provider is a stateful stand-in for a payment provider that knows
// idempotency keys: the same attempt is charged once, however often it is
// asked, and it can be asked what became of an attempt.
type Provider struct {
	mu      sync.Mutex
	charged map[id.ID]int
	busy    map[id.ID]bool // attempts that met a busy database once
	Calls   int
	// Hold, if it is set, makes a charge wait in the middle until it can be received from.
	Hold chan struct{}
	// Began is sent a value when a charge begins to wait.
	Began chan struct{}
}

var errTimeout = errors.New("probe: the provider did not answer in time")

// callProvider charges an attempt. Repeating one changes nothing, as a real provider with
// idempotency keys does.
func (p *Provider) callProvider(attempt id.ID, amount int, outcome string) error {
	p.mu.Lock()
	p.Calls++
	hold, began := p.Hold, p.Began
	p.mu.Unlock()
	if hold != nil {
		began <- struct{}{}
		<-hold
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.charged == nil {
		p.charged = map[id.ID]int{}
	}
	_, again := p.charged[attempt]
	switch outcome {
	case "decline", "refuse":
		return errors.New(outcome)
	case "slow":
		time.Sleep(50 * time.Millisecond)
	}
	p.charged[attempt] = amount
	if outcome == "flaky" && !again {
		return errTimeout // the charge was made, but its answer got lost
	}
	return nil
}

// metBusyBefore reports whether it was called with an attempt before.
func (p *Provider) metBusyBefore(attempt id.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy == nil {
		p.busy = map[id.ID]bool{}
	}
	before := p.busy[attempt]
	p.busy[attempt] = true
	return before
}

// ChargedCount tells how many attempts were charged.
func (p *Provider) ChargedCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.charged)
}

type chargeCreate struct {
	Amount  int    `json:"amount" min:"1" max:"1000000"`
	Outcome string `json:"outcome" default:"ok" enum:"ok,decline,refuse,slow,flaky,panic,broken,busy"`
}

type chargeState struct {
	Amount int `json:"amount"`
}

// createCharge is intent, call, outcome: what is about to happen is saved before the
// provider is asked, and what came of it is committed with the answer.
func (p *Provider) createCharge(ctx context.Context, c *op.Call, in chargeCreate) (*Charge, error) {
	if in.Outcome == "broken" {
		return nil, errors.New("probe: broken before anything happened")
	}
	if err := c.SaveProgress(ctx, chargeState{in.Amount}); err != nil {
		return nil, err
	}
	attempt := c.AttemptID()
	if db.InTransaction(ctx) {
		panic("the network inside a transaction")
	}
	if err := p.callProvider(attempt, in.Amount, in.Outcome); err != nil {
		switch err.Error() {
		case "decline":
			f := Declined.New()
			f.Binding, f.Details = true, map[string]bool{"useNewKey": true}
			return nil, f
		case "refuse":
			return nil, Refused.New()
		}
		return nil, op.UnknownOutcome(err)
	}
	if in.Outcome == "panic" {
		panic("probe: after the charge")
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Charge, error) {
		if in.Outcome == "busy" && !p.metBusyBefore(attempt) {
			return nil, fault.Unavailable.New() // as the database says it
		}
		v := &Charge{Record: c.NewRecord(), Attempt: attempt, Amount: in.Amount}
		if err := charges.Insert(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		return v, c.Emit("probe_charge.created", v.ID, v)
	})
}
