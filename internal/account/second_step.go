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

// Signing in has two steps for a user who has a second factor. The first, with a
// password, a link or at an identity provider, ends in completeFirstStep. It gives no
// session, only a token with which the same browser goes on. The second step is a code
// (confirmSignInByCode) or a passkey (passkey.go); both end in completeSecondStep.

// SignInPrefix begins the token of a sign-in that waits for a second factor.
const SignInPrefix = "fdt_"

const signInLifetime = 10 * time.Minute

// SignInExpired refuses a second step without a first.
var SignInExpired = fault.DefineKind("SIGN_IN_EXPIRED", 401,
	"Signing in took too long, or was begun again. Start over.")

func (a *Accounts) secondStepOperations() []*op.Op {
	const token = "fdt_0000000000000000000000000000000000000000"
	return []*op.Op{
		op.Flow(op.Spec{
			Name:     "sessions.confirm",
			Summary:  "Complete a sign-in with a one-time code or a recovery code.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   201,
			Secret:   true,
			Events:   []string{"session.created", "user.recovery_code_used"},
			Errors:   []*fault.Kind{SignInExpired, WrongFactor},
			Example:  `{"pending": "` + token + `", "code": "123456", "address": "192.0.2.7"}`,
		}, a.confirmSignInByCode),
		op.Flow(op.Spec{
			Name:     "sessions.reconfirm",
			Summary:  "Confirm with a password or a code that it is still you.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Status:   204,
			Events:   []string{"session.confirmed", "user.recovery_code_used"},
			Errors:   []*fault.Kind{WrongFactor},
			Example: `{"token": "fds_0000000000000000000000000000000000000000", "password": "a long sentence", ` +
				`"address": "192.0.2.7"}`,
		}, a.reconfirmSession),
	}
}

