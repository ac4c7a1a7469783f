package contact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// Contacts and customers have tags and an id of another system's.
func TestTagsAndExternalIDs(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, _ *apptest.App, call apptest.Door) {
		for noun, name := range map[string]string{"contacts": "firstName", "customers": "name"} {
			create := func(who, rest string) apptest.Result {
				return call(t, noun+".create", fmt.Sprintf(`{%q: %q%s}`, name, who, rest))
			}
			ada := create("Ada", `, "externalId": "crm-1", "tags": [" VIP ", "vip", "Übersee"]`).OK(t, 201)
			ada.Same("externalId", "crm-1")
			ada.Same("tags", "[VIP Übersee]")
			bob := create("Bob", `, "tags": ["press"]`).OK(t, 201)
			if !bob.Has("externalId") || !bob.At("externalId").Null() {
				t.Errorf("externalId of %s", bob)
			}
			create("Eve", "").OK(t, 201).Same("tags", "[]")
			for filter, n := range map[string]int{
				`"tag": "vip"`: 1, `"tag": "VIP"`: 1, `"tag": ["übersee"]`: 1, `"tag": "vip,press"`: 2,
				`"tag": ["vip", "ÜBERSEE"]`: 1, `"tag": "vi"`: 0, `"tag": "none"`: 0,
				`"externalId": "crm-1"`: 1, `"externalId": "CRM-1"`: 0, `"externalId": "crm-1", "tag": "press"`: 0,
			} {
				if got := call(t, noun+".list", "{"+filter+"}").OK(t, 200).Len(); got != n {
					t.Errorf("%s with %s: %d, want %d", noun, filter, got, n)
				}
			}
			update := func(row apptest.Value, rest string) apptest.Result {
				return call(t, noun+".update", fmt.Sprintf(`{"id": %q, %s}`, row.Text("id"), rest))
			}
			update(bob, `"externalId": "crm-1"`).Refused(t, 409, "EXTERNAL_ID_TAKEN")
			create("Mallory", `, "externalId": "crm-1"`).Refused(t, 409, "EXTERNAL_ID_TAKEN")
			update(ada, `"externalId": "crm-1", "tags": ["VIP", "Übersee"]`).OK(t, 200).
				Same("updatedAt", ada.Text("updatedAt"))
			update(ada, `"tags": ["Press"]`).OK(t, 200).Same("tags", "[Press]")
			if n := call(t, noun+".list", `{"tag": "vip"}`).OK(t, 200).Len(); n != 0 {
				t.Errorf("%s: a tag that was taken away still finds %d", noun, n)
			}
			update(ada, `"externalId": null`).OK(t, 200)
			update(bob, `"externalId": "crm-1"`).OK(t, 200)

			// A deleted row holds no id, and no filter finds it.
			call(t, noun+".delete", fmt.Sprintf(`{"id": %q}`, bob.Text("id"))).OK(t, 204)
			if n := call(t, noun+".list", `{"tag": "press"}`).OK(t, 200).Len(); n != 1 {
				t.Errorf("%s: %d tagged", noun, n)
			}
			create("Carol", `, "externalId": "crm-1"`).OK(t, 201)

			many := strings.TrimSuffix(strings.Repeat(`"x",`, 51), ",")
			for field, rest := range map[string]string{
				"tags":       `, "tags": [` + many + `]`,
				"tags.0":     `, "tags": [" "]`,
				"tags.1":     `, "tags": ["a", "b,c"]`,
				"externalId": `, "externalId": ""`,
			} {
				create("Bad", rest).Issues(t, field)
			}
			create("Bad", `, "tags": ["`+strings.Repeat("x", 65)+`"]`).Issues(t, "tags.0")
			update(ada, `"tags": null`).Issues(t, "tags")
		}
	})
}

// Of many who claim the same id at once, one gets it.
func TestExternalIDRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		rows := make([]string, 8)
		for i := range rows {
			rows[i] = call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		}
		codes := make([]int, 16)
		apptest.RunAtOnce(16, func(i int) {
			if i < 8 {
				codes[i] = call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "externalId": "one"}`, rows[i])).Status
				return
			}
			codes[i] = call(t, "contacts.create", `{"firstName": "Bob", "externalId": "one"}`).Status
		})
		won := 0
		for _, code := range codes {
			switch code {
			case 200, 201:
				won++
			case 409:
			default:
				t.Errorf("status %d", code)
			}
		}
		if n := call(t, "contacts.list", `{"externalId": "one"}`).OK(t, 200).Len(); won != 1 || n != 1 {
			t.Errorf("%d won, %d have it", won, n)
		}
	})
}

// A contact has changed when its emails, numbers or addresses have.
func TestChildrenMoveUpdatedAt(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, _ *apptest.App, call apptest.Door) {
		id := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		ref := fmt.Sprintf(`"id": %q`, id)
		last := call(t, "contacts.get", "{"+ref+"}").OK(t, 200)
		moved := func(what string) {
			t.Helper()
			now := call(t, "contacts.get", "{"+ref+"}").OK(t, 200)
			if now.Text("updatedAt") <= last.Text("updatedAt") {
				t.Errorf("%s leaves updatedAt at %s", what, now.Text("updatedAt"))
			}
			last = now
		}
		for _, c := range []struct{ noun, ref, create, update string }{
			{"emails", "emailId", `"email": "ada@example.com"`, `"label": "home"`},
			{"phone_numbers", "phoneNumberId", `"phoneNumber": "+442079460018"`, `"label": "home"`},
			{"addresses", "addressId", `"line1": "12 St James's Square"`, `"label": "home"`},
		} {
			time.Sleep(2 * time.Millisecond) // callers know times by the millisecond
			child := call(t, "contacts."+c.noun+".create", "{"+ref+", "+c.create+"}").OK(t, 201).Text("id")
			moved(c.noun + ".create")
			one := fmt.Sprintf(`{%s, %q: %q`, ref, c.ref, child)
			time.Sleep(2 * time.Millisecond) // callers know times by the millisecond
			call(t, "contacts."+c.noun+".update", one+", "+c.update+"}").OK(t, 200)
			moved(c.noun + ".update")
			time.Sleep(2 * time.Millisecond) // callers know times by the millisecond
			call(t, "contacts."+c.noun+".delete", one+"}").OK(t, 204)
			moved(c.noun + ".delete")
		}
	})
}
