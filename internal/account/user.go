package account

import (
	"context"
	"errors"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// UserExists refuses a second user with the same address.
var UserExists = fault.DefineKind("USER_EXISTS", 409, "A user with this email already exists.")

// AddressUnproven refuses to let a user join another organization.
//
// An organization's owner or admin hands over an invitation and could open it
// themselves, so it does not prove who owns the address. A user created by an
// invitation is therefore confined to that organization. The address is proven
// once its user sets a password with a link from the operator
// (password_link.go), who is responsible for every organization and passes the
// link to the person. It is proven from the start when the operator or the
// first-run link created the user. See docs/adr/0012.
var AddressUnproven = fault.DefineKind("ADDRESS_NOT_PROVEN", 409,
	"This address has not been proven to be yours, so it works "+
		"in one organization only. Ask whoever runs this server for a link (frontdesk admin user password-link), "+
		"set a new password with it, and open the invitation again.")

// Member is a user with a role in an organization.
type Member struct {
	ID             id.ID      `json:"id" doc:"the user"`
	CreatedAt      clock.Time `json:"createdAt"`
	OrganizationID id.ID      `json:"organizationId"`
	Email          string     `json:"email"`
	Name           string     `json:"name"`
	Status         Status     `json:"status" enum:"active,disabled"`
	Role           string     `json:"role" enum:"owner,admin,member"`
	Rights
}

const memberQuery = `
	SELECT u.id, m.created_at, m.organization_id, u.email, u.name, u.status, m.role, ` + RightsColumns + `
	FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.deleted_at IS NULL`

func (a *Accounts) userOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name: "users.create",
			Summary: "Add a new user to the organization. If the address already has a user, create an invitation " +
				"link.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Status:   201,
			Secret:   true,
			Events:   []string{"user.created", "invite.created"},
			Errors:   []*fault.Kind{UserExists},
			Example: `{"email": "ada@example.com", "name": "Ada Lovelace", "role": "owner", "password": "a long ` +
				`sentence"}`,
		}, a.createUser),
		op.Read(op.Spec{
			Name:     "users.list",
			Summary:  "List the organization's users.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  `{}`,
		}, a.listUsers),
		op.Write(op.Spec{
			Name:     "users.disable",
			Summary:  "Disable a user; everything the user owns stops working.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Events:   []string{"user.disabled"},
			Example:  `{"email": "ada@example.com"}`,
		}, a.setUserStatus(Disabled, "user.disabled")),
		op.Write(op.Spec{
			Name:     "users.enable",
			Summary:  "Enable a disabled user.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Events:   []string{"user.enabled"},
			Example:  `{"email": "ada@example.com"}`,
		}, a.setUserStatus(Active, "user.enabled")),
	}
}

type userCreate struct {
	Email    string  `json:"email" format:"email"`
	Name     string  `json:"name" min:"1"`
	Role     string  `json:"role" default:"member" enum:"owner,admin,member"`
	Password *string `json:"password" max:"1000" doc:"at least 8 characters; ignored if the address already has a user"`

	hash *string
}

func (in *userCreate) Prepare(ctx context.Context, _ *op.Call) error {
	if in.Password == nil {
		return nil
	}
	h, err := hashNewPassword(ctx, *in.Password)
	in.hash = &h
	return err
}

// hashNewPassword checks and hashes a chosen password. It is slow by design, so it
// never runs inside a transaction.
func hashNewPassword(ctx context.Context, text string) (string, error) {
	if utf8.RuneCountInString(text) < 8 {
		return "", fault.Field("password", "Too short: expected at least 8 characters")
	}
	return secret.HashPassword(ctx, text)
}

