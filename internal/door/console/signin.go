package console

import (
	"net/http"
	"strconv"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/limit"
)

type signInData struct {
	Form     *form
	Next     string
	Fresh    bool   // the server is not set up yet
	Provider string // what the identity provider is called; empty without one
	Only     bool   // passwords are switched off
}

func (v *visit) signInPage() error {
	if v.session != nil {
		v.redirect(v.next())
		return nil
	}
	return v.showSignIn(http.StatusOK, blank())
}

func (v *visit) showSignIn(status int, f *form) error {
	fresh, _, err := v.Accounts.IsEmptyOrDemo(v.r.Context())
	if err != nil {
		return err
	}
	name, only := v.Accounts.ProviderName()
	return v.show(status, "sign-in", view{Title: "Sign in", Bare: true,
		Data: signInData{f, v.next(), fresh, name, only}})
}

func (v *visit) signIn() error {
	var s account.NewSession
	err := v.do("sessions.create",
		v.origin(fields{"email": v.value("email"), "password": v.r.PostFormValue("password")}), &s)
	if err != nil {
		v.setRetryAfter(err)
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		v.logRefusal(status)
		return v.showSignIn(status, f)
	}
	return v.proceed(&s)
}

// startSession replaces the browser's session with a new one.
func (v *visit) startSession(s *account.NewSession) {
	if v.session != nil {
		if err := v.do("sessions.delete", fields{"token": v.token}, nil); err != nil {
			v.Log.WarnContext(v.r.Context(), "an old session was not ended", "trace_id", v.id, "err", err)
		}
	}
	v.rememberSession(s)
}

// logRefusal logs a refused sign-in for the operator, without the email that
// was typed: people type passwords into that field.
func (v *visit) logRefusal(status int) {
	v.Log.InfoContext(v.r.Context(), "sign-in refused", "trace_id", v.id, "address", v.address(), "status", status)
}

func (v *visit) signOutPage() error {
	return v.ask(question{Title: "Sign out", Lead: "You are signed in as " + v.session.Name + ", " + v.session.Email +
		".",
		Button: "Sign out", Back: "/", Plain: true})
}

func (v *visit) signOut() error {
	if err := v.do("sessions.delete", fields{"token": v.token}, nil); err != nil {
		return err
	}
	v.forgetSession()
	v.redirect("/sign-in")
	return nil
}

// setRetryAfter tells the client how long to wait, if the refusal says so.
func (v *visit) setRetryAfter(err error) {
	if f := fault.FromError(err); f.RetryAfter > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(limit.CeilSeconds(f.RetryAfter)))
	}
}
