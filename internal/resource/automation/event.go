package automation

import "frontdesk/internal/kernel/op"

// Happenings are the events that no operation emits.
var Happenings = []op.Happening{
	{Type: FailedEvent, Resource: "automations", When: "an execution of an automation fails"},
}
