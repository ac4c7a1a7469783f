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

// People come into an organization by invitation. An owner or admin names an
// address and a role and gets a link, shown once, to pass on. Nothing about
// other organizations follows from that:
//
//   - whether a user with this address exists elsewhere is not looked up, so
//     making an invitation answers alike either way;
//   - nobody is added silently: whoever has the link joins, and must know the
//     password of the address if it is somebody's already. The page asks both
//     cases the same question, and a wrong password is counted and refused in
//     the words of a sign-in;
//   - a link proves nothing about the address, because whoever made it can open
//     it: the user it makes stays in this organization (Unproven, in user.go).
//
// An invitation counts for as long as its maker may make it: one of somebody
// who was removed, disabled or made a member opens nothing.
//
// What remains: who holds a link and tries to set a password for an address
// learns from the refusal that it is taken. Only mail to that address could
// prevent it; the attempts are limited, and a success leaves a member behind.

// InvitePrefix begins the token of an invitation.
const InvitePrefix = "fdi_"

const inviteLifetime = 7 * 24 * time.Hour

// Invite is an invitation that waits.
type Invite struct {
	op.Record
	Email           string     `json:"email"`
	Role            string     `json:"role" enum:"owner,admin,member"`
	Hash            []byte     `json:"-" db:"hash"`
	InvitedByUserID *id.ID     `json:"invitedByUserId"`
	ExpiresAt       clock.Time `json:"expiresAt"`
}

// NewInvite is an invitation at the one moment its link can be read.
type NewInvite struct {
	Invite
	URL string `json:"url" doc:"shown once"`
}

var invites = db.NewTable[Invite]("invites", "invitation")

func (a *Accounts) inviteOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{Name: "invites.create", Summary: "Invite somebody to the organization by a link.",
			Resource: op.Account, Doors: doors, Status: 201, Secret: true, Events: []string{"invite.created"}, Errors: []*fault.Kind{UserExists},
			Example: `{"email": "grace@example.com", "role": "member"}`}, a.createInvite),
		op.Read(op.Spec{Name: "invites.list", Summary: "List the invitations that wait.",
			Resource: op.Account, Doors: doors, Example: `{}`}, a.listInvites),
		op.Write(op.Spec{Name: "invites.revoke", Summary: "Revoke an invitation; its link stops working.",
			Resource: op.Account, Doors: doors, Status: 204, Events: []string{"invite.revoked"},
			Example: `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`}, a.revokeInvite),
		op.Flow(op.Spec{Name: "invites.accept", Summary: "Join an organization with an invitation, and sign in.",
			Resource: op.Free, Doors: op.Console, Public: true, Status: 201, Secret: true, Events: []string{"invite.accepted", "user.created", "session.created"},
			Errors:  []*fault.Kind{UserExists, Unproven},
			Example: `{"token": "fdi_0000000000000000000000000000000000000000", "name": "Grace Hopper", "password": "a long sentence", "address": "192.0.2.7"}`}, a.acceptInvite),
	}
}

type inviteCreate struct {
	Email string `json:"email" format:"email"`
	Role  string `json:"role" default:"member" enum:"owner,admin,member"`
}

func (a *Accounts) createInvite(ctx context.Context, c *op.Call, in inviteCreate) (*NewInvite, error) {
	// Who belongs to this organization is no secret in it.
	members, err := db.All[Member](ctx, c.Tx, memberQuery+" AND m.organization_id = $1 AND u.email_folded = $2", c.Org, db.Fold(in.Email))
	if err != nil {
		return nil, err
	}
	if len(members) > 0 {
		return nil, fault.Field("email", "This user belongs to the organization already")
	}
	if err := stillManager(ctx, c); err != nil {
		return nil, err
	}
	// Whoever invites sweeps: those that expired wait for nobody, and hold an address.
	if _, err := db.Exec(ctx, c.Tx, "UPDATE invites SET deleted_at = $2, updated_at = $2 WHERE organization_id = $1 AND expires_at <= $2 AND deleted_at IS NULL", c.Org, c.Now); err != nil {
		return nil, err
	}
	token := secret.NewToken(InvitePrefix)
	hash := secret.Hash(token)
	v := &NewInvite{Invite{Record: c.NewRecord(), Email: in.Email, Role: in.Role, Hash: hash[:], InvitedByUserID: c.Caller.ActorID(), ExpiresAt: c.Now.Add(inviteLifetime)},
		a.config.BaseURL + "/join/" + token}
	if err := invites.Insert(ctx, c.Tx, &v.Invite); err != nil {
		return nil, err
	}
	return v, c.Emit("invite.created", v.ID, &v.Invite)
}

type inviteList struct{ op.Page }

func (a *Accounts) listInvites(ctx context.Context, c *op.Call, in inviteList) (*op.List[Invite], error) {
	rows, err := invites.List(ctx, c.Tx, db.In(c.Org).And("expires_at > ?", c.Now), in.DB())
	return op.ListOf(in.Page, rows), err
}

func (a *Accounts) revokeInvite(ctx context.Context, c *op.Call, in byID) (op.Nothing, error) {
	v, err := invites.Remove(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("invite.revoked", v.ID, v)
}

// Invitation is what its link shows.
type Invitation struct {
	ID           id.ID  `db:"id"`
	Org          id.ID  `db:"organization_id"`
	Organization string `db:"name"`
	Email        string `db:"email"`
	Role         string `db:"role"`
}

// Invitation finds what a link invites to.
func (a *Accounts) Invitation(ctx context.Context, token string) (v *Invitation, err error) {
	err = a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err = a.invitation(ctx, tx, token)
		return err
	})
	return v, err
}

