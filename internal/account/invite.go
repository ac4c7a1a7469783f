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

// People join an organization by invitation. An owner or admin names an address
// and a role and gets a link, shown once, to pass on. An invitation reveals
// nothing about other organizations:
//
//   - creating one does not look up whether the address has a user elsewhere,
//     so the answer is the same either way;
//   - nobody is added silently. Whoever has the link joins, and must know the
//     password if the address already has a user. The page asks the same
//     question in both cases, and a wrong password is counted and refused like
//     one at a sign-in;
//   - a link proves nothing about the address, because its maker can open it.
//     The user it creates stays in this organization (AddressUnproven, in user.go).
//
// An invitation works only while its maker may invite. It stops working when
// the maker is removed, disabled or demoted to member, and one for an owner when its
// maker is no longer an owner.
//
// One leak remains: somebody with a link who tries to set a password for an
// address learns from the refusal that the address is taken. Only mail to the
// address could prevent that. The attempts are limited, and a success leaves a
// visible member.

// InvitePrefix begins the token of an invitation.
const InvitePrefix = "fdi_"

const inviteLifetime = 7 * 24 * time.Hour

// Invite is a pending invitation.
type Invite struct {
	op.Record
	Email           string     `json:"email"`
	Role            string     `json:"role" enum:"owner,admin,member"`
	Hash            []byte     `json:"-" db:"hash"`
	InvitedByUserID *id.ID     `json:"invitedByUserId"`
	ExpiresAt       clock.Time `json:"expiresAt"`
}

// NewInvite is an invitation with its link, which is shown only once.
type NewInvite struct {
	Invite
	URL string `json:"url" doc:"shown once"`
}

var invites = db.NewTable[Invite]("invites", db.Life{
	Noun:         "invitation",
	ExternalText: db.NoExternalText,
	Refs:         []db.Ref{db.RefTo("invited_by_user_id", "users", db.Keeps)},
})

func (a *Accounts) inviteOperations() []*op.Op {
	return []*op.Op{
		WriteByManager(op.Spec{
			Name:     "invites.create",
			Summary:  "Invite somebody to the organization with a link.",
			Resource: op.Account,
			Doors:    Doors,
			Status:   201,
			Secret:   true,
			Events:   []string{"invite.created"},
			Errors:   []*fault.Kind{UserExists},
			Example:  `{"email": "grace@example.com", "role": "member"}`,
		}, a.createInvite),
		op.Read(op.Spec{
			Name:     "invites.list",
			Summary:  "List the pending invitations.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  `{}`,
		}, a.listInvites),
		WriteByManager(op.Spec{
			Name:     "invites.revoke",
			Summary:  "Revoke an invitation; its link stops working.",
			Resource: op.Account,
			Doors:    Doors,
			Status:   204,
			Events:   []string{"invite.revoked"},
			Example:  `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`,
		}, a.revokeInvite),
		op.Flow(op.Spec{
			Name:     "invites.accept",
			Summary:  "Join an organization with an invitation, and sign in.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   201,
			Secret:   true,
			Events:   []string{"invite.accepted", "user.created", "session.created"},
			Errors:   []*fault.Kind{UserExists, AddressUnproven, SignInFirst},
			Example: `{"token": "fdi_0000000000000000000000000000000000000000", "name": "Grace Hopper", "password": ` +
				`"a long ` +
				`sentence", "address": "192.0.2.7"}`,
		}, a.acceptInvite),
	}
}

type inviteCreate struct {
	Email string `json:"email" format:"email"`
	Role  string `json:"role" default:"member" enum:"owner,admin,member"`
}

