package console

import (
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"
)

// visitCookie names the cookie of a browser that was sent to the identity provider.
func (v *visit) visitCookie() string { return v.cookieName() + "_provider" }

// toProvider sends the browser to the identity provider. It is a link and not a
// form, because a page's forms may lead to this site only.
func (v *visit) toProvider() error {
	var begun account.ProviderVisitBegun
	err := v.do("sessions.begin_provider",
		v.origin(fields{"next": v.next(), "fresh": v.r.FormValue("fresh") == "yes"}), &begun)
	if err != nil {
		return err
	}
	v.setCookie(v.visitCookie(), begun.Token, 600)
	v.setHeaders()
	http.Redirect(v.w, v.r, begun.URL, http.StatusSeeOther)
	return nil
}

// fromProvider is where the provider sends the browser back to.
func (v *visit) fromProvider() error {
	q := v.r.URL.Query()
	token := ""
	if c, err := v.r.Cookie(v.visitCookie()); err == nil && len(c.Value) < 100 {
		token = c.Value
	}
	if q.Get("error") != "" {
		return v.backToSignIn(http.StatusForbidden, "You were not signed in: "+v.providerName()+" refused, or you "+
			"changed your mind.")
	}
	var s account.ProviderSession
	err := v.do("sessions.finish_provider", v.origin(fields{"token": token, "state": q.Get("state"),
		"code": q.Get("code"), "issuer": q.Get("iss")}), &s)
	f := fault.FromError(err)
	switch {
	case err == nil:
	case f.Kind == fault.Internal || f.Kind == fault.Unavailable || f.Kind == fault.OutcomeUnknown:
		return err
	default:
		v.logRefusal(f.Status)
		return v.backToSignIn(f.Status, f.Sentence())
	}
	v.setCookie(v.visitCookie(), "", -1)
	return v.proceedTo(&s.NewSession, localPath(s.Next))
}

// backToSignIn shows the sign-in page with a problem, without the address that led
// here.
func (v *visit) backToSignIn(status int, problem string) error {
	f := blank()
	f.Error = problem
	v.at = "/sign-in"
	return v.showSignIn(status, f)
}

// providerName is what the identity provider is called; empty without one.
func (v *visit) providerName() string {
	name, _ := v.Accounts.ProviderName()
	return name
}

func (v *visit) emergencyPage() error {
	if err := v.Accounts.CheckEmergencyLink(v.r.Context(), v.r.PathValue("token")); err != nil {
		return err
	}
	return v.show(http.StatusOK, "emergency", view{Title: "Sign in", Bare: true})
}

func (v *visit) emergency() error {
	var s account.NewSession
	if err := v.do("sessions.create_by_link", v.origin(fields{"token": v.r.PathValue("token")}), &s); err != nil {
		return err
	}
	return v.proceed(&s)
}
