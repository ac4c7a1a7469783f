package automation

import "frontdesk/internal/kernel/op"

// Happenings are the events that the jobs of automations emit, without an
// operation.
var Happenings = []op.BackgroundEvent{
	{Type: FailedEvent, Resource: "automations", When: "an execution of an automation fails"},
}