func (a *Accounts) createInvite(ctx context.Context, c *op.Call, in inviteCreate) (*NewInvite, error) {
	if err := onlyOwnersChangeOwners(c, in.Role); err != nil {
		return nil, err
	}
	// Saying that the address is a member's reveals nothing: members of an organization may know of each other.
	members, err := db.QueryAll[Member](ctx, c.Tx, memberQuery+" AND m.organization_id = $1 AND u.email_folded = $2",
		c.Org, db.FoldText(in.Email))
	if err != nil {
		return nil, err
	}
	if len(members) > 0 {
		return nil, fault.Field("email", "This user already belongs to the organization")
	}
	// Each new invitation deletes the expired ones, whose addresses need not be kept.
	if _, err := db.Exec(ctx, c.Tx, `
		UPDATE invites
		SET deleted_at = $2, updated_at = $2
		WHERE organization_id = $1 AND expires_at <= $2 AND deleted_at IS NULL`, c.Org, c.Now); err != nil {
		return nil, err
	}
	token := secret.NewToken(InvitePrefix)
	hash := secret.HashToken(token)
	v := &NewInvite{Invite{Record: c.NewRecord(), Email: in.Email, Role: in.Role, Hash: hash[:],
		InvitedByUserID: c.Caller.ActorIDOrNil(), ExpiresAt: c.Now.Add(inviteLifetime)},
		a.config.BaseURL + "/join/" + token}
	if err := invites.Insert(ctx, c.Tx, &v.Invite); err != nil {
		return nil, err
	}
	return v, c.Emit("invite.created", v.ID, &v.Invite)
}

type inviteList struct{ op.Page }

func (a *Accounts) listInvites(ctx context.Context, c *op.Call, in inviteList) (*op.List[Invite], error) {
	rows, err := invites.List(ctx, c.Tx, db.InOrganization(c.Org).And("expires_at > ?", c.Now), in.ToDBPage())
	return op.NewList(in.Page, rows), err
}

func (a *Accounts) revokeInvite(ctx context.Context, c *op.Call, in byID) (op.Nothing, error) {
	v, err := invites.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("invite.revoked", v.ID, v)
}

// Invitation is what an invitation's link shows.
type Invitation struct {
	ID           id.ID  `db:"id"`
	Org          id.ID  `db:"organization_id"`
	Organization string `db:"name"`
	Email        string `db:"email"`
	Role         string `db:"role"`
}

// FindInvitation finds the invitation behind a link.
func (a *Accounts) FindInvitation(ctx context.Context, token string) (v *Invitation, err error) {
	err = a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err = a.loadInvitation(ctx, tx, token)
		return err
	})
	return v, err
}

func (a *Accounts) loadInvitation(ctx context.Context, tx *db.Tx, token string) (*Invitation, error) {
	hash := secret.HashToken(token)
	v, err := db.QueryOne[Invitation](ctx, tx, `
		SELECT i.id, i.organization_id, o.name, i.email, i.role
		FROM invites i JOIN organizations o ON o.id = i.organization_id
		WHERE i.hash = $1 AND i.deleted_at IS NULL AND i.expires_at > $2
			AND (i.invited_by_user_id IS NULL OR EXISTS (
				SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
				WHERE m.organization_id = i.organization_id AND m.user_id = i.invited_by_user_id
					AND m.deleted_at IS NULL AND u.status = 'active'
					AND (m.role = 'owner' OR m.role = 'admin' AND i.role <> 'owner')))`,
		hash[:], a.clock.Now())
	if errors.Is(err, db.ErrNoRow) {
		return nil, fault.NotFound.Say("This invitation was used or revoked, or has expired. Ask for a new one.")
	}
	return &v, err
}

type inviteAccept struct {
	Token    string  `json:"token"`
	Session  *string `json:"session" doc:"the invited user's session, if already signed in"`
	Name     *string `json:"name" min:"1" doc:"the new user's name"`
	Password *string `json:"password" max:"1000" doc:"the existing user's password, or a new one"`
	Origin
}

func (a *Accounts) acceptInvite(ctx context.Context, c *op.Call, in inviteAccept) (*NewSession, error) {
	v, err := a.FindInvitation(ctx, in.Token)
	if err != nil {
		return nil, err
	}
	who, err := a.identifyGuest(ctx, c, v, in)
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*NewSession, error) {
		if err := db.LockOrganization(ctx, c.Tx, v.Org); err != nil {
			return nil, db.AsNotFound(err, "organization")
		}
		// The maker may have been removed in the meantime.
		if _, err := a.loadInvitation(ctx, c.Tx, in.Token); err != nil {
			return nil, err
		}
		// Removing the row claims the invitation.
		row, err := invites.SoftDelete(ctx, c.Tx, v.Org, v.ID, c.Now)
		if err != nil {
			return nil, err
		}
		c.Org, c.Caller = v.Org, &op.Caller{Kind: op.UserActor, ID: who.user, Organization: v.Org}
		if err := who.insertOrRecheck(ctx, c, v, in); err != nil {
			return nil, err
		}
		if err := c.Emit("invite.accepted", row.ID, row); err != nil {
			return nil, err
		}
		if _, err := a.joinOrganization(ctx, c, who.user, v.Role); err != nil {
			return nil, err
		}
		return a.beginSession(ctx, c, who.user, in.Origin, who.factor)
	})
}

