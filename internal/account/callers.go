package account

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// Login is the caller behind a key, and whether it may act now.
type Login struct {
	Caller    *op.Caller
	Disabled  bool // the organization, or the user who made the key, is disabled
	Agreed    bool // the business accepted the current agreement
	expiresAt *clock.Time
}

// Refused returns why the caller may not act, or nil.
func (l *Login) Refused() error {
	switch {
	case l.Disabled:
		return fault.AccountDisabled.New()
	case !l.Agreed:
		return fault.AgreementNeeded.WithDetails(map[string]string{"url": l.Caller.AgreementURL})
	}
	return nil
}

// LoginByKey finds the caller behind an API key. A key that is malformed, unknown,
// revoked, expired or of a deleted business is Unauthorized.
func (a *Accounts) LoginByKey(ctx context.Context, token string) (*Login, error) {
	hash := secret.HashToken(token)
	l := a.callers.get(hash)
	if l == nil {
		if !secret.IsWellFormed(KeyPrefix, token) {
			return nil, fault.Unauthorized.New()
		}
		// Taken before the read: a change in between keeps the login out of the cache.
		generation := a.callers.generation()
		var err error
		if l, err = a.loginByKeyHash(ctx, hash); err != nil {
			return nil, err
		}
		// On PostgreSQL another process may revoke a key, so it is looked
		// up at every request.
		if a.db.Engine() == db.SQLite {
			a.callers.putIfUnchanged(hash, l, generation)
		}
	}
	now := a.clock.Now()
	if l.expiresAt != nil && *l.expiresAt <= now {
		return nil, fault.Unauthorized.Say("This API key has expired.")
	}
	a.keysUsed.recordUse(l.Caller.ID, now)
	return l, nil
}

type keyRow struct {
	ID          id.ID       `db:"id"`
	Org         id.ID       `db:"organization_id"`
	Business    id.ID       `db:"business_id"`
	CreatedBy   *id.ID      `db:"created_by_user_id"`
	Permissions []string    `db:"permissions"`
	ExpiresAt   *clock.Time `db:"expires_at"`
	Plan        string      `db:"plan"`
	Status      Status      `db:"status"`
	Role        *string     `db:"role"` // of the user who made the key, if still an active member
	Agreed      bool        `db:"agreed"`
	Domains     bool        `db:"domains"`
	Rights                  // of its maker
}

// loginByKeyHash finds the key with a hash.
func (a *Accounts) loginByKeyHash(ctx context.Context, hash [32]byte) (*Login, error) {
	return a.loadKeyLogin(ctx, "k.hash = $3", hash[:])
}

// loadKeyLogin reads a key and everything that decides what it may do, in one statement,
// so that a request costs one round trip. which is the condition that finds the key;
// its arguments begin with $3.
func (a *Accounts) loadKeyLogin(ctx context.Context, which string, args ...any) (*Login, error) {
	var row keyRow
	err := a.db.Read(db.WithSingleStatement(ctx), func(ctx context.Context, tx *db.Tx) (err error) {
		row, err = db.QueryOne[keyRow](ctx, tx, `
			SELECT k.id, k.organization_id, k.business_id, k.created_by_user_id, k.permissions, k.expires_at,
				o.plan, o.status, m.role,
				EXISTS (SELECT 1 FROM agreements g WHERE g.organization_id = k.organization_id
					AND g.business_id = k.business_id
					AND g.kind = 'business' AND g.version = $1 AND g.deleted_at IS NULL),
				EXISTS (SELECT 1 FROM agreements g WHERE g.organization_id = k.organization_id
					AND g.business_id = k.business_id
					AND g.kind = 'domain' AND g.version = $2 AND g.deleted_at IS NULL), `+RightsColumns+`
			FROM api_keys k JOIN organizations o ON o.id = k.organization_id JOIN businesses b ON b.id = k.business_id
				LEFT JOIN memberships m ON m.organization_id = k.organization_id AND m.user_id = k.created_by_user_id
					AND m.deleted_at IS NULL
					AND EXISTS (SELECT 1 FROM users u WHERE u.id = m.user_id AND u.status = 'active')
			WHERE `+which+
			` AND k.revoked_at IS NULL AND k.deleted_at IS NULL AND b.deleted_at IS NULL AND o.deleted_at IS NULL`,
			append([]any{a.config.BusinessAgreement, a.config.DomainAgreement}, args...)...)
		return err
	})
	if errors.Is(err, db.ErrNoRow) {
		return nil, fault.Unauthorized.New()
	}
	if err != nil {
		return nil, err
	}
	grants, err := op.ParseGrants(row.Permissions)
	if err != nil {
		return nil, err
	}
	l := &Login{
		Caller: &op.Caller{Kind: op.APIActor, ID: row.ID, Organization: row.Org, Business: row.Business, Plan: row.Plan,
			Permissions: grants,
			Agreements:  AcceptedAgreements(row.Domains), AgreementURL: a.config.BaseURL + "/agreements"},
		Disabled:  row.Status != Active || row.CreatedBy != nil && row.Role == nil,
		Agreed:    row.Agreed,
		expiresAt: row.ExpiresAt,
	}
	if row.CreatedBy != nil {
		l.Caller.User = *row.CreatedBy
	}
	role := ""
	if row.Role != nil {
		role = *row.Role
	}
	if isManager(role) && slices.Contains(row.Permissions, allPermissions) {
		l.Caller.Permissions = grants.With(op.Account, op.ActionUpdate) // so that it can call members.update
	}
	row.LimitCaller(l.Caller, role) // never more than its maker may do now
	return l, nil
}

// callerCache keeps logins by the hash of their key. It is used on SQLite only,
// where one process owns the data and every change of an account clears it.
type callerCache struct {
	mu     sync.RWMutex
	logins map[[32]byte]*Login
	gen    int64 // how often it was cleared
}

// maxCachedCallers bounds the memory. A cache that is full starts again empty.
const maxCachedCallers = 10000

func (c *callerCache) get(hash [32]byte) *Login {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.logins[hash]
}

func (c *callerCache) generation() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.gen
}

// putIfUnchanged stores a login, unless the cache was cleared since the given generation:
// then what was read may be out of date.
func (c *callerCache) putIfUnchanged(hash [32]byte, l *Login, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen != generation {
		return
	}
	if c.logins == nil || len(c.logins) >= maxCachedCallers {
		c.logins = map[[32]byte]*Login{}
	}
	c.logins[hash] = l
}

func (c *callerCache) clearLogins() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logins, c.gen = nil, c.gen+1
}

// lastUsed collects when keys were used. FlushLastUsed writes it to the database
// from time to time, so that a request does not pay for a write.
type lastUsed struct {
	mu sync.Mutex
	at map[id.ID]clock.Time
}

func (u *lastUsed) recordUse(key id.ID, now clock.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = map[id.ID]clock.Time{}
	}
	u.at[key] = now
}

func (u *lastUsed) takeRecorded() map[id.ID]clock.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := u.at
	u.at = nil
	return at
}

// FlushLastUsed writes when keys were last used to the database.
func (a *Accounts) FlushLastUsed(ctx context.Context) error {
	at := a.keysUsed.takeRecorded()
	if len(at) == 0 {
		return nil
	}
	return a.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		for key, when := range at {
			// The key's id is all that is known here; ids are unique across organizations.
			if _, err := db.Exec(ctx, tx, "UPDATE api_keys SET last_used_at = $2 WHERE id = $1", key,
				when); err != nil {
				return err
			}
		}
		return nil
	})
}

// FlushInterval is how often FlushLastUsed should run.
const FlushInterval = 30 * time.Second
