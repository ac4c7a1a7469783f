package desk_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// draftFor makes a customer with an address and a draft for them, and returns the page of the draft.
func draftFor(t *testing.T, a *apptest.App, currency, line string) string {
	t.Helper()
	who := a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Loom Ltd", "email": "loom@example.org"}`).
		OK(t, 201).Text("id")
	return "/invoices/" + a.SendREST(t, a.Key, "POST", "/v1/invoices",
		fmt.Sprintf(`{"customerId": %q, "currency": %q, "lineItems": [%s]}`, who, currency, line)).OK(t, 201).Text("id")
}

func invoiceAt(t *testing.T, a *apptest.App, page string) apptest.Value {
	t.Helper()
	return a.SendREST(t, a.Key, "GET", "/v1"+page, "").OK(t, 200)
}

// counted is a list with so many rows.
func counted(t *testing.T, a *apptest.App, path string, rows int) apptest.Value {
	t.Helper()
	list := a.SendREST(t, a.Key, "GET", path, "").OK(t, 200)
	if list.Len() != rows {
		t.Errorf("%s has %d rows, not %d", path, list.Len(), rows)
	}
	return list
}

// A draft is issued and mailed in one step. The mail is seen before and can be kept back after.
func TestIssueAndSend(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		at := draftFor(t, a, "usd", `{"description": "Cloth", "unitAmountCents": 33489, "taxRate": "19"}`)
		b.get(at).at(at, "Issue and send", "Issue without sending", "mails the invoice to loom@example.org")
		ask := at + "/issue-and-send"
		form := b.get(ask).at(ask, "$398.52", "gets the next number", "The mail to loom@example.org", "INV-000001")
		mail := b.get(form.find(`<iframe[^>]* src="([^"]+)"`))
		if mail.Status != 200 || !strings.Contains(mail.Body, "INV-000001") {
			t.Errorf("%d %s", mail.Status, mail.Body)
		}
		// Looking changes nothing, also with words of one's own.
		look := b.post(ask, "to", "loom@example.org", "message", "With <b>thanks", "do", "look").
			at(ask, "With <b>thanks")
		b.get(look.find(`<iframe[^>]* src="([^"]+)"`)).refused(200, "With <b>thanks")
		invoiceAt(t, a, at).Same("status", "draft")
		counted(t, a, "/v1/messages", 0)
		// Refused before anything happens.
		b.post(ask, "to", "").refused(400, "Fill this in")
		b.post(ask, "to", "loom@example.org", "scheduledAt", "2101-01-01T00:00").refused(400)
		invoiceAt(t, a, at).Same("status", "draft")
		// Pressed twice at once, and once more later: one number, one mail.
		typed := []string{"to", "loom@example.org", "once", form.find(`name="once" value="([^"]+)"`)}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { b.post(ask, typed...) })
		}
		both.Wait()
		b.post(ask, typed...).at(at, "INV-000001", "sent")
		invoiceAt(t, a, at).Same("status", "sent")
		mails := counted(t, a, "/v1/messages", 1)
		mails.Same("0.status", "scheduled")
		mails.Same("0.to.0", "loom@example.org")
		// Undo makes the mail a draft; the invoice stays issued.
		b.post("/undo", "event", "mail."+mails.Text("0.id")).at("/inbox/", "Not sent.")
		b.get(ask).at(ask, "it was already issued")
	})
}

// What cannot be issued is not sent, and what cannot be sent is not issued.
func TestIssueAndSendIsAllOrNothing(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		empty := draftFor(t, a, "usd", "")
		b.get(empty+"/issue-and-send").at(empty, "needs a line item")
		b.post(empty+"/issue-and-send", "to", "loom@example.org").refused(409, "needs a line item")
		invoiceAt(t, a, empty).Same("status", "draft")
		at := draftFor(t, a, "jpy", `{"description": "Cloth", "unitAmountCents": 500, "taxRate": "0"}`)
		a.SendREST(t, a.Key, "POST", "/v1/email-templates", `{"name": "Invoice", "templateKey": "invoice",
			"subject": "{{ invoice.nothing }}", "body": "x"}`).OK(t, 201)
		b.post(at+"/issue-and-send", "to", "loom@example.org").refused(422)
		got := invoiceAt(t, a, at)
		got.Same("status", "draft")
		got.Same("invoiceNumber", "<nil>")
		counted(t, a, "/v1/messages", 0)
		stranger := visit(t, a.URL)
		stranger.signIn(a.NewTenant(t, "free").Owner, "a long password").at("/")
		for _, path := range []string{"/issue-and-send", "/preview", "/credit", "/issue-and-send/mail"} {
			stranger.get(at + path).refused(404)
		}
		stranger.post(at+"/issue-and-send", "to", "x@example.org").refused(404)
	})
}

