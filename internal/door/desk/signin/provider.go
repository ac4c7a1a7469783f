package signin

import (
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
)

// providerCookie names the cookie of a browser that was sent to the identity provider.
func providerCookie(v *desk.Visit) string { return v.CookieName() + "_provider" }

// toProvider sends the browser to the identity provider. It is a link and not a
// form, because a page's forms may lead to this site only.
func toProvider(v *desk.Visit) error {
	var begun account.ProviderVisitBegun
	err := v.Do("sessions.begin_provider",
		v.Origin(desk.Fields{"next": v.Next(), "fresh": v.R.FormValue("fresh") == "yes"}), &begun)
	if err != nil {
		return err
	}
	v.SetCookie(providerCookie(v), begun.Token, 600)
	desk.SetHeaders(v.W, v.FormTargets)
	http.Redirect(v.W, v.R, begun.URL, http.StatusSeeOther)
	return nil
}

// fromProvider is where the provider sends the browser back to.
func fromProvider(v *desk.Visit) error {
	q := v.R.URL.Query()
	token := ""
	if c, err := v.R.Cookie(providerCookie(v)); err == nil && len(c.Value) < 100 {
		token = c.Value
	}
	if q.Get("error") != "" {
		return backToSignIn(v, http.StatusForbidden, "You were not signed in: "+v.ProviderName()+" refused, or you "+
			"changed your mind.")
	}
	var s account.ProviderSession
	err := v.Do("sessions.finish_provider", v.Origin(desk.Fields{"token": token, "state": q.Get("state"),
		"code": q.Get("code"), "issuer": q.Get("iss")}), &s)
	f := fault.FromError(err)
	switch {
	case err == nil:
	case f.Kind == fault.Internal || f.Kind == fault.Unavailable || f.Kind == fault.OutcomeUnknown:
		return err
	default:
		logRefusal(v, f.Status)
		return backToSignIn(v, f.Status, f.Sentence())
	}
	v.SetCookie(providerCookie(v), "", -1)
	return continueSignInTo(v, &s.NewSession, desk.LocalPath(s.Next))
}

// backToSignIn shows the sign-in page with a problem, without the address that led
// here.
func backToSignIn(v *desk.Visit, status int, problem string) error {
	f := desk.NewTyped()
	f.Error = problem
	v.PagePath = "/sign-in"
	return showSignIn(v, status, f)
}

func signInLinkPage(v *desk.Visit) error {
	if err := v.Accounts.CheckEmergencyLink(v.R.Context(), v.R.PathValue("token")); err != nil {
		return err
	}
	return v.ShowView(http.StatusOK, "emergency", desk.View{Title: "Sign in", Bare: true})
}

func signInByLink(v *desk.Visit) error {
	var s account.NewSession
	if err := v.Do("sessions.create_by_link", v.Origin(desk.Fields{"token": v.R.PathValue("token")}), &s); err != nil {
		return err
	}
	return continueSignIn(v, &s)
}