// hashStrangersPassword is hashNewPassword for somebody unknown. They wait in the strangers'
// queue, so that a link in many hands does not hold up sign-ins.
func (a *Accounts) hashStrangersPassword(ctx context.Context, text string) (string, error) {
	leave, err := a.strangerQueue.waitForPlace(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return hashNewPassword(ctx, text)
}

// AddedUser is a user the operator added, or a link for one who already exists.
type AddedUser struct {
	Member
	Added     bool        `json:"added" doc:"false: the address already has a user, who joins with the link"`
	URL       *string     `json:"url" doc:"the link, shown once; works once"`
	ExpiresAt *clock.Time `json:"expiresAt"`
	Next      *string     `json:"next" doc:"what to do with the link"`
}

// createUser is for the operator, who may know every user of the server. In the
// console people are invited (invite.go). Somebody who already has an account is
// not added to another organization without being asked.
func (a *Accounts) createUser(ctx context.Context, c *op.Call, in userCreate) (*AddedUser, error) {
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, db.AsNotFound(err, "organization")
	}
	exists, err := findUserByEmail(ctx, c.Tx, in.Email)
	if err != nil {
		return nil, err
	}
	if exists != nil {
		return a.inviteExistingUser(ctx, c, exists, in)
	}
	if in.hash == nil {
		return nil, fault.Field("password", "Required for a new user")
	}
	user := id.New()
	if err := insertUser(ctx, c, newUser{id: user, email: in.Email, name: in.Name, passwordHash: in.hash}); err != nil {
		return nil, err
	}
	m, err := a.joinOrganization(ctx, c, user, in.Role)
	if err != nil {
		return nil, err
	}
	return &AddedUser{Member: *m, Added: true}, nil
}

// inviteExistingUser creates a link with which an existing user joins the organization.
func (a *Accounts) inviteExistingUser(ctx context.Context, c *op.Call, u *credentials, in userCreate) (*AddedUser,
	error) {
	v, err := a.createInvite(ctx, c, inviteCreate{Email: in.Email, Role: in.Role})
	if err != nil {
		return nil, err
	}
	next := "Nobody was added and no password was set, because this address already has a user. " +
		"Pass the link on to that person, who joins with their own password."
	if u.ConfinedTo != nil && *u.ConfinedTo != c.Org {
		next += " The address has not been proven, so they first need a link from frontdesk admin user password-link."
	}
	return &AddedUser{Member: Member{ID: u.ID, CreatedAt: c.Now, OrganizationID: c.Org, Email: in.Email, Name: in.Name,
		Status: u.Status, Role: in.Role}, URL: &v.URL, ExpiresAt: &v.ExpiresAt, Next: &next}, nil
}

// newUser is a user to be added.
type newUser struct {
	id           id.ID
	email, name  string
	passwordHash *string // nil for no password
	confinedTo   *id.ID  // nil when the address is proven
}

// insertUser adds a user. The unique index decides who was first.
func insertUser(ctx context.Context, c *op.Call, u newUser) error {
	n, err := db.Exec(ctx, c.Tx, `
		INSERT INTO users (id, created_at, updated_at, email, email_folded, name, password_hash, status, confined_to)
		VALUES ($1, $2, $2, $3, $4, $5, $6, 'active', $7) ON CONFLICT (email_folded) DO NOTHING`,
		u.id, c.Now, u.email, db.FoldText(u.email), u.name, u.passwordHash, u.confinedTo)
	if err == nil && n == 0 {
		return UserExists.New()
	}
	return err
}

// joinOrganization makes a user a member of the call's organization, unless the user is
// confined to another. The caller has locked or just created the organization.
func (a *Accounts) joinOrganization(ctx context.Context, c *op.Call, user id.ID, role string) (*Member, error) {
	home, err := db.QueryOne[*id.ID](ctx, c.Tx, "SELECT confined_to FROM users WHERE id = $1", user)
	if err != nil {
		return nil, err
	}
	if home != nil && *home != c.Org {
		return nil, AddressUnproven.New()
	}
	n, err := db.Exec(ctx, c.Tx, `
		INSERT INTO memberships (id, organization_id, created_at, updated_at, user_id, role)
		VALUES ($1, $2, $3, $3, $4, $5) ON CONFLICT (organization_id, user_id) WHERE deleted_at IS NULL DO NOTHING`,
		id.New(), c.Org, c.Now, user, role)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, UserExists.Say("This user already belongs to the organization.")
	}
	a.ClearCallersOnCommit(c)
	m, err := findMember(ctx, c.Tx, c.Org, user)
	if err != nil {
		return nil, err
	}
	return m, c.Emit("user.created", m.ID, m)
}