// A contact is billed: the form makes a customer of them, once, or takes the one that they are.
func TestInvoiceFromContact(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		c := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "lastName": "Lovelace",
			"emails": [{"email": "ada@example.org"}]}`).OK(t, 201).Text("id")
		link := b.get("/contacts/"+c).at("/contacts/", "New invoice").find(`href="(/invoices/new[^"]*)"`)
		form := b.get(link).at("/invoices/new", "Ada Lovelace becomes a customer.", "In 14 days, ", "USD · US dollar",
			"KWD · Kuwaiti dinar").hasNot(`name="customerId"`)
		typed := []string{"contactId", c, "dueIn", "14", "dueAt", "", "currency", "kwd", "once",
			form.find(`name="once" value="([^"]+)"`)}
		// A mistake makes no customer.
		b.post("/invoices/new", "contactId", c, "dueIn", "14", "currency", "xyz").refused(400, "Invalid currency")
		counted(t, a, "/v1/customers", 0)
		at := b.post("/invoices/new", typed...).at("/invoices/", "Draft for Ada Lovelace").where()
		b.post("/invoices/new", typed...).at(at)
		customers := counted(t, a, "/v1/customers", 1)
		customers.Same("0.contactId", c)
		got := invoiceAt(t, a, at)
		got.Same("currency", "kwd")
		got.Same("billToEmail", "ada@example.org")
		if due := got.Text("dueAt"); !strings.Contains(due, "T23:59:00") {
			t.Errorf("due %s", due)
		}
		// Now they are one.
		b.get(link).at("/invoices/new").find(`name="customerId" value="(Ada Lovelace)"`)
		fixed := b.post("/invoices/new", "customerId", customers.Text("0.id"), "dueIn", "30", "dueAt",
			"2031-05-06").at("/invoices/").where()
		if due := invoiceAt(t, a, fixed).Text("dueAt"); !strings.HasPrefix(due, "2031-05-06T23:59") {
			t.Errorf("due %s", due)
		}
		b.post("/invoices/new", "contactId", string(id.New()), "dueIn", "14").refused(404)
	})
}

// Lines come from the catalog with price and tax; a price in another currency is said.
func TestLinesFromCatalog(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		offer := func(body string) string {
			return a.SendREST(t, a.Key, "POST", "/v1/businesses/"+string(a.Business)+"/offerings", body).OK(t, 201).
				Text("id")
		}
		a.SendREST(t, a.Key, "POST", "/v1/businesses/"+string(a.Business)+"/offerings",
			`{"name": "x", "taxRate": "101"}`).Refused(t, 400, "VALIDATION_ERROR")
		repair := offer(`{"name": "Repair", "priceCents": 12050, "unit": "hour", "taxRate": "8.25",
			"taxName": "Sales tax"}`)
		abroad := offer(`{"name": "Call-out", "priceCents": 9000, "currency": "eur"}`)
		open := offer(`{"name": "Estimate"}`)
		offer(`{"name": "Old", "priceCents": 1, "isActive": false}`)
		at := draftFor(t, a, "usd", `{"description": "Cloth", "unitAmountCents": 100}`)
		b.get(at).at(at, "Repair · $120.50 / hour", "Call-out · €90.00", "Estimate").hasNot("Old")
		lines := []string{"description", "Cloth", "quantity", "1", "price", "1.00", "tax", "", "description", "",
			"quantity", "", "price", "", "tax", ""}
		add := func(offering string) page {
			return b.post(at+"/lines", append([]string{"do", "catalog", "offering", offering}, lines...)...)
		}
		add(repair).at(at, "Saved.", "Sales tax 8.25 %", "$131.44")
		got := invoiceAt(t, a, at)
		got.Same("lineItems.1.description", "Repair")
		got.Same("lineItems.1.unitAmountCents", 12050)
		got.Same("lineItems.1.taxName", "Sales tax")
		add(abroad).refused(400, "It costs €90.00 in your catalog; write the price in USD")
		add(open).refused(400, "It has no fixed price in your catalog")
		add(string(id.New())).refused(404)
		add("nonsense").refused(404)
		// Saved without the button, the choice adds nothing.
		b.post(at+"/lines", append([]string{"offering", repair}, lines...)...).at(at)
		if n := invoiceAt(t, a, at).At("lineItems").Len(); n != 1 {
			t.Errorf("%d lines", n)
		}
	})
}

