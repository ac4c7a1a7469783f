package op

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
)

// Meter counts what an agent does against its limits, and refuses what exceeds them or what a guarded agent may not do.
// It runs in the transaction of the change, so that a change is counted if and only if it commits. told is the trace of
// the transaction: events, charges and announced events.
type Meter func(ctx context.Context, c *Call, told []any) error

// Watch is called with the trace of each transaction of a call before it commits, and refuses it by an error.
type Watch func(ctx context.Context, tx *db.Tx, t *db.Trace) error

// isMetered reports whether the Meter looks at what the call does. A rehearsal is not counted.
func (c *Call) isMetered() bool {
	return c.Caller.Metered && c.runner.Meter != nil && !c.rehearsing
}

// startTrace begins a trace of the transaction, if anybody will look at it.
func (c *Call) startTrace() {
	if c.isMetered() || c.watch != nil {
		c.Tx.RestartTrace()
	}
}

// meterTransaction shows the trace of the transaction to Watch and to the Meter, which may refuse it. Announced events
// that the Meter has counted are remembered, so that the events themselves are not counted again.
func (c *Call) meterTransaction(ctx context.Context) error {
	if c.watch != nil && !c.inSeries {
		if err := c.watch(ctx, c.Tx, c.Tx.StartTrace()); err != nil {
			return err
		}
	}
	if !c.isMetered() {
		return nil
	}
	told := c.Tx.StartTrace().Entries
	if err := c.runner.Meter(ctx, c, told); err != nil {
		return err
	}
	for _, t := range told {
		if a, ok := t.(AnnouncedEvent); ok {
			c.announced = append(c.announced, a)
		}
	}
	return nil
}

// AnnouncedEvent is an event that a Flow is about to cause by calling the outside world. The Meter must be able to
// refuse it before the call is made, so the announcement is counted in place of the event that follows.
type AnnouncedEvent struct {
	Type     string // of the event
	Resource id.ID
}

// AnnounceEvent announces an event before the Flow calls the outside world. It opens a transaction for that; a Flow
// that writes beforehand anyway puts an AnnouncedEvent into the trace of that transaction instead (db.Tx.AddToTrace).
func (c *Call) AnnounceEvent(ctx context.Context, kind string, resource id.ID) error {
	if !c.isMetered() || c.inSeries {
		return nil
	}
	return c.Write(ctx, func(_ context.Context, tx *db.Tx) error {
		tx.AddToTrace(AnnouncedEvent{kind, resource})
		return nil
	})
}

// HasAnnounced reports whether the call has announced an event about the resource of e, whatever its verb.
func (c *Call) HasAnnounced(e event.Event) bool {
	for _, a := range c.announced {
		if a.Resource == e.ResourceID && event.ResourceType(a.Type) == event.ResourceType(e.Type) {
			return true
		}
	}
	return false
}
