package webhook

import "frontdesk/internal/kernel/op"

// Happenings are the events that no operation emits.
var Happenings = []op.BackgroundEvent{
	{Type: "webhook.disabled", When: "an endpoint answers 410, or no delivery to it succeeds for three days"},
}
