package console

import (
	"net/http"
	"strconv"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/limit"
)

type signInData struct {
	Form  *form
	Next  string
	Fresh bool // nobody has set the server up
}

func (v *visit) signInPage() error {
	if v.session != nil {
		v.redirect(v.next())
		return nil
	}
	return v.showSignIn(http.StatusOK, blank())
}

func (v *visit) showSignIn(status int, f *form) error {
	fresh, _, err := v.Accounts.Census(v.r.Context())
	if err != nil {
		return err
	}
	return v.show(status, "sign-in", view{Title: "Sign in", Bare: true, Data: signInData{f, v.next(), fresh}})
}

func (v *visit) signIn() error {
	var s account.NewSession
	err := v.do("sessions.create", fields{"email": v.value("email"), "password": v.r.PostFormValue("password"),
		"address": v.address(), "browser": v.browser()}, &s)
	if err != nil {
		v.retry(err)
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		v.tellRefusal(status)
		return v.showSignIn(status, f)
	}
	v.begin(&s)
	v.redirect(v.next())
	return nil
}

// begin puts a new session in place of the one that the browser had.
func (v *visit) begin(s *account.NewSession) {
	if v.session != nil {
		if err := v.do("sessions.delete", fields{"token": v.token}, nil); err != nil {
			v.Log.WarnContext(v.r.Context(), "an old session was not ended", "trace_id", v.id, "err", err)
		}
	}
	v.remember(s)
}

// tellRefusal notes a refused sign-in for the operator, without the address
// that was typed: people type passwords into that field.
func (v *visit) tellRefusal(status int) {
	v.Log.InfoContext(v.r.Context(), "sign-in refused", "trace_id", v.id, "address", v.address(), "status", status)
}

func (v *visit) signOutPage() error {
	return v.ask(question{Title: "Sign out", Lead: "You are signed in as " + v.session.Name + ", " + v.session.Email + ".", Button: "Sign out", Back: "/", Plain: true})
}

func (v *visit) signOut() error {
	if err := v.do("sessions.delete", fields{"token": v.token}, nil); err != nil {
		return err
	}
	v.forget()
	v.redirect("/sign-in")
	return nil
}

// retry tells a client how long to wait, when a refusal says so.
func (v *visit) retry(err error) {
	if f := fault.Of(err); f.RetryAfter > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(limit.Seconds(f.RetryAfter)))
	}
}
