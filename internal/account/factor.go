package account

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// A user may have second factors: passkeys, and an app that shows one-time codes.
// Recovery codes come with the first of them. From then on no session of that user
// begins without a factor (second_step.go), whichever way they came in, so a
// session whose Factor is empty belongs to a user who has none.

// Factor is how a session proved more than a password.
type Factor string

// The factors. ByProvider means that the identity provider says it asked for one, and
// that the operator trusts it (Provider.TrustFactor).
const (
	ByCode     Factor = "code"
	ByPasskey  Factor = "passkey"
	ByRecovery Factor = "recovery"
	ByProvider Factor = "provider"
)

// Refusals about factors.
var (
	WrongFactor = fault.DefineKind("WRONG_SECOND_FACTOR", 401,
		"That code is wrong, was already used, or has expired. Wait for the next one and try again.")
	WrongPasskey = fault.DefineKind("WRONG_PASSKEY", 401,
		"That passkey was not accepted. Try again, or use another way.")
	SignInFirst = fault.DefineKind("SIGN_IN_FIRST", 409,
		"This address has a second factor. Sign in first, then open the invitation again.")
	NotConfirmed = fault.DefineKind("CONFIRMATION_REQUIRED", 403, "Confirm that it is you first.")
	FactorExists = fault.DefineKind("FACTOR_EXISTS", 409,
		"You already have an app for one-time codes. Remove it first.")
	NoPasskeys = fault.DefineKind("PASSKEYS_UNAVAILABLE", 409,
		"Browsers offer passkeys only over https, and for a host name, not an IP address.")
	OwnFactorFirst = fault.DefineKind("OWN_FACTOR_FIRST", 409, "Add a second factor of your own first.")
)

// confirmationLifetime is how long a user may change factors after confirming who they are. A
// secret for an app that nobody confirmed is shown again for as long.
const confirmationLifetime = 10 * time.Minute

// Factors is what a user has.
type Factors struct {
	Codes     *CodeApp  `json:"codes" doc:"null without an app for one-time codes"`
	Passkeys  []Passkey `json:"passkeys"`
	Recovery  int       `json:"recovery" doc:"unused recovery codes"`
	Required  bool      `json:"required" doc:"the organization requires one of this user"`
	Confirmed bool      `json:"confirmed" doc:"the user confirmed in the last ten minutes who they are"`
	Password  bool      `json:"password" doc:"the user has a password"`
	Offered   bool      `json:"offered" doc:"browsers offer passkeys at this address"`
	Linked    bool      `json:"linked" doc:"the user signs in with the identity provider"`
}

// Any reports whether the user has a second factor. Recovery codes alone are none.
func (f *Factors) Any() bool { return f.Codes != nil || len(f.Passkeys) > 0 }

// CodeApp is an app that shows one-time codes.
type CodeApp struct {
	CreatedAt clock.Time  `json:"createdAt"`
	UsedAt    *clock.Time `json:"usedAt"`
}

// Passkey is a passkey of a user.
type Passkey struct {
	ID        id.ID       `json:"id"`
	CreatedAt clock.Time  `json:"createdAt"`
	UsedAt    *clock.Time `json:"usedAt"`
	Name      string      `json:"name"`
}

// FactorChange is what the event log shows when a user's factors change.
type FactorChange struct {
	Member
	Factor Factor `json:"factor"`
}

func (a *Accounts) factorOperations() []*op.Op {
	const token = `"token": "fds_0000000000000000000000000000000000000000"`
	own := func(name, summary, event, example string) op.Spec {
		s := op.Spec{
			Name:     "factors." + name,
			Summary:  summary,
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Errors:   []*fault.Kind{NotConfirmed},
			Example:  `{` + token + example + `}`,
		}
		if event != "" {
			s.Events = []string{"user.factor_" + event}
		}
		return s
	}
	list := own("list", "Show your second factors.", "", "")
	begin := own("begin_codes", "Create the secret for an app that shows one-time codes.", "", "")
	begin.Secret, begin.Errors = true, append(begin.Errors, FactorExists)
	add := own("add_codes", "Confirm the app with a code; from then on signing in asks for one.", "added",
		`, "code": "123456"`)
	add.Secret, add.Errors = true, append(add.Errors, WrongFactor)
	recovery := own("renew_recovery", "Create ten new recovery codes; the earlier ones stop working.", "", "")
	recovery.Secret, recovery.Events = true, []string{"user.recovery_codes_created"}
	return []*op.Op{
		op.Read(list, a.listFactors),
		op.Write(begin, a.beginCodeApp),
		op.Write(add, a.addCodeApp),
		op.Write(own("remove_codes", "Remove your app for one-time codes.", "removed", ""), a.removeCodeApp),
		op.Write(own("remove_passkey", "Remove one of your passkeys.", "removed",
			`, "id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`), a.removePasskey),
		op.Write(recovery, a.renewRecoveryCodes),
		op.Write(op.Spec{
			Name:     "users.reset_factors",
			Summary:  "Remove all second factors of a user who lost them; all of the user's sessions end.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Events:   []string{"user.factors_reset"},
			Example:  `{"email": "ada@example.com"}`,
		}, a.resetFactors),
		WriteByManager(op.Spec{
			Name:     "organizations.require_factor",
			Summary:  "Say whether owners and admins need a second factor.",
			Resource: op.Account,
			Doors:    Doors,
			Events:   []string{"organization.updated"},
			Errors:   []*fault.Kind{OwnFactorFirst},
			Example:  `{"required": true}`,
		}, a.setFactorRequired),
	}
}

