// Package mcp is the door for agents: the Model Context Protocol over
// streamable HTTP at {mcp_url}/mcp, with an access token of the authorization
// server (account/grant). Its tools are the operations that agents may use,
// built from their declarations (tool.go).
//
// Start reading at Door.ServeHTTP. It identifies the caller, and decides what
// must be decided before any message is read: the token, the rate limit, the
// session, the account, the agreement. Messages (message.go) then go to
// dispatchMessage (protocol.go), which knows the protocol's versions and methods, and
// calls of tools (call.go) from there to the Runner. A method of the protocol is a line
// in its table of methods. What an agent may not do alone becomes a proposal
// (proposal.go). Which tools a client is told of is in view.go, how they are described
// in tool.go and diet.go. search.go finds tools that a compact list leaves out; how is in rank.go and words.go.
//
// Beside tools there are prompts (prompts.go), records as resources (resources.go) and a
// card that shows what waits for a person (card.go).
//
// Nothing in memory decides who may do what. Every HTTP request looks up its
// caller again, even inside a session. Sessions are rows in the database, so
// that any process can serve them, even one that just started. A stream of events
// ends with the answer to its request (stream.go): nothing that began under one
// permission can continue under another.
package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/peer"

	"github.com/go-json-experiment/json/jsontext"
)

// Door serves every operation that is declared for agents.
type Door struct {
	Runner *op.Runner
	Grants *grant.Grants
	Log    *slog.Logger
	// URL is where clients reach this door's listener, {mcp_url}.
	URL string
	// MetadataURL is where the protected resource describes itself.
	MetadataURL string
	// Allowances are tools/call per minute by plan, for a whole organization.
	Allowances map[string]int
	// Proposals has people decide calls that an agent may not make alone.
	Proposals Proposals
	// Note stores, for the guard, that an answer shows an agent text of people outside.
	Note func(context.Context, *op.Caller, op.Exposure) error
	// Midnight is when a day begins in the time zone of a caller's business, and the name of that zone.
	Midnight func(context.Context, *op.Caller, clock.Date) (clock.Time, string, error)
	// KeepsDeleted is how long deleted rows can be restored.
	KeepsDeleted time.Duration
	// Seal seals the state of a call that a client keeps and sends back (pendingState).
	Seal op.Sealer
	// Backstop is HTTP requests per minute, of any kind, for each user and client.
	// Allowances count calls of tools only.
	Backstop int
	// Toolsets are named groups of resources that a client can ask for. Every resource is
	// a toolset of its own, too.
	Toolsets map[string][]string
	// Daily are the tools that a compact list shows directly, by name.
	Daily []string

	build     func()  // runs buildTools once
	tools     []*tool // in catalog order
	byName    map[string]*tool
	sets      map[string][]string // the resources of every toolset
	index     func() *searchIndex // built when somebody first searches
	allowance limit.LeasedLimiter[id.ID]
	backstop  limit.Limiter[userAndClient]
	metrics   *metrics
}

// userAndClient is what the backstop counts by.
type userAndClient struct {
	user   id.ID
	client string
}

// maxBodyBytes is enough for a file of a megabyte in base64, or as text with its escapes, and the message around it.
const maxBodyBytes = 2 << 20

// maxBatchMessages bounds the messages of one body (protocol version 2025-03-26).
const maxBatchMessages = 20

// Mount adds the endpoint below the path of the URL.
func (d *Door) Mount(mux *http.ServeMux, c *op.Catalog) {
	d.metrics = newMetrics()
	d.allowance.Name, d.allowance.Ledger, d.allowance.Per = "tool calls", limit.NewLedger(d.Runner.DB), time.Minute
	d.build = sync.OnceFunc(func() { d.buildTools(c) })
	path := "/mcp"
	if u, err := url.Parse(d.URL); err == nil {
		path = u.Path + path
	}
	mux.Handle(path, d)
}

// buildTools makes a tool of each operation. The first request does it and not the
// start, because many servers have no agents. A tool's description is written when it
// is first shown.
func (d *Door) buildTools(c *op.Catalog) {
	d.collectTools(c)
	d.collectToolsets()
	d.index = sync.OnceValue(d.buildSearchIndex)
}

