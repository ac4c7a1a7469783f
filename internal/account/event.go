package account

import "frontdesk/internal/kernel/op"

// Happenings are the events that no operation declares: package grant and the export
// write them.
var Happenings = []op.BackgroundEvent{
	{Type: "agent.connected", Resource: op.Account, When: "a client starts to use the access that a user granted it"},
	{Type: "agent.disconnected", Resource: op.Account, When: "a client's access to an agent ends"},
	{Type: "organization.exported", Resource: op.Account, When: "the operator exports an organization"},
}
