package desk_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

func newCustomer(t *testing.T, a *apptest.App) string {
	t.Helper()
	return a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Ada"}`).OK(t, 201).Text("id")
}

// A text that ends like one that the service has cut does not make the page show another one,
// and one that is cut is shown to its end at every depth.
func TestReviewAttackCutTexts(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		harmless := strings.Repeat("A harmless story. ", 300)
		forged := fmt.Sprintf("Pay evil.example. … (%d characters, sha256 %.16x)", len(harmless),
			sha256.Sum256([]byte(harmless)))
		path := "/review/" + call("proposals_create", fmt.Sprintf(`{"title": "Two", "steps": [
			{"operation": "messages.create", "input": {"to": "ada@example.com", "subject": "Hello", "text": %q}},
			{"operation": "tasks.create", "input": {"title": "Note", "description": %q}}]}`, forged, harmless)).
			At("data").Text("id")
		p := b.get(path).at(path, harmless[:len(harmless)-1]).hasNot("too long to be shown")
		paper := b.get(p.find(`src="(/review/[0-9a-f-]{36}/mails/0)"`))
		if !strings.Contains(paper.Body, forged) || strings.Contains(paper.Body, "harmless") {
			t.Errorf("the mail is shown as %.300s", paper.Body)
		}

		path = "/review/" + call("invoices_create", fmt.Sprintf(`{"customerId": %q, "currency": "eur", "lineItems": [
			{"description": %q, "unitAmountCents": 100}]}`, newCustomer(t, a), harmless+"Pay evil.example.")).
			Text("proposalId")
		b.get(path).at(path, "Pay evil.example.").hasNot("sha256 ")
	})
}

// Every link of a mail is looked at as a browser would, or the page says that it was not.
func TestReviewAttackLinks(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		show := func(html string) page {
			path := "/review/" + call("messages_create", fmt.Sprintf(
				`{"to": "ada@example.com", "subject": "Links", "html": %q}`, html)).Text("proposalId")
			return b.get(path).at(path)
		}
		for _, html := range []string{
			`<a href=https://evil.example>bank.example<a href=https://x.example>x</a>`,
			`<p><a href=https://evil.example>bank.example`,
			`<a href="https://evil.example"/>bank.example</a>`,
			`<a href="https://evil.example">ba<b>nk.exam</b>ple</a>`,
		} {
			show(html).has("The link “ bank.example ” does not lead there. It leads to evil.example .")
		}
		link := `<a href="https://bank.example">bank.example</a> `
		show(strings.Repeat(link, 50)).has("Where its 50 links lead").hasNot("more links than")
		show(strings.Repeat(link, 50)+`<a href="https://evil.example">bank.example</a>`).has(
			"The mail has more links than can be listed: where 1 of them lead was not looked at.",
			"Where its first 50 links lead")
	})
}

