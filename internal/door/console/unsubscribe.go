package console

import (
	"net/http"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/optin"
)

// unsubscribeData is what the link of a marketing mail names.
type unsubscribeData struct {
	optin.Subscription
	Lost bool // the link names nothing
}

// unsubscribePage changes nothing: mail scanners follow every link.
func (v *visit) unsubscribePage() error {
	return v.showUnsubscribe("email_opt_ins.subscription", "Unsubscribe")
}

// unsubscribe answers the button and RFC 8058's List-Unsubscribe=One-Click
// alike: with the page, because such a sender would not follow a redirect.
func (v *visit) unsubscribe() error {
	return v.showUnsubscribe("email_opt_ins.unsubscribe", "You are unsubscribed")
}

func (v *visit) showUnsubscribe(operation, title string) error {
	var s optin.Subscription
	v.caller = nil // the mail's recipient asks, whoever is signed in here
	err := v.do(operation, fields{"token": v.r.PathValue("token"), "address": v.address()}, &s)
	switch {
	case fault.IsKind(err, fault.NotFound), fault.IsKind(err,
		fault.Invalid): // a malformed token is like an unknown one
		return v.show(http.StatusNotFound, "unsubscribe",
			view{Title: "This link does not work", Bare: true, Data: unsubscribeData{Lost: true}})
	case err != nil:
		return err
	case !s.Subscribed:
		title = "You are unsubscribed"
	}
	return v.show(http.StatusOK, "unsubscribe", view{Title: title, Bare: true, Data: unsubscribeData{Subscription: s}})
}