// guest is somebody who accepts an invitation, in one of three ways: an existing user
// with a password, an existing user with a session, or a new user.
type guest struct {
	user    id.ID
	known   *credentials // an existing user who proved their password
	session bool         // already signed in
	factor  Factor       // that the session has proven
	hash    string       // of a new user's password
}

// insertOrRecheck inserts a new user, or checks under the lock that an existing one's proof still
// holds: a password that was changed in the meantime means that its owner took the
// account back, and a session may have ended.
func (g *guest) insertOrRecheck(ctx context.Context, c *op.Call, v *Invitation, in inviteAccept) error {
	switch {
	case g.known != nil:
		if err := g.known.recheckAndLock(ctx, c.Tx); err != nil {
			return err
		}
		// The password alone does not sign in whoever has a second factor.
		has, err := userHasFactor(ctx, c.Tx, g.user)
		if err == nil && has {
			return SignInFirst.New()
		}
		return err
	case g.session:
		// Whoever ends all sessions locks the user, and so finds the one that begins here.
		if _, err := db.Exec(ctx, c.Tx, "UPDATE users SET updated_at = updated_at WHERE id = $1", g.user); err != nil {
			return err
		}
		hash := secret.HashToken(*in.Session)
		var err error
		g.factor, err = db.QueryOne[Factor](ctx, c.Tx, `
			SELECT factor FROM sessions
			WHERE hash = $1 AND user_id = $2 AND expires_at > $3`, hash[:], g.user, c.Now)
		if errors.Is(err, db.ErrNoRow) {
			return fault.Unauthorized.New()
		}
		return err
	}
	return insertUser(ctx, c, newUser{id: g.user, email: v.Email, name: *in.Name, passwordHash: &g.hash,
		confinedTo: &v.Org})
}

// identifyGuest finds who accepts an invitation: the user with its address, proven
// by a session or a password, or a new user.
func (a *Accounts) identifyGuest(ctx context.Context, c *op.Call, v *Invitation, in inviteAccept) (*guest, error) {
	if in.Session != nil {
		s, err := a.SessionByToken(ctx, *in.Session)
		if err == nil && db.FoldText(s.Email) == db.FoldText(v.Email) {
			return &guest{user: s.User, session: true}, nil
		}
		if err != nil && !fault.IsKind(err, fault.Unauthorized) {
			return nil, err
		}
	}
	if err := a.checkPasswordsAllowed(); err != nil {
		return nil, err
	}
	var tree *fault.Tree
	if in.Name == nil {
		tree = tree.At([]any{"name"}, fault.MissingIssue)
	}
	if in.Password == nil {
		tree = tree.At([]any{"password"}, fault.MissingIssue)
	}
	if tree != nil {
		return nil, tree.Fault(fault.Invalid)
	}
	var known *credentials
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		known, err = findUserByEmail(ctx, tx, v.Email)
		return err
	})
	if err != nil {
		return nil, err
	}
	if known != nil {
		if known, err = a.verifyPassword(ctx, c, v.Email, *in.Password, sender{in.Address, in.Browser}); err != nil {
			return nil, err
		}
		return &guest{user: known.ID, known: known}, nil
	}
	hash, err := a.hashStrangersPassword(ctx, *in.Password)
	return &guest{user: id.New(), hash: hash}, err
}

// revokeInvitesOfUser ends the invitations that a user made in the organization.
func revokeInvitesOfUser(ctx context.Context, c *op.Call, user id.ID) error {
	rows, err := db.QueryAll[id.ID](ctx, c.Tx, `
		SELECT id FROM invites
		WHERE organization_id = $1 AND invited_by_user_id = $2 AND deleted_at IS NULL ORDER BY seq`, c.Org, user)
	if err != nil {
		return err
	}
	for _, row := range rows {
		v, err := invites.SoftDelete(ctx, c.Tx, c.Org, row, c.Now)
		if err != nil {
			return err
		}
		if err := c.Emit("invite.revoked", v.ID, v); err != nil {
			return err
		}
	}
	return nil
}
