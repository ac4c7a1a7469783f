// Package grant is the authorization server for agent connections, without its
// HTTP: the clients (client.go), their requests and the users' consent
// (request.go), the codes and tokens they get (token.go), and the caller behind
// a token (login.go). It follows OAuth 2.1 with PKCE as the MCP authorization
// specification of 2025-06-18 requires; the sections of the RFCs are cited
// beside the lines that follow them.
//
// A grant is one consent: one user lets one client act as one agent. Every
// code and token belongs to a grant and ends with it. Only hashes of secrets
// are stored, every exchange is one transaction that locks its grant, and
// permissions are never cached in memory.
//
// A connection is made in this order: Register (or a metadata document) makes the
// client known, Ask stores its request, the console shows it (Request) and calls
// ApproveRequest or DeclineRequest, ExchangeTokens turns the code into tokens, and
// LoginInSession finds the agent behind each later call. The package knows no HTTP
// request or response: door/oauth and door/mcp do.
package grant

import (
	"context"
	"errors"
	"sync"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Config is what grants need. All fields except the two switches are required.
type Config struct {
	DB     *db.DB
	Clock  *clock.Clock
	Events *event.Log
	// Documents fetches the metadata of clients.
	Documents Documents
	// Issuer names this server: the setting mcp_url. It never comes from a request,
	// which could name another. It is empty where agents cannot connect.
	Issuer string
	// Resource is what tokens are for: the address of the MCP endpoint, {mcp_url}/mcp.
	Resource string
	// BaseURL is where the console asks for consent.
	BaseURL string
	// BusinessAgreement and DomainAgreement are the current versions.
	BusinessAgreement, DomainAgreement string
	// RefreshNeedsResource refuses a refresh that does not name the resource.
	RefreshNeedsResource bool
	// InsecureMetadata permits client metadata documents over plain http.
	InsecureMetadata bool
}

// Documents fetches client metadata documents.
type Documents interface {
	// Fetch returns a document's text and how long it may be cached.
	Fetch(ctx context.Context, address string) (text []byte, keep time.Duration, err error)
}

// Grants is the authorization server: the database and what it needs beside it.
type Grants struct {
	db        *db.DB
	clock     *clock.Clock
	events    *event.Log
	config    Config
	documents Documents

	mu   sync.Mutex
	used map[id.ID]clock.Time // grants that were used since the last FlushLastUsed
}

var _ account.Connections = (*Grants)(nil)

// New returns the grants of a database. It panics when a required field is missing.
func New(c Config) *Grants {
	config.RequireFields(c, "DB", "Clock", "Events", "Documents", "BaseURL")
	return &Grants{db: c.DB, clock: c.Clock, events: c.Events, documents: c.Documents, config: c}
}

// The scopes.
const (
	ScopeTransport = "mcp"            // calls to the MCP endpoint
	ScopeOffline   = "offline_access" // also a refresh token
)

// Scopes are all the scopes a client can ask for.
var Scopes = []string{ScopeTransport, ScopeOffline}

// How long things live.
const (
	requestLifetime = 30 * time.Minute // to sign in, and to accept an agreement first
	codeLifetime    = 5 * time.Minute
	AccessLifetime  = 60 * time.Minute
	refreshLifetime = 90 * 24 * time.Hour
)

// The prefixes of secrets, by which scanners recognize them.
const (
	clientPrefix  = "fdo_"
	codePrefix    = "fdc_"
	AccessPrefix  = "fda_"
	refreshPrefix = "fdr_"
	sessionPrefix = "fds_"
)

// Error is an OAuth error response.
type Error struct {
	Code        string
	Description string
}

func (e *Error) Error() string { return e.Code + ": " + e.Description }

// The codes: RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7591 §3.2.2, RFC 8707 §2.
const (
	InvalidRequest        = "invalid_request"
	InvalidClient         = "invalid_client"
	InvalidGrant          = "invalid_grant"
	InvalidScope          = "invalid_scope"
	InvalidTarget         = "invalid_target"
	InvalidToken          = "invalid_token"
	UnsupportedGrant      = "unsupported_grant_type"
	UnsupportedResponse   = "unsupported_response_type"
	AccessDenied          = "access_denied"
	InvalidRedirect       = "invalid_redirect_uri"
	InvalidClientMetadata = "invalid_client_metadata"
)

func oauthError(code, description string) *Error { return &Error{code, description} }

// AgentInactive refuses a consent for an agent that may not act.
var AgentInactive = fault.DefineKind("AGENT_INACTIVE", 409, "This agent is not active.")

// lockRow reads one row and locks it until the transaction ends.
func lockRow[T any](ctx context.Context, tx *db.Tx, text string, args ...any) (T, error) {
	if tx.Engine() == db.Postgres {
		text += " FOR NO KEY UPDATE"
	}
	return db.QueryOne[T](ctx, tx, text, args...)
}

// writeExchange runs one exchange. A refusal (*Error) is committed too, because what fn wrote
// must stay: a code used twice is refused and ends its grant. Only another error rolls
// back.
func (g *Grants) writeExchange(ctx context.Context, fn func(context.Context, *db.Tx) (*Error, error)) error {
	var refused *Error
	err := g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		refused, err = fn(ctx, tx)
		return err
	})
	if err == nil && refused != nil {
		return refused
	}
	return err
}

func isNoRow(err error) bool { return errors.Is(err, db.ErrNoRow) }
