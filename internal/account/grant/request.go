package grant

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/secret"
)

// Request is an authorization request that awaits a person's consent.
type Request struct {
	ID          id.ID      `db:"id"`
	ClientID    string     `db:"client_id"`
	ClientName  string     `db:"client_name"`
	ClientURI   *string    `db:"client_uri"`
	RedirectURI string     `db:"redirect_uri"`
	Scopes      []string   `db:"scopes"`
	ExpiresAt   clock.Time `db:"expires_at"`

	// RedirectHost names where the browser goes next, in a form a person can judge.
	RedirectHost string `db:"-"`

	State     *string     `db:"state"`
	Challenge string      `db:"challenge"`
	CreatedAt clock.Time  `db:"created_at"`
	SettledAt *clock.Time `db:"settled_at"`
}

const requestColumns = "id, client_id, client_name, client_uri, redirect_uri, scopes, expires_at, state, challenge, " +
	"created_at, settled_at"

const maxState = 4096

// challengePattern matches a challenge: the base64url of 32 bytes (RFC 7636 §4.2).
var challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Direction is where an authorization request leads: to the consent page, or
// back to the client with a refusal.
type Direction struct {
	To      string
	Refused *Error // nil on the way to the consent page
	Host    string // of the client's redirect URI, in a form a person can judge
	Own     bool   // the redirect URI is on the person's own machine
}

// Ask checks an authorization request before anybody has to sign in, and stores
// it. An error means that there is no known client or redirect URI to send the
// browser to (RFC 6749 §4.1.2.1).
func (g *Grants) Ask(ctx context.Context, q url.Values) (*Direction, error) {
	if len(q["client_id"]) != 1 {
		return nil, oauthError(InvalidRequest, "client_id must be given once.")
	}
	c, err := g.findClient(ctx, q.Get("client_id"))
	if err != nil {
		return nil, err
	}
	redirect := q.Get("redirect_uri")
	if len(q["redirect_uri"]) != 1 || !matchesRegistered(c.RedirectURIs, redirect) {
		return nil, oauthError(InvalidRequest, "redirect_uri must exactly match one that the client registered.")
	}
	r := &Request{ID: id.New(), ClientID: c.ID, ClientName: c.Name, ClientURI: c.URI, RedirectURI: redirect,
		CreatedAt: g.clock.Now()}
	r.ExpiresAt = r.CreatedAt.Add(requestLifetime)
	if r.ClientName == "" {
		r.ClientName = redirectHost(redirect)
	}
	if state := q.Get("state"); state != "" && isStorable(state, maxState) {
		r.State = &state
	}
	if refused := g.checkRequest(r, q); refused != nil {
		return &Direction{To: g.redirectWithError(redirect, r.State, refused), Refused: refused,
			Host: redirectHost(redirect),
			Own:  isOwnMachine(redirect)}, nil
	}
	err = g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `INSERT INTO oauth_requests (`+requestColumns+
			`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL)`,
			r.ID, r.ClientID, r.ClientName, r.ClientURI, r.RedirectURI, db.JSON(mustJSON(r.Scopes)), r.ExpiresAt,
			r.State, r.Challenge, r.CreatedAt)
		return err
	})
	return &Direction{To: g.config.BaseURL + "/consent/" + string(r.ID)}, err
}

// isStorable reports whether a text can be stored and returned unchanged.
func isStorable(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// checkRequest makes the checks whose errors reach the client by a redirect.
func (g *Grants) checkRequest(r *Request, q url.Values) *Error {
	for name, values := range q {
		// RFC 6749 §3.1: no parameter twice. RFC 8707 §2 permits more than one
		// resource; there is only one here.
		if len(values) > 1 && name != "resource" {
			return oauthError(InvalidRequest, "A parameter was given twice.")
		}
	}
	if state := q.Get("state"); !isStorable(state, maxState) {
		return oauthError(InvalidRequest, "state has at most 4096 characters and no control characters.")
	}
	switch q.Get("response_type") {
	case "code":
	case "":
		return oauthError(InvalidRequest, "response_type is required.")
	default:
		return oauthError(UnsupportedResponse, "The only response_type is code.")
	}
	if mode := q.Get("response_mode"); mode != "" && mode != "query" {
		return oauthError(InvalidRequest, "The only response_mode is query.")
	}
	// RFC 7636 §4.4.1. A missing method would mean plain (§4.3), which is not accepted.
	r.Challenge = q.Get("code_challenge")
	if q.Get("code_challenge_method") != "S256" || !challengePattern.MatchString(r.Challenge) {
		return oauthError(InvalidRequest, "PKCE is required: a code_challenge with the code_challenge_method S256.")
	}
	if refused := g.checkResource(q["resource"]); refused != nil {
		return refused
	}
	var refused *Error
	r.Scopes, refused = parseScopes(q.Get("scope"))
	return refused
}

// checkResource requires exactly the one resource there is (RFC 8707 §2).
func (g *Grants) checkResource(given []string) *Error {
	if len(given) != 1 || given[0] != g.config.Resource {
		return oauthError(InvalidTarget, "resource must be "+g.config.Resource)
	}
	return nil
}

// parseScopes reads a scope parameter (RFC 6749 §3.3). The default is the
// transport's scope.
func parseScopes(text string) ([]string, *Error) {
	if text == "" {
		return []string{ScopeTransport}, nil
	}
	var out []string
	for s := range strings.FieldsSeq(text) {
		if !slices.Contains(Scopes, s) {
			return nil, oauthError(InvalidScope, "The scopes are mcp and offline_access.")
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if !slices.Contains(out, ScopeTransport) {
		return nil, oauthError(InvalidScope, "The scope mcp is required.")
	}
	return out, nil
}

// requirePending refuses a request that was not found, was settled or has expired. It takes
// the results of the query that reads the request.
func (g *Grants) requirePending(r Request, err error) (*Request, error) {
	if isNoRow(err) || err == nil && (r.SettledAt != nil || r.ExpiresAt <= g.clock.Now()) {
		return nil, fault.NotFound.Say("There is no such request, or it has expired. Start again from the application.")
	}
	r.RedirectHost = redirectHost(r.RedirectURI)
	return &r, err
}

// Request finds a pending request for the consent page.
func (g *Grants) Request(ctx context.Context, request id.ID) (out *Request, err error) {
	err = g.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		out, err = g.requirePending(db.QueryOne[Request](ctx, tx,
			"SELECT "+requestColumns+" FROM oauth_requests WHERE id = $1", request))
		return err
	})
	return out, err
}

// claimRequest claims a pending request, so that nobody else can.
func (g *Grants) claimRequest(ctx context.Context, tx *db.Tx, request id.ID) (*Request, error) {
	r, err := g.requirePending(lockRow[Request](ctx, tx, "SELECT "+requestColumns+" FROM oauth_requests WHERE id = $1",
		request))
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, tx, "UPDATE oauth_requests SET settled_at = $2 WHERE id = $1", request, g.clock.Now())
	return r, err
}

