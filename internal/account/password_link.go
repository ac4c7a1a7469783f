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

// A user who forgot their password asks the operator of the server, who knows
// them and hands over a link. No mail is sent, because everybody who may see an
// organization's messages can read what the service mails. An owner cannot
// create the link, because the user may belong to other organizations as well.
// The link therefore proves the address: whoever opens it got it from the
// operator. A second kind of link signs a user in without a password, for when the
// identity provider does not work (createSignInLink). A user has one link at a time.

// PasswordPrefix begins the token of a link that sets a new password, and
// EmergencyPrefix that of one that signs in where passwords are switched off.
const (
	PasswordPrefix  = "fdp_"
	EmergencyPrefix = "fdl_"
)

const passwordLinkLifetime = 30 * time.Minute

// PasswordLink is a link to set a new password. It is shown only once.
type PasswordLink struct {
	ID        id.ID      `json:"id" doc:"the user"`
	Email     string     `json:"email"`
	ExpiresAt clock.Time `json:"expiresAt"`
	URL       string     `json:"url" doc:"shown once; works once"`
}

func (a *Accounts) passwordLinkOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:     "users.link_sign_in",
			Summary:  "Create a link with which a user signs in once, for when the identity provider does not work.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Status:   201,
			Secret:   true,
			Events:   []string{"user.sign_in_link_created"},
			Example:  `{"email": "ada@example.com"}`,
		}, a.createSignInLink),
		op.Flow(op.Spec{
			Name:     "sessions.create_by_link",
			Summary:  "Sign in with a link of the operator's.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   201,
			Secret:   true,
			Events:   []string{"session.created"},
			Example:  `{"token": "fdl_0000000000000000000000000000000000000000", "address": "192.0.2.7"}`,
		}, a.signInByLink),
		op.Write(op.Spec{
			Name:     "users.link_password",
			Summary:  "Create a link with which a user sets a new password. It replaces an earlier link.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Status:   201,
			Secret:   true,
			Events:   []string{"user.password_link_created"},
			Example:  `{"email": "ada@example.com"}`,
		}, a.createPasswordLink),
		op.Flow(op.Spec{
			Name:     "users.reset_password",
			Summary:  "Set a new password with a link; all of the user's sessions end.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   204,
			Events:   []string{"user.password_reset"},
			Example:  `{"token": "fdp_0000000000000000000000000000000000000000", "password": "a longer sentence"}`,
		}, a.resetPassword),
	}
}

func (a *Accounts) createPasswordLink(ctx context.Context, c *op.Call, in userByEmail) (*PasswordLink, error) {
	if err := a.checkPasswordsAllowed(); err != nil {
		return nil, fault.Field("email", "Passwords are switched off here. Use frontdesk admin user sign-in-link")
	}
	v, err := a.createUserLink(ctx, c, in.Email, toSetPassword)
	if err != nil {
		return nil, err
	}
	_, err = emitToAllOrganizations(ctx, c, "user.password_link_created", v.ID)
	return v, err
}

// linkPurpose says what a user can do with a link.
type linkPurpose struct {
	name   string // in the table
	prefix string // of the token
	path   string // of the page that the link opens, up to the token
}

var (
	toSetPassword = linkPurpose{"password", PasswordPrefix, "/password/"}
	toSignIn      = linkPurpose{"sign_in", EmergencyPrefix, "/sign-in/link/"}
)

