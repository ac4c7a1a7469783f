// Package oidc signs people in with an OpenID Connect provider: authorization code
// with PKCE, state and nonce. It is the account.IdentityProvider. Address says where to
// send the browser; Identify takes the code that the browser comes back with, checks
// that the answer is meant for this visit, and returns what the provider says about the
// person. Which user that is, account decides.
//
// The provider's addresses and keys come from its discovery document, which is read
// when it is first needed and again every hour. Nothing here runs inside a database
// transaction, and no redirect of the provider is followed.
//
// Start reading at Address, then Identify.
package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	exchangeTimeout   = 10 * time.Second
	maxAnswerBytes    = 1 << 20
	discoveryLifetime = time.Hour
	discoveryPause    = 5 * time.Second // between two attempts after a failure
)

// Config is what a client needs. All of it is required.
type Config struct {
	Settings config.OIDC
	Return   string // the address that the provider sends browsers back to
	Log      *slog.Logger
}

// Client speaks with the provider. The provider is asked for its addresses when
// they are first needed, so that the service starts without it.
type Client struct {
	config Config
	http   *http.Client

	mu              sync.Mutex
	discovered      *provider
	discoveredUntil time.Time
	lastFailure     error // of the last attempt, which is not repeated before again
	retryAt         time.Time
}

// provider is what the discovery document says.
type provider struct {
	*oidc.Provider
	style    oauth2.AuthStyle
	namesIss bool // it promises to send the parameter iss (RFC 9207 §3)
}

var _ account.IdentityProvider = (*Client)(nil)

// New prepares a client without contacting the provider.
func New(c Config) *Client {
	return &Client{config: c, http: &http.Client{
		Timeout:       exchangeTimeout,
		Transport:     boundedTransport{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// boundedTransport is a transport that reads at most maxAnswerBytes of an answer.
type boundedTransport struct{ http.RoundTripper }

func (b boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxAnswerBytes), res.Body}
	}
	return res, err
}

// Check asks the provider for its discovery document. The command doctor calls it.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.discoverProvider(ctx)
	return err
}

// discoverProvider reads the discovery document, or returns the one it read within the last
// hour. Its issuer must be the one of the settings (OpenID Connect Discovery §4.3). If
// the provider does not answer, or with a document that cannot be used, an older
// document is used further, and the provider is not asked for some seconds. The lock is held
// while it waits, so that only one request asks the provider.
func (c *Client) discoverProvider(ctx context.Context) (*provider, error) {
	if db.InTransaction(ctx) {
		panic("oidc: called inside a transaction")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.discovered != nil && time.Now().Before(c.discoveredUntil) {
		return c.discovered, nil
	}
	if time.Now().Before(c.retryAt) {
		return c.discovered, c.lastFailure
	}
	found, err := c.readDiscovery(ctx)
	if err != nil {
		c.retryAt = time.Now().Add(discoveryPause)
		if c.lastFailure = nil; c.discovered == nil { // with an older document, it is no failure
			c.lastFailure = fmt.Errorf("the identity provider: %w", err)
		}
		return c.discovered, c.lastFailure
	}
	c.discovered, c.discoveredUntil = found, time.Now().Add(discoveryLifetime)
	return found, nil
}

// readDiscovery asks the provider for its discovery document.
func (c *Client) readDiscovery(ctx context.Context) (*provider, error) {
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, c.http), c.config.Settings.Issuer)
	if err != nil {
		return nil, err
	}
	var more struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Iss     bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := p.Claims(&more); err != nil {
		return nil, err
	}
	if p.Endpoint().AuthURL == "" || p.Endpoint().TokenURL == "" {
		return nil, errors.New("its discovery document names no endpoints")
	}
	out := &provider{Provider: p, style: oauth2.AuthStyleInHeader, namesIss: more.Iss}
	// The library would find out by trying both ways to send the secret. A code works
	// only once, so the way is chosen here.
	if c.config.Settings.ClientSecret == "" ||
		len(more.Methods) > 0 && !slices.Contains(more.Methods, "client_secret_basic") {
		out.style = oauth2.AuthStyleInParams
	}
	return out, nil
}

// reportUnavailable tells the person that the provider does not work, and the log why.
func (c *Client) reportUnavailable(ctx context.Context, err error) error {
	c.config.Log.WarnContext(ctx, "the identity provider does not work", "err", err)
	f := fault.Unavailable.Say("Signing in with %s does not work right now. Try again in a moment.",
		c.config.Settings.Name)
	return f
}

// refuseAnswer tells the person that an answer was not accepted, and the log why.
func (c *Client) refuseAnswer(ctx context.Context, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	c.config.Log.WarnContext(ctx, "an answer of the identity provider was refused", "err", err)
	return account.ProviderRefused.Because(err)
}

// oauthConfig is the configuration for one exchange. The scope openid is always the first.
func (c *Client) oauthConfig(p *provider) *oauth2.Config {
	s := &c.config.Settings
	e := p.Endpoint()
	e.AuthStyle = p.style
	return &oauth2.Config{ClientID: s.ClientID, ClientSecret: s.ClientSecret, Endpoint: e, RedirectURL: c.config.Return,
		Scopes: append([]string{oidc.ScopeOpenID}, slices.DeleteFunc(slices.Clone(s.Scopes),
			func(scope string) bool { return scope == oidc.ScopeOpenID || scope == "" })...)}
}

