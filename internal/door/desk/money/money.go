// Package money is the room of invoices, written at the left and seen as the
// customer will see them at the right, and of money over time (report.go).
package money

import (
	"embed"
	"net/url"

	"frontdesk/internal/door/desk"
)

//go:embed *.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddNouns(invoices)
	d.Add(
		desk.Route{Pattern: "POST /invoices/{id}/lines", Show: saveLines},
		desk.Route{Pattern: "GET /invoices/{id}/lines", Show: func(v *desk.Visit) error { // a reload after a refusal
			return v.Redirect("/invoices/" + url.PathEscape(v.R.PathValue("id")))
		}},
		desk.Route{Pattern: "GET /invoices/{id}/pdf", Show: pdf},
		desk.Route{Pattern: "GET /invoices/{id}/preview", Show: previewInvoice},
		desk.Route{Pattern: "GET /invoices/{id}/credit-notes/{note}/pdf", Show: creditPDF},
		desk.Route{Pattern: "POST /invoices/{id}/payments/{payment}/void", Show: voidPayment},
		desk.Route{Pattern: "POST /invoices/{id}/payments/{payment}/refund", Show: refundPayment},
		desk.Route{Pattern: "GET /invoices/{id}/credit", Show: askCredit},
		desk.Route{Pattern: "POST /invoices/{id}/credit", Show: credit},
		desk.Route{Pattern: "GET /invoices/{id}/{action}/mail", Show: showMail},
		desk.Route{Pattern: "GET /money", Show: showMoney},
		desk.Route{Pattern: "GET /money/revenue.csv", Show: moneyFile("revenue")},
		desk.Route{Pattern: "GET /money/receivables.csv", Show: moneyFile("receivables")},
		desk.Route{Pattern: "GET /money/taxes.csv", Show: moneyFile("taxes")},
		desk.Route{Pattern: "GET /invoice/{token}", Show: publicInvoice, Who: desk.AnySite},
	)
}
