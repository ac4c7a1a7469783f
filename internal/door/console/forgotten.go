package console

import "net/http"

// forgottenPage says who can help. It asks for nothing, so it reveals nothing
// about which addresses have a user.
func (v *visit) forgottenPage() error {
	return v.show(http.StatusOK, "forgotten", view{Title: "Forgotten your password", Bare: true})
}

func (v *visit) resetPage() error {
	if err := v.Accounts.CheckPasswordLink(v.r.Context(), v.r.PathValue("token")); err != nil {
		return err
	}
	return v.showReset(http.StatusOK, blank())
}

func (v *visit) showReset(status int, f *form) error {
	return v.show(status, "reset", view{Title: "Set a new password", Bare: true, Data: f})
}

func (v *visit) reset() error {
	err := v.do("users.reset_password", fields{"token": v.r.PathValue("token"),
		"password":   v.r.PostFormValue("password"),
		"disconnect": v.value("disconnect") == "yes"}, nil)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showReset(status, f)
	}
	if v.session != nil { // perhaps of another user
		if err := v.do("sessions.delete", fields{"token": v.token}, nil); err != nil {
			return err
		}
	}
	v.forgetSession()
	return v.done("/sign-in", "reset")
}
