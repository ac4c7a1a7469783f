package desk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// A price that was left empty is no price of nothing, and one that can be read in
// two ways is none: the line is told about at its field and keeps what was typed.
func TestAttackPrices(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Loom"}`).OK(t, 201)
		at := b.post("/invoices/new", "customerId", "Loom", "currency", "usd").at("/invoices/").where()
		invoice := "/v1" + at
		for _, c := range []struct{ price, says string }{
			{"", "Write a price"},
			{"1.250", "Write 1250 or 1.25"},
			{"1250.500.00", "Write an amount"},
		} {
			p := b.post(at+"/lines", "description", "Weaving", "quantity", "1", "price", c.price, "tax", "").
				refused(400, c.says)
			p.find(`name="description" value="(Weaving)"`)
			p.find(`name="price" value="(` + c.price + `)"[^>]* aria-invalid="true"`)
			if n := a.SendREST(t, a.Key, "GET", invoice, "").OK(t, 200).At("lineItems").Len(); n != 0 {
				t.Errorf("%q was saved: %d lines", c.price, n)
			}
		}
		b.post(at+"/lines", "description", "", "quantity", "", "price", "80", "tax", "").refused(400, "Say what it is")
		b.post(at+"/lines", "description", "Weaving", "quantity", "x", "price", "80", "tax", "").
			refused(400, "Invalid quantity")
		b.post(at+"/lines", "description", "Weaving", "quantity", "", "price", "80", "tax", "").at(at, "$80.00")
		b.get(at + "/lines").at(at)
		a.SendREST(t, a.Key, "GET", invoice, "").OK(t, 200).Same("lineItems.0.unitAmountCents", 8000)
		b.post(at+"/lines", "description", "", "quantity", "1", "price", "80.00", "tax", "").at(at, "Saved.")
		if n := a.SendREST(t, a.Key, "GET", invoice, "").OK(t, 200).At("lineItems").Len(); n != 0 {
			t.Errorf("a line whose description was cleared stays: %d", n)
		}
	})
}

// A credit after a part was paid takes back what is open, or says what is then to
// be paid back; what the page, the paper and the list show adds up.
func TestAttackCredit(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		customer := a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Loom"}`).OK(t, 201).Text("id")
		issue := func() (page, api string) {
			t.Helper()
			v := a.SendREST(t, a.Key, "POST", "/v1/invoices",
				fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description":
				"Cloth", "unitAmountCents": 33489, "taxRate": "19"}]}`, customer)).OK(t, 201)
			v.Same("totalCents", 39852)
			api = "/v1/invoices/" + v.Text("id")
			a.SendREST(t, a.Key, "POST", api+"/issue", "").OK(t, 200)
			a.SendREST(t, a.Key, "POST", api+"/payments", `{"amountCents": 10000}`, "Idempotency-Key", api).OK(t, 201)
			return "/invoices/" + v.Text("id"), api
		}
		// What is open is credited; nothing is left, and nothing is to be paid back.
		page, api := issue()
		form := b.get(page+"/credit").at(page, "$100.00", "$298.52 is still to be paid")
		if sum := form.find(`name="amountCents" value="([^"]+)"`); sum != "298.52" {
			t.Errorf("the form begins with %s", sum)
		}
		b.post(page+"/credit", "amountCents", "").refused(400, "Fill this in")
		b.post(page+"/credit", "amountCents", "398.53").refused(422, "398.53 USD", "398.52 USD")
		once := form.find(`name="once" value="([^"]+)"`)
		for range 2 { // pressed twice, it is credited once
			b.post(page+"/credit", "amountCents", "298.52", "once", once).at(page, "Credited -$298.52", "Paid -$100.00",
				"Left to pay $0.00")
		}
		got := a.SendREST(t, a.Key, "GET", api, "").OK(t, 200)
		got.Same("amountCreditedCents", 29852)
		got.Same("amountToRefundCents", 0)
		// A part, then all the rest: the customer gets back what was paid.
		page, api = issue()
		b.post(page+"/credit", "amountCents", "98.52").at(page, "Credited -$98.52", "Left to pay $200.00")
		b.post(page+"/credit", "amountCents", "300").at(page, "Credited -$398.52", "To pay back $100.00",
			"to pay back").
			hasNot("Left to pay")
		b.get("/invoices").at("/invoices", "$100.00 back", "$100.00 to pay back")
		a.SendREST(t, a.Key, "GET", api, "").OK(t, 200).Same("amountToRefundCents", 10000)
		a.SendREST(t, a.Key, "GET", "/v1/customers/"+customer+"/balance", "").OK(t, 200).
			Same("balances.0.balanceCents", -10000)
		refund := b.get(page).find(`action="([^"]+/refund[^"]*)"`)
		b.post(refund).at(page, "paid back", "Left to pay $0.00")
		b.post(refund).at(page) // twice gives nothing back twice
		a.SendREST(t, a.Key, "GET", api, "").OK(t, 200).Same("amountPaidCents", 0)
		a.SendREST(t, a.Key, "GET", "/v1/customers/"+customer+"/balance", "").OK(t,
			200).Same("balances.0.balanceCents", 0)
	})
}

