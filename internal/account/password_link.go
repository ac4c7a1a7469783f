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
// operator.

// PasswordPrefix begins the token of a link that sets a new password.
const PasswordPrefix = "fdp_"

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
			Name:     "users.link_password",
			Summary:  "Create a link with which a user sets a new password. It replaces an earlier link.",
			Resource: op.Account,
			Doors:    op.Admin,
			Status:   201,
			Secret:   true,
			Events:   []string{"user.password_link_created"},
			Example:  `{"email": "ada@example.com"}`,
		}, a.linkPassword),
		op.Flow(op.Spec{
			Name:     "users.reset_password",
			Summary:  "Set a new password with a link; all of the user's sessions end.",
			Resource: op.Free,
			Doors:    op.Console,
			Public:   true,
			Status:   204,
			Events:   []string{"user.password_reset"},
			Example:  `{"token": "fdp_0000000000000000000000000000000000000000", "password": "a longer sentence"}`,
		}, a.resetPassword),
	}
}

func (a *Accounts) linkPassword(ctx context.Context, c *op.Call, in userByEmail) (*PasswordLink, error) {
	user, err := findUser(ctx, c.Tx, in.Email)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, fault.NotFound.Say("There is no user with this email.")
	}
	if user.Status != Active {
		return nil, fault.Field("email", "This user is disabled. Enable the user first")
	}
	token := secret.NewToken(PasswordPrefix)
	hash := secret.Hash(token)
	v := &PasswordLink{ID: user.ID, Email: in.Email, ExpiresAt: c.Now.Add(passwordLinkLifetime),
		URL: a.config.BaseURL + "/password/" + token}
	// Each new link sweeps the expired ones; nothing else needs them.
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM password_links WHERE expires_at <= $1", c.Now); err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, c.Tx, `
		INSERT INTO password_links (hash, created_at, user_id, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id) DO UPDATE
		SET hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at`, hash[:],
		c.Now, user.ID, v.ExpiresAt)
	if err != nil {
		return nil, err
	}
	_, err = emitEverywhere(ctx, c, "user.password_link_created", user.ID)
	return v, err
}

// PasswordLinkOpen refuses a link that does not work.
func (a *Accounts) PasswordLinkOpen(ctx context.Context, token string) error {
	return a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		return passwordLinkOpen(ctx, tx, token, a.clock.Now())
	})
}

func errPasswordLinkGone() error {
	return fault.NotFound.Say("This link was used, has expired, or a newer one replaced it. Ask whoever runs this " +
		"server for another.")
}

func passwordLinkOpen(ctx context.Context, tx *db.Tx, token string, now clock.Time) error {
	hash := secret.Hash(token)
	_, err := db.One[int](ctx, tx, `
		SELECT 1
		FROM password_links l
		JOIN users u ON u.id = l.user_id
		WHERE l.hash = $1 AND l.expires_at > $2 AND u.status = 'active'`, hash[:], now)
	if errors.Is(err, db.ErrNone) {
		return errPasswordLinkGone()
	}
	return err
}

type passwordReset struct {
	Token      string `json:"token"`
	Password   string `json:"password" max:"1000"`
	Disconnect bool   `json:"disconnect" default:"false" doc:"also end the user's agent connections"`
}

// resetPassword does not sign the user in. The link may have been found open
// somewhere, and the new password is typed again where it will be used.
func (a *Accounts) resetPassword(ctx context.Context, c *op.Call, in passwordReset) (op.Nothing, error) {
	// The link comes first: only its holder may make the server hash a password.
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error { return passwordLinkOpen(ctx, tx, in.Token, c.Now) })
	if err != nil {
		return op.Nothing{}, err
	}
	password, err := a.choosePassword(ctx, in.Password)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		// Deleting the row claims the link; a second request finds none.
		hash := secret.Hash(in.Token)
		user, err := db.One[id.ID](ctx, c.Tx, `
			DELETE FROM password_links
			WHERE hash = $1 AND expires_at > $2
			RETURNING user_id`, hash[:], c.Now)
		if errors.Is(err, db.ErrNone) {
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
		if err := endSessions(ctx, c.Tx, user, ""); err != nil {
			return op.Nothing{}, err
		}
		if err := forgetBrowsers(ctx, c.Tx, user, ""); err != nil {
			return op.Nothing{}, err
		}
		c.Caller = &op.Caller{Kind: op.User, ID: user}
		if in.Disconnect {
			if err := a.connections.EndUser(ctx, c, user, true, PasswordChanged); err != nil {
				return op.Nothing{}, err
			}
		}
		_, err = emitEverywhere(ctx, c, "user.password_reset", user)
		return op.Nothing{}, err
	})
}
