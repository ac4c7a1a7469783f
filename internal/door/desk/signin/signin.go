package signin

import (
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
)

type signInData struct {
	Form     *desk.Typed
	Next     string
	Fresh    bool   // the server is not set up yet
	Provider string // what the identity provider is called; empty without one
	Only     bool   // passwords are switched off
	Kept     *desk.Kept
}

func signInPage(v *desk.Visit) error {
	if v.Session != nil {
		return v.Redirect(v.Next())
	}
	return showSignIn(v, http.StatusOK, desk.NewTyped())
}

func showSignIn(v *desk.Visit, status int, f *desk.Typed) error {
	return showSignInFor(v, status, f, v.KeptForm())
}

// showSignInFor asks to sign in, and then to go on with a form that was sent.
func showSignInFor(v *desk.Visit, status int, f *desk.Typed, kept *desk.Kept) error {
	fresh, _, err := v.Accounts.IsEmptyOrDemo(v.R.Context())
	if err != nil {
		return err
	}
	name, only := v.Accounts.ProviderName()
	return v.ShowView(status, "sign-in", desk.View{Title: "Sign in", Bare: true,
		Data: signInData{f, v.Next(), fresh, name, only, kept}})
}

func signIn(v *desk.Visit) error {
	var s account.NewSession
	err := v.Do("sessions.create",
		v.Origin(desk.Fields{"email": v.Value("email"), "password": v.R.PostFormValue("password")}), &s)
	if err != nil {
		v.SetRetryAfter(err)
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		logRefusal(v, status)
		return showSignIn(v, status, f)
	}
	return continueSignIn(v, &s)
}

// logRefusal logs a refused sign-in for the operator, without the email that
// was typed: people type passwords into that field.
func logRefusal(v *desk.Visit, status int) {
	v.Log.InfoContext(v.R.Context(), "sign-in refused", "trace_id", v.ID, "address", v.Address(), "status", status)
}

func signOutPage(v *desk.Visit) error {
	return v.Ask(desk.Question{Title: "Sign out", Lead: "You are signed in as " + v.Session.Name + ", " +
		v.Session.Email + ".", Button: "Sign out", Back: "/", Plain: true})
}

func signOut(v *desk.Visit) error {
	if err := v.Do("sessions.delete", desk.Fields{"token": v.Token}, nil); err != nil {
		return err
	}
	v.ForgetSession()
	return v.Redirect("/sign-in")
}