// DeclineRequest sends the user back to the client without a grant.
func (g *Grants) DeclineRequest(ctx context.Context, request id.ID) (redirectURL string, err error) {
	err = g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		r, err := g.claimRequest(ctx, tx, request)
		if err != nil {
			return err
		}
		redirectURL = g.redirectWithError(r.RedirectURI, r.State, oauthError(AccessDenied, "The user declined."))
		return nil
	})
	return redirectURL, err
}

// ApproveRequest grants a request: user lets its client act as agent. The user must be
// an active member of the agent's organization, and the agent's business must
// have accepted the agreement. It returns where to send the browser with the
// code.
func (g *Grants) ApproveRequest(ctx context.Context, request, user, agent id.ID) (redirectURL string, err error) {
	err = g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		r, err := g.claimRequest(ctx, tx, request)
		if err != nil {
			return err
		}
		org, err := g.checkAgentChoice(ctx, tx, user, agent)
		if err != nil {
			return err
		}
		now := g.clock.Now()
		grant, code := id.New(), secret.NewToken(codePrefix)
		hash := secret.HashToken(code)
		_, err = db.Exec(ctx, tx, `
			INSERT INTO agent_grants (id, organization_id, agent_id, user_id, client_id, client_name, scopes,
				resource, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			grant, org, agent, user, r.ClientID, r.ClientName, db.JSON(mustJSON(r.Scopes)), g.config.Resource,
			now, now.Add(codeLifetime))
		if err != nil {
			return err
		}
		_, err = db.Exec(ctx, tx, `
			INSERT INTO grant_codes (organization_id, grant_id, hash, redirect_uri, challenge, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			org, grant, hash[:], r.RedirectURI, r.Challenge, now, now.Add(codeLifetime))
		if err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, "UPDATE oauth_clients SET used_at = $2 WHERE client_id = $1", r.ClientID,
			now); err != nil {
			return err
		}
		redirectURL = g.redirectWithAnswer(r.RedirectURI, r.State, url.Values{"code": {code}})
		return nil
	})
	return redirectURL, err
}

// checkAgentChoice refuses an agent that this user may not connect a client to.
func (g *Grants) checkAgentChoice(ctx context.Context, tx *db.Tx, user, agent id.ID) (org id.ID, err error) {
	missing := func(err error) error { return db.AsNotFound(err, "agent") }
	if org, err = db.QueryOne[id.ID](ctx, tx, "SELECT organization_id FROM agents WHERE id = $1 AND deleted_at IS NULL",
		agent); err != nil {
		return "", missing(err)
	}
	// The agent and the membership are locked, so that whoever deactivates the
	// one or ends the other meanwhile finds the grant and ends it.
	if err := db.Lock(ctx, tx, "agents", org, agent); err != nil {
		return "", missing(err)
	}
	const membership = "SELECT seq FROM memberships WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL"
	if _, err := lockRow[int64](ctx, tx, membership, org, user); err != nil {
		return "", missing(err) // somebody else's agent answers like none
	}
	type row struct {
		Agent  account.Status `db:"agent"`
		Org    account.Status `db:"org"`
		Member bool           `db:"member"`
		Agreed bool           `db:"agreed"`
	}
	v, err := db.QueryOne[row](ctx, tx, `
		SELECT a.status, o.status,
			EXISTS (SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
				WHERE m.organization_id = a.organization_id AND m.user_id = $3 AND m.deleted_at IS NULL
					AND u.status = 'active'),
			EXISTS (SELECT 1 FROM agreements g
				WHERE g.organization_id = a.organization_id AND g.business_id = a.business_id
					AND g.kind = 'business' AND g.version = $4 AND g.deleted_at IS NULL)
		FROM agents a
		JOIN organizations o ON o.id = a.organization_id
		JOIN businesses b ON b.id = a.business_id AND b.deleted_at IS NULL
		WHERE a.organization_id = $1 AND a.id = $2`, org, agent, user, g.config.BusinessAgreement)
	switch {
	case err != nil:
		return "", missing(err)
	case !v.Member:
		return "", missing(db.ErrNoRow) // somebody else's agent answers like none
	case v.Org != account.Active:
		return "", fault.AccountDisabled.New()
	case v.Agent != account.Active:
		return "", AgentInactive.New()
	case !v.Agreed:
		return "", fault.AgreementNeeded.WithDetails(map[string]string{"url": g.config.BaseURL + "/agreements"})
	}
	return org, nil
}
