package contact_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

func TestDuplicates(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		other := a.Door("rest", a.NewTenant(t, "enterprise"))
		for _, c := range []string{
			`{"firstName": "Ada", "lastName": "Lovelace", "emails": [{"email": "ada@example.com"}]}`,
			`{"firstName": "ADA", "lastName": "lovelace", "phoneNumbers": [{"phoneNumber": "+442079460018"}]}`,
			`{"firstName": "A.", "emails": [{"email": "Ada@Example.com"}],
				"phoneNumbers": [{"phoneNumber": "+44 20 7946 0018"}, {"phoneNumber": "+442079460019"}]}`,
			`{"organizationName": "Engines"}`, `{"organizationName": "engines"}`,
			`{"firstName": "Ada"}`, `{"firstName": "Ada"}`, // a first name alone is shared by many
			`{"firstName": "Bob", "organizationName": "Engines", "phoneNumbers": [{"phoneNumber": "+442079460020"},
				{"phoneNumber": "+442079460020"}]}`,
			`{"firstName": "Eve", "lastName": "x", "emails": [{"email": "eve@example.com"}]}`,
		} {
			call(t, "contacts.create", c).OK(t, 201)
			other(t, "contacts.create", c).OK(t, 201)
		}
		gone := call(t, "contacts.create", `{"firstName": "Eve", "lastName": "X",
			"emails": [{"email": "eve@example.com"}]}`).OK(t, 201).Text("id")
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, gone)).OK(t, 204)

		tell := func(list apptest.Value) (out []string) {
			for i := range list.Len() {
				g := list.At(fmt.Sprint(i))
				out = append(out, fmt.Sprintf("%s %s %d", g.Text("reason"), g.Text("value"), g.At("contacts").Len()))
			}
			return out
		}
		want := "email ada@example.com 2, phone +442079460018 2, name ada lovelace 2, name engines 2"
		all := call(t, "contacts.duplicates", `{}`)
		if got := strings.Join(tell(all.OK(t, 200)), ", "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if !all.Page(t).At("nextCursor").Null() {
			t.Errorf("there is more: %s", all.Body)
		}
		all.OK(t, 200).Same("0.contacts.0.firstName", "Ada")
		all.OK(t, 200).Same("0.contacts.0.emails.0.email", "ada@example.com")

		var walked []string
		cursor := "first"
		for range 10 {
			page := call(t, "contacts.duplicates", fmt.Sprintf(`{"limit": 1, "cursor": %q}`, cursor))
			walked = append(walked, tell(page.OK(t, 200))...)
			if cursor = page.Page(t).Text("nextCursor"); cursor == "" {
				break
			}
		}
		if got := strings.Join(walked, ", "); got != want {
			t.Errorf("a walk: %s, want %s", got, want)
		}
		names := call(t, "contacts.duplicates", `{"reason": ["name", "phone"], "limit": 2}`)
		if got := strings.Join(tell(names.OK(t, 200)), ", "); got != "phone +442079460018 2, name ada lovelace 2" {
			t.Errorf("by phone and name: %s", got)
		}
		for _, bad := range []string{`{"cursor": "x"}`, `{"cursor": "e30"}`, `{"reason": "birthday"}`,
			`{"limit": 51}`} {
			call(t, "contacts.duplicates", bad).Refused(t, 400, "INVALID_INPUT")
		}
	})
}