// The sum on Today is that of the list that it opens, over all of its rows.
func TestAttackSums(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		customer := a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Loom"}`).OK(t, 201).Text("id")
		var last string
		for i := range 61 {
			currency := "usd"
			if i == 60 {
				currency = "eur"
			}
			last = a.SendREST(t, a.Key, "POST", "/v1/invoices",
				fmt.Sprintf(`{"customerId": %q, "currency": %q, "lineItems":
				[{"description": "Cloth", "unitAmountCents": 1000}]}`, customer, currency)).OK(t, 201).Text("id")
			a.SendREST(t, a.Key, "POST", "/v1/invoices/"+last+"/issue", "").OK(t, 200)
			if i == 0 {
				a.SendREST(t, a.Key, "POST", "/v1/invoices/"+last+"/payments", `{"amountCents": 400}`,
					"Idempotency-Key", "k").OK(t, 201)
			}
		}
		b.get("/").at("/", "Owed to you $596.00 €10.00", "61 invoices")
		for _, page := range []string{"", "&offset=50"} {
			b.get("/invoices?unpaid=true"+page).at("/invoices", "$600.00 + €10.00 in all",
				"$596.00 + €10.00 left to pay")
		}
		totals := a.SendREST(t, a.Key, "GET", "/v1/invoices/totals?unpaid=true&query=loom", "").OK(t, 200)
		totals.Same("totals.0.currency", "eur")
		totals.Same("totals.1.amountDueCents", 59600)
		totals.Same("totals.1.count", 60)
		refused := a.SendREST(t, a.Key, "POST", "/v1/invoices/"+last+"/payments", `{"amountCents": 99999}`,
			"Idempotency-Key", "z")
		refused.Refused(t, 422, "PAYMENT_EXCEEDS_BALANCE")
		if text := string(refused.Body); !strings.Contains(text, "10.00 EUR") {
			t.Errorf("the refusal speaks of cents: %s", text)
		}
	})
}