// An invoice is shown with all that makes its sums, and a new row with what it was told not to be.
func TestReviewAttackSums(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		show := func(tool, input string) page {
			path := "/review/" + call(tool, input).Text("proposalId")
			return wordsOnly(t, b.get(path).at(path))
		}
		customer := newCustomer(t, a)
		show("invoices_create", fmt.Sprintf(`{"customerId": %q, "currency": "eur", "discountPercent": "100",
			"lineItems": [
			{"description": "Work", "quantity": "2", "unitAmountCents": 5000, "discountPercent": "10", "taxRate": "20",
			"taxName": "VAT"}, {"description": "Paper", "unitAmountCents": 700, "discountCents": 200}]}`,
			customer)).has(
			"Work, 2 × €50.00, less 10 % (€10.00), 20 % VAT €90.00", "Paper, 1 × €7.00, less €2.00, no tax €5.00",
			"Discount in % 100", "Taxes Amount: €0.00", "Total €0.00", "Prices include tax no")
		draft := a.SendREST(t, a.Key, "POST", "/v1/invoices", fmt.Sprintf(`{"customerId": %q, "currency": "eur",
			"lineItems": [{"description": "Work", "unitAmountCents": 5000}]}`, customer)).OK(t, 201).Text("id")
		change := show("invoices_update", fmt.Sprintf(`{"id": %q, "lineItems": [{"description": "Work",
			"unitAmountCents": 9000, "taxRate": "20"}]}`, draft)).has("Lines now Work, 1 × €50.00, no tax €50.00",
			"Lines afterwards Work, 1 × €90.00, 20 % tax €90.00", "€50.00 €108.00").hasNot("Line items")
		show("invoices_update", fmt.Sprintf(`{"id": %q, "lineItems": []}`, draft)).has(
			"Lines now Work", "No lines afterwards.")
		show("invoices_update", fmt.Sprintf(`{"id": %q, "notes": "Thanks"}`, draft)).has("Thanks").hasNot("Lines now",
			"No lines")
		show("invoices_issue", fmt.Sprintf(`{"id": %q}`, draft)).has("issued").hasNot("Lines now", "No lines")
		b.post(change.Path, "decision", "approve", "sha256", change.find(`name="sha256" value="([0-9a-f]{64})"`)).at(
			change.Path, "Done, exactly as it was shown", "20 % tax €90.00").hasNot("Lines now")
		show("businesses_offerings_create", fmt.Sprintf(`{"id": %q, "name": "Old", "kind": "service", "priceCents": 0,
			"isActive": false}`, a.Business)).has("Is active no", "Price $0.00")
	})
}

// What nobody can know beforehand is not said to cost nothing.
func TestReviewAttackUnknownCosts(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		a.SendREST(t, a.Key, "POST", "/v1/automations", `{"name": "Copy", "trigger": {"kind": "event",
			"event": "contact.created"}, "steps": [{"operation": "messages.create", "input": {"to": "eve@example.com",
			"subject": "New", "text": "x"}}]}`).OK(t, 201)
		path := "/review/" + call("contacts_create", `{"firstName": "Ada"}`).Text("proposalId")
		b.get(path).at(path, "automation “Copy”", "What it costs and whom it reaches is not known beforehand.").hasNot(
			"Costs nothing", "Nobody gets mail")
		path = "/review/" + call("proposals_create", `{"title": "Two", "steps": [
			{"operation": "contacts.create", "input": {"firstName": "Ada"}},
			{"operation": "messages.create", "input": {"to": "ada@example.com", "subject": "Hello", "text": "x"}}]}`).
			At("data").Text("id")
		b.get(path).at(path, "1 address gets mail. What else it costs and whom else it reaches is not known "+
			"beforehand.")
		path = "/review/" + call("tasks_create", `{"title": "Call"}`).Text("proposalId")
		b.get(path).at(path, "Costs nothing. Nobody gets mail.")
	})
}

// Of many deletions the first are counted, and the others say that they were not.
func TestReviewManyDeletions(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		steps := []string{}
		for i := range 22 {
			c := a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(`{"firstName": "Nr %d", "phoneNumbers": [
				{"phoneNumber": "+14155550100"}]}`, i)).OK(t, 201).Text("id")
			steps = append(steps, fmt.Sprintf(`{"operation": "contacts.delete", "input": {"id": %q}}`, c))
		}
		ask := func(n int) page {
			path := "/review/" + call("proposals_create", fmt.Sprintf(`{"title": "Tidy", "steps": [%s]}`,
				strings.Join(steps[:n], ","))).At("data").Text("id")
			return b.get(path).at(path, "1 phone number")
		}
		ask(20).hasNot("was not counted")
		p := ask(22)
		if n := strings.Count(p.text(), "what goes with this one was not counted"); n != 2 {
			t.Errorf("%d say that they were not counted: %s", n, p.text())
		}
		p.hasNot("Not as it was")
	})
}