// ofSession names the session in which a user changes their own factors.
type ofSession struct {
	Token string `json:"token" doc:"the session's"`
}

// userHasFactor reports whether a user has a second factor.
func userHasFactor(ctx context.Context, tx *db.Tx, user id.ID) (bool, error) {
	return db.QueryOne[bool](ctx, tx, `
		SELECT EXISTS (SELECT 1 FROM passkeys WHERE user_id = $1)
			OR EXISTS (SELECT 1 FROM code_secrets WHERE user_id = $1 AND confirmed_at IS NOT NULL)`, user)
}

// loadFactors reads what a user has. listFactors adds what depends on the session, the
// organization and the server.
func loadFactors(ctx context.Context, tx *db.Tx, user id.ID) (*Factors, error) {
	out := &Factors{}
	apps, err := db.QueryAll[CodeApp](ctx, tx, `
		SELECT created_at, used_at FROM code_secrets
		WHERE user_id = $1 AND confirmed_at IS NOT NULL`, user)
	if err != nil {
		return nil, err
	}
	if len(apps) > 0 {
		out.Codes = &apps[0]
	}
	out.Passkeys, err = db.QueryAll[Passkey](ctx, tx, `
		SELECT id, created_at, used_at, name FROM passkeys
		WHERE user_id = $1 ORDER BY seq LIMIT $2`, user, maxPasskeys)
	if err != nil {
		return nil, err
	}
	out.Recovery, err = db.QueryOne[int](ctx, tx,
		"SELECT count(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL", user)
	return out, err
}

func (a *Accounts) listFactors(ctx context.Context, c *op.Call, in ofSession) (*Factors, error) {
	out, err := loadFactors(ctx, c.Tx, c.Caller.ID)
	if err != nil {
		return nil, err
	}
	out.Offered = a.passkeys != nil
	if out.Password, err = db.QueryOne[bool](ctx, c.Tx, "SELECT password_hash IS NOT NULL FROM users WHERE id = $1",
		c.Caller.ID); err != nil {
		return nil, err
	}
	out.Password = out.Password && a.checkPasswordsAllowed() == nil
	if out.Linked, err = db.QueryOne[bool](ctx, c.Tx, "SELECT EXISTS (SELECT 1 FROM identities WHERE user_id = $1)",
		c.Caller.ID); err != nil {
		return nil, err
	}
	if out.Required, err = requiresFactor(ctx, c.Tx, c.Org, c.Caller.ID); err != nil {
		return nil, err
	}
	err = requireConfirmed(ctx, c, in.Token)
	out.Confirmed = err == nil
	if fault.IsKind(err, NotConfirmed) {
		err = nil
	}
	return out, err
}

// requiresFactor reports whether an organization requires a factor of a user.
func requiresFactor(ctx context.Context, tx *db.Tx, org, user id.ID) (bool, error) {
	return db.QueryOne[bool](ctx, tx, `
		SELECT EXISTS (SELECT 1 FROM memberships m JOIN organizations o ON o.id = m.organization_id
			WHERE m.organization_id = $1 AND m.user_id = $2 AND m.deleted_at IS NULL AND m.role IN ('owner', 'admin')
				AND o.requires_factor)`, org, user)
}

