// Package oauth is the HTTP side of the authorization server, on the listener for
// agents: the metadata documents, registration, authorization, tokens and
// revocation. account/grant holds its rules; consent is given on the console's
// pages, to which /oauth/authorize sends the browser. documents.go fetches the
// metadata documents of clients that have an address instead of a registration.
//
// Each endpoint takes a request from the address's limit, reads the form or the query,
// calls grant.Grants, and turns its grant.Error into the answer that the RFC asks for.
// Nothing depends on cookies, so pages of any origin may call all endpoints but
// /oauth/authorize. That one never sends a browser to an address that the client did
// not register.
//
// Start reading at Door.Mount.
package oauth

import (
	"errors"
	"html/template"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/peer"

	"github.com/go-json-experiment/json"
)

// Door serves the authorization server.
type Door struct {
	Grants  *grant.Grants
	Log     *slog.Logger
	Issuer  string // the setting mcp_url; never taken from a request
	Proxies peer.Proxies
	// RegisterLimit and TokenLimit are requests per IP address in any 60
	// seconds.
	RegisterLimit, TokenLimit int

	registerWindow, tokenWindow, revokeWindow limit.WindowLimiter[netip.Prefix]
	authorizeLimiter                          limit.Limiter[netip.Prefix]
}

const (
	limitWindow    = time.Minute
	authorizeLimit = 60 // authorization requests per minute and IP address; a person makes a few
	maxBodyBytes   = 16 << 10
)

// ResourceURL is the address that tokens are for, that of the MCP endpoint.
func ResourceURL(issuer string) string { return issuer + "/mcp" }

// MetadataURL is where the protected resource describes itself (RFC 9728 §3.1):
// the well-known part goes between the host and the path.
func MetadataURL(issuer string) string {
	return wellKnownURL(ResourceURL(issuer), "oauth-protected-resource")
}

// wellKnownURL puts the well-known part between the host and the path of an address.
func wellKnownURL(address, name string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // the configuration was checked
	}
	u.Path = "/.well-known/" + name + u.Path
	return u.String()
}

// Mount adds the endpoints, below the issuer's path if it has one.
func (d *Door) Mount(mux *http.ServeMux) {
	base := "/"
	if u, err := url.Parse(d.Issuer); err == nil {
		base = u.Path + "/"
	}
	resource, server := d.documentHandler(d.resourceMetadata()), d.documentHandler(d.serverMetadata())
	// At the host level, and with the path of what they describe appended (RFC
	// 9728 §3.1, RFC 8414 §3.1). Some clients look for the server under the
	// resource's path.
	for _, path := range metadataSuffixes(base) {
		d.handleCrossOrigin(mux, http.MethodGet, "/.well-known/oauth-protected-resource"+path, resource)
		d.handleCrossOrigin(mux, http.MethodGet, "/.well-known/oauth-authorization-server"+path, server)
	}
	d.handleCrossOrigin(mux, http.MethodPost, base+"oauth/register", d.registerClient)
	d.handleCrossOrigin(mux, http.MethodPost, base+"oauth/token", d.issueToken)
	d.handleCrossOrigin(mux, http.MethodPost, base+"oauth/revoke", d.revokeToken)
	mux.HandleFunc("GET "+base+"oauth/authorize", d.beginAuthorization)
}

// metadataSuffixes are the suffixes under which metadata is found.
func metadataSuffixes(base string) []string {
	if base == "/" {
		return []string{"", "/mcp"}
	}
	return []string{"", strings.TrimSuffix(base, "/"), base + "mcp"}
}

// handleCrossOrigin adds an endpoint that scripts of any page may call: nothing here
// depends on cookies, so there is nothing for a foreign page to abuse.
func (d *Door) handleCrossOrigin(mux *http.ServeMux, method, path string, fn http.HandlerFunc) {
	mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fn(w, r)
	})
	mux.HandleFunc("OPTIONS "+path, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", method)
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
	})
}

// resourceMetadata is RFC 9728 §2.
func (d *Door) resourceMetadata() any {
	return map[string]any{
		"resource":                 ResourceURL(d.Issuer),
		"authorization_servers":    []string{d.Issuer},
		"scopes_supported":         grant.Scopes,
		"bearer_methods_supported": []string{"header"},
		"resource_name":            "Frontdesk",
	}
}

// serverMetadata is RFC 8414 §2, with RFC 9207 §3 and client metadata documents.
func (d *Door) serverMetadata() any {
	return map[string]any{
		"issuer":                                         d.Issuer,
		"authorization_endpoint":                         d.Issuer + "/oauth/authorize",
		"token_endpoint":                                 d.Issuer + "/oauth/token",
		"registration_endpoint":                          d.Issuer + "/oauth/register",
		"revocation_endpoint":                            d.Issuer + "/oauth/revoke",
		"scopes_supported":                               grant.Scopes,
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          true,
	}
}

// documentHandler serves a value as JSON, which is encoded once.
func (d *Door) documentHandler(v any) http.HandlerFunc {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		w.Write(text) //nolint:errcheck // the client is gone
	}
}

