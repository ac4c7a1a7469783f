package app

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"

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
	demoKeyName  = "Demonstration"
)

// OpenDemo makes a new API key for the demonstration at each start, because stored keys
// cannot be shown again.
func (a *App) OpenDemo(ctx context.Context) (*Demo, error) {
	var business id.ID
	var old []id.ID
	err := a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		var err error
		if business, err = account.OldestBusinessOfAll(ctx, tx); err != nil {
			return err
		}
		old, err = account.LiveKeysNamed(ctx, tx, demoKeyName)
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
	if err := a.makeDemoKey(ctx, business, &key); err != nil {
		return nil, err
	}
	return &Demo{Organization: demoName, SignIn: demoEmail + " with the password " + demoPassword, Key: key.Token}, nil
}

func (a *App) makeDemoKey(ctx context.Context, business id.ID, out *account.NewKey) error {
	call := adminCall{"api_keys.create", "business", business,
		map[string]any{"businessId": business, "name": demoKeyName, "permissions": []string{"*"}}}
	if out == nil {
		return a.runAdminOperation(ctx, call, nil)
	}
	return a.runAdminOperation(ctx, call, out)
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
