package console

import (
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/fault"
)

// stepCookie names the cookie of a sign-in that waits for a second factor.
func (v *visit) stepCookie() string { return v.cookieName() + "_step" }

// pending is the token of the sign-in that waits for a second factor, or nothing.
func (v *visit) pending() string {
	if c, err := v.r.Cookie(v.stepCookie()); err == nil && len(c.Value) < 100 {
		return c.Value
	}
	return ""
}

// origin is where the visitor comes from, as the operations that sign in take it.
func (v *visit) origin(input fields) fields {
	input["address"], input["browser"] = v.address(), v.browser()
	input["userAgent"] = cut.Runes(strings.ToValidUTF8(v.r.UserAgent(), "\uFFFD"), 300)
	return input
}

// proceed goes on after the first or second step: to the second step, or in.
func (v *visit) proceed(s *account.NewSession) error { return v.proceedTo(s, v.next()) }

// proceedTo is proceed for a visitor who wanted to go somewhere.
func (v *visit) proceedTo(s *account.NewSession, next string) error {
	if s.Pending != "" {
		v.setCookie(v.stepCookie(), s.Pending, 600)
		v.redirect("/sign-in/second?next=" + url.QueryEscape(next))
		return nil
	}
	if v.pending() != "" {
		v.setCookie(v.stepCookie(), "", -1)
	}
	v.startSession(s)
	v.redirect(next)
	return nil
}

type secondData struct {
	Form    *form
	Email   string
	Next    string
	Codes   bool   // an app shows them
	Options string // for the passkeys; empty without any
	Problem string // with a passkey
}

func (v *visit) secondPage() error { return v.showSecond(http.StatusOK, blank(), "") }

func (v *visit) showSecond(status int, f *form, problem string) error {
	p, err := v.Accounts.FindPendingSignIn(v.r.Context(), v.pending())
	if fault.IsKind(err, account.SignInExpired) {
		return v.startOver()
	}
	if err != nil {
		return err
	}
	d := secondData{Form: f, Email: p.Email, Next: v.next(), Codes: p.Factors.Codes != nil, Problem: problem}
	var options account.PasskeyOptions
	err = v.do("sessions.ask_passkey", fields{"pending": v.pending()}, &options)
	if err != nil && !fault.IsKind(err, account.NoPasskeys) {
		return err
	}
	d.Options = options.Options
	return v.show(status, "second", view{Title: "One more step", Bare: true, Data: d})
}

// startOver sends back to the password whoever took too long.
func (v *visit) startOver() error {
	v.setCookie(v.stepCookie(), "", -1)
	return v.done("/sign-in?next="+url.QueryEscape(v.next()), "expired")
}

func (v *visit) second() error {
	return v.complete("sessions.confirm", "code", v.value("code"))
}

func (v *visit) secondPasskey() error {
	return v.complete("sessions.confirm_passkey", "credential", v.value("credential"))
}

// complete runs the operation that completes a sign-in.
func (v *visit) complete(operation, field, value string) error {
	var s account.NewSession
	err := v.do(operation, v.origin(fields{"pending": v.pending(), field: value}), &s)
	if fault.IsKind(err, account.SignInExpired) {
		return v.startOver()
	}
	if err != nil {
		v.setRetryAfter(err)
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		v.logRefusal(status)
		problem := ""
		if field == "credential" {
			problem, f.Error = f.Error, ""
		}
		return v.showSecond(status, f, problem)
	}
	return v.proceed(&s)
}
