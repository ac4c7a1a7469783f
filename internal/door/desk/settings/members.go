package settings

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

const membersPath = "/settings/members"

func memberCrumbs(more ...desk.Crumb) []desk.Crumb {
	return settingsCrumbs("Members", membersPath, more...)
}

func membersPage(v *desk.Visit) error {
	members, err := desk.ListSheet[memberRow](v, "users.list", nil)
	if err != nil {
		return err
	}
	invites, err := desk.ListFirst[account.Invite](v, "invites.list", nil)
	if err != nil {
		return err
	}
	return v.ShowView(http.StatusOK, "members", desk.View{Title: "Members", Section: "settings", Tab: "members",
		Crumbs: memberCrumbs(),
		Main:   &desk.Button{Text: "Invite someone", Href: membersPath + "/invite"},
		Data: struct {
			Members desk.Sheet[memberRow]
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
	Form  *desk.Typed
	Roles []desk.Option
	Made  *desk.Secret
}

// RoleHelp says under the choice what each role may do.
func (inviteData) RoleHelp() string { return roleHelp }

func invitePage(v *desk.Visit) error {
	return showInvite(v, http.StatusOK, inviteData{Form: desk.NewTyped("role", "member")})
}

func showInvite(v *desk.Visit, status int, d inviteData) error {
	d.Roles = offeredRoles(v)
	return v.ShowView(status, "invite",
		desk.View{Title: "Invite someone", Section: "settings", Tab: "members",
			Crumbs: memberCrumbs(desk.Crumb{Text: "Invite"}),
			Data:   d})
}

func inviteMember(v *desk.Visit) error {
	var made account.NewInvite
	err := v.Do("invites.create", desk.Fields{"email": v.Value("email"), "role": v.Value("role")}, &made)
	if err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showInvite(v, status, inviteData{Form: f})
	}
	return showInvite(v, http.StatusOK, inviteData{Made: v.NewSecret("Pass this link on to "+made.Email+
		". Whoever opens it joins as "+made.Role+". It works once, for 7 days.", made.URL, membersPath)})
}

func revokeInvitePage(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	invites, err := desk.ListFirst[account.Invite](v, "invites.list", nil)
	if err != nil {
		return err
	}
	for _, i := range invites {
		if i.ID == ref {
			return v.Ask(desk.Question{Title: "Revoke the invitation", Section: "settings", Tab: "members",
				Crumbs: memberCrumbs(desk.Crumb{Text: "Revoke"}),
				Lead:   "The link for " + i.Email + " stops working.",
				Button: "Revoke invitation", Back: membersPath})
		}
	}
	return fault.NotFound.New()
}

func revokeInvite(v *desk.Visit) error {
	return v.DoWithID("invites.revoke", membersPath, "revoked")
}

func readMember(v *desk.Visit) (*account.Member, error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	var m account.Member
	return &m, v.Do("users.get", desk.Fields{"id": ref}, &m)
}

type memberData struct {
	Member    *account.Member
	Form      *desk.Typed
	Roles     []desk.Option
	Resources []keyResource
	Self      bool
	MayChange bool // the role, and whether the person is a member
}

// offeredRoles are those that the visitor can give.
func offeredRoles(v *desk.Visit) []desk.Option {
	return slices.DeleteFunc(slices.Clone(roleOptions), func(o desk.Option) bool {
		return o.Value == ownerRole && v.Session.Role != ownerRole
	})
}

const ownerRole = "owner"

// RoleHelp says under the choice what each role may do.
func (memberData) RoleHelp() string { return roleHelp }

func memberPage(v *desk.Visit) error {
	m, err := readMember(v)
	if err != nil {
		return err
	}
	return showMember(v, http.StatusOK, m, rightsForm(m))
}

// rightsForm is the page's form as the member is now.
func rightsForm(m *account.Member) *desk.Typed {
	f := desk.NewTyped("role", m.Role)
	for name, on := range map[string]bool{"maySpend": m.MaySpend, "mayApprove": m.MayApprove} {
		if on {
			f.Values.Set(name, "yes")
		}
	}
	f.Values["permissions"] = m.Permissions
	return f
}

func setRights(v *desk.Visit) error {
	m, err := readMember(v)
	if err != nil {
		return err
	}
	err = v.Do("members.update", desk.Fields{"id": m.ID, "maySpend": v.Value("maySpend") == "yes",
		"mayApprove": v.Value("mayApprove") == "yes", "permissions": tickedGrants(v)}, nil)
	if err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		f.Values.Set("role", m.Role)
		return showMember(v, status, m, f)
	}
	return v.Done(memberPath(m.ID), "saved", nil)
}

func showMember(v *desk.Visit, status int, m *account.Member, f *desk.Typed) error {
	w := desk.View{Title: m.Name, Section: "settings", Tab: "members", Crumbs: memberCrumbs(desk.Crumb{Text: m.Name}),
		Data: memberData{m, f, offeredRoles(v), keyResources(), m.ID == v.Session.User,
			m.Role != ownerRole || v.Session.Role == ownerRole}}
	if m.Status != "active" {
		w.Badge = desk.Pill{Text: "disabled", Tone: "bad"}
	}
	return v.ShowView(status, "member", w)
}

func setRole(v *desk.Visit) error {
	m, err := readMember(v)
	if err != nil {
		return err
	}
	if err := v.Do("users.set_role", desk.Fields{"id": m.ID, "role": v.Value("role")}, nil); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		again := rightsForm(m)
		again.Error, again.Errors = f.Error, f.Errors
		again.Values.Set("role", v.Value("role"))
		return showMember(v, status, m, again)
	}
	if m.ID == v.Session.User && v.Value("role") == "member" {
		return v.Done("/", "role", nil) // no longer a manager, they cannot see that page
	}
	return v.Done(memberPath(m.ID), "role", nil)
}

func memberPath(user id.ID) string { return membersPath + "/" + url.PathEscape(string(user)) }

func removeMemberPage(v *desk.Visit) error {
	m, err := readMember(v)
	if err != nil {
		return err
	}
	var holdings []account.Holding
	if err := v.Do("users.holdings", desk.Fields{"id": m.ID}, &holdings); err != nil {
		return err
	}
	return v.ShowView(http.StatusOK, "remove", desk.View{Title: "Remove " + m.Name, Section: "settings", Tab: "members",
		Crumbs: memberCrumbs(desk.Crumb{Text: m.Name, Href: memberPath(m.ID)}, desk.Crumb{Text: "Remove"}),
		Data:   removeData{m, holdings, v.Session.Role == ownerRole && m.ID != v.Session.User, memberPath(m.ID)}})
}

type removeData struct {
	Member   *account.Member
	Holdings []account.Holding
	Owner    bool // the visitor can take them over
	Back     string
}

func removeMember(v *desk.Visit) error {
	m, err := readMember(v)
	if err != nil {
		return err
	}
	input := desk.Fields{"id": m.ID}
	if kept := v.R.PostForm["take_over"]; len(kept) > 0 {
		input["takeOver"] = kept
	}
	if err := v.Do("users.remove", input, nil); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		again := rightsForm(m)
		again.Error = f.Error
		return showMember(v, status, m, again)
	}
	return v.Done(membersPath, "removed", nil)
}
