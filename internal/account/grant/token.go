package grant

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/secret"
)

// grantRow is a row of agent_grants.
type grantRow struct {
	ID          id.ID       `db:"id"`
	Org         id.ID       `db:"organization_id"`
	Agent       id.ID       `db:"agent_id"`
	User        id.ID       `db:"user_id"`
	Client      string      `db:"client_id"`
	ClientName  string      `db:"client_name"`
	Scopes      []string    `db:"scopes"`
	Resource    string      `db:"resource"`
	CreatedAt   clock.Time  `db:"created_at"`
	ConnectedAt *clock.Time `db:"connected_at"`
	EndedAt     *clock.Time `db:"ended_at"`
	EndReason   *string     `db:"end_reason"`
}

const grantColumns = "id, organization_id, agent_id, user_id, client_id, client_name, scopes, resource, created_at, " +
	"connected_at, ended_at, end_reason"

// lockGrant locks a grant, the root of its codes and tokens. Of two concurrent
// exchanges, one waits for the other and sees what it did.
func lockGrant(ctx context.Context, tx *db.Tx, org, grant id.ID) (*grantRow, error) {
	v, err := lockRow[grantRow](ctx, tx,
		"SELECT "+grantColumns+" FROM agent_grants WHERE organization_id = $1 AND id = $2", org, grant)
	return &v, err
}

// otherResource refuses a grant for an address that this server no longer has:
// a token is for one audience (RFC 8707 §2.2).
const otherResource = "Granted for another resource"

// endReason returns why a grant no longer works, or an empty string.
func (g *Grants) endReason(ctx context.Context, tx *db.Tx, v *grantRow) (string, error) {
	if v.EndedAt != nil {
		return *v.EndReason, nil
	}
	if v.Resource != g.config.Resource {
		return otherResource, nil
	}
	type state struct {
		Org     id.ID          `db:"organization_id"`
		Status  account.Status `db:"status"`
		Deleted bool           `db:"deleted"`
	}
	a, err := db.QueryOne[state](ctx, tx, `
		SELECT a.organization_id, a.status, a.deleted_at IS NOT NULL OR b.deleted_at IS NOT NULL AS deleted
		FROM agents a JOIN businesses b ON b.id = a.business_id WHERE a.id = $1`, v.Agent)
	if isNoRow(err) {
		return account.AgentDeleted, nil
	}
	return agentEndReason(a.Org != v.Org, a.Status, a.Deleted), err
}

// agentEndReason returns why an agent can no longer be used, or an empty string.
func agentEndReason(moved bool, status account.Status, deleted bool) string {
	switch {
	case deleted:
		return account.AgentDeleted
	case moved:
		return account.AgentMoved
	case status != account.Active:
		return account.AgentDeactivated
	}
	return ""
}

// Tokens is the answer to a client (RFC 6749 §5.1).
type Tokens struct {
	Access  string
	Refresh string // empty without offline_access
	Scopes  []string
}

// ExchangeTokens answers a request to the token endpoint: a code or a refresh token for new
// tokens (RFC 6749 §4.1.3 and §6). The caller has read the client's id from the form
// or the Authorization header.
func (g *Grants) ExchangeTokens(ctx context.Context, client string, form url.Values) (*Tokens, error) {
	for name, values := range form {
		if len(values) > 1 && name != "resource" { // RFC 6749 §3.2
			return nil, oauthError(InvalidRequest, "A parameter was given twice.")
		}
	}
	kind := form.Get("grant_type")
	switch kind {
	case "authorization_code", "refresh_token":
	case "":
		return nil, oauthError(InvalidRequest, "grant_type is required.")
	default:
		return nil, oauthError(UnsupportedGrant, "The grant types are authorization_code and refresh_token.")
	}
	if client == "" {
		return nil, oauthError(InvalidClient, "client_id is required.")
	}
	if refused := checkParameters(kind, form); refused != nil {
		return nil, refused
	}
	if kind == "refresh_token" && len(form["resource"]) == 0 && !g.config.RefreshNeedsResource {
		return g.exchangeRefreshToken(ctx, client, form)
	}
	if refused := g.checkResource(form["resource"]); refused != nil {
		return nil, refused
	}
	if kind == "refresh_token" {
		return g.exchangeRefreshToken(ctx, client, form)
	}
	return g.exchangeCode(ctx, client, form)
}