// A template is sent with its values, its default and its design; what is missing
// is named before anything is sent.
func TestAttackTemplate(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Ada", "emails": [{"email": "ada@example.org"}]}`).OK(t, 201)
		made := a.SendREST(t, a.Key, "POST", "/v1/email-templates",
			`{"name": "Hello", "subject": "News for {{ contact.name }}",
			"body": "Hello {{ contact.firstName }},\n\nyour **{{ plan | default: \"usual\" }}** order."}`).OK(t, 201)
		ref := made.Text("id")
		newest := func() apptest.Value {
			t.Helper()
			return a.SendREST(t, a.Key, "GET", "/v1/messages?limit=1", "").OK(t, 200).At("0")
		}
		// Chosen before anybody was named: it is filled in for whom it goes to.
		p := b.get("/inbox/new?template="+ref).at("/inbox/new", "Hello [contact.firstName],", "your usual order.")
		p.find(`name="template" value="(` + ref + `)"`)
		const raw = "Hello [contact.firstName],\n\nyour usual order."
		send := func(more ...string) page {
			return b.post("/inbox/new", append([]string{"template", ref, "subject", "News for [contact.name]"},
				more...)...)
		}
		send("do", "send", "to", "ada@example.org", "text", raw).at("/inbox/", "Sent.")
		m := newest()
		m.Same("subject", "News for Ada")
		m.Same("templateId", ref)
		m.Same("letterhead", true)
		if text := m.Text("text"); strings.TrimSpace(text) != "Hello Ada,\n\nyour usual order." {
			t.Errorf("sent %q", text)
		}
		if html := m.Text("html"); !strings.Contains(html, "<strong>usual</strong>") {
			t.Errorf("the design is %s", html)
		}
		// A stranger has no name: refused at its place, also later; kept as a draft.
		send("do", "send", "to", "who@example.org", "text", raw).refused(400, "in place of [contact.firstName]",
			"Hello [contact.firstName]")
		send("do", "send", "to", "who@example.org", "text", raw, "scheduledAt", "2030-01-01T12:00").refused(400)
		if n := a.SendREST(t, a.Key, "GET", "/v1/messages", "").OK(t, 200).Len(); n != 1 {
			t.Errorf("%d messages", n)
		}
		draft := send("do", "save", "to", "who@example.org", "text", raw, "subject", "News").at("/inbox/",
			"Draft saved.")
		thread, saved := draft.where(), draft.find(`name="draft" value="([^"]+)"`)
		b.post(thread+"/reply", "do", "send", "draft", saved, "to", "who@example.org", "subject", "News", "text", raw).
			refused(400, "in place of [contact.firstName]")
		newest().Same("status", "draft")
		// Changed by hand, it keeps the letterhead.
		b.post(thread+"/reply", "do", "send", "draft", saved, "to", "who@example.org", "subject", "News", "text",
			"Hello <you>,\n\nyour usual order.", "template", ref).at(thread, "Sent.")
		m = newest()
		m.Same("letterhead", true)
		if html := m.Text("html"); !strings.Contains(html, "<p>Hello &lt;you&gt;,</p>") {
			t.Errorf("the changed text became %s", html)
		}
	})
}

// A check of a file shows every line that changes something, and a line that is
// refused stands in nobody's way. Its undo takes the automations' tasks along.
func TestAttackImport(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		b := owner(t, a)
		rows := "First name,Email,Birthday\n"
		for i := range 150 {
			rows += fmt.Sprintf("Emmy%d,emmy%d@example.org,\n", i, i)
		}
		for i := range 51 {
			a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(`{"firstName": "Old", "lastName": "No%d", "emails":
				[{"email": "old%d@example.org"}]}`, i, i)).OK(t, 201)
			rows += fmt.Sprintf("New%d,old%d@example.org,\n", i, i)
		}
		rows += "Bad,twice@example.org,no day\nGood,twice@example.org,1990-01-02\nThird,twice@example.org,\n"
		check := b.upload("/imports/new", map[string]string{"objectType": "contacts"}, "people.csv", rows).
			at("/imports/check", "204 all lines", "151 added", "51 changed", "0 unchanged", "2 refused",
				"1–100 of 204 lines")
		changed := b.get(strings.ReplaceAll(check.find(`href="([^"]*lines=update[^"]*)"`), "&amp;", "&")).
			at("/imports/check", "1–51 of 51 lines", "changed Old No0", "changed Old No50", "Old New50")
		changed.hasNot(`<span class="pill good">added`)
		wrong := b.get(strings.ReplaceAll(check.find(`href="([^"]*lines=fail[^"]*)"`), "&amp;", "&")).
			at("/imports/check", "1–2 of 2 lines", "Line 204 has the same email; only that one is imported")
		wrong.hasNot("Line 203 has the same")
		b.get(strings.ReplaceAll(check.find(`href="([^"]*offset=100[^"]*)"`), "&amp;", "&")).
			at("/imports/check", "101–200 of 204 lines", "changed Old No0")

		a.SendREST(t, a.Key, "POST", "/v1/automations",
			`{"name": "Greet", "status": "active", "trigger": {"kind": "event",
			"event": "contact.created"}, "steps": [{"operation": "tasks.create",
			"input": {"title": "Greet {{ event.data.firstName }}", "contactId": "{{ event.data.id }}"}}]}`).OK(t, 201)
		file := check.find(`name="file" value="([^"]+)"`)
		at := b.post("/imports/check", "do", "import", "file", file, "objectType", "contacts").at("/imports/").where()
		tasks := func() int {
			return a.SendREST(t, a.Key, "GET", "/v1/automation-executions?status=succeeded&limit=100&offset=60", "").
				OK(t, 200).Len()
		}
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if tasks() >= 91 && strings.Contains(b.get(at).text(), "done, with errors") {
				break
			}
		}
		b.get(at).at(at, "added 151", "changed 51", "refused 2", "Undo the import")
		if n := a.SendREST(t, a.Key, "GET", "/v1/tasks?limit=1", "").OK(t, 200).Len(); n != 1 {
			t.Fatal("the automation made no task")
		}
		b.post(at + "/undo")
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if a.SendREST(t, a.Key, "GET", "/v1/tasks", "").OK(t, 200).Len() == 0 &&
				a.SendREST(t, a.Key, "GET", "/v1/contacts?query=emmy", "").OK(t, 200).Len() == 0 {
				break
			}
		}
		for _, left := range []string{"/v1/tasks", "/v1/contacts?query=emmy", "/v1/contacts?query=new1"} {
			if n := a.SendREST(t, a.Key, "GET", left, "").OK(t, 200).Len(); n != 0 {
				t.Errorf("the undo leaves %d of %s", n, left)
			}
		}
		b.get(at).at(at, "This import was undone").hasNot("Undo the import")
	})
}