func (a *Accounts) invitation(ctx context.Context, tx *db.Tx, token string) (*Invitation, error) {
	hash := secret.Hash(token)
	v, err := db.One[Invitation](ctx, tx, `SELECT i.id, i.organization_id, o.name, i.email, i.role
		FROM invites i JOIN organizations o ON o.id = i.organization_id
		WHERE i.hash = $1 AND i.deleted_at IS NULL AND i.expires_at > $2
			AND (i.invited_by_user_id IS NULL OR EXISTS (
				SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
				WHERE m.organization_id = i.organization_id AND m.user_id = i.invited_by_user_id
					AND m.deleted_at IS NULL AND m.role IN ('owner', 'admin') AND u.status = 'active'))`, hash[:], a.clock.Now())
	if errors.Is(err, db.ErrNone) {
		return nil, fault.NotFound.Say("This invitation was used, revoked or has expired. Ask for a new one.")
	}
	return &v, err
}

type inviteAccept struct {
	Token    string  `json:"token"`
	Session  *string `json:"session" doc:"of the invited user, when signed in already"`
	Name     *string `json:"name" min:"1" doc:"of a new user"`
	Password *string `json:"password" max:"1000" doc:"of the user with this address, or chosen now"`
	Address  string  `json:"address"`
	Browser  string  `json:"browser" default:""`
}

func (a *Accounts) acceptInvite(ctx context.Context, c *op.Call, in inviteAccept) (*NewSession, error) {
	v, err := a.Invitation(ctx, in.Token)
	if err != nil {
		return nil, err
	}
	who, err := a.invited(ctx, c, v, in)
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*NewSession, error) {
		if err := db.LockOrganization(ctx, c.Tx, v.Org); err != nil {
			return nil, db.Missing(err, "organization")
		}
		// The maker may have been removed meanwhile.
		if _, err := a.invitation(ctx, c.Tx, in.Token); err != nil {
			return nil, err
		}
		// Whoever removes the row has taken the invitation up.
		row, err := invites.Remove(ctx, c.Tx, v.Org, v.ID, c.Now)
		if err != nil {
			return nil, err
		}
		c.Org, c.Caller = v.Org, &op.Caller{Kind: op.User, ID: who.user, Organization: v.Org}
		if err := who.enter(ctx, c, v, in); err != nil {
			return nil, err
		}
		if err := c.Emit("invite.accepted", row.ID, row); err != nil {
			return nil, err
		}
		if _, err := a.join(ctx, c, who.user, v.Role); err != nil {
			return nil, err
		}
		return a.begin(ctx, c, who.user, in.Browser)
	})
}

// guest is who takes an invitation up.
type guest struct {
	user    id.ID
	known   *credentials // who proved their password
	session bool         // who is signed in already
	hash    string       // of the password that a new user chose
}

// enter makes a new user, or insists that what the guest proved still counts:
// who set another password meanwhile has taken the account back.
func (g *guest) enter(ctx context.Context, c *op.Call, v *Invitation, in inviteAccept) error {
	switch {
	case g.known != nil:
		return g.known.still(ctx, c.Tx)
	case g.session:
		// Whoever ends all sessions holds the user, and finds the one that begins here.
		if _, err := db.Exec(ctx, c.Tx, "UPDATE users SET updated_at = updated_at WHERE id = $1", g.user); err != nil {
			return err
		}
		hash := secret.Hash(*in.Session)
		_, err := db.One[int](ctx, c.Tx, "SELECT 1 FROM sessions WHERE hash = $1 AND user_id = $2 AND expires_at > $3",
			hash[:], g.user, c.Now)
		if errors.Is(err, db.ErrNone) {
			return fault.Unauthorized.New()
		}
		return err
	}
	return insertUser(ctx, c, g.user, v.Email, *in.Name, g.hash, &v.Org)
}

// invited finds who takes an invitation up: the user with its address, proven
// by a session or a password, or a new one.
func (a *Accounts) invited(ctx context.Context, c *op.Call, v *Invitation, in inviteAccept) (*guest, error) {
	if in.Session != nil {
		s, err := a.BySession(ctx, *in.Session)
		if err == nil && db.Fold(s.Email) == db.Fold(v.Email) {
			return &guest{user: s.User, session: true}, nil
		}
		if err != nil && !fault.Has(err, fault.Unauthorized) {
			return nil, err
		}
	}
	var tree *fault.Tree
	if in.Name == nil {
		tree = tree.At([]any{"name"}, "Required")
	}
	if in.Password == nil {
		tree = tree.At([]any{"password"}, "Required")
	}
	if tree != nil {
		return nil, tree.Fault(fault.Invalid)
	}
	var known *credentials
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		known, err = findUser(ctx, tx, v.Email)
		return err
	})
	if err != nil {
		return nil, err
	}
	if known != nil {
		if known, err = a.verify(ctx, c, v.Email, *in.Password, sender{in.Address, in.Browser}); err != nil {
			return nil, err
		}
		return &guest{user: known.ID, known: known}, nil
	}
	hash, err := a.choosePassword(ctx, *in.Password)
	return &guest{user: id.New(), hash: hash}, err
}

// revokeInvitesOf ends the invitations that a user made in the organization.
func revokeInvitesOf(ctx context.Context, c *op.Call, user id.ID) error {
	rows, err := db.All[id.ID](ctx, c.Tx, `SELECT id FROM invites
		WHERE organization_id = $1 AND invited_by_user_id = $2 AND deleted_at IS NULL ORDER BY seq`, c.Org, user)
	if err != nil {
		return err
	}
	for _, row := range rows {
		v, err := invites.Remove(ctx, c.Tx, c.Org, row, c.Now)
		if err != nil {
			return err
		}
		if err := c.Emit("invite.revoked", v.ID, v); err != nil {
			return err
		}
	}
	return nil
}
