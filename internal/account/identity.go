package account

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// People may sign in at an identity provider that the operator chose
// (provider_signin.go). This file says who they are here:
//
//   - After the first time, issuer and subject alone say which user it is. An
//     address can be given to somebody else at the provider.
//   - The first time, an address that the provider verified finds the user. The
//     operator chose the provider, so that proves the address (AddressUnproven,
//     in user.go).
//   - A user who was never proven may have been made by somebody else, who knows
//     the password and may have added passkeys. Whatever they set is removed before
//     the person gets the account.
//   - An address whose user is already linked to another subject is refused.

// Identity is what the provider says about a person.
type Identity struct {
	Issuer, Subject string
	Email, Name     string
	EmailVerified   bool // the provider verified the address
	Groups          []string
	Grouped         bool      // it sent a list of groups, even an empty one
	Factor          bool      // it says that it asked for a second factor
	At              time.Time // when the person signed in there; zero if it does not say
}

// Refusals of people whom the provider sends.
var (
	EmailUnverified = fault.DefineKind("EMAIL_NOT_VERIFIED", 403,
		"The identity provider has not verified your address, so nobody knows which account is yours.")
	UnknownPerson = fault.DefineKind("UNKNOWN_PERSON", 403,
		"You have no account here. Ask an owner or admin to invite you.")
	IdentityTaken = fault.DefineKind("IDENTITY_TAKEN", 409,
		"The account with your address belongs to somebody else at the identity provider. Ask whoever runs this "+
			"server.")
	NoGroup = fault.DefineKind("NO_GROUP", 403,
		"None of your groups at the identity provider gives you a role here. Ask whoever runs this server.")
	PasswordsOff = fault.DefineKind("PASSWORDS_OFF", 403, "Passwords are switched off here.")
)

// checkPasswordsAllowed refuses whatever needs a password where only the identity provider
// signs people in.
func (a *Accounts) checkPasswordsAllowed() error {
	if p := a.config.Provider; p != nil && p.Only {
		return PasswordsOff.Say("Passwords are switched off here. Sign in with %s.", p.Name)
	}
	return nil
}

// findOrAddPerson finds or adds the user that a person is, and locks the user. invite is the
// token of an invitation whose link the person opened, if any; joined reports whether
// it was used.
func (a *Accounts) findOrAddPerson(ctx context.Context, c *op.Call, who *Identity, invite string) (user id.ID,
	joined bool, err error) {
	user, err = db.QueryOne[id.ID](ctx, c.Tx, `
		UPDATE identities SET used_at = $3
		WHERE issuer = $1 AND subject = $2
		RETURNING user_id`, who.Issuer, who.Subject, c.Now)
	if err == nil {
		c.Caller = &op.Caller{Kind: op.UserActor, ID: user}
		return user, false, lockActiveUser(ctx, c.Tx, user)
	}
	if !errors.Is(err, db.ErrNoRow) {
		return "", false, err
	}
	if !who.EmailVerified || !op.IsEmailAddress(who.Email) {
		return "", false, EmailUnverified.New()
	}
	known, err := findUserByEmail(ctx, c.Tx, who.Email)
	if err != nil {
		return "", false, err
	}
	if known != nil {
		c.Caller = &op.Caller{Kind: op.UserActor, ID: known.ID}
		return known.ID, false, a.linkIdentity(ctx, c, known, who)
	}
	return a.addNewPerson(ctx, c, who, invite)
}

// linkIdentity ties an existing user to the person at the provider. u.ConfinedTo is set for a
// user whose address was never proven.
func (a *Accounts) linkIdentity(ctx context.Context, c *op.Call, u *credentials, who *Identity) error {
	if err := lockActiveUser(ctx, c.Tx, u.ID); err != nil {
		return err
	}
	if u.ConfinedTo != nil {
		if err := a.reclaimAccount(ctx, c, u.ID); err != nil {
			return err
		}
	}
	if err := insertIdentity(ctx, c, u.ID, who); err != nil {
		return err
	}
	return a.announceAccountChange(ctx, c, accountChange{"user.identity_linked", u.ID, ""}, Notice{
		Subject: "Your account is linked to " + a.config.Provider.Name,
		Text:    []string{"From now on you can sign in with " + a.config.Provider.Name + "."},
	})
}

// reclaimAccount removes everything by which whoever created an account could go on using it:
// password, factors, sessions, known browsers, links and connected clients. The
// address was never proven until now, so that may have been somebody else.
func (a *Accounts) reclaimAccount(ctx context.Context, c *op.Call, user id.ID) error {
	_, err := db.Exec(ctx, c.Tx, `
		UPDATE users SET password_hash = NULL, confined_to = NULL, updated_at = $2
		WHERE id = $1`, user, c.Now)
	if err != nil {
		return err
	}
	if err := deleteFactors(ctx, c.Tx, user); err != nil {
		return err
	}
	if err := endSessionsExcept(ctx, c.Tx, user, ""); err != nil {
		return err
	}
	if err := forgetBrowsers(ctx, c.Tx, user, ""); err != nil {
		return err
	}
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM password_links WHERE user_id = $1", user); err != nil {
		return err
	}
	return a.connections.EndConnectionsOfUser(ctx, c, user, true, PasswordChanged)
}