// requireConfirmed refuses a user who did not confirm in this session, within
// confirmationLifetime, who they are: an unattended screen must not be enough to change
// a factor. Somebody without a factor whose organization requires one need not confirm
// right after signing in: adding it is all that they can do then.
func requireConfirmed(ctx context.Context, c *op.Call, token string) error {
	type row struct {
		Created   clock.Time  `db:"created_at"`
		Factor    Factor      `db:"factor"`
		Confirmed *clock.Time `db:"confirmed_at"`
	}
	hash := secret.HashToken(token)
	s, err := db.QueryOne[row](ctx, c.Tx, `
		SELECT created_at, factor, confirmed_at FROM sessions
		WHERE hash = $1 AND user_id = $2`, hash[:], c.Caller.ID)
	if errors.Is(err, db.ErrNoRow) {
		return fault.Unauthorized.New()
	}
	if err != nil {
		return err
	}
	if s.Confirmed != nil && c.Now.Sub(*s.Confirmed) < confirmationLifetime {
		return nil
	}
	if s.Factor == "" && c.Now.Sub(s.Created) < confirmationLifetime {
		required, err := requiresFactor(ctx, c.Tx, c.Org, c.Caller.ID)
		if err != nil || required {
			return err
		}
	}
	return NotConfirmed.New()
}

// beginFactorChange begins every change of a factor: the caller confirmed who they
// are, and nobody else changes their factors meanwhile.
func beginFactorChange(ctx context.Context, c *op.Call, token string) error {
	if err := requireConfirmed(ctx, c, token); err != nil {
		return err
	}
	return lockActiveUser(ctx, c.Tx, c.Caller.ID)
}

// lockActiveUser locks a user until the transaction ends, and refuses one who is disabled.
// The update changes nothing; it takes the row lock on both engines. Whoever adds,
// uses or removes a factor begins with it, so that they take turns.
func lockActiveUser(ctx context.Context, tx *db.Tx, user id.ID) error {
	n, err := db.Exec(ctx, tx, "UPDATE users SET updated_at = updated_at WHERE id = $1 AND status = 'active'", user)
	if err == nil && n == 0 {
		return UserDisabled.New()
	}
	return err
}

// endSessionsExcept ends the sessions of a user, and the sign-ins that wait for a second
// factor. The session with the token keep stays; an empty keep spares none.
func endSessionsExcept(ctx context.Context, tx *db.Tx, user id.ID, keep string) error {
	hash := secret.HashToken(keep)
	for _, text := range []string{
		"DELETE FROM sessions WHERE user_id = $1 AND hash <> $2",
		"DELETE FROM sign_ins WHERE user_id = $1 AND hash <> $2",
		"DELETE FROM passkey_challenges WHERE user_id = $1 AND hash <> $2",
	} {
		if _, err := db.Exec(ctx, tx, text, user, hash[:]); err != nil {
			return err
		}
	}
	return nil
}

// addedFactor is a factor that the caller has just added.
type addedFactor struct {
	kind    Factor
	name    string // in the mail about it
	session string // the token of the session that added it
	first   bool   // the user had none
}

// recordFactorAdded completes a new factor: the session that added it counts as having proven it.
// With the first factor come recovery codes, which it returns, and the user's other
// sessions end, because they have proven none.
func (a *Accounts) recordFactorAdded(ctx context.Context, c *op.Call, f addedFactor) ([]string, error) {
	hash := secret.HashToken(f.session)
	_, err := db.Exec(ctx, c.Tx, "UPDATE sessions SET factor = $3 WHERE hash = $1 AND user_id = $2 AND factor = ''",
		hash[:], c.Caller.ID, f.kind)
	if err != nil {
		return nil, err
	}
	var codes []string
	if f.first {
		if err := endSessionsExcept(ctx, c.Tx, c.Caller.ID, f.session); err != nil {
			return nil, err
		}
		if codes, err = newRecoveryCodes(ctx, c, c.Caller.ID); err != nil {
			return nil, err
		}
	}
	return codes, a.announceAccountChange(ctx, c, accountChange{"user.factor_added", c.Caller.ID, f.kind}, Notice{
		Subject: "A second factor was added to your account",
		Text:    []string{f.name + " was added. Signing in asks for it from now on."},
	})
}

// recordFactorRemoved completes the removal of a factor. When it was the last one, the recovery
// codes are deleted, and the user's sessions no longer count as having proven a factor,
// unless the identity provider vouched for them.
func (a *Accounts) recordFactorRemoved(ctx context.Context, c *op.Call, f Factor, what string) (*Factors, error) {
	left, err := loadFactors(ctx, c.Tx, c.Caller.ID)
	if err != nil {
		return nil, err
	}
	text := []string{what + " was removed."}
	if !left.Any() {
		text = append(text, "Your account has no second factor any more, so the password alone signs in.")
		if err := deleteFactors(ctx, c.Tx, c.Caller.ID); err != nil {
			return nil, err
		}
		if _, err := db.Exec(ctx, c.Tx, "UPDATE sessions SET factor = '' WHERE user_id = $1 AND factor <> $2",
			c.Caller.ID, ByProvider); err != nil {
			return nil, err
		}
		left.Recovery = 0
	}
	return left, a.announceAccountChange(ctx, c, accountChange{"user.factor_removed", c.Caller.ID, f},
		Notice{Subject: "A second factor was removed from your account", Text: text})
}

