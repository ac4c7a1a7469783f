package config_test

import (
	"strings"
	"testing"

	"frontdesk/internal/kernel/config"
)

// The provider's settings are whole, or refused by the name of the one that is wrong.
func TestOIDC(t *testing.T) {
	const issuer, org = "https://id.example", "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"
	for _, c := range []struct {
		oidc config.OIDC
		want string // of the refusal; empty for none
	}{
		{config.OIDC{}, ""},
		{config.OIDC{Name: "X", GroupClaim: "groups", Scopes: []string{"email"}}, ""},
		{config.OIDC{Issuer: issuer, ClientID: "x"}, ""},
		{config.OIDC{Issuer: "http://127.0.0.1:9000", ClientID: "x", Only: true}, ""},
		{config.OIDC{Issuer: issuer, ClientID: "x", Roles: []string{"a=b=owner"}, Organization: org}, ""},
		{config.OIDC{ClientID: "x"}, "--oidc-issuer"},
		{config.OIDC{Only: true}, "--oidc-issuer"},
		{config.OIDC{Issuer: "http://id.example", ClientID: "x"}, "--oidc-issuer"},
		{config.OIDC{Issuer: "id.example", ClientID: "x"}, "--oidc-issuer"},
		{config.OIDC{Issuer: issuer + "?x=y", ClientID: "x"}, "--oidc-issuer"},
		{config.OIDC{Issuer: issuer}, "--oidc-client-id"},
		{config.OIDC{Issuer: issuer, ClientID: "x", Roles: []string{"staff=boss"}, Organization: org}, "--oidc-roles"},
		{config.OIDC{Issuer: issuer, ClientID: "x", Roles: []string{"=owner"}, Organization: org}, "--oidc-roles"},
		{config.OIDC{Issuer: issuer, ClientID: "x", Roles: []string{"staff=member"}}, "--oidc-organization"},
		{config.OIDC{Issuer: issuer, ClientID: "x", Create: true}, "--oidc-organization"},
		{config.OIDC{Issuer: issuer, ClientID: "x", Create: true, Organization: "Acme"}, "--oidc-organization"},
	} {
		s := validSettings()
		s.OIDC = c.oidc
		err := s.FillAndValidate(false)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.oidc, err, c.want)
		}
	}
	roles := (&config.OIDC{Roles: []string{"a=b=owner", "staff=member"}}).RoleByGroup()
	if len(roles) != 2 || roles["a=b"] != "owner" || roles["staff"] != "member" {
		t.Errorf("%v", roles)
	}
}