// spendOrRefuse counts a request against an address's limit, or answers 429.
func (d *Door) spendOrRefuse(w http.ResponseWriter, r *http.Request, l *limit.WindowLimiter[netip.Prefix], n int) bool {
	v := l.Spend(d.Proxies.Key(r), n, limitWindow, time.Now())
	if v.OK {
		return true
	}
	w.Header().Set("Retry-After", strconv.Itoa(limit.CeilSeconds(v.Retry)))
	writeJSON(w, http.StatusTooManyRequests,
		&refusal{"temporarily_unavailable", "Too many requests from this address. Wait for the time in Retry-After."})
	return false
}

type refusal struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// writeJSON writes JSON that must not be cached (RFC 6749 §5.1).
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	w.WriteHeader(status)
	w.Write(text) //nolint:errcheck // the client is gone
}

// explainError turns an error into what a client may read. An error that is not a
// refusal is logged once, here.
func (d *Door) explainError(r *http.Request, err error) (int, *refusal) {
	var e *grant.Error
	if errors.As(err, &e) {
		status := http.StatusBadRequest
		if e.Code == grant.InvalidClient {
			status = http.StatusUnauthorized // RFC 6749 §5.2
		}
		return status, &refusal{e.Code, e.Description}
	}
	if r.Context().Err() != nil || fault.IsKind(err, fault.Unavailable) {
		d.Log.WarnContext(r.Context(), "authorization turned away", "path", r.URL.Path, "err", err)
		return http.StatusServiceUnavailable,
			&refusal{"temporarily_unavailable", "The service is briefly unavailable. Retry in a moment."}
	}
	d.Log.ErrorContext(r.Context(), "authorization failed", "path", r.URL.Path, "err", err)
	return http.StatusInternalServerError, &refusal{"server_error", "Something went wrong on our side."}
}

func (d *Door) writeRefusal(w http.ResponseWriter, r *http.Request, err error) {
	status, e := d.explainError(r, err)
	if status == http.StatusUnauthorized && r.Header.Get("Authorization") != "" {
		w.Header().Set("WWW-Authenticate", "Basic") // RFC 6749 §5.2: the scheme the client used
	}
	writeJSON(w, status, e)
}

func hasContentType(r *http.Request, want string) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == want
}

// registerClient is RFC 7591 §3.
func (d *Door) registerClient(w http.ResponseWriter, r *http.Request) {
	if !d.spendOrRefuse(w, r, &d.registerWindow, d.RegisterLimit) {
		return
	}
	if !hasContentType(r, "application/json") {
		writeJSON(w, http.StatusBadRequest,
			&refusal{grant.InvalidClientMetadata, "Content-Type must be application/json."})
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		writeJSON(w, http.StatusBadRequest,
			&refusal{grant.InvalidClientMetadata, "The body could not be read, or is larger than 16 KiB."})
		return
	}
	c, err := d.Grants.Register(r.Context(), text)
	if err != nil {
		d.writeRefusal(w, r, err)
		return
	}
	// RFC 7591 §3.2.1: everything that was registered, even where it differs
	// from the request.
	out := map[string]any{
		"client_id":                  c.ID,
		"client_id_issued_at":        c.CreatedAt.Std().Unix(),
		"redirect_uris":              c.RedirectURIs,
		"token_endpoint_auth_method": "none",
		"grant_types":                []string{"authorization_code", "refresh_token"},
		"response_types":             []string{"code"},
		"scope":                      strings.Join(grant.Scopes, " "),
	}
	if c.Name != "" {
		out["client_name"] = c.Name
	}
	if c.URI != nil {
		out["client_uri"] = *c.URI
	}
	writeJSON(w, http.StatusCreated, out)
}

// beginAuthorization is RFC 6749 §4.1.1. It sends the browser to the consent page, or
// back to the client with an error.
func (d *Door) beginAuthorization(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	if v := d.authorizeLimiter.Spend(d.Proxies.Key(r), authorizeLimit, limitWindow, time.Now()); !v.OK {
		h.Set("Retry-After", strconv.Itoa(limit.CeilSeconds(v.Retry)))
		d.showRefusal(w, r, http.StatusTooManyRequests,
			&refusal{"temporarily_unavailable", "Too many requests from this address. Wait a moment and try again."})
		return
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		d.showRefusal(w, r, http.StatusBadRequest, &refusal{grant.InvalidRequest, "The query is not well formed."})
		return
	}
	to, err := d.Grants.Ask(r.Context(), q)
	if err != nil {
		// RFC 6749 §4.1.2.1: without a known client and one of its redirect
		// URIs, the browser is sent nowhere.
		status, e := d.explainError(r, err)
		if status == http.StatusUnauthorized {
			status = http.StatusBadRequest
		}
		d.showRefusal(w, r, status, e)
		return
	}
	// RFC 9700 §4.11.2: anyone may register a client, so a deliberately wrong
	// request would send a person wherever its author likes. A browser asks the
	// person first; a program, which shows nothing to anybody, gets the
	// redirect. See docs/adr/0013.
	if to.Refused != nil && !to.Own && isFromBrowser(r) {
		d.confirmLeaving(w, r, to)
		return
	}
	// RFC 9700 §4.12: not 307, which would repeat a body.
	h.Set("Location", to.To)
	w.WriteHeader(http.StatusFound)
}