// checkParameters refuses a request that lacks a parameter of its grant type (RFC
// 6749 §5.2). It uses up no code or token, because nobody has shown a wrong
// secret. A missing resource has its own error code.
func checkParameters(kind string, form url.Values) *Error {
	needed := []string{"refresh_token"}
	if kind == "authorization_code" {
		needed = []string{"code", "redirect_uri", "code_verifier"}
	}
	for _, name := range needed {
		if form.Get(name) == "" {
			return oauthError(InvalidRequest, name+" is required.")
		}
	}
	return nil
}

// grantRef names the grant that a secret belongs to.
type grantRef struct {
	Org   id.ID `db:"organization_id"`
	Grant id.ID `db:"grant_id"`
}

// exchangeCode issues tokens for a code.
func (g *Grants) exchangeCode(ctx context.Context, client string, form url.Values) (out *Tokens, err error) {
	unknown := oauthError(InvalidGrant, "The code is not valid, has expired or belongs to another client.")
	code := form.Get("code")
	if !secret.IsWellFormed(codePrefix, code) {
		return nil, unknown
	}
	hash := secret.HashToken(code)
	err = g.writeExchange(ctx, func(ctx context.Context, tx *db.Tx) (*Error, error) {
		out = nil
		at, err := db.QueryOne[grantRef](ctx, tx, "SELECT organization_id, grant_id FROM grant_codes WHERE hash = $1",
			hash[:])
		if isNoRow(err) {
			return unknown, nil
		}
		if err != nil {
			return nil, err
		}
		v, err := lockGrant(ctx, tx, at.Org, at.Grant)
		if err != nil {
			return nil, err
		}
		if v.Client != client { // RFC 6749 §4.1.3: issued to this client
			return unknown, nil
		}
		type codeRow struct {
			Redirect  string      `db:"redirect_uri"`
			Challenge string      `db:"challenge"`
			ExpiresAt clock.Time  `db:"expires_at"`
			UsedAt    *clock.Time `db:"used_at"`
		}
		c, err := db.QueryOne[codeRow](ctx, tx, `
			SELECT redirect_uri, challenge, expires_at, used_at
			FROM grant_codes
			WHERE organization_id = $1 AND hash = $2`, v.Org, hash[:])
		if err != nil {
			return nil, err
		}
		now := g.clock.Now()
		if c.UsedAt != nil {
			// RFC 6749 §4.1.2: a code used twice was stolen, so its grant ends.
			return oauthError(InvalidGrant, "The code was already used."),
				g.endGrant(ctx, tx, v, "Authorization code used twice", bySystem)
		}
		// A code gets one try: a wrong verifier means that it is in the wrong hands.
		if _, err := db.Exec(ctx, tx, "UPDATE grant_codes SET used_at = $3 WHERE organization_id = $1 AND hash = $2",
			v.Org,
			hash[:], now); err != nil {
			return nil, err
		}
		reason, err := g.endReason(ctx, tx, v)
		switch {
		case err != nil:
			return nil, err
		case reason != "":
			return oauthError(InvalidGrant, reason), nil
		case c.ExpiresAt <= now:
			return unknown, nil
		case c.Redirect != form.Get("redirect_uri"):
			return oauthError(InvalidGrant, "redirect_uri differs from the one in the authorization request."), nil
		case !matchesChallenge(c.Challenge, form.Get("code_verifier")):
			return oauthError(InvalidGrant, "code_verifier does not match the code_challenge."), nil
		}
		if out, err = g.issueTokens(ctx, tx, v, v.Scopes); err != nil {
			return nil, err
		}
		return nil, g.markConnected(ctx, tx, v)
	})
	return out, err
}

