package console

import (
	"bytes"
	"net/http"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/invoice"
)

// publicInvoice shows a customer the invoice that the link in a mail names. It is
// the business's page: without the console around it, and without scripts.
func (v *visit) publicInvoice() error {
	var shown invoice.PublicInvoice
	v.caller = nil // the mail's recipient asks, whoever is signed in here
	err := v.do("invoices.public", fields{"token": v.r.PathValue("token"), "address": v.address()}, &shown)
	status := http.StatusOK
	if fault.IsKind(err, fault.NotFound) || fault.IsKind(err,
		fault.Invalid) { // a malformed token is like an unknown one
		status, shown = http.StatusNotFound, invoice.PublicInvoice{}
	} else if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := templates["invoice-public"]().ExecuteTemplate(&page, "page", &shown); err != nil {
		return err
	}
	v.setHeaders()
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	v.w.Write(page.Bytes()) //nolint:errcheck // the visitor is gone
	return nil
}
