package console

import (
	"net/http"

	"frontdesk/internal/account"
)

func (v *visit) setupPage() error {
	if err := v.Accounts.CheckSetupLink(v.r.Context(), v.r.PathValue("token")); err != nil {
		return err
	}
	return v.showSetup(http.StatusOK, blank())
}

func (v *visit) showSetup(status int, f *form) error {
	return v.show(status, "setup", view{Title: "Set up Frontdesk", Bare: true, Data: f})
}

func (v *visit) setUp() error {
	input := v.origin(fields{"token": v.r.PathValue("token"), "organizationName": v.value("organizationName"),
		"name": v.value("name"), "email": v.value("email"), "password": v.r.PostFormValue("password")})
	if business := v.value("businessName"); business != "" {
		input["businessName"] = business
	}
	var s account.NewSession
	if err := v.do("organizations.set_up", input, &s); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showSetup(status, f)
	}
	v.startSession(&s)
	return v.done("/", "welcome")
}
