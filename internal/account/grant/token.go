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

const rowColumns = "id, organization_id, agent_id, user_id, client_id, client_name, scopes, resource, created_at, " +
	"connected_at, ended_at, end_reason"

// lockGrant locks a grant, the root of its codes and tokens. Of two concurrent
// exchanges, one waits for the other and sees what it did.
func lockGrant(ctx context.Context, tx *db.Tx, org, grant id.ID) (*grantRow, error) {
	v, err := locked[grantRow](ctx, tx,
		"SELECT "+rowColumns+" FROM agent_grants WHERE organization_id = $1 AND id = $2", org, grant)
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
	a, err := db.One[state](ctx, tx, `
		SELECT a.organization_id, a.status, a.deleted_at IS NOT NULL OR b.deleted_at IS NOT NULL AS deleted
		FROM agents a JOIN businesses b ON b.id = a.business_id WHERE a.id = $1`, v.Agent)
	if isNone(err) {
		return account.AgentDeleted, nil
	}
	return agentReason(a.Org != v.Org, a.Status, a.Deleted), err
}

// agentReason returns why an agent can no longer be used, or an empty string.
func agentReason(moved bool, status account.Status, deleted bool) string {
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

// Redeem answers a request to the token endpoint: a code or a refresh token for new
// tokens (RFC 6749 §4.1.3 and §6). The caller has read the client's id from the form
// or the Authorization header.
func (g *Grants) Redeem(ctx context.Context, client string, form url.Values) (*Tokens, error) {
	for name, values := range form {
		if len(values) > 1 && name != "resource" { // RFC 6749 §3.2
			return nil, refuse(InvalidRequest, "A parameter was given twice.")
		}
	}
	kind := form.Get("grant_type")
	switch kind {
	case "authorization_code", "refresh_token":
	case "":
		return nil, refuse(InvalidRequest, "grant_type is required.")
	default:
		return nil, refuse(UnsupportedGrant, "The grant types are authorization_code and refresh_token.")
	}
	if client == "" {
		return nil, refuse(InvalidClient, "client_id is required.")
	}
	if refused := checkComplete(kind, form); refused != nil {
		return nil, refused
	}
	if kind == "refresh_token" && len(form["resource"]) == 0 && !g.config.RefreshNeedsResource {
		return g.refresh(ctx, client, form)
	}
	if refused := g.checkResource(form["resource"]); refused != nil {
		return nil, refused
	}
	if kind == "refresh_token" {
		return g.refresh(ctx, client, form)
	}
	return g.exchange(ctx, client, form)
}

// checkComplete refuses a request that lacks a parameter of its grant type (RFC
// 6749 §5.2). It uses up no code or token, because nobody has shown a wrong
// secret. A missing resource has its own error code.
func checkComplete(kind string, form url.Values) *Error {
	needed := []string{"refresh_token"}
	if kind == "authorization_code" {
		needed = []string{"code", "redirect_uri", "code_verifier"}
	}
	for _, name := range needed {
		if form.Get(name) == "" {
			return refuse(InvalidRequest, name+" is required.")
		}
	}
	return nil
}

// grantRef names the grant that a secret belongs to.
type grantRef struct {
	Org   id.ID `db:"organization_id"`
	Grant id.ID `db:"grant_id"`
}

// exchange issues tokens for a code.
func (g *Grants) exchange(ctx context.Context, client string, form url.Values) (out *Tokens, err error) {
	unknown := refuse(InvalidGrant, "The code is not valid, has expired or belongs to another client.")
	code := form.Get("code")
	if !secret.WellFormed(codePrefix, code) {
		return nil, unknown
	}
	hash := secret.Hash(code)
	err = g.write(ctx, func(ctx context.Context, tx *db.Tx) (*Error, error) {
		out = nil
		at, err := db.One[grantRef](ctx, tx, "SELECT organization_id, grant_id FROM grant_codes WHERE hash = $1",
			hash[:])
		if isNone(err) {
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
		c, err := db.One[codeRow](ctx, tx, `
			SELECT redirect_uri, challenge, expires_at, used_at
			FROM grant_codes
			WHERE organization_id = $1 AND hash = $2`, v.Org, hash[:])
		if err != nil {
			return nil, err
		}
		now := g.clock.Now()
		if c.UsedAt != nil {
			// RFC 6749 §4.1.2: a code used twice was stolen, so its grant ends.
			return refuse(InvalidGrant, "The code was already used."),
				g.end(ctx, tx, v, "Authorization code used twice", bySystem)
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
			return refuse(InvalidGrant, reason), nil
		case c.ExpiresAt <= now:
			return unknown, nil
		case c.Redirect != form.Get("redirect_uri"):
			return refuse(InvalidGrant, "redirect_uri differs from the one in the authorization request."), nil
		case !verified(c.Challenge, form.Get("code_verifier")):
			return refuse(InvalidGrant, "code_verifier does not match the code_challenge."), nil
		}
		if out, err = g.issue(ctx, tx, v, v.Scopes); err != nil {
			return nil, err
		}
		return nil, g.markConnected(ctx, tx, v)
	})
	return out, err
}

// verified compares a verifier with its challenge (RFC 7636 §4.1 and §4.6).
func verified(challenge, verifier string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// refresh issues new tokens for a refresh token, which it uses up (RFC 9700
// §4.14.2).
func (g *Grants) refresh(ctx context.Context, client string, form url.Values) (out *Tokens, err error) {
	unknown := refuse(InvalidGrant, "The refresh token is not valid, has expired or belongs to another client.")
	token := form.Get("refresh_token")
	if !secret.WellFormed(refreshPrefix, token) {
		return nil, unknown
	}
	hash := secret.Hash(token)
	err = g.write(ctx, func(ctx context.Context, tx *db.Tx) (*Error, error) {
		out = nil
		at, err := db.One[grantRef](ctx, tx, `
			SELECT organization_id, grant_id
			FROM grant_tokens
			WHERE hash = $1 AND kind = 'refresh'`, hash[:])
		if isNone(err) {
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
		t, err := db.One[tokenRow](ctx, tx, `
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
			return refuse(InvalidGrant, "The refresh token was already used, so the connection has ended."),
				g.end(ctx, tx, v, "Refresh token used twice", bySystem)
		case reason != "":
			return refuse(InvalidGrant, reason), nil
		case t.ExpiresAt <= now:
			return unknown, nil
		}
		scopes := v.Scopes
		if text := form.Get("scope"); text != "" { // RFC 6749 §6: not more than was granted
			var refused *Error
			if scopes, refused = askedScopes(text); refused != nil {
				return refused, nil
			}
			if slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(v.Scopes, s) }) {
				return refuse(InvalidScope, "The request asks for more scopes than were granted."), nil
			}
		}
		if _, err := db.Exec(ctx, tx, "UPDATE grant_tokens SET used_at = $3 WHERE organization_id = $1 AND hash = $2",
			v.Org,
			hash[:], now); err != nil {
			return nil, err
		}
		out, err = g.issue(ctx, tx, v, scopes)
		return nil, err
	})
	return out, err
}

// issue creates an access token and, for offline access, a refresh token. The grant
// expires with the longer-lived of them.
func (g *Grants) issue(ctx context.Context, tx *db.Tx, v *grantRow, scopes []string) (*Tokens, error) {
	now := g.clock.Now()
	out := &Tokens{Access: secret.NewToken(AccessPrefix), Scopes: scopes}
	until := now.Add(AccessLifetime)
	if err := insertToken(ctx, tx, v, "access", out.Access, now, until); err != nil {
		return nil, err
	}
	if slices.Contains(v.Scopes, Offline) {
		out.Refresh, until = secret.NewToken(refreshPrefix), now.Add(refreshLifetime)
		if err := insertToken(ctx, tx, v, "refresh", out.Refresh, now, until); err != nil {
			return nil, err
		}
	}
	_, err := db.Exec(ctx, tx, "UPDATE agent_grants SET expires_at = $3 WHERE organization_id = $1 AND id = $2", v.Org,
		v.ID, until)
	return out, err
}

func insertToken(ctx context.Context, tx *db.Tx, v *grantRow, kind, token string, now, until clock.Time) error {
	hash := secret.Hash(token)
	_, err := db.Exec(ctx, tx, `
		INSERT INTO grant_tokens (organization_id, grant_id, kind, hash, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		v.Org, v.ID, kind, hash[:], now, until)
	return err
}

// Revoke ends the grant that a token belongs to (RFC 7009 §2.1), so revoking a
// refresh token ends its access tokens and the other way around. An unknown
// token is no error (§2.2).
func (g *Grants) Revoke(ctx context.Context, client, token string) error {
	if client == "" {
		return refuse(InvalidClient, "client_id is required.")
	}
	if token == "" {
		return refuse(InvalidRequest, "token is required.")
	}
	if !secret.WellFormed(AccessPrefix, token) && !secret.WellFormed(refreshPrefix, token) {
		return nil
	}
	hash := secret.Hash(token)
	return g.write(ctx, func(ctx context.Context, tx *db.Tx) (*Error, error) {
		at, err := db.One[grantRef](ctx, tx, "SELECT organization_id, grant_id FROM grant_tokens WHERE hash = $1",
			hash[:])
		if isNone(err) {
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
			return refuse(InvalidGrant, "The token belongs to another client."), nil
		}
		return nil, g.end(ctx, tx, v, "Revoked by the client", actor{kind: "user", id: v.User, door: "agent"})
	})
}
