package console

import (
	"net/http"

	"frontdesk/internal/account"
)

// settings redirects to the first settings page that the visitor may see.
func (v *visit) settings() error {
	if v.session.Manager() {
		v.redirect("/settings/members")
	} else {
		v.redirect("/agreements")
	}
	return nil
}

func settingsCrumbs(text, href string, more ...crumb) []crumb {
	return append([]crumb{{"Settings", "/settings"}, {text, href}}, more...)
}

func (v *visit) passwordPage() error { return v.showPassword(http.StatusOK, blank()) }

func (v *visit) showPassword(status int, f *form) error {
	return v.show(status, "password",
		view{Title: "Change your password", Section: "settings", Tab: "password",
			Crumbs: settingsCrumbs("Password", "/settings/password"), Data: f})
}

func (v *visit) changePassword() error {
	err := v.do("users.change_password", fields{"token": v.token, "current": v.r.PostFormValue("current"),
		"password": v.r.PostFormValue("password"), "address": v.address(), "browser": v.browser(),
		"disconnect": v.value("disconnect") == "yes"}, nil)
	if err != nil {
		v.setRetryAfter(err)
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showPassword(status, f)
	}
	return v.done("/settings/password", "password")
}

// organizationsPage is for people who belong to more than one.
func (v *visit) organizationsPage() error {
	rows, err := listFirst[account.Membership](v, "sessions.organizations", nil)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "organizations",
		view{Title: "Organizations", Section: "settings",
			Crumbs: settingsCrumbs("Organizations", "/settings/organizations"), Bare: v.mustEnroll(),
			Data: rows})
}

func (v *visit) switchOrganization() error {
	if err := v.do("sessions.switch", fields{"token": v.token, "organizationId": v.value("organization_id")},
		nil); err != nil {
		return err
	}
	v.redirect(v.next())
	return nil
}