// ServeHTTP answers one request: host, token, backstop, session, account,
// agreement, and then the protocol.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	// Access depends on a token that a page must already have, never on a cookie, so
	// pages of every origin may call.
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "POST, DELETE")
		h.Set("Access-Control-Allow-Headers",
			"Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, "+
				"Last-Event-ID, "+toolsetsHeader+", "+readOnlyHeader)
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if !d.isOurHost(r) {
		writeJSON(w, http.StatusForbidden, mustEncode(map[string]string{"error": "invalid_request",
			"error_description": "The Host header does not name this server."}))
		return
	}
	session := r.Header.Get(sessionHeader)
	login, err := d.loginByToken(r, session)
	if err != nil {
		d.writeUnauthorized(w, r, err)
		return
	}
	d.build()
	if v := d.backstop.Spend(userAndClient{login.User, login.Client}, d.Backstop, time.Minute, time.Now()); !v.OK {
		d.metrics.refused.WithLabelValues("backstop").Inc()
		d.writeTooMany(w, r, v.Retry)
		return
	}
	if session != "" && !login.Session {
		// This is the protocol's way to say: start again. Nobody learns whether
		// the session is another agent's or does not exist.
		writeJSON(w, http.StatusNotFound, encodeFailure(nil,
			newRPCError(codeInvalid, "Session not found. Initialize a new one.")))
		return
	}
	gate := d.findGate(login)
	if gate != nil && session == "" {
		d.metrics.refused.WithLabelValues(gate.name).Inc()
		writeJSON(w, http.StatusForbidden, mustEncode(gate.httpBody()))
		return
	}
	switch r.Method {
	case http.MethodPost:
		d.servePost(w, r, login, session, gate)
	case http.MethodDelete:
		d.endSession(w, r, login, session)
	default:
		h.Set("Allow", "POST, DELETE")
		http.Error(w, "There are no event streams here.", http.StatusMethodNotAllowed)
	}
}

// isOurHost reports whether the Host header names this server. It matters only on a
// loopback address: there a web page whose host name was pointed at this machine could
// reach a server that is not on the network (DNS rebinding).
func (d *Door) isOurHost(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !peer.IsLoopback(local.String()) {
		return true
	}
	u, err := url.Parse(d.URL)
	return peer.IsLoopback(r.Host) || err == nil && strings.EqualFold(u.Host, r.Host)
}

func (d *Door) loginByToken(r *http.Request, session string) (*grant.Login, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, &grant.Error{Code: grant.InvalidToken, Description: "An access token is required."}
	}
	return d.Grants.LoginInSession(r.Context(), strings.TrimSpace(token), session)
}

// writeUnauthorized tells a client to start the authorization flow (RFC 9728 §5.1,
// RFC 6750 §3), or that something else went wrong.
func (d *Door) writeUnauthorized(w http.ResponseWriter, r *http.Request, err error) {
	var e *grant.Error
	if !errors.As(err, &e) {
		status, code := http.StatusInternalServerError, "server_error"
		if r.Context().Err() != nil || fault.IsKind(err, fault.Unavailable) {
			status, code = http.StatusServiceUnavailable, "temporarily_unavailable"
		}
		d.Log.ErrorContext(r.Context(), "an access token could not be looked up", "err", err)
		writeJSON(w, status, mustEncode(map[string]string{"error": code,
			"error_description": "Something went wrong on our side. Retry in a moment."}))
		return
	}
	d.metrics.refused.WithLabelValues("token").Inc()
	challenge := ""
	if r.Header.Get("Authorization") != "" { // RFC 6750 §3: only for whoever sent a token
		challenge = fmt.Sprintf("error=%q, error_description=%q, ", e.Code, e.Description)
	}
	w.Header().Set("WWW-Authenticate",
		fmt.Sprintf("Bearer %sresource_metadata=%q, scope=%q", challenge, d.MetadataURL,
			strings.Join(grant.Scopes, " ")))
	writeJSON(w, http.StatusUnauthorized, mustEncode(map[string]string{"error": e.Code,
		"error_description": e.Description}))
}