// completeFirstStep begins a session for a user who passed the first step, or, if the user has
// a second factor, a sign-in that waits for it. The user is locked.
func (a *Accounts) completeFirstStep(ctx context.Context, c *op.Call, user id.ID, from Origin) (*NewSession, error) {
	has, err := userHasFactor(ctx, c.Tx, user)
	if err != nil {
		return nil, err
	}
	if !has {
		return a.beginSession(ctx, c, user, from, "")
	}
	token := secret.NewToken(SignInPrefix)
	hash := secret.HashToken(token)
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM sign_ins WHERE expires_at <= $1", c.Now); err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, c.Tx, `
		INSERT INTO sign_ins (hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)`,
		hash[:], user, c.Now, c.Now.Add(signInLifetime))
	return &NewSession{SignedIn: SignedIn{CreatedAt: c.Now, OrganizationID: c.Org, UserID: user}, Pending: token}, err
}

// PendingSignIn is a sign-in that waits for a second factor.
type PendingSignIn struct {
	User    id.ID
	Email   string
	Factors *Factors
}

// FindPendingSignIn finds the sign-in of a token, with what the user can complete it
// with.
func (a *Accounts) FindPendingSignIn(ctx context.Context, token string) (p *PendingSignIn, err error) {
	err = a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err = loadPendingSignIn(ctx, tx, token, a.clock.Now())
		if err != nil {
			return err
		}
		p.Factors, err = loadFactors(ctx, tx, p.User)
		return err
	})
	return p, err
}

func loadPendingSignIn(ctx context.Context, tx *db.Tx, token string, now clock.Time) (*PendingSignIn, error) {
	type row struct {
		User  id.ID  `db:"user_id"`
		Email string `db:"email"`
	}
	if !secret.IsWellFormed(SignInPrefix, token) {
		return nil, SignInExpired.New()
	}
	hash := secret.HashToken(token)
	v, err := db.QueryOne[row](ctx, tx, `
		SELECT s.user_id, u.email FROM sign_ins s JOIN users u ON u.id = s.user_id
		WHERE s.hash = $1 AND s.expires_at > $2 AND u.status = 'active'`, hash[:], now)
	if errors.Is(err, db.ErrNoRow) {
		return nil, SignInExpired.New()
	}
	return &PendingSignIn{User: v.User, Email: v.Email}, err
}

type signInConfirm struct {
	Pending string `json:"pending"`
	Code    string `json:"code" max:"100"`
	Origin
}

func (a *Accounts) confirmSignInByCode(ctx context.Context, c *op.Call, in signInConfirm) (*NewSession, error) {
	return a.completeSecondStep(ctx, c, in.Pending, in.Origin, func(ctx context.Context, user id.ID) (Factor, error) {
		return a.acceptAnyCode(ctx, c, user, in.Code)
	})
}

// completeSecondStep completes a sign-in with whatever prove accepts. Each attempt is taken
// from the allowances before it is checked, so that parallel ones cannot all slip
// through, and given back when it was right.
func (a *Accounts) completeSecondStep(ctx context.Context, c *op.Call, token string, from Origin,
	prove func(ctx context.Context, user id.ID) (Factor, error)) (*NewSession, error) {
	var p *PendingSignIn
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		p, err = loadPendingSignIn(ctx, tx, token, c.Now)
		return err
	})
	if err != nil {
		return nil, err
	}
	allowances, err := a.codeAllowances(ctx, c, p.User, from)
	if err != nil {
		return nil, err
	}
	if err := spendAllowances(ctx, allowances, c.Now.Std()); err != nil {
		return nil, err
	}
	out, err := op.Finish(ctx, c, func(ctx context.Context) (*NewSession, error) {
		if err := lockActiveUser(ctx, c.Tx, p.User); err != nil {
			return nil, err
		}
		// Deleting the row claims the sign-in; a refusal below rolls that back, so that the
		// user can try again.
		hash := secret.HashToken(token)
		n, err := db.Exec(ctx, c.Tx, "DELETE FROM sign_ins WHERE hash = $1 AND user_id = $2", hash[:], p.User)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, SignInExpired.New()
		}
		if c.Org, err = chooseOrganization(ctx, c.Tx, p.User); err != nil {
			return nil, err
		}
		c.Caller = &op.Caller{Kind: op.UserActor, ID: p.User, Organization: c.Org}
		factor, err := prove(ctx, p.User)
		if err != nil {
			return nil, err
		}
		return a.beginSession(ctx, c, p.User, from, factor)
	})
	if err != nil {
		return nil, err
	}
	return out, refundAllowances(ctx, allowances)
}

// codeAllowances are those that an attempt at a second factor is taken from.
func (a *Accounts) codeAllowances(ctx context.Context, c *op.Call, user id.ID, from Origin) ([]allowance, error) {
	known := false
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		known, err = isKnownBrowser(ctx, tx, user, from.Browser, c.Now)
		return err
	})
	if known {
		return a.codeTries.browserAllowances(from.Browser, user), err
	}
	return a.codeTries.codeSenderAllowances(string(user), from.Address), err
}

type sessionReconfirm struct {
	Token    string  `json:"token"`
	Password *string `json:"password" max:"1000"`
	Code     *string `json:"code" max:"100"`
	Origin
}

func (a *Accounts) reconfirmSession(ctx context.Context, c *op.Call, in sessionReconfirm) (op.Nothing, error) {
	switch {
	case in.Password != nil && *in.Password != "":
		return a.reconfirmByPassword(ctx, c, in)
	case in.Code != nil && *in.Code != "":
		return a.reconfirmByFactor(ctx, c, in.Token, in.Origin, func(ctx context.Context) error {
			_, err := a.acceptAnyCode(ctx, c, c.Caller.ID, *in.Code)
			if fault.IsKind(err, WrongFactor) {
				return fault.Field("code", "This code is wrong, was already used, or has expired")
			}
			return err
		})
	}
	return op.Nothing{}, fault.Field("password", "Fill this in")
}

func (a *Accounts) reconfirmByPassword(ctx context.Context, c *op.Call, in sessionReconfirm) (op.Nothing, error) {
	if err := a.checkPasswordsAllowed(); err != nil {
		return op.Nothing{}, err
	}
	var email string
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		email, err = db.QueryOne[string](ctx, tx, "SELECT email FROM users WHERE id = $1", c.Caller.ID)
		return err
	})
	if err != nil {
		return op.Nothing{}, err
	}
	known, err := a.verifyPassword(ctx, c, email, *in.Password, sender{in.Address, in.Browser})
	if fault.IsKind(err, WrongPassword) {
		return op.Nothing{}, fault.Field("password", "This is not your password")
	}
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		if err := known.recheckAndLock(ctx, c.Tx); err != nil {
			return op.Nothing{}, err
		}
		return op.Nothing{}, confirmSession(ctx, c, in.Token)
	})
}

// reconfirmByFactor confirms the caller with a factor that prove accepts. It spends the
// same allowances as a sign-in.
func (a *Accounts) reconfirmByFactor(ctx context.Context, c *op.Call, token string, from Origin,
	prove func(context.Context) error) (op.Nothing, error) {
	allowances, err := a.codeAllowances(ctx, c, c.Caller.ID, from)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := spendAllowances(ctx, allowances, c.Now.Std()); err != nil {
		return op.Nothing{}, err
	}
	_, err = op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		if err := lockActiveUser(ctx, c.Tx, c.Caller.ID); err != nil {
			return op.Nothing{}, err
		}
		if err := prove(ctx); err != nil {
			return op.Nothing{}, err
		}
		return op.Nothing{}, confirmSession(ctx, c, token)
	})
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, refundAllowances(ctx, allowances)
}

// confirmSession notes that the caller confirmed who they are, for requireConfirmed.
func confirmSession(ctx context.Context, c *op.Call, token string) error {
	hash := secret.HashToken(token)
	s, err := db.QueryOne[SignedIn](ctx, c.Tx, `
		UPDATE sessions SET confirmed_at = $3
		WHERE hash = $1 AND user_id = $2
		RETURNING `+signedInColumns, hash[:], c.Caller.ID, c.Now)
	if errors.Is(err, db.ErrNoRow) {
		return fault.Unauthorized.New()
	}
	if err != nil {
		return err
	}
	return c.Emit("session.confirmed", s.ID, &s)
}
