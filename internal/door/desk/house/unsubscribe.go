package house

import (
	"net/http"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/optin"
)

// unsubscribeData is what the link of a marketing mail names.
type unsubscribeData struct {
	optin.Subscription
	Lost bool // the link names nothing
}

// unsubscribePage changes nothing: mail scanners follow every link.
func unsubscribePage(v *desk.Visit) error {
	return showUnsubscribe(v, "email_opt_ins.subscription", "Unsubscribe")
}

// unsubscribe answers the button and RFC 8058's List-Unsubscribe=One-Click
// alike: with the page, because such a sender would not follow a redirect.
func unsubscribe(v *desk.Visit) error {
	return showUnsubscribe(v, "email_opt_ins.unsubscribe", "You are unsubscribed")
}

func showUnsubscribe(v *desk.Visit, operation, title string) error {
	var s optin.Subscription
	v.Caller = nil // the mail's recipient asks, whoever is signed in here
	err := v.Do(operation, desk.Fields{"token": v.R.PathValue("token"), "address": v.Address()}, &s)
	switch {
	case fault.IsKind(err, fault.NotFound), fault.IsKind(err,
		fault.Invalid): // a malformed token is like an unknown one
		return v.ShowView(http.StatusNotFound, "unsubscribe",
			desk.View{Title: "This link does not work", Bare: true, Data: unsubscribeData{Lost: true}})
	case err != nil:
		return err
	case !s.Subscribed:
		title = "You are unsubscribed"
	}
	return v.ShowView(http.StatusOK, "unsubscribe",
		desk.View{Title: title, Bare: true, Data: unsubscribeData{Subscription: s}})
}