// createUserLink creates a link for a user, in place of an earlier one.
func (a *Accounts) createUserLink(ctx context.Context, c *op.Call, email string, purpose linkPurpose) (*PasswordLink,
	error) {
	user, err := findUserByEmail(ctx, c.Tx, email)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, fault.NotFound.Say("There is no user with this email.")
	}
	if user.Status != Active {
		return nil, fault.Field("email", "This user is disabled. Enable the user first")
	}
	token := secret.NewToken(purpose.prefix)
	hash := secret.HashToken(token)
	v := &PasswordLink{ID: user.ID, Email: email, ExpiresAt: c.Now.Add(passwordLinkLifetime),
		URL: a.config.BaseURL + purpose.path + token}
	// Each new link sweeps the expired ones; nothing else needs them.
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM password_links WHERE expires_at <= $1", c.Now); err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, c.Tx, `
		INSERT INTO password_links (hash, created_at, user_id, expires_at, purpose) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (user_id) DO UPDATE
		SET hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at,
			purpose = excluded.purpose`, hash[:], c.Now, user.ID, v.ExpiresAt, purpose.name)
	return v, err
}

// CheckPasswordLink refuses a link that does not work.
func (a *Accounts) CheckPasswordLink(ctx context.Context, token string) error {
	return a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		return checkUserLink(ctx, tx, token, toSetPassword, a.clock.Now())
	})
}

func errPasswordLinkGone() error {
	return fault.NotFound.Say("This link was used, has expired, or a newer one replaced it. Ask whoever runs this " +
		"server for another.")
}

// CheckEmergencyLink refuses a link that does not sign in.
func (a *Accounts) CheckEmergencyLink(ctx context.Context, token string) error {
	return a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		return checkUserLink(ctx, tx, token, toSignIn, a.clock.Now())
	})
}

// checkUserLink refuses a link that is unknown or expired, that is for another purpose, or
// whose user is disabled.
func checkUserLink(ctx context.Context, tx *db.Tx, token string, purpose linkPurpose, now clock.Time) error {
	hash := secret.HashToken(token)
	_, err := db.QueryOne[int](ctx, tx, `
		SELECT 1
		FROM password_links l
		JOIN users u ON u.id = l.user_id
		WHERE l.hash = $1 AND l.expires_at > $2 AND l.purpose = $3 AND u.status = 'active'`, hash[:], now, purpose.name)
	if errors.Is(err, db.ErrNoRow) {
		return errPasswordLinkGone()
	}
	return err
}

type passwordReset struct {
	Token      string `json:"token"`
	Password   string `json:"password" max:"1000"`
	Disconnect bool   `json:"disconnect" default:"false" doc:"also end the user's agent connections"`
}

// resetPassword does not sign the user in: somebody else may have found the page open.
// The user types the new password again to sign in.
func (a *Accounts) resetPassword(ctx context.Context, c *op.Call, in passwordReset) (op.Nothing, error) {
	// The link comes first: only its holder may make the server hash a password.
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		return checkUserLink(ctx, tx, in.Token, toSetPassword, c.Now)
	})
	if err != nil {
		return op.Nothing{}, err
	}
	password, err := a.hashStrangersPassword(ctx, in.Password)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		// Deleting the row claims the link; a second request finds none.
		hash := secret.HashToken(in.Token)
		user, err := db.QueryOne[id.ID](ctx, c.Tx, `
			DELETE FROM password_links
			WHERE hash = $1 AND expires_at > $2 AND purpose = 'password'
			RETURNING user_id`, hash[:], c.Now)
		if errors.Is(err, db.ErrNoRow) {
			return op.Nothing{}, errPasswordLinkGone()
		}
		if err != nil {
			return op.Nothing{}, err
		}
		n, err := db.Exec(ctx, c.Tx, `
			UPDATE users SET password_hash = $2, updated_at = $3, confined_to = NULL
			WHERE id = $1 AND status = 'active'`, user, password, c.Now)
		if err != nil {
			return op.Nothing{}, err
		}
		if n == 0 {
			return op.Nothing{}, errPasswordLinkGone()
		}
		if err := endSessionsExcept(ctx, c.Tx, user, ""); err != nil {
			return op.Nothing{}, err
		}
		if err := forgetBrowsers(ctx, c.Tx, user, ""); err != nil {
			return op.Nothing{}, err
		}
		c.Caller = &op.Caller{Kind: op.UserActor, ID: user}
		if in.Disconnect {
			if err := a.connections.EndConnectionsOfUser(ctx, c, user, true, PasswordChanged); err != nil {
				return op.Nothing{}, err
			}
		}
		_, err = emitToAllOrganizations(ctx, c, "user.password_reset", user)
		return op.Nothing{}, err
	})
}

func (a *Accounts) createSignInLink(ctx context.Context, c *op.Call, in userByEmail) (*PasswordLink, error) {
	v, err := a.createUserLink(ctx, c, in.Email, toSignIn)
	if err != nil {
		return nil, err
	}
	_, err = emitToAllOrganizations(ctx, c, "user.sign_in_link_created", v.ID)
	return v, err
}

type linkUse struct {
	Token string `json:"token"`
	Origin
}

// signInByLink takes the place of a password or of the provider. A second factor is
// asked for all the same.
func (a *Accounts) signInByLink(ctx context.Context, c *op.Call, in linkUse) (*NewSession, error) {
	return op.Finish(ctx, c, func(ctx context.Context) (*NewSession, error) {
		hash := secret.HashToken(in.Token)
		user, err := db.QueryOne[id.ID](ctx, c.Tx, `
			DELETE FROM password_links
			WHERE hash = $1 AND expires_at > $2 AND purpose = 'sign_in'
			RETURNING user_id`, hash[:], c.Now)
		if errors.Is(err, db.ErrNoRow) {
			return nil, errPasswordLinkGone()
		}
		if err != nil {
			return nil, err
		}
		if err := lockActiveUser(ctx, c.Tx, user); err != nil {
			return nil, err
		}
		if c.Org, err = chooseOrganization(ctx, c.Tx, user); err != nil {
			return nil, err
		}
		return a.completeFirstStep(ctx, c, user, in.Origin)
	})
}
