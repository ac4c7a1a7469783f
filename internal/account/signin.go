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

// Refusals of a sign-in. Whether the address is unknown or the password wrong
// is not told; that a user is disabled, only to who knows the password.
var (
	WrongPassword = fault.Define("WRONG_PASSWORD", 401, "The email or the password is not right.")
	UserDisabled  = fault.Define("USER_DISABLED", 403, "This user is disabled. Ask an owner or admin of your organization.")
	NoMembership  = fault.Define("NO_MEMBERSHIP", 403, "You belong to no organization any more. Ask an owner or admin to invite you.")
)

// How many wrong passwords there may be in ten minutes. A browser in which the
// user signed in before has an allowance of its own and is held up by nobody
// else. Everyone else spends three: their address's, their address's for this
// account, and the account's, in this order. The one before the last is smaller
// than the last, so that no single address can spend an account's allowance.
const (
	triesPerBrowser = 10
	triesPerAddress = 50
	triesPerPair    = 5
	triesPerAccount = 20
	triesWindow     = 10 * time.Minute
)

// sender is who tries a password.
type sender struct {
	address string
	browser string // its token, when it has one
}

// pair is an address that tries passwords of an account.
type pair struct{ address, account string }

// known is a browser in which a user signed in before.
type known struct {
	browser [32]byte
	user    id.ID
}

// attempts are the allowances for wrong passwords.
type attempts struct {
	browsers  limit.Limiter[known]
	addresses limit.Limiter[string]
	pairs     limit.Limiter[pair]
	accounts  limit.Limiter[string]
}

// allowance is one of them, for one key.
type allowance struct {
	spend func(now time.Time) limit.Verdict
	back  func()
}

func allowanceOf[K comparable](l *limit.Limiter[K], key K, n int) allowance {
	return allowance{
		spend: func(now time.Time) limit.Verdict { return l.Spend(key, n, triesWindow, now) },
		back:  func() { l.Return(key, n, triesWindow) },
	}
}

// ofSender are the allowances of a sender who is not known, the account's last.
func (t *attempts) ofSender(account, address string) []allowance {
	return []allowance{
		allowanceOf(&t.addresses, address, triesPerAddress),
		allowanceOf(&t.pairs, pair{address, account}, triesPerPair),
		allowanceOf(&t.accounts, account, triesPerAccount),
	}
}

// ofBrowser is the allowance of a known browser.
func (t *attempts) ofBrowser(browser string, user id.ID) []allowance {
	return []allowance{allowanceOf(&t.browsers, known{secret.Hash(browser), user}, triesPerBrowser)}
}

// spend takes one attempt from each before the password is looked at, so that
// many at once are not all let through. What was spent before a refusal stays
// spent: hammering costs the sender, and never the account, which comes last.
func spend(all []allowance, now time.Time) error {
	for _, a := range all {
		if v := a.spend(now); !v.OK {
			f := fault.RateLimited.Say("Too many wrong passwords. Try again in %s.", inWords(v.Retry))
			f.RetryAfter = v.Retry
			return f
		}
	}
	return nil
}

// forgive gives an attempt back.
func forgive(all []allowance) {
	for _, a := range all {
		a.back()
	}
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
	ID         id.ID   `db:"id"`
	Hash       *string `db:"password_hash"`
	Status     string  `db:"status"`
	ConfinedTo *id.ID  `db:"confined_to"` // the only organization, until the address is proven
}

// findUser looks a user up by address; nil when there is none.
func findUser(ctx context.Context, tx *db.Tx, email string) (*credentials, error) {
	u, err := db.One[credentials](ctx, tx,
		"SELECT id, password_hash, status, confined_to FROM users WHERE email_folded = $1", db.Fold(email))
	if errors.Is(err, db.ErrNone) {
		return nil, nil
	}
	return &u, err
}

// verify checks an address and a password, outside every transaction: the
// check is slow by design. Unknown users cost the same as known ones.
func (a *Accounts) verify(ctx context.Context, c *op.Call, email, password string, from sender) (*credentials, error) {
	var u *credentials
	var known bool
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if u, err = findUser(ctx, tx, email); err != nil || u == nil {
			return err
		}
		known, err = isKnown(ctx, tx, u.ID, from.browser, c.Now)
		return err
	})
	if err != nil {
		return nil, err
	}
	allowances := a.tries.ofSender(db.Fold(email), from.address)
	if known {
		allowances = a.tries.ofBrowser(from.browser, u.ID)
	}
	if err := spend(allowances, c.Now.Std()); err != nil {
		return nil, err
	}
	ok, err := a.check(ctx, u, password, known)
	if fault.Has(err, fault.Unavailable) {
		allowances[len(allowances)-1].back() // nobody looked: that is not the account's fault
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, WrongPassword.New()
	}
	forgive(allowances)
	if u.Status != "active" {
		return nil, UserDisabled.New()
	}
	return u, nil
}

// check compares a password with that of a user, who may be nil. A known
// browser does not wait among strangers.
func (a *Accounts) check(ctx context.Context, u *credentials, password string, known bool) (bool, error) {
	if !known {
		leave, err := a.strangers.enter(ctx)
		if err != nil {
			return false, err
		}
		defer leave()
	}
	hash := nobody
	if u != nil && u.Hash != nil {
		hash = *u.Hash
	}
	ok, err := secret.CheckPassword(ctx, hash, password)
	return ok && u != nil && u.Hash != nil, err
}

// queue is where strangers wait to have a password hashed. They have fewer
// places than there are, so that who signs in with a known browser finds one,
// and a flood is turned away when it would have to wait for seconds.
type queue struct {
	places  chan struct{}
	waiting atomic.Int64
}

const maxWaiting = 16

func newQueue() *queue { return &queue{places: make(chan struct{}, secret.HashesAtOnce-1)} }

func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	defer q.waiting.Add(-1)
	if q.waiting.Add(1) > maxWaiting {
		f := fault.Unavailable.Say("Many people sign in at this moment. Try again in a few seconds.")
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
	Browser  string `json:"browser" default:"" doc:"the browser's token, when it has one"`
}

func (a *Accounts) signIn(ctx context.Context, c *op.Call, in sessionCreate) (*NewSession, error) {
	user, err := a.verify(ctx, c, in.Email, in.Password, sender{in.Address, in.Browser})
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
		return a.begin(ctx, c, user.ID, in.Browser)
	})
}
