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

// Step runs one operation as the automation's caller.
func (s steps) Step(ctx context.Context, c automation.StepCall) (op.Answer, error) {
	return s.door.Do(ctx, action.Call(c))
}
