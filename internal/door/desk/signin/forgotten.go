package signin

import "frontdesk/internal/door/desk"

import "net/http"

// forgottenPage says who can help. It asks for nothing, so it reveals nothing
// about which addresses have a user.
func forgottenPage(v *desk.Visit) error {
	return v.ShowView(http.StatusOK, "forgotten", desk.View{Title: "Forgotten your password", Bare: true})
}

func resetPage(v *desk.Visit) error {
	if err := v.Accounts.CheckPasswordLink(v.R.Context(), v.R.PathValue("token")); err != nil {
		return err
	}
	return showReset(v, http.StatusOK, desk.NewTyped())
}

func showReset(v *desk.Visit, status int, f *desk.Typed) error {
	return v.ShowView(status, "reset", desk.View{Title: "Set a new password", Bare: true, Data: f})
}

func resetPassword(v *desk.Visit) error {
	err := v.Do("users.reset_password", desk.Fields{"token": v.R.PathValue("token"),
		"password":   v.R.PostFormValue("password"),
		"disconnect": v.Value("disconnect") == "yes"}, nil)
	if err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showReset(v, status, f)
	}
	if v.Session != nil { // perhaps of another user
		if err := v.Do("sessions.delete", desk.Fields{"token": v.Token}, nil); err != nil {
			return err
		}
	}
	v.ForgetSession()
	return v.Done("/sign-in", "reset", nil)
}
