package console

import (
	"net/http"

	"frontdesk/internal/kernel/fault"
)

// subscription is what the link of a marketing mail names.
type subscription struct {
	Organization string  `json:"organization"`
	Email        *string `json:"email"`
	Subscribed   bool    `json:"subscribed"`
	Lost         bool    `json:"-"` // the link names nothing
}

// unsubscribePage changes nothing: whoever scans mail follows its links.
func (v *visit) unsubscribePage() error {
	return v.showUnsubscribe("email_opt_ins.subscription", "Unsubscribe")
}

// unsubscribe answers the button and, in RFC 8058's words, List-Unsubscribe=One-Click
// alike: with the page, and not with a redirect, which such a sender would not follow.
func (v *visit) unsubscribe() error {
	return v.showUnsubscribe("email_opt_ins.unsubscribe", "You are unsubscribed")
}

func (v *visit) showUnsubscribe(operation, title string) error {
	var s subscription
	v.caller = nil // whoever is signed in here, it is the mail's recipient who asks
	err := v.do(operation, fields{"token": v.r.PathValue("token"), "address": v.address()}, &s)
	switch {
	case fault.Has(err, fault.NotFound), fault.Has(err, fault.Invalid): // a token of any length is just not one
		return v.show(http.StatusNotFound, "unsubscribe", view{Title: "This link does not work", Bare: true, Data: subscription{Lost: true}})
	case err != nil:
		return err
	case !s.Subscribed:
		title = "You are unsubscribed"
	}
	return v.show(http.StatusOK, "unsubscribe", view{Title: title, Bare: true, Data: s})
}
