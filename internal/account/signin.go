package account

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// Refusals of a sign-in. They do not reveal whether the address is unknown or
// the password wrong. Only somebody who knows the password learns that the user
// is disabled.
var (
	WrongPassword = fault.DefineKind("WRONG_PASSWORD", 401, "The email or password is wrong.")
	UserDisabled  = fault.DefineKind("USER_DISABLED", 403,
		"This user is disabled. Ask an owner or admin of your organization.")
	NoMembership = fault.DefineKind("NO_MEMBERSHIP", 403,
		"You no longer belong to any organization. Ask an owner or admin to invite you.")
)

// The number of wrong passwords allowed in ten minutes. A browser in which the
// user signed in before has its own allowance, which nobody else can use up.
// Any other attempt spends three allowances, in this order: that of the address,
// that of the address for this account, and that of the account. The second is
// smaller than the third, so that no single address can use up an account's
// allowance.
const (
	triesPerBrowser = 10
	triesPerAddress = 50
	triesPerPair    = 5
	triesPerAccount = 20
	triesWindow     = 10 * time.Minute
	// 3 of 1,000,000 codes are right at any time (codeWindow), so whoever knows the
	// password and tries 50 a day guesses one with a chance of 1 in 6,600 a day.
	codesPerDay = 50
)

// sender is the origin of an attempt.
type sender struct {
	address string
	browser string // its token, if it has one
}

// addressAndAccount is an address together with the account it tries to sign in to.
type addressAndAccount struct{ address, account string }

// knownBrowser is a browser in which a user signed in before.
type knownBrowser struct {
	browser [32]byte
	user    id.ID
}

// attempts are the allowances for wrong passwords, and those for wrong codes.
type attempts struct {
	browsers  limit.ExactLimiter[knownBrowser]
	addresses limit.ExactLimiter[string]
	pairs     limit.ExactLimiter[addressAndAccount]
	accounts  limit.ExactLimiter[string]
	days      limit.ExactLimiter[string] // of codes only
}

// shareLedger keeps the counts in a ledger that all processes over one database share. what
// begins the names of the limits.
func (t *attempts) shareLedger(l *limit.Ledger, what string) {
	t.browsers = limit.ExactLimiter[knownBrowser]{Name: what + " browser", Ledger: l}
	t.addresses = limit.ExactLimiter[string]{Name: what + " address", Ledger: l}
	t.pairs = limit.ExactLimiter[addressAndAccount]{Name: what + " pair", Ledger: l}
	t.accounts = limit.ExactLimiter[string]{Name: what + " account", Ledger: l}
	t.days = limit.ExactLimiter[string]{Name: what + " day", Ledger: l}
}

// allowance is one of the limits for one browser, address or account.
type allowance struct {
	spend  func(ctx context.Context, now time.Time) (limit.Verdict, error)
	refund func(ctx context.Context) error
}

func newAllowance[K comparable](l *limit.ExactLimiter[K], key K, n int, window time.Duration) allowance {
	return allowance{
		spend: func(ctx context.Context, now time.Time) (limit.Verdict, error) {
			return l.Spend(ctx, key, n, window, now)
		},
		refund: func(ctx context.Context) error { return l.Refund(ctx, key, n, window) },
	}
}

// senderAllowances returns the allowances of an unknown sender, the account's last.
func (t *attempts) senderAllowances(account, address string) []allowance {
	return []allowance{
		newAllowance(&t.addresses, address, triesPerAddress, triesWindow),
		newAllowance(&t.pairs, addressAndAccount{address, account}, triesPerPair, triesWindow),
		newAllowance(&t.accounts, account, triesPerAccount, triesWindow),
	}
}

// codeSenderAllowances returns the allowances of an unknown sender for codes: those of senderAllowances
// and a number of wrong codes per day. Six digits are few, and whoever tries them
// already knows the password.
func (t *attempts) codeSenderAllowances(account, address string) []allowance {
	return append(t.senderAllowances(account, address), newAllowance(&t.days, account, codesPerDay, 24*time.Hour))
}

// browserAllowances returns the allowance of a known browser.
func (t *attempts) browserAllowances(browser string, user id.ID) []allowance {
	known := knownBrowser{secret.HashToken(browser), user}
	return []allowance{newAllowance(&t.browsers, known, triesPerBrowser, triesWindow)}
}

// spendAllowances takes one attempt from each allowance before the password is checked,
// so that parallel attempts cannot all slip through. What was spent before a
// refusal stays spent: hammering costs the sender but never the account, which
// comes last.
func spendAllowances(ctx context.Context, all []allowance, now time.Time) error {
	for _, a := range all {
		v, err := a.spend(ctx, now)
		if err != nil {
			return err
		}
		if !v.OK {
			f := fault.RateLimited.Say("Too many wrong passwords or codes. Try again in %s.",
				limit.WaitInWords(v.Retry))
			f.RetryAfter = v.Retry
			return f
		}
	}
	return nil
}

// refundAllowances gives an attempt back to every allowance, after it proved right.
func refundAllowances(ctx context.Context, all []allowance) (err error) {
	for _, a := range all {
		err = errors.Join(err, a.refund(ctx))
	}
	return err
}

// credentials are what signing in needs to know of a user.
type credentials struct {
	ID         id.ID   `db:"id"`
	Hash       *string `db:"password_hash"` // nil for a user who has no password
	Status     Status  `db:"status"`
	ConfinedTo *id.ID  `db:"confined_to"` // the user's only organization until the address is proven
}

