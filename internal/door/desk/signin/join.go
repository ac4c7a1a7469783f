package signin

import (
	"net/http"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
)

type joinData struct {
	Form     *desk.Typed
	Invite   *account.Invitation
	Known    bool // the invited user is signed in here
	Other    bool // somebody else is
	Here     string
	Provider string // what the identity provider is called; empty without one
	Only     bool   // passwords are switched off
}

func joinPage(v *desk.Visit) error { return showJoin(v, http.StatusOK, desk.NewTyped()) }

// showJoin asks everybody for the same things, whether or not the address
// already has a user: whoever created the link can see this page too.
func showJoin(v *desk.Visit, status int, f *desk.Typed) error {
	invite, err := v.Accounts.FindInvitation(v.R.Context(), v.R.PathValue("token"))
	if err != nil {
		return err
	}
	d := joinData{Form: f, Invite: invite, Here: v.R.URL.Path}
	d.Provider, d.Only = v.Accounts.ProviderName()
	if v.Session != nil {
		d.Known = strings.EqualFold(v.Session.Email, invite.Email)
		d.Other = !d.Known
	}
	return v.ShowView(status, "join", desk.View{Title: "Join " + invite.Organization, Bare: true, Data: d})
}

func joinOrganization(v *desk.Visit) error {
	input := v.Origin(desk.Fields{"token": v.R.PathValue("token")})
	if v.Session != nil {
		input["session"] = v.Token
	}
	if name := v.Value("name"); name != "" {
		input["name"] = name
	}
	if password := v.R.PostFormValue("password"); password != "" {
		input["password"] = password
	}
	var s account.NewSession
	if err := v.Do("invites.accept", input, &s); err != nil {
		v.SetRetryAfter(err)
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		logRefusal(v, status)
		return showJoin(v, status, f)
	}
	v.StartSession(&s)
	return v.Done("/", "welcome", nil)
}
