package app

import (
	"context"
	"errors"

	"frontdesk/internal/account"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Demo is what a person needs to try the demonstration.
type Demo struct {
	Organization string
	SignIn       string // the address and the password, as a phrase
	Key          string
}

const (
	demoName     = "Analytical Engines"
	demoEmail    = "ada@example.com"
	demoPassword = "demonstration"
)

// OpenDemo makes the demonstration on an empty database, and a new API key for
// it at each start, because stored keys cannot be shown again. It refuses a database
// with real organizations.
func (a *App) OpenDemo(ctx context.Context) (*Demo, error) {
	empty, demo, err := a.Accounts.IsEmptyOrDemo(ctx)
	if err != nil {
		return nil, err
	}
	if !empty && !demo {
		return nil, errors.New("this database is not a demo; --demo needs its own folder or database")
	}
	if empty {
		// Ctrl-C does not interrupt this: it takes a second, and the next start
		// would mistake half a demo for a whole one.
		if err := a.seedDemo(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
	}
	var business id.ID
	var old []id.ID
	err = a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		var err error
		if business, err = account.OldestBusinessOfAll(ctx, tx); err != nil {
			return err
		}
		old, err = account.LiveKeysNamed(ctx, tx, "Demonstration")
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, key := range old {
		revoke := adminCall{"api_keys.revoke", "API key", key, map[string]any{"id": key}}
		if err := a.runAdminOperation(ctx, revoke, nil); err != nil {
			return nil, err
		}
	}
	var key account.NewKey
	err = a.runAdminOperation(ctx, adminCall{"api_keys.create", "business", business,
		map[string]any{"businessId": business, "name": "Demonstration", "permissions": []string{"*"}}}, &key)
	if err != nil {
		return nil, err
	}
	return &Demo{Organization: demoName, SignIn: demoEmail + " with the password " + demoPassword, Key: key.Token}, nil
}

// adminCall is a call of an admin operation.
type adminCall struct {
	operation string
	noun      string // what ref is
	ref       id.ID  // a row of the organization that it is for; empty for none
	input     map[string]any
}

// runAdminOperation runs an admin operation and reads its answer into out, which may be nil.
func (a *App) runAdminOperation(ctx context.Context, c adminCall, out any) error {
	text, err := json.Marshal(c.input)
	if err != nil {
		return err
	}
	data, err := a.Admin.Do(ctx, admin.Request{Operation: c.operation, Noun: c.noun, Ref: string(c.ref), Input: text})
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(data, out)
}

// seedDemo creates a small, realistic business, the same on every run.
func (a *App) seedDemo(ctx context.Context) error {
	var org account.Created
	if err := a.runAdminOperation(ctx, adminCall{operation: "organizations.create",
		input: map[string]any{"name": demoName, "plan": "professional", "isDemo": true}}, &org); err != nil {
		return err
	}
	var owner account.Member
	if err := a.runAdminOperation(ctx, adminCall{"users.create", "organization", org.ID,
		map[string]any{"email": demoEmail, "name": "Ada Lovelace", "role": "owner",
			"password": demoPassword}}, &owner); err != nil {
		return err
	}
	for _, call := range []adminCall{
		{"agreements.accept", "business", org.BusinessID,
			map[string]any{"businessId": org.BusinessID, "kind": "business", "by": demoEmail}},
		{"agreements.accept", "business", org.BusinessID,
			map[string]any{"businessId": org.BusinessID, "kind": "domain", "by": demoEmail}},
		{"payment_methods.create_test", "organization", org.ID, map[string]any{"test": "visa"}},
		{"agents.create", "business", org.BusinessID,
			map[string]any{"businessId": org.BusinessID, "name": "Assistant", "preset": "read"}},
	} {
		if err := a.runAdminOperation(ctx, call, nil); err != nil {
			return err
		}
	}
	return a.seedRecords(ctx, owner.ID, &op.Caller{Kind: op.SystemActor, Organization: org.ID, Business: org.BusinessID,
		Plan:        "professional",
		Permissions: op.Everything(), Agreements: []string{op.EveryAgreement}})
}
