package op

import "context"

// Meter counts what an agent uses up, and refuses what exceeds its limits or is
// guarded, in the transaction of the effect: what was told by it is counted with
// it, or not at all.
type Meter func(ctx context.Context, c *Call, told []any) error

// metered reports whether what the call does is counted.
func (c *Call) metered() bool {
	return c.Caller.Metered && c.runner.Meter != nil && !c.rehearsing
}

// follow begins to note what the transaction does.
func (c *Call) follow() {
	if c.metered() {
		c.Tx.FollowAnew()
	}
}

// count has the meter look at what the transaction did.
func (c *Call) count(ctx context.Context) error {
	if !c.metered() {
		return nil
	}
	return c.runner.Meter(ctx, c, c.Tx.Follow().Told)
}
