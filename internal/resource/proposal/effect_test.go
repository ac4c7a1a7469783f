package proposal

import (
	"testing"

	"frontdesk/internal/kernel/event"
)

// What is deleted is counted by what happens, whatever the sentence about it says.
func TestDeletionTotals(t *testing.T) {
	for kind, want := range map[string]int{
		"task.deleted": 1, "contact.erased": 1, "domain.dns_record.deleted": 1, "domain.email.deleted": 1,
		"task.created": 0, "domain.dns_record.created": 0, "domain.email.updated": 0, "webhook.tested": 0,
	} {
		e, err := effectOfEvent(event.Event{Type: kind, Data: []byte(`{"name": "x"}`)}, &newRowNames{}, false)
		if err != nil {
			t.Fatal(err)
		}
		e.Summary = "Done."
		if got := sumTotals([]Effect{*e}).Deletions; got != want {
			t.Errorf("%s is %d deletions, want %d", kind, got, want)
		}
	}
}