// accountChange is a change of a user's account that the user should hear of.
type accountChange struct {
	event  string
	user   id.ID
	factor Factor // the factor that it is about; empty for none
}

// announceAccountChange writes the event to every organization of a user, and mails the user. The
// mail is a message of the user's first organization; a user who belongs to none gets
// no mail.
func (a *Accounts) announceAccountChange(ctx context.Context, c *op.Call, what accountChange, n Notice) error {
	all, err := membersOfUser(ctx, c.Tx, what.user)
	if err != nil {
		return err
	}
	org := c.Org
	defer func() { c.Org = org }()
	for i := range all {
		c.Org = all[i].OrganizationID
		if err := c.Emit(what.event, what.user, &FactorChange{all[i], what.factor}); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil // nobody could send the mail
	}
	n.Text = append(n.Text, "If that was not you, change your password, and ask whoever runs the server for help.")
	return a.config.Notify(ctx, c.Tx, all[0].OrganizationID, all[0].Email, n)
}

// deleteFactors deletes everything that could be a second factor of a user, with
// recovery codes and pending challenges.
func deleteFactors(ctx context.Context, tx *db.Tx, user id.ID) error {
	for _, text := range []string{
		"DELETE FROM passkeys WHERE user_id = $1",
		"DELETE FROM code_secrets WHERE user_id = $1",
		"DELETE FROM recovery_codes WHERE user_id = $1",
		"DELETE FROM passkey_challenges WHERE user_id = $1",
	} {
		if _, err := db.Exec(ctx, tx, text, user); err != nil {
			return err
		}
	}
	return nil
}

// resetFactors is the operator's help for a user who lost all factors and recovery
// codes. It unlocks the account, so the operator must know the person.
func (a *Accounts) resetFactors(ctx context.Context, c *op.Call, in userByEmail) (*Member, error) {
	user, err := findUserByEmail(ctx, c.Tx, in.Email)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, fault.NotFound.Say("There is no user with this email.")
	}
	if _, err := db.Exec(ctx, c.Tx, "UPDATE users SET updated_at = $2 WHERE id = $1", user.ID, c.Now); err != nil {
		return nil, err
	}
	if err := deleteFactors(ctx, c.Tx, user.ID); err != nil {
		return nil, err
	}
	if err := endSessionsExcept(ctx, c.Tx, user.ID, ""); err != nil {
		return nil, err
	}
	err = a.announceAccountChange(ctx, c, accountChange{"user.factors_reset", user.ID, ""}, Notice{
		Subject: "Your second factors were removed",
		Text: []string{"Whoever runs the server removed all second factors of your account, and signed you out " +
			"everywhere."},
	})
	if err != nil {
		return nil, err
	}
	all, err := membersOfUser(ctx, c.Tx, user.ID)
	if len(all) > 0 {
		return &all[0], err
	}
	return &Member{ID: user.ID, Email: in.Email, Status: user.Status}, err
}

type factorRequire struct {
	Required bool `json:"required"`
}

// setFactorRequired takes effect at the next page that an owner or admin opens.
// Whoever asks for it in the console has a factor, so that they do not shut
// themselves out.
func (a *Accounts) setFactorRequired(ctx context.Context, c *op.Call, in factorRequire) (*Organization, error) {
	if in.Required && c.Caller.Kind == op.UserActor {
		has, err := userHasFactor(ctx, c.Tx, c.Caller.ID)
		if err != nil {
			return nil, err
		}
		if !has {
			return nil, OwnFactorFirst.New()
		}
	}
	if c.Door == op.ConsoleDoor && c.Caller.Role != "owner" {
		return nil, fault.Forbidden.Say("Only an owner can change this.")
	}
	_, err := db.Exec(ctx, c.Tx, "UPDATE organizations SET requires_factor = $2, updated_at = $3 WHERE id = $1",
		c.Org, in.Required, c.Now)
	if err != nil {
		return nil, err
	}
	org, err := a.getOrganization(ctx, c, struct{}{})
	if err != nil {
		return nil, err
	}
	a.ClearCallersOnCommit(c)
	return org, c.Emit("organization.updated", org.ID, org)
}
