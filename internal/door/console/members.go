package console

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/id"
)

const membersPath = "/settings/members"

func memberCrumbs(more ...crumb) []crumb { return settingsCrumbs("Members", membersPath, more...) }

func (v *visit) membersPage() error {
	members, err := listPage[memberRow](v, "users.list", nil)
	if err != nil {
		return err
	}
	invites, err := listFirst[account.Invite](v, "invites.list", nil)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "members", view{Title: "Members", Section: "settings", Tab: "members",
		Crumbs: memberCrumbs(),
		Main:   &action{Text: "Invite someone", Href: membersPath + "/invite"},
		Data: struct {
			Members sheet[memberRow]
			Invites []account.Invite
		}{members, invites}})
}

// memberRow is a member as the list shows one.
type memberRow struct{ account.Member }

// MayWords says in a few words what the member may do.
func (m memberRow) MayWords() string {
	if m.Role != "member" {
		return "Everything"
	}
	words := keyWords(m.Permissions)
	if words == "Everything" {
		words = "All records"
	}
	if m.MaySpend {
		words += ", spends"
	}
	if m.MayApprove {
		words += ", approves"
	}
	return words
}

type inviteData struct {
	Form  *form
	Roles []option
	Made  *secretOnce
}

// RoleHelp says under the choice what each role may do.
func (inviteData) RoleHelp() string { return roleHelp }

func (v *visit) invitePage() error {
	return v.showInvite(http.StatusOK, inviteData{Form: blank("role", "member")})
}

func (v *visit) showInvite(status int, d inviteData) error {
	d.Roles = v.roles()
	return v.show(status, "invite",
		view{Title: "Invite someone", Section: "settings", Tab: "members", Crumbs: memberCrumbs(crumb{"Invite", ""}),
			Data: d})
}

func (v *visit) invite() error {
	var made account.NewInvite
	err := v.do("invites.create", fields{"email": v.value("email"), "role": v.value("role")}, &made)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showInvite(status, inviteData{Form: f})
	}
	return v.showInvite(http.StatusOK, inviteData{Made: &secretOnce{
		"Pass this link on to " + made.Email + ". Whoever opens it joins as " + made.Role +
			". It works once, for 7 days.", made.URL, membersPath}})
}

func (v *visit) revokeInvitePage() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	invites, err := listFirst[account.Invite](v, "invites.list", nil)
	if err != nil {
		return err
	}
	for _, i := range invites {
		if i.ID == ref {
			return v.ask(question{Title: "Revoke the invitation", Section: "settings", Tab: "members",
				Crumbs: memberCrumbs(crumb{"Revoke", ""}),
				Lead:   "The link for " + i.Email + " stops working.",
				Button: "Revoke invitation", Back: membersPath})
		}
	}
	return v.notFound()
}

func (v *visit) revokeInvite() error {
	return v.act("invites.revoke", membersPath, "revoked")
}

// act runs an operation on the row in the path, then redirects to a page.
func (v *visit) act(operation, then, what string) error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	if err := v.do(operation, fields{"id": ref}, nil); err != nil {
		return err
	}
	return v.done(then, what)
}

func (v *visit) member() (*account.Member, error) {
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	var m account.Member
	return &m, v.do("users.get", fields{"id": ref}, &m)
}

type memberData struct {
	Member    *account.Member
	Form      *form
	Roles     []option
	Resources []keyResource
	Self      bool
	MayChange bool // the role, and whether the person is a member
}

// roles are those that the visitor can give.
func (v *visit) roles() []option {
	return slices.DeleteFunc(slices.Clone(roleOptions), func(o option) bool {
		return o.Value == ownerRole && v.session.Role != ownerRole
	})
}

const ownerRole = "owner"

// RoleHelp says under the choice what each role may do.
func (memberData) RoleHelp() string { return roleHelp }

func (v *visit) memberPage() error {
	m, err := v.member()
	if err != nil {
		return err
	}
	return v.showMember(http.StatusOK, m, rightsForm(m))
}

// rightsForm is the page's form as the member is now.
func rightsForm(m *account.Member) *form {
	f := blank("role", m.Role)
	for name, on := range map[string]bool{"maySpend": m.MaySpend, "mayApprove": m.MayApprove} {
		if on {
			f.Values.Set(name, "yes")
		}
	}
	f.Values["permissions"] = m.Permissions
	return f
}

func (v *visit) setRights() error {
	m, err := v.member()
	if err != nil {
		return err
	}
	err = v.do("members.update", fields{"id": m.ID, "maySpend": v.value("maySpend") == "yes",
		"mayApprove": v.value("mayApprove") == "yes", "permissions": v.grants()}, nil)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		f.Values.Set("role", m.Role)
		return v.showMember(status, m, f)
	}
	return v.done(memberPath(m.ID), "saved")
}

func (v *visit) showMember(status int, m *account.Member, f *form) error {
	w := view{Title: m.Name, Section: "settings", Tab: "members", Crumbs: memberCrumbs(crumb{m.Name, ""}),
		Data: memberData{m, f, v.roles(), keyResources(), m.ID == v.session.User,
			m.Role != ownerRole || v.session.Role == ownerRole}}
	if m.Status != "active" {
		w.Badge = badge{"disabled", "bad"}
	}
	return v.show(status, "member", w)
}

func (v *visit) setRole() error {
	m, err := v.member()
	if err != nil {
		return err
	}
	if err := v.do("users.set_role", fields{"id": m.ID, "role": v.value("role")}, nil); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		again := rightsForm(m)
		again.Error, again.Errors = f.Error, f.Errors
		again.Values.Set("role", v.value("role"))
		return v.showMember(status, m, again)
	}
	if m.ID == v.session.User && v.value("role") == "member" {
		return v.done("/", "role") // no longer a manager, they cannot see that page
	}
	return v.done(memberPath(m.ID), "role")
}

func memberPath(user id.ID) string { return membersPath + "/" + url.PathEscape(string(user)) }

func (v *visit) removeMemberPage() error {
	m, err := v.member()
	if err != nil {
		return err
	}
	var holdings []account.Holding
	if err := v.do("users.holdings", fields{"id": m.ID}, &holdings); err != nil {
		return err
	}
	return v.show(http.StatusOK, "remove", view{Title: "Remove " + m.Name, Section: "settings", Tab: "members",
		Crumbs: memberCrumbs(crumb{m.Name, memberPath(m.ID)}, crumb{"Remove", ""}),
		Data:   removeData{m, holdings, v.session.Role == ownerRole && m.ID != v.session.User, memberPath(m.ID)}})
}

type removeData struct {
	Member   *account.Member
	Holdings []account.Holding
	Owner    bool // the visitor can take them over
	Back     string
}

func (v *visit) removeMember() error {
	m, err := v.member()
	if err != nil {
		return err
	}
	input := fields{"id": m.ID}
	if kept := v.r.PostForm["take_over"]; len(kept) > 0 {
		input["takeOver"] = kept
	}
	if err := v.do("users.remove", input, nil); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		again := rightsForm(m)
		again.Error = f.Error
		return v.showMember(status, m, again)
	}
	return v.done(membersPath, "removed")
}
