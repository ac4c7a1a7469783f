package grant

import (
	"context"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/secret"

	"github.com/go-json-experiment/json"
)

// Client is an application that asks to act as an agent. All clients are
// public. PKCE proves that whoever redeems a code also asked for it.
type Client struct {
	ID           string      `db:"client_id"`
	Name         string      `db:"name"`
	URI          *string     `db:"uri"`
	RedirectURIs []string    `db:"redirect_uris"`
	CreatedAt    clock.Time  `db:"created_at"`
	ExpiresAt    *clock.Time `db:"expires_at"` // for a document: when to fetch it again
}

const clientColumns = "client_id, name, uri, redirect_uris, created_at, expires_at"

// Metadata is what a client says about itself (RFC 7591 §2). Other fields are
// ignored.
type Metadata struct {
	ClientID     string   `json:"client_id,omitzero"`
	Name         string   `json:"client_name,omitzero"`
	URI          string   `json:"client_uri,omitzero"`
	RedirectURIs []string `json:"redirect_uris"`
	AuthMethod   string   `json:"token_endpoint_auth_method,omitzero"`
}

const (
	maxRedirects = 20
	maxName      = 200
)

// toClient validates the metadata and turns it into a Client.
func (m *Metadata) toClient() (*Client, *Error) {
	if len(m.RedirectURIs) == 0 || len(m.RedirectURIs) > maxRedirects {
		return nil, oauthError(InvalidRedirect, "redirect_uris must contain 1 to 20 addresses.")
	}
	for _, r := range m.RedirectURIs {
		if err := checkRedirect(r); err != nil {
			return nil, err
		}
	}
	if utf8.RuneCountInString(m.Name) > maxName || strings.ContainsFunc(m.Name, unicode.IsControl) {
		return nil, oauthError(InvalidClientMetadata,
			"client_name has at most 200 characters, none of them control characters.")
	}
	c := &Client{Name: strings.TrimSpace(m.Name), RedirectURIs: m.RedirectURIs}
	// It is shown to a person as a link, so an address that is not http or https is
	// left out.
	if u, err := url.Parse(m.URI); err == nil && isPrintableASCII(m.URI, maxURI) && u.Host != "" &&
		(u.Scheme == "https" || u.Scheme == "http") {
		c.URI = &m.URI
	}
	return c, nil
}

// Register stores a client that introduces itself (RFC 7591 §3.1). Any client
// may. The answer shows what was registered, which may be less than it asked for
// (§3.2.1).
func (g *Grants) Register(ctx context.Context, text []byte) (*Client, error) {
	var m Metadata
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, oauthError(InvalidClientMetadata, "The body must be a JSON object of client metadata (RFC 7591).")
	}
	c, refused := m.toClient()
	if refused != nil {
		return nil, refused
	}
	c.ID, c.CreatedAt = secret.NewToken(clientPrefix), g.clock.Now()
	err := g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return upsertClient(ctx, tx, c) })
	return c, err
}

func upsertClient(ctx context.Context, tx *db.Tx, c *Client) error {
	_, err := db.Exec(ctx, tx, `
		INSERT INTO oauth_clients (`+clientColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (client_id) DO UPDATE SET name = excluded.name, uri = excluded.uri,
			redirect_uris = excluded.redirect_uris, expires_at = excluded.expires_at`,
		c.ID, c.Name, c.URI, db.JSON(mustJSON(c.RedirectURIs)), c.CreatedAt, c.ExpiresAt)
	return err
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always encode
	}
	return b
}

var errMetadataUnavailable = oauthError(InvalidClient, "Client metadata unavailable")

// findClient finds a client by its registration, or by the metadata document at the
// address that is its id.
func (g *Grants) findClient(ctx context.Context, name string) (*Client, error) {
	unknown := oauthError(InvalidClient, "Unknown client_id. Register the client again.")
	if !isPrintableASCII(name, maxURI) {
		return nil, unknown
	}
	var found *Client
	err := g.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		c, err := db.QueryOne[Client](ctx, tx, "SELECT "+clientColumns+" FROM oauth_clients WHERE client_id = $1", name)
		if err == nil {
			found = &c
		}
		return err
	})
	if err != nil && !isNoRow(err) {
		return nil, err
	}
	switch {
	case found != nil && (found.ExpiresAt == nil || *found.ExpiresAt > g.clock.Now()):
		return found, nil
	case strings.HasPrefix(name, "https://") || g.config.InsecureMetadata && strings.HasPrefix(name, "http://"):
		return g.fetchClientDocument(ctx, name)
	}
	return nil, unknown
}

// fetchClientDocument reads a client metadata document
// (draft-ietf-oauth-client-id-metadata-document). Failures are not cached.
func (g *Grants) fetchClientDocument(ctx context.Context, address string) (*Client, error) {
	if !isDocumentAddress(address) {
		return nil, errMetadataUnavailable
	}
	text, keep, err := g.documents.Fetch(ctx, address)
	if err != nil {
		return nil, errMetadataUnavailable
	}
	var m Metadata
	// §4.1: the document names its own address; the two are compared as strings.
	if err := json.Unmarshal(text, &m); err != nil || m.ClientID != address || strings.TrimSpace(m.Name) == "" {
		return nil, errMetadataUnavailable
	}
	// §4.1: no shared secrets. All clients here are public.
	if m.AuthMethod != "" && m.AuthMethod != "none" {
		return nil, errMetadataUnavailable
	}
	c, refused := m.toClient()
	if refused != nil {
		return nil, errMetadataUnavailable
	}
	now := g.clock.Now()
	expires := now.Add(keep)
	c.ID, c.CreatedAt, c.ExpiresAt = address, now, &expires
	err = g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return upsertClient(ctx, tx, c) })
	return c, err
}

// isDocumentAddress reports whether an address may be a client's id (§3). It needs
// a path, and must not have a fragment, a user or dot segments.
func isDocumentAddress(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Contains(s, "#") || u.Path == "" || u.Path == "/" {
		return false
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}
