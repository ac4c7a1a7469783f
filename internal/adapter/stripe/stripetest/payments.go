package stripetest

import (
	"fmt"
	"net/http"
)

func (f *Fake) createIntent(r *http.Request, key string) string {
	for field, want := range map[string]string{"amount": "1200", "currency": "usd", "confirm": "true",
		"off_session": "true"} {
		if r.Form.Get(field) != want {
			f.Report("%s is %q", field, r.Form.Get(field))
		}
	}
	if !f.customers[r.Form.Get("customer")] {
		return "400 " + missingError("customer", "customer")
	}
	id := fmt.Sprintf("pi_%d", len(f.intents)+1)
	row := func(status, fault string) string {
		return fmt.Sprintf(`{"id": %q, "object": "payment_intent", "status": %q, "metadata": {"frontdesk_key": %q}%s}`,
			id,
			status, key, fault)
	}
	fault := ""
	switch card := r.Form.Get("payment_method"); card {
	case "pm_declined":
		fault = `{"type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds", "message": ` +
			`"Your ` +
			`card has insufficient funds."}`
	case "pm_confirm":
		fault = `{"type": "card_error", "code": "authentication_required", "message": "This payment requires ` +
			`authentication."}`
	case "pm_busy":
		f.intents = append([]string{row("processing", "")}, f.intents...)
		return "200 " + f.intents[0]
	default:
		if m := f.methods[card]; m == nil || m.customer != r.Form.Get("customer") {
			return "400 " + missingError("PaymentMethod", "payment_method")
		}
	}
	if fault != "" {
		f.intents = append([]string{row("requires_payment_method", `, "last_payment_error": `+fault)}, f.intents...)
		return `402 {"error": ` + fault + `}`
	}
	f.Charges++
	f.intents = append([]string{row("succeeded", "")}, f.intents...)
	return "200 " + f.intents[0]
}

func (f *Fake) createRefund(r *http.Request, key string) string {
	payment := r.Form.Get("payment_intent")
	if _, ok := f.refunds[payment]; ok {
		return `400 {"error": {"type": "invalid_request_error", "code": "charge_already_refunded", "message": ` +
			`"Charge has ` +
			`already been refunded."}}`
	}
	f.refunds[payment] = fmt.Sprintf(`{"id": "re_1", "object": "refund", "status": "succeeded", "metadata": `+
		`{"frontdesk_key": %q}}`, key)
	return "200 " + f.refunds[payment]
}
