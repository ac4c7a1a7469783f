// Package action is the door for callers inside the service: an operation by
// name, with its whole input as one JSON object. Automations enter here.
package action

import (
	"context"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// Door calls operations by name.
type Door struct {
	runner  *op.Runner
	catalog *op.Catalog
	door    op.Door
}

// New opens a door; calls are recorded under its name d.
func New(r *op.Runner, c *op.Catalog, d op.Door) *Door { return &Door{r, c, d} }

// Call is one call of an operation.
type Call struct {
	Caller    *op.Caller
	Operation string
	Input     []byte // a JSON object; nil is an empty one
	Key       string // an idempotency key, or none
	NewKey    bool   // nobody used the key before
	RequestID string
}

// Do runs an operation. It is NotFound if it is unknown or does not open to
// this door.
func (d *Door) Do(ctx context.Context, c Call) (op.Answer, error) {
	o := d.catalog.Named(c.Operation)
	if o == nil || o.TakesStream() {
		return op.Answer{}, fault.NotFound.Say("There is no operation %s.", c.Operation)
	}
	return d.runner.Do(ctx, o, op.Request{Caller: c.Caller, Door: d.door, ID: c.RequestID,
		Body: func() ([]byte, error) { return c.Input, nil }, Key: c.Key, HasKey: c.Key != "", KeyIsNew: c.NewKey})
}
