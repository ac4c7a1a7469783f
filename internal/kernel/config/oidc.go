package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/kernel/peer"
)

// OIDC is an identity provider that people sign in with, by OpenID Connect.
type OIDC struct {
	Issuer       string   `help:"OpenID Connect provider to sign in with; empty for none." placeholder:"URL"`
	ClientID     string   `help:"What the provider calls this server." name:"client-id"`
	ClientSecret string   `help:"Its secret; better set in the environment or the file."`
	Name         string   `help:"The provider's name, on the button." default:"single sign-on"`
	Scopes       []string `help:"What is asked for besides openid." default:"email,profile"`
	GroupClaim   string   `help:"Claim with the person's groups, like groups or realm_access.roles." default:"groups"`
	Roles        []string `help:"Roles by group, like staff=member,bosses=owner; empty: given here." placeholder:"G=R"`
	Organization string   `help:"The organization that --oidc-roles and --oidc-create are about." placeholder:"ID"`
	Create       bool     `help:"Add people whom nobody knows here to that organization."`
	Only         bool     `help:"Switch passwords off: people sign in with the provider only."`
	TrustMFA     bool     `help:"Ask for no second factor when the provider did (amr has mfa)." name:"trust-mfa"`
}

// RoleByGroup is the role that each group of the provider gives. The last = separates them, so that a group's name may
// have one.
func (o *OIDC) RoleByGroup() map[string]string {
	out := map[string]string{}
	for _, pair := range o.Roles {
		if at := strings.LastIndexByte(pair, '='); at > 0 {
			out[pair[:at]] = pair[at+1:]
		}
	}
	return out
}

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// validate refuses invalid settings of the identity provider.
func (o *OIDC) validate() error {
	if o.Issuer == "" {
		if o.ClientID != "" || o.ClientSecret != "" || len(o.Roles) > 0 || o.Organization != "" || o.Create || o.Only ||
			o.TrustMFA {
			return errors.New("--oidc-issuer: name the provider, or leave out the other oidc settings")
		}
		return nil
	}
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !peer.IsLoopback(u.Host)) {
		return fmt.Errorf("--oidc-issuer: %q is not an https address", o.Issuer)
	}
	if o.ClientID == "" {
		return errors.New("--oidc-client-id: register this server at the provider, and say what it is called there")
	}
	for _, pair := range o.Roles {
		at := strings.LastIndexByte(pair, '=')
		if at < 1 || !slices.Contains([]string{"owner", "admin", "member"}, pair[at+1:]) {
			return fmt.Errorf("--oidc-roles: %q is not group=role; a role is owner, admin or member", pair)
		}
	}
	if (len(o.Roles) > 0 || o.Create) && o.Organization == "" {
		return errors.New("--oidc-organization: say which organization --oidc-roles and --oidc-create are about")
	}
	if o.Organization != "" && !uuidPattern.MatchString(o.Organization) {
		return fmt.Errorf("--oidc-organization: %q is not the id of an organization", o.Organization)
	}
	return nil
}