// Some of a line is credited; money of every size adds up.
func TestPartCredits(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		for _, c := range []struct {
			currency, tax, part, credited, rest string
			unit                                int
		}{
			{"usd", "8.25", "2", "Credited -$21.63", "1", 999},
			{"jpy", "10", "2", "Credited -¥2,198", "1", 999},
			{"kwd", "0", "0.5", "Credited -KWD", "2.5", 1999},
		} {
			at := draftFor(t, a, c.currency, fmt.Sprintf(
				`{"description": "Cloth", "quantity": "3", "unitAmountCents": %d, "taxRate": %q}`, c.unit, c.tax))
			issued := a.SendREST(t, a.Key, "POST", "/v1"+at+"/issue", "").OK(t, 200)
			line := issued.Text("lineItems.0.id")
			b.get(at+"/credit").at(at, "Cloth", "To credit", "Used where no quantity is filled in")
			b.post(at+"/credit", "lineItemId", line, "quantity", "4").refused(400, "3 is left to credit")
			b.post(at+"/credit", "lineItemId", line, "quantity", "-1").refused(400, "Invalid quantity")
			b.post(at+"/credit", "lineItemId", string(id.New()), "quantity", "1").refused(400, "no such line item")
			b.post(at+"/credit", "lineItemId", line, "quantity", "").refused(400, "Fill this in")
			form := b.get(at + "/credit")
			once := form.find(`name="once" value="([^"]+)"`)
			for range 2 {
				b.post(at+"/credit", "lineItemId", line, "quantity", c.part, "amountCents", "1", "once", once).
					at(at, c.credited)
			}
			b.get(at + "/credit").has("Cloth").find(`<td class="end">(` + c.rest + `)</td>`)
			b.post(at+"/credit", "lineItemId", line, "quantity", c.rest).at(at)
			invoiceAt(t, a, at).Same("amountDueCents", 0)
			b.get(at + "/credit").at(at) // nothing is left
		}
	})
}

// The team sees what the customer sees, and a customer's statement carries balances by currency.
func TestPreviewAndStatement(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		at := draftFor(t, a, "usd", `{"description": "Cloth", "unitAmountCents": 33489, "taxRate": "19"}`)
		b.get(at).at(at, "Their page").find(`href="(` + at + `/preview)"`)
		b.get(at+"/preview").at(at, "Invoice (draft)", "Loom Ltd", "$398.52").hasNot("Frontdesk")
		a.SendREST(t, a.Key, "POST", "/v1"+at+"/issue", "").OK(t, 200)
		b.get(at+"/preview").at(at, "Invoice INV-000001")
		who := invoiceAt(t, a, at).Text("customerId")
		page := b.get("/customers/"+who+"?show=statement").at("/customers/", "As a PDF")
		pdf := page.find(`action="([^"]+statement.pdf)"`)
		for _, query := range []string{"", "?from=&to=", "?from=2020-01-01&to=2031-12-31"} {
			file := b.get(pdf + query)
			if file.Status != http.StatusOK || !strings.HasPrefix(file.Body, "%PDF-") {
				t.Errorf("%s: %d %.80s", query, file.Status, file.Body)
			}
		}
		b.get(pdf+"?from=2026-02-01&to=2026-01-01").refused(400, "Must not be before the first day")
		b.get(pdf+"?from="+url.QueryEscape("1 May")).refused(400, "Invalid date")
		b.get("/customers/" + string(id.New()) + "/statement.pdf").refused(404)
	})
}
