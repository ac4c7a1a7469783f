package desk_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

var invoiceLink = regexp.MustCompile(`/invoice/[A-Za-z0-9_-]+`)

// A customer sees the invoice by the link in the mail: the business's page, with
// no ids and no words of the house.
func TestPublicInvoice(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		customer := call(t, "customers.create",
			`{"name": "Lovelace <&> Co", "email": "ada@example.com"}`).OK(t, 201).Text("id")
		v := call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q, "notes": "Thank <you>", "lineItems": [
			{"description": "<script>Work", "unitAmountCents": 100000, "taxRate": "20", "taxName": "VAT",
				"discountPercent": "5"}]}`, customer)).OK(t, 201).Text("id")
		call(t, "email_templates.create", `{"name": "Invoice", "templateKey": "invoice", "subject": "Invoice",
			"body": "[See it]({{ invoice.url }})"}`).OK(t, 201)
		ref := fmt.Sprintf(`{"id": %q}`, v)
		call(t, "invoices.issue", ref).OK(t, 200)
		call(t, "invoices.send", ref).OK(t, 200)
		mail := call(t, "messages.list", `{}`).OK(t, 200)
		link := invoiceLink.FindString(mail.Text("0.html"))
		if link == "" || !strings.Contains(mail.Text("0.text"), link) {
			t.Fatalf("no link in %s", mail)
		}
		b := visit(t, a.URL)
		page := b.get(link).at("/invoice/", "Invoice INV-000001", "Test", "Lovelace <&> Co", "$1,140.00",
			"<script>Work", "VAT 20% on $950.00", "$190.00", "Thank <you>", "Download the PDF")
		page.hasNot("<script", "Frontdesk", v, customer, string(a.Org), "issued", "sent")
		token := strings.TrimPrefix(link, "/invoice/")
		pdf := a.SendREST(t, "", "GET", "/invoice-pdf/"+token, "")
		if pdf.Status != 200 || !bytes.HasPrefix(pdf.Body, []byte("%PDF-")) {
			t.Errorf("%d %.100s", pdf.Status, pdf.Body)
		}

		// A changed token, or one of another kind of link, names nothing.
		for _, bad := range []string{"x", token[:63] + "_", "A" + token[1:], strings.Repeat("A", 64)} {
			if bad == token {
				continue
			}
			b.get("/invoice/"+bad).refused(404, "This link does not work")
			a.SendREST(t, "", "GET", "/invoice-pdf/"+bad, "").Refused(t, 404, "NOT_FOUND")
		}
		b.get("/unsubscribe/"+token).refused(404, "This link does not work")

		// Once nothing is due it says so; once void it is gone.
		note := call(t, "invoices.record_payment",
			fmt.Sprintf(`{"id": %q, "amountCents": 114000, "idempotencyKey": "k"}`, v)).OK(t, 201).Text("id")
		b.get(link).at("/invoice/", "Nothing is left to pay")
		call(t, "invoices.payments.void", fmt.Sprintf(`{"id": %q, "paymentId": %q}`, v, note)).OK(t, 200)
		call(t, "invoices.void", ref).OK(t, 200)
		b.get(link).refused(404, "This link does not work")
		a.SendREST(t, "", "GET", "/invoice-pdf/"+token, "").Refused(t, 404, "NOT_FOUND")
	})
}
