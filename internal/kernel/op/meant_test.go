package op_test

import (
	"testing"

	"frontdesk/internal/kernel/op"
)

func TestDidYouMean(t *testing.T) {
	names := []string{"contact.created", "contact.deleted", "tasks.create", "tasks.list", "tasks.activity.create"}
	for name, want := range map[string]string{
		"contact.create":  "did you mean contact.created?",
		"Contact.Created": "did you mean contact.created?",
		"contacts.delted": "did you mean contact.deleted?",
		"task.create":     "did you mean tasks.create?",
		"tasks_list":      "did you mean tasks.list?",
		"x":               "look.",
		"":                "look.",
		"invoice.paid":    "look.",
	} {
		if got := op.DidYouMean(name, names, "look."); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
