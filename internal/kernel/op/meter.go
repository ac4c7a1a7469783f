package op

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
)

// Meter counts what an agent uses up, and refuses what exceeds its limits or is
// guarded, in the transaction of the effect: what was told by it is counted with
// it, or not at all.
type Meter func(ctx context.Context, c *Call, told []any) error

// Watch is told what each transaction of a call did, before it is committed, and may
// refuse it.
type Watch func(ctx context.Context, tx *db.Tx, t *db.Trace) error

// metered reports whether what the call does is counted.
func (c *Call) metered() bool {
	return c.Caller.Metered && c.runner.Meter != nil && !c.rehearsing
}

// follow begins to note what the transaction does.
func (c *Call) follow() {
	if c.metered() || c.watch != nil {
		c.Tx.FollowAnew()
	}
}

// count has the meter and those who watch look at what the transaction did.
func (c *Call) count(ctx context.Context) error {
	if c.watch != nil && !c.within {
		if err := c.watch(ctx, c.Tx, c.Tx.Follow()); err != nil {
			return err
		}
	}
	if !c.metered() {
		return nil
	}
	told := c.Tx.Follow().Told
	if err := c.runner.Meter(ctx, c, told); err != nil {
		return err
	}
	for _, t := range told {
		if a, ok := t.(Announced); ok {
			c.announced = append(c.announced, a)
		}
	}
	return nil
}

// Announced is what a Flow tells before it reaches outside to bring an event about:
// what the Meter refuses must not have happened. It is counted, and the event that
// follows is not.
type Announced struct {
	Type     string // of the event
	Resource id.ID
}

// Announce tells of an event before the Flow reaches outside. A Flow that writes
// beforehand tells its transaction instead.
func (c *Call) Announce(ctx context.Context, kind string, resource id.ID) error {
	if !c.metered() || c.within {
		return nil
	}
	return c.Write(ctx, func(_ context.Context, tx *db.Tx) error {
		tx.Tell(Announced{kind, resource})
		return nil
	})
}

// Announces reports whether the call has announced an event about a row.
func (c *Call) Announces(e event.Event) bool {
	for _, a := range c.announced {
		if a.Resource == e.ResourceID && event.ResourceType(a.Type) == event.ResourceType(e.Type) {
			return true
		}
	}
	return false
}
