package settings

import (
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
)

// settingsHome redirects to the first settings page that the visitor may see.
func settingsHome(v *desk.Visit) error {
	if v.Session.Manager() {
		return v.Redirect("/settings/members")
	}
	return v.Redirect("/agreements")
}

func settingsCrumbs(text, href string, more ...desk.Crumb) []desk.Crumb {
	return append([]desk.Crumb{{Text: "Settings", Href: "/settings"}, {Text: text, Href: href}}, more...)
}

func passwordPage(v *desk.Visit) error { return showPassword(v, http.StatusOK, desk.NewTyped()) }

func showPassword(v *desk.Visit, status int, f *desk.Typed) error {
	return v.ShowView(status, "password",
		desk.View{Title: "Change your password", Section: "settings", Tab: "password",
			Crumbs: settingsCrumbs("Password", "/settings/password"), Data: f})
}

func changePassword(v *desk.Visit) error {
	err := v.Do("users.change_password", desk.Fields{"token": v.Token, "current": v.R.PostFormValue("current"),
		"password": v.R.PostFormValue("password"), "address": v.Address(), "browser": v.Browser(),
		"disconnect": v.Value("disconnect") == "yes"}, nil)
	if err != nil {
		v.SetRetryAfter(err)
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showPassword(v, status, f)
	}
	return v.Done("/settings/password", "password", nil)
}

// organizationsPage is for people who belong to more than one.
func organizationsPage(v *desk.Visit) error {
	rows, err := desk.ListFirst[account.Membership](v, "sessions.organizations", nil)
	if err != nil {
		return err
	}
	return v.ShowView(http.StatusOK, "organizations",
		desk.View{Title: "Organizations", Section: "settings",
			Crumbs: settingsCrumbs("Organizations", "/settings/organizations"), Bare: v.MustEnroll(),
			Data: rows})
}

func switchOrganization(v *desk.Visit) error {
	if err := v.Do("sessions.switch", desk.Fields{"token": v.Token, "organizationId": v.Value("organization_id")},
		nil); err != nil {
		return err
	}
	return v.Redirect(v.Next())
}
