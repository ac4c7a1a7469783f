package console

import (
	"net/http"
	"strings"

	"frontdesk/internal/account"
)

type joinData struct {
	Form     *form
	Invite   *account.Invitation
	Known    bool // the invited user is signed in here
	Other    bool // somebody else is
	Here     string
	Provider string // what the identity provider is called; empty without one
	Only     bool   // passwords are switched off
}

func (v *visit) joinPage() error { return v.showJoin(http.StatusOK, blank()) }

// showJoin asks everybody for the same things, whether or not the address
// already has a user: whoever created the link can see this page too.
func (v *visit) showJoin(status int, f *form) error {
	invite, err := v.Accounts.FindInvitation(v.r.Context(), v.r.PathValue("token"))
	if err != nil {
		return err
	}
	d := joinData{Form: f, Invite: invite, Here: v.r.URL.Path}
	d.Provider, d.Only = v.Accounts.ProviderName()
	if v.session != nil {
		d.Known = strings.EqualFold(v.session.Email, invite.Email)
		d.Other = !d.Known
	}
	return v.show(status, "join", view{Title: "Join " + invite.Organization, Bare: true, Data: d})
}

func (v *visit) join() error {
	input := v.origin(fields{"token": v.r.PathValue("token")})
	if v.session != nil {
		input["session"] = v.token
	}
	if name := v.value("name"); name != "" {
		input["name"] = name
	}
	if password := v.r.PostFormValue("password"); password != "" {
		input["password"] = password
	}
	var s account.NewSession
	if err := v.do("invites.accept", input, &s); err != nil {
		v.setRetryAfter(err)
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		v.logRefusal(status)
		return v.showJoin(status, f)
	}
	v.startSession(&s)
	return v.done("/", "welcome")
}