// findUserByEmail looks up a user by address and returns nil when there is none.
func findUserByEmail(ctx context.Context, tx *db.Tx, email string) (*credentials, error) {
	u, err := db.QueryOne[credentials](ctx, tx,
		"SELECT id, password_hash, status, confined_to FROM users WHERE email_folded = $1", db.FoldText(email))
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &u, err
}

// verifyPassword checks an address and a password. It runs outside any transaction,
// because the check is slow by design. An unknown user takes as long as a known
// one.
func (a *Accounts) verifyPassword(ctx context.Context, c *op.Call, email, password string, from sender) (*credentials,
	error) {
	var u *credentials
	var known bool
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if u, err = findUserByEmail(ctx, tx, email); err != nil || u == nil {
			return err
		}
		known, err = isKnownBrowser(ctx, tx, u.ID, from.browser, c.Now)
		return err
	})
	if err != nil {
		return nil, err
	}
	allowances := a.passwordTries.senderAllowances(db.FoldText(email), from.address)
	if known {
		allowances = a.passwordTries.browserAllowances(from.browser, u.ID)
	}
	if err := spendAllowances(ctx, allowances, c.Now.Std()); err != nil {
		return nil, err
	}
	ok, err := a.comparePassword(ctx, u, password, known)
	if fault.IsKind(err, fault.Unavailable) {
		// The password was not checked, so the account pays nothing.
		err = errors.Join(err, allowances[len(allowances)-1].refund(ctx))
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, WrongPassword.New()
	}
	if err := refundAllowances(ctx, allowances); err != nil {
		return nil, err
	}
	if u.Status != Active {
		return nil, UserDisabled.New()
	}
	return u, nil
}

// comparePassword compares a password with that of a user. Where there is no user, or no
// password, it compares with a hash that nothing matches, so that the time it takes
// tells nothing. A known browser does not wait in the strangers' queue.
func (a *Accounts) comparePassword(ctx context.Context, u *credentials, password string, known bool) (bool, error) {
	if !known {
		leave, err := a.strangerQueue.waitForPlace(ctx)
		if err != nil {
			return false, err
		}
		defer leave()
	}
	hash := secret.UnmatchableHash()
	if u != nil && u.Hash != nil {
		hash = *u.Hash
	}
	ok, err := secret.CheckPassword(ctx, hash, password)
	return ok && u != nil && u.Hash != nil, err
}

// hashQueue is where strangers wait to have a password hashed. It has one place fewer
// than secret.HashesAtOnce, so that a sign-in from a known browser never waits for
// strangers. A flood is turned away rather than kept waiting for seconds.
type hashQueue struct {
	places  chan struct{}
	waiting atomic.Int64
}

const maxWaiting = 16

func newHashQueue() *hashQueue { return &hashQueue{places: make(chan struct{}, secret.HashesAtOnce-1)} }

// waitForPlace waits for a place. The caller frees it with leave.
func (q *hashQueue) waitForPlace(ctx context.Context) (leave func(), err error) {
	defer q.waiting.Add(-1)
	if q.waiting.Add(1) > maxWaiting {
		f := fault.Unavailable.Say("Many people are signing in right now. Try again in a few seconds.")
		f.RetryAfter = 5 * time.Second
		return nil, f
	}
	select {
	case q.places <- struct{}{}:
		return func() { <-q.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// recheckAndLock refuses a user who was disabled, or whose password changed, since
// verifyPassword. It locks the user until the transaction ends, so that whoever ends
// all sessions also finds the one that begins here.
func (u *credentials) recheckAndLock(ctx context.Context, tx *db.Tx) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE users
		SET updated_at = updated_at
		WHERE id = $1 AND password_hash = $2 AND status = 'active'`, u.ID, *u.Hash)
	if err == nil && n == 0 {
		return WrongPassword.New()
	}
	return err
}

type sessionCreate struct {
	Email    string `json:"email"`
	Password string `json:"password" max:"1000"`
	Origin
}

func (a *Accounts) signInByPassword(ctx context.Context, c *op.Call, in sessionCreate) (*NewSession, error) {
	if err := a.checkPasswordsAllowed(); err != nil {
		return nil, err
	}
	user, err := a.verifyPassword(ctx, c, in.Email, in.Password, sender{in.Address, in.Browser})
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*NewSession, error) {
		if c.Org, err = chooseOrganization(ctx, c.Tx, user.ID); err != nil {
			return nil, err
		}
		if err := user.recheckAndLock(ctx, c.Tx); err != nil {
			return nil, err
		}
		return a.completeFirstStep(ctx, c, user.ID, in.Origin)
	})
}

// chooseOrganization is the one that a user sees after signing in: the first that
// is active, if any.
func chooseOrganization(ctx context.Context, tx *db.Tx, user id.ID) (id.ID, error) {
	org, err := db.QueryOne[id.ID](ctx, tx, `
		SELECT o.id FROM memberships m JOIN organizations o ON o.id = m.organization_id
		WHERE m.user_id = $1 AND m.deleted_at IS NULL AND o.deleted_at IS NULL
		ORDER BY CASE o.status WHEN 'active' THEN 0 ELSE 1 END, m.seq LIMIT 1`, user)
	if errors.Is(err, db.ErrNoRow) {
		return "", NoMembership.New()
	}
	return org, err
}