// A merge keeps the richer name unless somebody chooses, says who was merged, and
// is undone on the page.
func TestAttackMerge(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		make := func(body string) string {
			return a.SendREST(t, a.Key, "POST", "/v1/contacts", body).OK(t, 201).Text("id")
		}
		poor := make(
			`{"firstName": "A.", "lastName": "L.", "jobTitle": "Countess", "emails": [{"email": "al@example.org"}]}`)
		rich := make(`{"firstName": "Ada", "lastName": "Lovelace", "jobTitle": "Analyst"}`)
		at := "/contacts/" + poor
		b.post(at+"/merge", "contactId", "Ada Lovelace").at(at + "/merge")
		p := b.get(at+"/merge?contactId="+rich).at(at+"/merge", "Ada Lovelace becomes part of A. L.", "Countess",
			"Analyst")
		p.find(`(name="keep-firstName" value="theirs" checked)`)
		p.find(`(name="keep-jobTitle" value="mine" checked)`)
		done := b.post(at+"/merge", "contactId", rich, "seen", rich, "keep-firstName", "theirs", "keep-lastName",
			"theirs", "keep-jobTitle", "mine").at(at, "Ada Lovelace", "Countess", "Undo", "Undo the merge")
		b.get("/activity").at("/activity",
			"merged the contact Ada Lovelace with Ada Lovelace").hasNot("Unnamed contact")
		b.post("/undo", "event", done.find(`name="event" value="([^"]+)"`), "back", at).at(at, "Undone.", "A. L.").
			hasNot("Undo the merge")
		b.get("/contacts/"+rich).at("/contacts/"+rich, "Ada Lovelace", "Analyst")
		b.get("/activity").at("/activity", "took apart the contact A. L. and Ada Lovelace").hasNot("Unnamed contact")
		a.SendREST(t, a.Key, "POST", "/v1/contacts/"+poor+"/merge", fmt.Sprintf(
			`{"contactId": %q, "take": ["tags"]}`, rich)).Issues(t, "take.0")
		// Without take it is as before.
		a.SendREST(t, a.Key, "POST", "/v1/contacts/"+poor+"/merge", fmt.Sprintf(`{"contactId": %q}`, rich)).OK(t, 200).
			Same("contact.firstName", "A.")
	})
}
