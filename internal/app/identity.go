package app

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/adapter/oidc"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// providerReturn is the path that the identity provider sends browsers back to.
const providerReturn = "/sign-in/provider/callback"

// identityProvider is what people sign in with besides passwords, or nil. Leave is a
// function because the departures are made later.
func (a *App) identityProvider() *account.Provider {
	s := &a.Settings
	if s.OIDC.Issuer == "" {
		return nil
	}
	return &account.Provider{
		IdentityProvider: oidc.New(oidc.Config{Settings: s.OIDC, Return: s.BaseURL + providerReturn, Log: a.Log}),
		Name:             s.OIDC.Name,
		Organization:     id.ID(s.OIDC.Organization),
		Roles:            s.OIDC.RoleByGroup(),
		AddUnknown:       s.OIDC.Create,
		Only:             s.OIDC.Only,
		TrustFactor:      s.OIDC.TrustMFA,
		RemoveMember: func(ctx context.Context, c *op.Call, user id.ID) error {
			return a.Departures.RemoveForProvider(ctx, c, user)
		},
	}
}