// matchesChallenge compares a verifier with its challenge (RFC 7636 §4.1 and §4.6).
func matchesChallenge(challenge, verifier string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// exchangeRefreshToken issues new tokens for a refresh token, which it uses up (RFC 9700
// §4.14.2).
func (g *Grants) exchangeRefreshToken(ctx context.Context, client string, form url.Values) (out *Tokens, err error) {
	unknown := oauthError(InvalidGrant, "The refresh token is not valid, has expired or belongs to another client.")
	token := form.Get("refresh_token")
	if !secret.IsWellFormed(refreshPrefix, token) {
		return nil, unknown
	}
	hash := secret.HashToken(token)
	err = g.writeExchange(ctx, func(ctx context.Context, tx *db.Tx) (*Error, error) {
		out = nil
		at, err := db.QueryOne[grantRef](ctx, tx, `
			SELECT organization_id, grant_id
			FROM grant_tokens
			WHERE hash = $1 AND kind = 'refresh'`, hash[:])
		if isNoRow(err) {
			return unknown, nil
		}
		if err != nil {
			return nil, err
		}
		v, err := lockGrant(ctx, tx, at.Org, at.Grant)
		if err != nil {
			return nil, err
		}
		if v.Client != client { // RFC 6749 §6: bound to the client it was issued to
			return unknown, nil
		}
		type tokenRow struct {
			ExpiresAt clock.Time  `db:"expires_at"`
			UsedAt    *clock.Time `db:"used_at"`
		}
		t, err := db.QueryOne[tokenRow](ctx, tx, `
			SELECT expires_at, used_at
			FROM grant_tokens
			WHERE organization_id = $1 AND hash = $2`, v.Org, hash[:])
		if err != nil {
			return nil, err
		}
		now := g.clock.Now()
		reason, err := g.endReason(ctx, tx, v)
		switch {
		case err != nil:
			return nil, err
		case t.UsedAt != nil:
			// Either the client or a thief used it before. Nobody can tell which,
			// so neither may continue.
			return oauthError(InvalidGrant, "The refresh token was already used, so the connection has ended."),
				g.endGrant(ctx, tx, v, "Refresh token used twice", bySystem)
		case reason != "":
			return oauthError(InvalidGrant, reason), nil
		case t.ExpiresAt <= now:
			return unknown, nil
		}
		scopes := v.Scopes
		if text := form.Get("scope"); text != "" { // RFC 6749 §6: not more than was granted
			var refused *Error
			if scopes, refused = parseScopes(text); refused != nil {
				return refused, nil
			}
			if slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(v.Scopes, s) }) {
				return oauthError(InvalidScope, "The request asks for more scopes than were granted."), nil
			}
		}
		if _, err := db.Exec(ctx, tx, "UPDATE grant_tokens SET used_at = $3 WHERE organization_id = $1 AND hash = $2",
			v.Org,
			hash[:], now); err != nil {
			return nil, err
		}
		out, err = g.issueTokens(ctx, tx, v, scopes)
		return nil, err
	})
	return out, err
}

// issueTokens creates an access token and, for offline access, a refresh token. The grant
// expires with the longer-lived of them.
func (g *Grants) issueTokens(ctx context.Context, tx *db.Tx, v *grantRow, scopes []string) (*Tokens, error) {
	now := g.clock.Now()
	insert := func(kind, token string, until clock.Time) error {
		hash := secret.HashToken(token)
		_, err := db.Exec(ctx, tx, `
			INSERT INTO grant_tokens (organization_id, grant_id, kind, hash, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6)`,
			v.Org, v.ID, kind, hash[:], now, until)
		return err
	}
	out := &Tokens{Access: secret.NewToken(AccessPrefix), Scopes: scopes}
	until := now.Add(AccessLifetime)
	if err := insert("access", out.Access, until); err != nil {
		return nil, err
	}
	if slices.Contains(v.Scopes, ScopeOffline) {
		out.Refresh, until = secret.NewToken(refreshPrefix), now.Add(refreshLifetime)
		if err := insert("refresh", out.Refresh, until); err != nil {
			return nil, err
		}
	}
	_, err := db.Exec(ctx, tx, "UPDATE agent_grants SET expires_at = $3 WHERE organization_id = $1 AND id = $2", v.Org,
		v.ID, until)
	return out, err
}

// RevokeToken ends the grant that a token belongs to (RFC 7009 §2.1), so revoking a
// refresh token ends its access tokens and the other way around. An unknown
// token is no error (§2.2).
func (g *Grants) RevokeToken(ctx context.Context, client, token string) error {
	if client == "" {
		return oauthError(InvalidClient, "client_id is required.")
	}
	if token == "" {
		return oauthError(InvalidRequest, "token is required.")
	}
	if !secret.IsWellFormed(AccessPrefix, token) && !secret.IsWellFormed(refreshPrefix, token) {
		return nil
	}
	hash := secret.HashToken(token)
	return g.writeExchange(ctx, func(ctx context.Context, tx *db.Tx) (*Error, error) {
		at, err := db.QueryOne[grantRef](ctx, tx, "SELECT organization_id, grant_id FROM grant_tokens WHERE hash = $1",
			hash[:])
		if isNoRow(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		v, err := lockGrant(ctx, tx, at.Org, at.Grant)
		if err != nil {
			return nil, err
		}
		if v.Client != client {
			return oauthError(InvalidGrant, "The token belongs to another client."), nil
		}
		return nil, g.endGrant(ctx, tx, v, "Revoked by the client", actor{kind: "user", id: v.User, door: "agent"})
	})
}
