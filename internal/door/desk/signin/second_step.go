package signin

import (
	"net/http"
	"net/url"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
)

// secondStepCookie names the cookie of a sign-in that waits for a second factor.
func secondStepCookie(v *desk.Visit) string { return v.CookieName() + "_step" }

// pendingSignIn is the token of the sign-in that waits for a second factor, or nothing.
func pendingSignIn(v *desk.Visit) string {
	if c, err := v.R.Cookie(secondStepCookie(v)); err == nil && len(c.Value) < 100 {
		return c.Value
	}
	return ""
}

// continueSignIn goes on after the first or second step: to the second step, or in.
func continueSignIn(v *desk.Visit, s *account.NewSession) error {
	return continueSignInTo(v, s, v.Next())
}

// continueSignInTo is continueSignIn for a visitor who wanted to go somewhere.
func continueSignInTo(v *desk.Visit, s *account.NewSession, next string) error {
	kept := v.KeptForm()
	if s.Pending != "" {
		v.SetCookie(secondStepCookie(v), s.Pending, 600)
		if kept != nil { // it goes on with the page, so there is no other page in between
			return showSecondOf(v, http.StatusOK, s.Pending, desk.NewTyped(), "")
		}
		return v.Redirect("/sign-in/second?next=" + url.QueryEscape(next))
	}
	if pendingSignIn(v) != "" {
		v.SetCookie(secondStepCookie(v), "", -1)
	}
	v.StartSession(s)
	if kept != nil {
		return v.CarryOut(kept, s.Token)
	}
	return v.Redirect(next)
}

type secondData struct {
	Form    *desk.Typed
	Email   string
	Next    string
	Codes   bool   // an app shows them
	Options string // for the passkeys; empty without any
	Problem string // with a passkey
	Kept    *desk.Kept
}

func secondStepPage(v *desk.Visit) error { return showSecond(v, http.StatusOK, desk.NewTyped(), "") }

func showSecond(v *desk.Visit, status int, f *desk.Typed, problem string) error {
	return showSecondOf(v, status, pendingSignIn(v), f, problem)
}

func showSecondOf(v *desk.Visit, status int, pending string, f *desk.Typed, problem string) error {
	p, err := v.Accounts.FindPendingSignIn(v.R.Context(), pending)
	if fault.IsKind(err, account.SignInExpired) {
		return startOver(v)
	}
	if err != nil {
		return err
	}
	d := secondData{Form: f, Email: p.Email, Next: v.Next(), Codes: p.Factors.Codes != nil, Problem: problem,
		Kept: v.KeptForm()}
	var options account.PasskeyOptions
	err = v.Do("sessions.ask_passkey", desk.Fields{"pending": pending}, &options)
	if err != nil && !fault.IsKind(err, account.NoPasskeys) {
		return err
	}
	d.Options = options.Options
	return v.ShowView(status, "second", desk.View{Title: "One more step", Bare: true, Data: d})
}

// startOver sends back to the password whoever took too long.
func startOver(v *desk.Visit) error {
	v.SetCookie(secondStepCookie(v), "", -1)
	return v.Done("/sign-in?next="+url.QueryEscape(v.Next()), "expired", nil)
}

func answerSecondStep(v *desk.Visit) error {
	return completeSecondStep(v, "sessions.confirm", "code", v.Value("code"))
}

func answerByPasskey(v *desk.Visit) error {
	return completeSecondStep(v, "sessions.confirm_passkey", "credential", v.Value("credential"))
}

// complete runs the operation that completes a sign-in.
func completeSecondStep(v *desk.Visit, operation, field, value string) error {
	var s account.NewSession
	err := v.Do(operation, v.Origin(desk.Fields{"pending": pendingSignIn(v), field: value}), &s)
	if fault.IsKind(err, account.SignInExpired) {
		return startOver(v)
	}
	if err != nil {
		v.SetRetryAfter(err)
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		logRefusal(v, status)
		problem := ""
		if field == "credential" {
			problem, f.Error = f.Error, ""
		}
		return showSecond(v, status, f, problem)
	}
	return continueSignIn(v, &s)
}
