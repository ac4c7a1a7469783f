package money

import (
	"net/http"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/invoice"
)

// previewInvoice shows the team what the customer sees behind the link of a mail, also of a draft.
func previewInvoice(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var shown invoice.PublicInvoice
	if err := v.Do("invoices.preview", desk.Fields{"id": ref}, &shown); err != nil {
		return err
	}
	shown.PDF = "/invoices/" + string(ref) + "/pdf"
	return v.ShowPart(http.StatusOK, "invoice-public", &shown)
}

// publicInvoice shows a customer the invoice that the link in a mail names. It is
// the business's page: without the console around it, and without scripts.
func publicInvoice(v *desk.Visit) error {
	var shown invoice.PublicInvoice
	v.Caller = nil // the mail's recipient asks, whoever is signed in here
	err := v.Do("invoices.public", desk.Fields{"token": v.R.PathValue("token"), "address": v.Address()}, &shown)
	status := http.StatusOK
	if fault.IsKind(err, fault.NotFound) || fault.IsKind(err,
		fault.Invalid) { // a malformed token is like an unknown one
		status, shown = http.StatusNotFound, invoice.PublicInvoice{}
	} else if err != nil {
		return err
	}
	return v.ShowPart(status, "invoice-public", &shown)
}
