package account

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// KeyPrefix begins every API key.
const KeyPrefix = "fd_"

// Key is an API key. The key itself is shown once and kept only as a hash.
type Key struct {
	op.Record
	BusinessID      id.ID       `json:"businessId"`
	Name            string      `json:"name"`
	Permissions     []string    `json:"permissions"`
	Hint            string      `json:"hint" doc:"first characters, to tell keys apart"`
	Hash            []byte      `json:"-" db:"hash"`
	CreatedByUserID *id.ID      `json:"createdByUserId"`
	ExpiresAt       *clock.Time `json:"expiresAt"`
	LastUsedAt      *clock.Time `json:"lastUsedAt"`
	RevokedAt       *clock.Time `json:"revokedAt"`
}

// NewKey is a key with its token, which is shown only once.
type NewKey struct {
	Key
	Token string `json:"key" doc:"shown once"`
}

var keys = db.NewTable[Key]("api_keys", db.Life{
	Noun:         "API key",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("business_id", "businesses", db.Keeps),
		db.RefTo("created_by_user_id", "users", db.Keeps),
	},
	Permanent: true,
})

func (a *Accounts) keyOperations() []*op.Op {
	const example = `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`
	return []*op.Op{
		WriteByManager(op.Spec{
			Name:     "api_keys.create",
			Summary:  "Create an API key for a business.",
			Resource: op.Account,
			Doors:    Doors,
			Status:   201,
			Secret:   true,
			Events:   []string{"api_key.created"},
			Example: `{"businessId": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "name": "Web shop", "permissions": ` +
				`["contacts:read", "contacts:write"]}`,
		}, a.createAPIKey),
		op.Read(op.Spec{
			Name:     "api_keys.list",
			Summary:  "List the organization's API keys.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  `{}`,
		}, a.listAPIKeys),
		op.Read(op.Spec{
			Name:     "api_keys.get",
			Summary:  "Show an API key, without its secret.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  example,
		}, a.getAPIKey),
		WriteByManager(op.Spec{
			Name:     "api_keys.revoke",
			Summary:  "Revoke an API key; it stops working with the next request.",
			Resource: op.Account,
			Doors:    Doors,
			Events:   []string{"api_key.revoked"},
			Example:  example,
		}, a.revokeAPIKey),
	}
}

type keyCreate struct {
	BusinessID  id.ID       `json:"businessId"`
	Name        string      `json:"name" min:"1"`
	Permissions []string    `json:"permissions" min:"1"`
	ExpiresAt   *clock.Time `json:"expiresAt"`
	By          *string     `json:"by" doc:"for the operator: email of the key's owner; by default the oldest owner"`
}

func (in *keyCreate) Prepare(_ context.Context, c *op.Call) error {
	if _, err := op.ParseGrants(in.Permissions); err != nil {
		return fault.Field("permissions", err.Error())
	}
	if in.ExpiresAt != nil && *in.ExpiresAt <= c.Now {
		return fault.Field("expiresAt", "Must be in the future")
	}
	return nil
}

func (a *Accounts) createAPIKey(ctx context.Context, c *op.Call, in keyCreate) (*NewKey, error) {
	if err := db.Lock(ctx, c.Tx, "businesses", c.Org, in.BusinessID); err != nil {
		return nil, db.AsNotFound(err, "business")
	}
	token := secret.NewToken(KeyPrefix)
	hash := secret.HashToken(token)
	k := &NewKey{Key{Record: c.NewRecord(), BusinessID: in.BusinessID, Name: in.Name, Permissions: in.Permissions,
		Hint: token[:len(KeyPrefix)+6], Hash: hash[:], ExpiresAt: in.ExpiresAt}, token}
	var err error
	if k.CreatedByUserID, err = chooseKeyOwner(ctx, c, in.By); err != nil {
		return nil, err
	}
	if err := keys.Insert(ctx, c.Tx, &k.Key); err != nil {
		return nil, err
	}
	// The event shows the key as a list does, without its secret.
	return k, c.Emit("api_key.created", k.ID, &k.Key)
}

// chooseKeyOwner finds the user a new key belongs to. What the key makes is theirs,
// and the key ends with their membership. The operator may name them. Without an
// active owner in the organization, the operator's key belongs to nobody.
func chooseKeyOwner(ctx context.Context, c *op.Call, by *string) (*id.ID, error) {
	switch {
	case c.Caller.Kind == op.UserActor && by != nil:
		return nil, fault.Field("by", "Only the operator can name the key's owner")
	case c.Caller.Kind == op.UserActor:
		return &c.Caller.ID, nil
	case by != nil:
		m, err := findManager(ctx, c, *by, "have an API key")
		if err != nil {
			return nil, err
		}
		return &m.ID, nil
	}
	owners, err := db.QueryAll[id.ID](ctx, c.Tx, `
		SELECT m.user_id FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.organization_id = $1 AND m.role = 'owner' AND m.deleted_at IS NULL AND u.status = 'active'
		ORDER BY m.seq LIMIT 1`, c.Org)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	return &owners[0], nil
}

type keyList struct{ op.Page }

func (a *Accounts) listAPIKeys(ctx context.Context, c *op.Call, in keyList) (*op.List[Key], error) {
	rows, err := keys.List(ctx, c.Tx, db.InOrganization(c.Org), in.ToDBPage())
	return op.NewList(in.Page, rows), err
}

type byID struct {
	ID id.ID `json:"id"`
}

func (a *Accounts) getAPIKey(ctx context.Context, c *op.Call, in byID) (*Key, error) {
	return keys.Get(ctx, c.Tx, c.Org, in.ID)
}

func (a *Accounts) revokeAPIKey(ctx context.Context, c *op.Call, in byID) (*Key, error) {
	k, err := keys.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil || k.RevokedAt != nil {
		return k, err
	}
	k.RevokedAt, k.UpdatedAt = &c.Now, c.Now
	if err := keys.Save(ctx, c.Tx, k); err != nil {
		return nil, err
	}
	a.ClearCallersOnCommit(c)
	return k, c.Emit("api_key.revoked", k.ID, k)
}

// LiveKeysNamed lists the keys with a name that are not revoked, in all organizations.
func LiveKeysNamed(ctx context.Context, tx *db.Tx, name string) ([]id.ID, error) {
	return db.QueryAll[id.ID](ctx, tx, `
		SELECT id
		FROM api_keys
		WHERE name = $1 AND revoked_at IS NULL AND deleted_at IS NULL`,
		name)
}
