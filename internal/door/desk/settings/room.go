// Package settings is the room of the account: members and their rights, API keys,
// cards, the plan, agreements, and a person's own password and second factor.
package settings

import (
	"context"
	"embed"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed passkeys.js
var passkeys []byte

var _ = desk.AddTemplates(pages, "pages/*.html") && desk.AddScript("passkeys.js", passkeys)

// Room is what its pages need beside operations.
type Room struct {
	// CardsAt is the address of the payment provider's own card pages. Empty
	// means that cards are saved in the sandbox.
	CardsAt    string
	Allowances []Allowance
	Storage    map[string]int64 // bytes of files and mail, by plan
	// Connections lists the clients that are connected as agents.
	Connections func(*desk.Visit) ([]grant.Connection, error)
}

// Allowance is something that a plan limits per minute.
type Allowance struct {
	Name   string // "API requests"
	ByPlan map[string]int
	Spent  string // what happens once it is used up
	// Look reports what is left and how many wait, and spends nothing.
	Look func(ctx context.Context, org id.ID, plan string) (v limit.Verdict, waiting int, err error)
}

// Join adds the room to the desk.
func (room *Room) Join(d *desk.Desk) {
	d.AddPages(desk.SignedIn, desk.Pages{
		"GET /setup":      setupSteps,
		"GET /agreements": agreementsPage, "POST /agreements": acceptAgreement,
		"GET /settings":          settingsHome,
		"GET /settings/password": passwordPage, "POST /settings/password": changePassword,
		"GET /settings/organizations": organizationsPage, "POST /settings/organizations": switchOrganization,
		"GET /settings/sign-in":         signInSettings,
		"GET /settings/sign-in/confirm": confirmPage, "POST /settings/sign-in/confirm": confirmIdentity,
		"POST /settings/sign-in/confirm/passkey":      confirmByPasskey,
		"GET /settings/sign-in/codes":                 codesPage,
		"POST /settings/sign-in/codes":                addCodes,
		"GET /settings/sign-in/codes/remove":          removeCodesPage,
		"POST /settings/sign-in/codes/remove":         removeCodes,
		"GET /settings/sign-in/passkeys/new":          newPasskeyPage,
		"POST /settings/sign-in/passkeys/new":         addPasskey,
		"GET /settings/sign-in/passkeys/{id}/remove":  removePasskeyPage,
		"POST /settings/sign-in/passkeys/{id}/remove": removePasskey,
		"GET /settings/sign-in/recovery":              renewRecoveryPage,
		"POST /settings/sign-in/recovery":             renewRecovery,
		"POST /settings/sign-in/required":             saveFactorRequirement,
		"POST /settings/sign-in/sessions/{id}/end":    endSession,
		"POST /settings/sign-in/sessions/end-others":  endOtherSessions,
	})
	d.AddPages(desk.Managers, desk.Pages{
		"GET /settings/members":        membersPage,
		"GET /settings/members/invite": invitePage, "POST /settings/members/invite": inviteMember,
		"GET /settings/members/invites/{id}/revoke":  revokeInvitePage,
		"POST /settings/members/invites/{id}/revoke": revokeInvite,
		"GET /settings/members/{id}":                 memberPage, "POST /settings/members/{id}": setRole,
		"POST /settings/members/{id}/rights": setRights,
		"GET /settings/members/{id}/remove":  removeMemberPage, "POST /settings/members/{id}/remove": removeMember,
		"GET /settings/keys":     keysPage,
		"GET /settings/keys/new": newKeyPage, "POST /settings/keys/new": createKey,
		"GET /settings/keys/{id}/revoke": revokeKeyPage, "POST /settings/keys/{id}/revoke": revokeKey,
		"GET /settings/cards": room.cardsPage, "POST /settings/cards": room.addCard,
		"GET /settings/cards/saved":         savedCard,
		"POST /settings/cards/{id}/default": setDefaultCard,
		"GET /settings/cards/{id}/delete":   deleteCardPage, "POST /settings/cards/{id}/delete": deleteCard,
		"GET /settings/plan": room.planPage,
		"GET /setup/paper":   setupPaper,
	})
	d.Add(desk.Route{Pattern: "POST /setup", Show: saveStep, Who: desk.Managers, Streams: true})
}

var _ = desk.AddDoneTexts(map[string]string{
	"accepted": "Accepted. API keys and agents of the business work within a minute.",
	"revoked":  "Revoked.", "role": "Role changed.",
	"card":     "Card saved. It is the default now.",
	"samecard": "This card is already saved. Nothing changed.",
	"nocard":   "No card was added.",
	"password": "Password changed. Other browsers are signed out.",
	"default":  "Default card changed.",
	"factor":   "Added. Signing in asks for it from now on.", "ended": "Ended. That browser is signed out.",
	"endedall": "All other browsers are signed out.",
})
