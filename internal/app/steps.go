package app

import (
	"context"

	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
)

// steps runs the steps of automations through the door for callers inside the service.
type steps struct{ door *action.Door }

var _ automation.Steps = steps{}

// Step runs one operation as the automation's caller. first says that key was never used.
func (s steps) Step(ctx context.Context, c *op.Caller, operation string, input []byte, key string, first bool,
	requestID string) (op.Answer, error) {
	return s.door.Do(ctx, action.Call{Caller: c, Operation: operation, Input: input, Key: key, NewKey: first,
		RequestID: requestID})
}
