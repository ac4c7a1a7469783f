package invoice

import "frontdesk/internal/kernel/op"

// Happenings are the events that no operation emits.
var Happenings = []op.BackgroundEvent{
	{Type: "invoice.reminded", When: "a reminder of an invoice is sent by a rule of its business"},
	{Type: "invoice.overdue", When: "`dueAt` of an open invoice passes"},
}
