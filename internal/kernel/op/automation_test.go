package op_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/op"
)

// An input whose values are not known yet is checked for all that is.
func TestCheck(t *testing.T) {
	a := apptest.Start(t, "sqlite")
	open := func(s string) bool { return strings.Contains(s, "{{") }
	o := a.Catalog.Named("contacts.create")
	for text, wrong := range map[string]bool{
		`{"firstName": "{{ name }}"}`:                                false,
		`{"firstName": "x", "emails": "{{ all }}"}`:                  false,
		`{"firstName": "x", "emails": [{"email": "{{ one }}"}]}`:     false,
		`{"firstName": "x", "emails": [{"isPrimary": "{{ one }}"}]}`: true, // without email
		`{"firstName": "x", "emails": "none"}`:                       true,
		`{"firstName": "x", "emails": [{"email": "no address"}]}`:    true,
		`{"firstName": "x", "nobody": "{{ x }}"}`:                    true,
		`{"firstName": 1}`:                                           true,
		`[]`:                                                         true,
	} {
		if tree := o.Check([]byte(text), open); (tree != nil) != wrong {
			t.Errorf("%s: %v", text, tree)
		}
	}
}

// Through the door of automations every change takes a key: a PATCH that comes
// a second time does not undo what somebody changed meanwhile.
func TestKeyOfEveryStep(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		contact := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		patch := fmt.Sprintf(`{"id": %q, "firstName": "Grace", "idempotencyKey": "step"}`, contact)
		call(t, "contacts.update", patch).OK(t, 200)
		call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "firstName": "Mary"}`, contact)).OK(t, 200)
		call(t, "contacts.update", patch).OK(t, 200).Same("firstName", "Grace") // the answer of then
		call(t, "contacts.get", fmt.Sprintf(`{"id": %q}`, contact)).OK(t, 200).Same("firstName", "Mary")
		call(t, "contacts.update",
			fmt.Sprintf(`{"id": %q, "firstName": "Anna", "idempotencyKey": "step"}`, contact)).Refused(t, 422,
			"IDEMPOTENCY_KEY_REUSED")
		remove := fmt.Sprintf(`{"id": %q, "idempotencyKey": "end"}`, contact)
		for range 2 {
			call(t, "contacts.delete", remove).OK(t, 204)
		}
		if got := a.Events(t, "contact."); got != "contact.created contact.updated contact.updated contact.deleted" {
			t.Errorf("events: %s", got)
		}
	})
}

func TestCells(t *testing.T) {
	p := op.Everything().With(op.Account, op.ActionRead)
	if got := op.ParseCells(p.Cells()); got != p {
		t.Errorf("%v", got.Cells())
	}
	few := op.Permissions(0).With("contacts", op.ActionCreate).With("tasks", op.ActionRead)
	if got := few.Cells(); !reflect.DeepEqual(got, []string{"contacts.create", "tasks.read"}) {
		t.Errorf("%v", got)
	}
	if got := op.ParseCells([]string{"nobody.create", "contacts.explode", "contacts.create",
		"tasks.read"}); got != few {
		t.Errorf("%v", got.Cells())
	}
}