// findMember finds a member of an organization, disabled ones too.
func findMember(ctx context.Context, tx *db.Tx, org, user id.ID) (*Member, error) {
	m, err := db.QueryOne[Member](ctx, tx, memberQuery+" AND m.organization_id = $1 AND u.id = $2", org, user)
	return &m, db.AsNotFound(err, "member")
}

type userList struct{ op.Page }

func (a *Accounts) listUsers(ctx context.Context, c *op.Call, in userList) (*op.List[Member], error) {
	rows, err := db.QueryAll[Member](ctx, c.Tx, memberQuery+` AND m.organization_id = $1
		ORDER BY m.created_at DESC, m.seq DESC LIMIT $2 OFFSET $3`, c.Org, in.Limit, in.Offset)
	return op.NewList(in.Page, rows), err
}

type userByEmail struct {
	Email string `json:"email"`
}

// membersOfUser lists a user's memberships, the oldest first.
func membersOfUser(ctx context.Context, tx *db.Tx, user id.ID) ([]Member, error) {
	return db.QueryAll[Member](ctx, tx, memberQuery+" AND u.id = $1 ORDER BY m.seq", user)
}

// emitToAllOrganizations emits an event to every organization that a user belongs to, and
// returns the memberships. It leaves the call's organization set to the last of them.
func emitToAllOrganizations(ctx context.Context, c *op.Call, event string, user id.ID) ([]Member, error) {
	all, err := membersOfUser(ctx, c.Tx, user)
	if err != nil {
		return nil, err
	}
	for i := range all {
		c.Org = all[i].OrganizationID
		if err := c.Emit(event, user, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// setUserStatus returns an operation that changes a user's status, which holds in all
// organizations of the user.
func (a *Accounts) setUserStatus(status Status, event string) func(context.Context, *op.Call, userByEmail) (*Member,
	error) {
	return func(ctx context.Context, c *op.Call, in userByEmail) (*Member, error) {
		user, err := db.QueryOne[id.ID](ctx, c.Tx, `
			UPDATE users
			SET status = $2, updated_at = $3
			WHERE email_folded = $1
			RETURNING id`, db.FoldText(in.Email), status, c.Now)
		if err != nil {
			return nil, db.AsNotFound(err, "user")
		}
		if status != Active {
			// Enabling the user later does not restore the sessions.
			if err := endSessionsExcept(ctx, c.Tx, user, ""); err != nil {
				return nil, err
			}
		}
		a.ClearCallersOnCommit(c)
		all, err := emitToAllOrganizations(ctx, c, event, user)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return &Member{ID: user, Email: in.Email, Status: status}, nil
		}
		return &all[0], nil
	}
}

// findManager finds an active owner or admin of the organization by email. what
// completes the sentence of the refusal.
func findManager(ctx context.Context, c *op.Call, email, what string) (*Member, error) {
	m, err := db.QueryOne[Member](ctx, c.Tx, memberQuery+" AND m.organization_id = $1 AND u.email_folded = $2", c.Org,
		db.FoldText(email))
	if errors.Is(err, db.ErrNoRow) {
		return nil, fault.Field("by", "There is no user with this email in the organization")
	}
	if err == nil && (!isManager(m.Role) || m.Status != Active) {
		return nil, fault.Field("by", "Only an active owner or admin can "+what)
	}
	return &m, err
}
