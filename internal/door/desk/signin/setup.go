package signin

import (
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
)

func setupPage(v *desk.Visit) error {
	if err := v.Accounts.CheckSetupLink(v.R.Context(), v.R.PathValue("token")); err != nil {
		return err
	}
	return showSetup(v, http.StatusOK, desk.NewTyped())
}

func showSetup(v *desk.Visit, status int, f *desk.Typed) error {
	return v.ShowView(status, "setup", desk.View{Title: "Set up Frontdesk", Bare: true, Data: f})
}

func setUp(v *desk.Visit) error {
	input := v.Origin(desk.Fields{"token": v.R.PathValue("token"), "organizationName": v.Value("organizationName"),
		"name": v.Value("name"), "email": v.Value("email"), "password": v.R.PostFormValue("password")})
	if business := v.Value("businessName"); business != "" {
		input["businessName"] = business
	}
	var s account.NewSession
	if err := v.Do("organizations.set_up", input, &s); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showSetup(v, status, f)
	}
	v.StartSession(&s)
	return v.Done("/", "welcome", nil)
}