// writeTooMany answers 429. It reads the body only for the message's id, which the answer
// repeats.
func (d *Door) writeTooMany(w http.ResponseWriter, r *http.Request, retry time.Duration) {
	var ref jsontext.Value
	if text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes)); err == nil {
		if messages, _, err := parseMessages(text); err == nil && len(messages) == 1 {
			ref = messages[0].id
		}
	}
	w.Header().Set("Retry-After", strconv.Itoa(limit.CeilSeconds(retry)))
	writeJSON(w, http.StatusTooManyRequests, encodeFailure(ref, throttledError("Too many requests.", retry)))
}

func throttledError(text string, retry time.Duration) *rpcError {
	n := limit.CeilSeconds(retry)
	return &rpcError{codeThrottled, fmt.Sprintf("%s Wait %d seconds.", text, n), map[string]int{"retryAfter": n}}
}

// gate is the reason why an account may not act although its token is valid.
type gate struct {
	name, text string
	code       int
	url        string
}

// findGate returns why the account may not act, or nil.
func (d *Door) findGate(l *grant.Login) *gate {
	switch {
	case l.Disabled:
		return &gate{name: "account_disabled", text: "This account is disabled.", code: codeAccountDisabled}
	case !l.Agreed:
		return &gate{name: "business_agreement_required",
			text: "Business agreement not accepted. An owner or admin must accept it first.", code: codeAgreement,
			url: l.Caller.AgreementURL}
	}
	return nil
}

// httpBody is the HTTP answer to a request without a session. It is a 403 and not a 401,
// because authorizing again would not help.
func (g *gate) httpBody() map[string]string {
	out := map[string]string{"error": g.name, "error_description": g.text}
	if g.url != "" {
		out["url"] = g.url
	}
	return out
}

// asRPCError is the same inside an open session, as an answer to a message.
func (g *gate) asRPCError() *rpcError {
	e := newRPCError(g.code, "%s", g.text)
	if g.url != "" {
		e.Data = map[string]string{"url": g.url}
	}
	return e
}

// servePost reads the message or the batch of a request, answers each message, and writes the
// answers. Only a single message decides about the HTTP status.
func (d *Door) servePost(w http.ResponseWriter, r *http.Request, login *grant.Login, session string, gate *gate) {
	invalid := func(status, code int, text string) {
		writeJSON(w, status, encodeFailure(nil, newRPCError(code, "%s", text)))
	}
	if status, text := checkHeaders(r.Header); status != 0 {
		invalid(status, codeInvalid, text)
		return
	}
	v, err := d.parseView(r, view{compact: login.Compact})
	if err != nil {
		invalid(http.StatusBadRequest, codeInvalid, "In the address or headers: "+err.Error()+".")
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		var large *http.MaxBytesError
		status := http.StatusBadRequest
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		invalid(status, codeInvalid, "The body could not be read, or is larger than 2 MiB.")
		return
	}
	messages, batch, err := parseMessages(text)
	switch {
	case err != nil:
		invalid(http.StatusBadRequest, codeParse, "The body is not a JSON-RPC message: "+err.Error())
		return
	case batch && r.Header.Get(versionHeader) >= firstWithoutBatches:
		invalid(http.StatusBadRequest, codeInvalid, "There are no batches since version "+firstWithoutBatches+".")
		return
	}
	newRequest := func(m message) *request {
		return &request{message: m, login: login, gate: gate, view: v, session: session, header: r.Header,
			reply: w.Header()}
	}
	if !batch {
		d.answerOne(r.Context(), w, newRequest(messages[0]))
		return
	}
	var answers [][]byte
	for _, m := range messages {
		if text, _ := d.handleMessage(r.Context(), newRequest(m)); text != nil {
			answers = append(answers, text)
		}
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	writeJSON(w, http.StatusOK, slices.Concat([]byte{'['}, bytes.Join(answers, []byte{','}), []byte{']'}))
}

func (d *Door) endSession(w http.ResponseWriter, r *http.Request, login *grant.Login, session string) {
	if session == "" {
		writeJSON(w, http.StatusBadRequest,
			encodeFailure(nil, newRPCError(codeInvalid, "DELETE ends the session that Mcp-Session-Id names.")))
		return
	}
	if err := d.Grants.EndSession(r.Context(), login, session); err != nil {
		d.writeUnauthorized(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text) //nolint:errcheck // the client is gone
}
