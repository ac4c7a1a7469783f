package desk_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// Everything between the house and somebody is one line of time, on the page of the person and of the customer, with
// what they owe and the last word on top.
func TestStoryOfAPerson(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		call := func(method, path, body string) apptest.Value {
			t.Helper()
			time.Sleep(2 * time.Millisecond) // times are told by the millisecond
			status := map[string]int{"POST": 201, "PATCH": 200}[method]
			return a.SendREST(t, a.Key, method, "/v1/"+path, body).OK(t, status)
		}
		ada := call("POST", "contacts", `{"firstName": "Ada", "emails": [{"email": "ada@example.org"}]}`).Text("id")
		at := "/contacts/" + ada
		b.get(at).at(at).hasNot("Owes you", "Last word", "Earlier")
		customer := call("POST", "customers", fmt.Sprintf(`{"name": "Engines Ltd", "contactId": %q}`, ada)).Text("id")
		answered(t, a, "ada@example.org", "Re: How are you?", plainBody)
		b.post(at+"/compose", "write", "note", "text", "Likes tea.").at(at, "Note saved.", "You left a note")
		b.post(at+"/compose", "write", "call", "text", "She asked for the drawings.").at(at, "Note saved.",
			"You noted a call", "She asked for the drawings.")
		task := call("POST", "tasks", fmt.Sprintf(`{"title": "Send the drawings", "contactId": %q}`, ada)).Text("id")
		call("PATCH", "tasks/"+task, `{"status": "completed"}`)
		bill := call("POST", "invoices", fmt.Sprintf(`{"customerId": %q, "dueAt": "2020-01-01T00:00:00Z", "lineItems":
			[{"description": "Cards", "unitAmountCents": 41200}]}`, customer)).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/invoices/"+bill+"/issue", "").OK(t, 200)
		a.SendREST(t, a.Key, "POST", "/v1/invoices/"+bill+"/payments", `{"amountCents": 10000, "method": "cash"}`,
			"Idempotency-Key", "one").OK(t, 201)
		b.upload("/inbox/new", map[string]string{"do": "send", "to": "ada@example.org", "subject": "Drawings",
			"text": "Here they are."}, "drawings.txt", "Lines.").at("/inbox/", "Sent.")
		for _, page := range []string{at, "/customers/" + customer} {
			p := b.get(page).at(page, "Owes you $312.00", "Very well, thank you.", "You left a note", "Likes tea.",
				"You noted a call", "added the task Send the drawings", "finished the task Send the drawings",
				"issued the invoice INV-", "Payment of $100.00 for INV-", "Drawings", "drawings.txt", "Last word")
			p.hasNot("changed the invoice")
			if strings.Index(p.text(), "finished the task") > strings.Index(p.text(), "added the task") {
				t.Error("the newest comes first")
			}
		}
		// Those who may not see all of it see the rest.
		eve, hers := joined(t, a, owner(t, a), "eve@example.com", "Eve", "member")
		owner(t, a).post(hers+"/rights", "permissions", "contacts:read").at(hers)
		eve.get(at).at(at, "A colleague left a note", "Likes tea.").hasNot("$312", "INV-", "drawings.txt", "Very well")
	})
}

var moments = regexp.MustCompile(`Note number (\d+)\b`)

// Each moment is on one page, in order, however many come from one source.
func TestStoryHasPages(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		ada := a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Ada", "emails": [{"email": "ada@example.org"}]}`).OK(t, 201).Text("id")
		for i := range 110 {
			time.Sleep(2 * time.Millisecond) // times are told by the millisecond
			if i%2 == 0 {
				a.SendREST(t, a.Key, "POST", "/v1/contacts/"+ada+"/notes",
					fmt.Sprintf(`{"body": "Note number %d"}`, i)).OK(t, 201)
			} else {
				a.SendREST(t, a.Key, "POST", "/v1/messages", fmt.Sprintf(`{"to": "ada@example.org",
					"subject": "Note number %d", "text": "x", "draft": true}`, i)).OK(t, 201)
			}
		}
		seen, pages := []string{}, 0
		for at := "/contacts/" + ada; at != ""; pages++ {
			p := b.get(at)
			_, story, _ := strings.Cut(p.Body, `aria-label="What happened"`)
			for _, m := range moments.FindAllStringSubmatch(story, -1) {
				seen = append(seen, m[1])
			}
			at = ""
			if m := regexp.MustCompile(`href="([^"]*)" rel="next">Earlier`).FindStringSubmatch(p.Body); m != nil {
				at = html.UnescapeString(m[1])
			}
		}
		if len(seen) != 110 || pages != 3 {
			t.Errorf("%d moments on %d pages", len(seen), pages)
		}
		for i, n := range seen {
			if n != fmt.Sprint(109-i) {
				t.Fatalf("%s is at %d", n, i)
			}
		}
		b.get("/contacts/"+ada+"?before=nonsense").at("/contacts/"+ada, "Note number 109")
	})
}
