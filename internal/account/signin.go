package account

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// Refusals of a sign-in. Whether the address is unknown or the password wrong
// is not told; that a user is disabled, only to who knows the password.
var (
	WrongPassword = fault.Define("WRONG_PASSWORD", 401, "The email or the password is not right.")
	UserDisabled  = fault.Define("USER_DISABLED", 403, "This user is disabled. Ask an owner or admin of your organization.")
	NoMembership  = fault.Define("NO_MEMBERSHIP", 403, "You belong to no organization any more. Ask an owner or admin to invite you.")
)

// How many wrong passwords there may be. The allowance comes back little by
// little, so that somebody who tries on behalf of another holds them up for a
// minute at a time and not for good.
const (
	triesPerAccount = 10
	triesPerAddress = 50
	triesWindow     = 10 * time.Minute
)

// attempts are the allowances for wrong passwords.
type attempts struct {
	account limit.Limiter[string]
	address limit.Limiter[string]
}

// try takes one attempt before the password is looked at, so that many at once
// are not all let through; forgive gives it back when the password was right.
func (t *attempts) try(account, address string, now time.Time) (forgive func(), err error) {
	spent := []func(){}
	forgive = func() {
		for _, back := range spent {
			back()
		}
	}
	for _, a := range []struct {
		*limit.Limiter[string]
		key string
		n   int
	}{{&t.address, address, triesPerAddress}, {&t.account, account, triesPerAccount}} {
		v := a.Spend(a.key, a.n, triesWindow, now)
		if !v.OK {
			forgive()
			f := fault.RateLimited.Say("Too many wrong passwords. Try again in %s.", inWords(v.Retry))
			f.RetryAfter = v.Retry
			return nil, f
		}
		spent = append(spent, func() { a.Return(a.key, a.n, triesWindow) })
	}
	return forgive, nil
}

func inWords(d time.Duration) string {
	if d > 90*time.Second {
		return "a few minutes"
	}
	return "a minute"
}

// nobody is what the password of an unknown user is compared with: as much
// work as for a known one, and never right.
const nobody = "$argon2id$v=19$m=65536,t=3,p=4$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

type credentials struct {
	ID     id.ID   `db:"id"`
	Hash   *string `db:"password_hash"`
	Status string  `db:"status"`
}

// findUser looks a user up by address; nil when there is none.
func findUser(ctx context.Context, tx *db.Tx, email string) (*credentials, error) {
	u, err := db.One[credentials](ctx, tx, "SELECT id, password_hash, status FROM users WHERE email_folded = $1", db.Fold(email))
	if errors.Is(err, db.ErrNone) {
		return nil, nil
	}
	return &u, err
}

// verify checks an address and a password, outside every transaction: the
// check is slow by design. Unknown users cost the same as known ones.
func (a *Accounts) verify(ctx context.Context, c *op.Call, email, password, address string) (*credentials, error) {
	forgive, err := a.tries.try(db.Fold(email), address, c.Now.Std())
	if err != nil {
		return nil, err
	}
	var u *credentials
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		u, err = findUser(ctx, tx, email)
		return err
	})
	if err != nil {
		return nil, err
	}
	hash := nobody
	if u != nil && u.Hash != nil {
		hash = *u.Hash
	}
	ok, err := secret.CheckPassword(ctx, hash, password)
	if err != nil {
		return nil, err
	}
	if !ok || u == nil || u.Hash == nil {
		return nil, WrongPassword.New()
	}
	forgive()
	if u.Status != "active" {
		return nil, UserDisabled.New()
	}
	return u, nil
}

// still refuses who proved a password that was changed since, or was disabled,
// and holds the user until the transaction ends: whoever ends all sessions
// finds the one that begins in it too.
func (u *credentials) still(ctx context.Context, tx *db.Tx) error {
	n, err := db.Exec(ctx, tx, "UPDATE users SET updated_at = updated_at WHERE id = $1 AND password_hash = $2 AND status = 'active'", u.ID, *u.Hash)
	if err == nil && n == 0 {
		return WrongPassword.New()
	}
	return err
}

type sessionCreate struct {
	Email    string `json:"email"`
	Password string `json:"password" max:"1000"`
	Address  string `json:"address" doc:"where the attempt comes from, for the limit"`
}

func (a *Accounts) signIn(ctx context.Context, c *op.Call, in sessionCreate) (*NewSession, error) {
	user, err := a.verify(ctx, c, in.Email, in.Password, in.Address)
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*NewSession, error) {
		org, err := db.One[id.ID](ctx, c.Tx, `SELECT o.id FROM memberships m JOIN organizations o ON o.id = m.organization_id
			WHERE m.user_id = $1 AND m.deleted_at IS NULL AND o.deleted_at IS NULL ORDER BY CASE o.status WHEN 'active' THEN 0 ELSE 1 END, m.seq LIMIT 1`, user.ID)
		if errors.Is(err, db.ErrNone) {
			return nil, NoMembership.New()
		}
		if err != nil {
			return nil, err
		}
		c.Org = org
		if err := user.still(ctx, c.Tx); err != nil {
			return nil, err
		}
		return a.begin(ctx, c, user.ID)
	})
}