// Address is where the person signs in.
func (c *Client) Address(ctx context.Context, v account.ProviderVisit) (string, error) {
	p, err := c.discoverProvider(ctx)
	if err != nil {
		return "", c.reportUnavailable(ctx, err)
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(v.Nonce), oauth2.S256ChallengeOption(v.Verifier)}
	if v.Fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return c.oauthConfig(p).AuthCodeURL(v.State, options...), nil
}

// Identify exchanges the code for what the provider says about the person.
func (c *Client) Identify(ctx context.Context, v account.ProviderVisit, a account.ProviderAnswer) (*account.Identity,
	error) {
	p, err := c.discoverProvider(ctx)
	if err != nil {
		return nil, c.reportUnavailable(ctx, err)
	}
	// RFC 9207 §2.4: an answer of another provider is refused before its code is sent
	// anywhere.
	if a.Issuer != c.config.Settings.Issuer && (a.Issuer != "" || p.namesIss) {
		return nil, c.refuseAnswer(ctx, "iss is %q", a.Issuer)
	}
	ctx = oidc.ClientContext(ctx, c.http)
	token, err := c.oauthConfig(p).Exchange(ctx, a.Code, oauth2.VerifierOption(v.Verifier))
	if err != nil {
		if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) && refused.Response.StatusCode < 500 {
			return nil, c.refuseAnswer(ctx, "the code: %s", refused.ErrorCode)
		}
		return nil, c.reportUnavailable(ctx, err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, c.refuseAnswer(ctx, "no id_token")
	}
	verified, err := p.Verifier(&oidc.Config{ClientID: c.config.Settings.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, c.refuseAnswer(ctx, "the id_token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(v.Nonce)) != 1 {
		return nil, c.refuseAnswer(ctx, "the nonce is another visit's")
	}
	claims := map[string]any{}
	if err := verified.Claims(&claims); err != nil {
		return nil, c.refuseAnswer(ctx, "the id_token: %w", err)
	}
	// OpenID Connect Core §3.1.3.7, 4 and 5: the token must be for this client. With
	// several audiences, azp must name it.
	azp, named := claims["azp"].(string)
	if named && azp != c.config.Settings.ClientID || !named && len(verified.Audience) > 1 {
		return nil, c.refuseAnswer(ctx, "the id_token is for %q", azp)
	}
	if verified.Subject == "" || len(verified.Subject) > 255 {
		return nil, c.refuseAnswer(ctx, "no subject")
	}
	if err := c.addUserInfoClaims(ctx, p, token, verified.Subject, claims); err != nil {
		return nil, err
	}
	return c.identityFromClaims(verified, claims), nil
}

// addUserInfoClaims adds the claims of the userinfo endpoint, if the id token lacks the address or the
// groups that the settings need. Claims of the id token win.
func (c *Client) addUserInfoClaims(ctx context.Context, p *provider, token *oauth2.Token, subject string,
	claims map[string]any) error {
	s := &c.config.Settings
	_, grouped := findClaim(claims, s.GroupClaim)
	if claims["email"] != nil && (grouped || len(s.Roles) == 0) || p.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return c.reportUnavailable(ctx, err)
	}
	// OpenID Connect Core §5.3.2: the answer may be about another person.
	if info.Subject != subject {
		return c.refuseAnswer(ctx, "userinfo is about somebody else")
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return c.refuseAnswer(ctx, "userinfo: %w", err)
	}
	// An address and its verification must come from the same source: otherwise a
	// verified flag of one could vouch for an address of the other.
	if claims["email"] == nil {
		delete(claims, "email_verified")
	} else {
		delete(more, "email_verified")
	}
	for name, value := range more {
		if claims[name] == nil {
			claims[name] = value
		}
	}
	return nil
}

// identityFromClaims reads the claims.
func (c *Client) identityFromClaims(t *oidc.IDToken, claims map[string]any) *account.Identity {
	out := &account.Identity{Issuer: c.config.Settings.Issuer, Subject: t.Subject}
	out.Email, _ = claims["email"].(string)
	out.Name, _ = claims["name"].(string)
	if len(out.Name) > 200 {
		out.Name = ""
	}
	// Some providers send the boolean as a string.
	out.EmailVerified = claims["email_verified"] == true || claims["email_verified"] == "true"
	groups, _ := findClaim(claims, c.config.Settings.GroupClaim)
	out.Groups, out.Grouped = stringsOfClaim(groups)
	methods, _ := stringsOfClaim(claims["amr"])
	out.Factor = slices.Contains(methods, "mfa") // RFC 8176 §2
	if at, ok := claims["auth_time"].(float64); ok {
		out.At = time.Unix(int64(at), 0)
	}
	return out
}

// findClaim finds a claim by its name, or by a path with dots such as
// realm_access.roles. A claim whose name has dots wins.
func findClaim(claims map[string]any, path string) (any, bool) {
	if v, ok := claims[path]; ok {
		return v, true
	}
	head, rest, deeper := strings.Cut(path, ".")
	if below, ok := claims[head].(map[string]any); deeper && ok {
		return findClaim(below, rest)
	}
	return nil, false
}

// stringsOfClaim reads a claim that is a string or a list of strings. It is not ok for anything
// else, such as an absent claim.
func stringsOfClaim(v any) (out []string, ok bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out, true
	}
	return nil, false
}