func insertIdentity(ctx context.Context, c *op.Call, user id.ID, who *Identity) error {
	// Either unique index may say no: the user is linked to another subject, or a
	// parallel sign-in has linked this subject.
	n, err := db.Exec(ctx, c.Tx, `
		INSERT INTO identities (user_id, issuer, subject, created_at, used_at) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT DO NOTHING`, user, who.Issuer, who.Subject, c.Now)
	if err == nil && n == 0 {
		return IdentityTaken.New()
	}
	return err
}

// addNewPerson adds somebody whom nobody knows here, because they were invited or
// because the settings say so.
func (a *Accounts) addNewPerson(ctx context.Context, c *op.Call, who *Identity, invite string) (user id.ID, joined bool,
	err error) {
	name := strings.Join(strings.Fields(who.Name), " ") // without line breaks
	if name == "" {
		name, _, _ = strings.Cut(who.Email, "@")
	}
	user = id.New()
	c.Caller = &op.Caller{Kind: op.UserActor, ID: user}
	add := func() error {
		if err := insertUser(ctx, c, newUser{id: user, email: who.Email, name: name}); err != nil {
			return err
		}
		return insertIdentity(ctx, c, user, who)
	}
	if invite != "" {
		v, err := a.loadInvitation(ctx, c.Tx, invite)
		if err == nil && db.FoldText(v.Email) == db.FoldText(who.Email) {
			return user, true, a.acceptProviderInvite(ctx, c, v, user, add)
		}
		if err != nil && !fault.IsKind(err, fault.NotFound) {
			return "", false, err
		}
	}
	p := a.config.Provider
	if !p.AddUnknown {
		return "", false, UnknownPerson.New()
	}
	role := "member"
	if len(p.Roles) > 0 {
		if role = p.highestRole(who.Groups); role == "" {
			return "", false, NoGroup.New()
		}
	}
	if err := add(); err != nil {
		return "", false, err
	}
	c.Org = p.Organization
	_, err = a.joinOrganization(ctx, c, user, role)
	return user, false, err
}

// acceptProviderInvite lets a new user join by an invitation to their own address. add inserts
// the user; it runs after the organization is locked.
func (a *Accounts) acceptProviderInvite(ctx context.Context, c *op.Call, v *Invitation, user id.ID,
	add func() error) error {
	if err := db.LockOrganization(ctx, c.Tx, v.Org); err != nil {
		return db.AsNotFound(err, "organization")
	}
	if err := add(); err != nil {
		return err
	}
	row, err := invites.SoftDelete(ctx, c.Tx, v.Org, v.ID, c.Now)
	if err != nil {
		return err
	}
	c.Org = v.Org
	if err := c.Emit("invite.accepted", row.ID, row); err != nil {
		return err
	}
	_, err = a.joinOrganization(ctx, c, user, v.Role)
	return err
}

// highestRole is the highest role that any of the groups gives, or empty.
func (p *Provider) highestRole(groups []string) string {
	for _, role := range []string{"owner", "admin", "member"} {
		for group, gives := range p.Roles {
			if gives == role && slices.Contains(groups, group) {
				return role
			}
		}
	}
	return ""
}

// applyGroupRole makes a user's role what their groups at the provider say, and removes
// a member who is in none of the groups. It does nothing where the settings give
// groups no roles. The organization is locked. A provider that sends no groups at all
// may only be set up wrong: then the person is signed out and not let in, but keeps
// the membership.
func (a *Accounts) applyGroupRole(ctx context.Context, c *op.Call, user id.ID, who *Identity) error {
	p := a.config.Provider
	if len(p.Roles) == 0 {
		return nil
	}
	c.Org = p.Organization
	m, err := findMember(ctx, c.Tx, p.Organization, user)
	if err != nil && !fault.IsKind(err, fault.NotFound) {
		return err
	}
	belongs, role := err == nil, p.highestRole(who.Groups)
	switch {
	case !who.Grouped:
		_, err = db.Exec(ctx, c.Tx, "DELETE FROM sessions WHERE user_id = $1 AND organization_id = $2", user,
			p.Organization)
		return err
	case belongs && role == "":
		return p.RemoveMember(ctx, c, user)
	case belongs && role != m.Role:
		_, err = a.setMemberRole(ctx, c, userRole{user, role})
		return err
	case !belongs && role != "":
		_, err = a.joinOrganization(ctx, c, user, role)
		return err
	}
	return nil
}

// unlinkIdentity forgets who a user is at the provider. The next person who signs in there
// with the user's verified address is linked to the user.
func (a *Accounts) unlinkIdentity(ctx context.Context, c *op.Call, in userByEmail) (*Member, error) {
	user, err := findUserByEmail(ctx, c.Tx, in.Email)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, fault.NotFound.Say("There is no user with this email.")
	}
	n, err := db.Exec(ctx, c.Tx, "DELETE FROM identities WHERE user_id = $1", user.ID)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fault.Field("email", "This user is not linked to an identity provider")
	}
	if err := endSessionsExcept(ctx, c.Tx, user.ID, ""); err != nil {
		return nil, err
	}
	all, err := emitToAllOrganizations(ctx, c, "user.identity_unlinked", user.ID)
	if len(all) > 0 {
		return &all[0], err
	}
	return &Member{ID: user.ID, Email: in.Email, Status: user.Status}, err
}

// deriveVisitSecret computes one of the secrets of a visit to the provider: state, nonce or PKCE
// verifier. The token is in the browser's cookie; the database has only its hash, so
// whoever reads the database cannot compute them.
func deriveVisitSecret(token, what string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(what))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