// isFromBrowser reports whether a person sees the answer. Browsers say so for
// every page they open, and no link can prevent it.
func isFromBrowser(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html") || r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

var pageTemplates = template.Must(template.New("").Parse(`{{define "head"}}<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport"
	content="width=device-width, initial-scale=1"><title>{{.}}</title></head>
<body><main><h1>{{.}}</h1>{{end}}
{{define "refusal"}}{{template "head" "This application cannot be connected"}}
<p>{{.Description}}</p><p>Go back to the application and try again. If it happens again,
	its makers need to know: <code>{{.Code}}</code>.</p></main></body></html>
{{end}}
{{define "leave"}}{{template "head" "This application cannot be connected"}}
<p>It asked in a way that cannot be answered: {{.Refused.Description}} (<code>{{.Refused.Code}}</code>)</p>
<p>The answer goes to <strong>{{.Host}}</strong>,
	which is not part of this server. Go there only if you know it, and type no password there that you use here.</p>
<p><a href="{{.Link}}" rel="noreferrer">Go on to {{.Host}}</a></p><p>Otherwise close this page. Nothing was
	connected.</p></main></body></html>
{{end}}`))

// showRefusal answers with a refusal: as a page for a person, as JSON for a program.
func (d *Door) showRefusal(w http.ResponseWriter, r *http.Request, status int, e *refusal) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		writeJSON(w, status, e)
		return
	}
	d.writePage(w, r, status, "refusal", e)
}

// confirmLeaving names the host that a refusal would be sent to, and lets the
// person decide whether to go there.
func (d *Door) confirmLeaving(w http.ResponseWriter, r *http.Request, to *grant.Direction) {
	d.writePage(w, r, http.StatusBadRequest, "leave", struct {
		*grant.Direction
		Link template.URL
	}{to, template.URL(to.To)}) // an app's own scheme too; the client's registration was checked
}

func (d *Door) writePage(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if err := pageTemplates.ExecuteTemplate(w, name, data); err != nil {
		d.Log.WarnContext(r.Context(), "a page could not be written", "err", err)
	}
}

// readClientForm reads the form of a request to the token or revocation endpoint, and the id of
// its client. If it is not ok, the request has been answered.
func (d *Door) readClientForm(w http.ResponseWriter, r *http.Request) (form url.Values, client string, ok bool) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	if !hasContentType(r, "application/x-www-form-urlencoded") || r.ParseForm() != nil {
		writeJSON(w, http.StatusBadRequest,
			&refusal{grant.InvalidRequest, "The body must be application/x-www-form-urlencoded."})
		return nil, "", false
	}
	form, client = r.PostForm, r.PostForm.Get("client_id")
	// Clients here are public (RFC 6749 §2.1). Some send their id as a user
	// name with an empty password (§2.3.1); one with a secret is not ours.
	name, password, basic := r.BasicAuth()
	if basic {
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
	}
	if form.Get("client_secret") != "" || password != "" || basic && client != "" && client != name || !basic &&
		r.Header.Get("Authorization") != "" {
		d.writeRefusal(w, r, &grant.Error{Code: grant.InvalidClient,
			Description: "Clients have no secret here; send client_id only."})
		return nil, "", false
	}
	if basic {
		client = name
	}
	return form, client, true
}

// issueToken is RFC 6749 §3.2.
func (d *Door) issueToken(w http.ResponseWriter, r *http.Request) {
	if !d.spendOrRefuse(w, r, &d.tokenWindow, d.TokenLimit) {
		return
	}
	form, client, ok := d.readClientForm(w, r)
	if !ok {
		return
	}
	t, err := d.Grants.ExchangeTokens(r.Context(), client, form)
	if err != nil {
		d.writeRefusal(w, r, err)
		return
	}
	out := map[string]any{"access_token": t.Access, "token_type": "Bearer",
		"expires_in": int(grant.AccessLifetime.Seconds()), "scope": strings.Join(t.Scopes, " ")}
	if t.Refresh != "" {
		out["refresh_token"] = t.Refresh
	}
	writeJSON(w, http.StatusOK, out)
}

// revokeToken is RFC 7009 §2.
func (d *Door) revokeToken(w http.ResponseWriter, r *http.Request) {
	if !d.spendOrRefuse(w, r, &d.revokeWindow, d.TokenLimit) {
		return
	}
	form, client, ok := d.readClientForm(w, r)
	if !ok {
		return
	}
	if err := d.Grants.RevokeToken(r.Context(), client, form.Get("token")); err != nil {
		d.writeRefusal(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}
