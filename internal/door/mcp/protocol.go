package mcp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The versions of the protocol. Up to 2025-11-25, a client initializes a session and says
// there what it can do. Since 2026-07-28 there is no session: each call says so in _meta,
// and repeats its method and the name of its tool in headers, for proxies. Versions are
// dates, so they compare as strings.
const (
	firstSessionless    = "2026-07-28" // the first version without sessions
	lastWithSessions    = "2025-11-25" // the newest version with them
	firstWithoutBatches = "2025-06-18" // since then, a body is one message
)

// versions are all that this door speaks, the newest first.
var versions = []string{firstSessionless, lastWithSessions, firstWithoutBatches, "2025-03-26", "2024-11-05"}

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// The codes of refusals inside the JSON-RPC envelope: those of JSON-RPC (-326xx and
// -32700), of the protocol (-32020 to -32042), and our own.
const (
	codeParse           = -32700
	codeInvalid         = -32600
	codeNoMethod        = -32601
	codeBadParams       = -32602
	codeInternal        = -32603
	codeHeaders         = -32020 // headers and body say different things
	codeNoVersion       = -32022
	codeNoResource      = -32002 // in versions with sessions; later ones have codeBadParams for it
	codeShowURL         = -32042 // a person must visit an address first
	codeThrottled       = -32004
	codeAccountDisabled = -32010
	codeAgreement       = -32011
)

// instructions apply to all tools, so that no tool repeats them.
const instructions = `Frontdesk keeps the contacts, customers, messages, invoices, tasks and domains of a business. ` +
	`Ids are UUIDs from earlier results, times RFC 3339 in UTC, money is in cents. ` +
	`Every list also takes limit (1 to 100, default 10), offset and sortOrder (newest first by default). Lists of a ` +
	`noun, such as contacts_list, take sortBy, ids, createdAfter, createdBefore, updatedAfter and updatedBefore too; ` +
	`to read one whole, send cursor "first", then each nextCursor. A filter by status takes one value or several. A ` +
	`query finds what has all its words, in any order. An update takes the fields of the tool that creates: what you ` +
	`leave out stays, null clears. A batch takes rows of the same fields. ` +
	`Answers are short: nothing null or empty, long texts cut, their length in …Length, of writes only what is new. ` +
	`Every tool takes view "full". leftOut says what is missing. ` +
	`When a call with an idempotencyKey fails or gets no answer, repeat it with the same key: nothing is done twice. ` +
	`A refused call answers {error: {code, message, details}}. A call that answers {status: "pending_approval"} ` +
	`waits for a person: give them approvalUrl, then call proposals_get; repeating it makes no second proposal.`

// serverInfo is how this server introduces itself.
var serverInfo = map[string]string{"name": "frontdesk", "title": "Frontdesk", "version": "1.0.0"}

// offeredCapabilities are what this server offers. Within a session, a call is told when the agent's tools changed.
func offeredCapabilities(sessions bool) map[string]any {
	tools := map[string]any{}
	if sessions {
		tools["listChanged"] = true
	}
	return map[string]any{"tools": tools, "prompts": map[string]any{}, "resources": map[string]any{},
		"extensions": map[string]any{cardExtension: map[string]any{"mimeTypes": []string{cardType}}}}
}

// method is a method of the protocol, and how it is answered.
type method struct {
	run             func(*Door, context.Context, *request) (result, error)
	needsParams     bool
	named           bool // params have a name or a uri, which the header Mcp-Name repeats
	onlySessions    bool // versions without sessions do not have it
	onlySessionless bool // versions with sessions do not have it
}

// methods are all that a client may call; notifications are accepted and ignored.
var methods = map[string]method{
	"initialize":      {run: (*Door).initializeSession, needsParams: true, onlySessions: true},
	"server/discover": {run: (*Door).discoverServer, onlySessionless: true},
	"ping":            {run: emptyResult, onlySessions: true},
	"logging/setLevel": {run: emptyResult, needsParams: true,
		onlySessions: true}, // there is nothing to be logged
	"tools/list":               {run: (*Door).listTools},
	"tools/call":               {run: (*Door).callTool, needsParams: true, named: true},
	"prompts/list":             {run: (*Door).listPrompts},
	"prompts/get":              {run: (*Door).getPrompt, needsParams: true, named: true},
	"resources/list":           {run: (*Door).listResources},
	"resources/templates/list": {run: (*Door).listTemplates},
	"resources/read":           {run: (*Door).readResource, needsParams: true, named: true},
}

// request is a message together with its sender and the HTTP request it came in.
type request struct {
	message
	in      params
	login   *grant.Login
	gate    *gate // why the account may not act now, if it may not
	view    view
	session string
	header  http.Header // of the HTTP request
	reply   http.Header // of its answer
}

// params are the parameters of all methods together. Other members are ignored.
type params struct {
	Meta struct {
		Version      string              `json:"'io.modelcontextprotocol/protocolVersion'"`
		Capabilities *clientCapabilities `json:"'io.modelcontextprotocol/clientCapabilities'"`

		ProgressToken jsontext.Value `json:"progressToken"` // by which the client wants to be told how a call goes on
	} `json:"_meta"`
	Cursor       string             `json:"cursor"`          // of lists
	Name         string             `json:"name"`            // of a tool or a prompt
	URI          string             `json:"uri"`             // of a resource
	Arguments    jsontext.Value     `json:"arguments"`       // for it
	RequestState string             `json:"requestState"`    // what an earlier answer to the same call gave along
	Version      string             `json:"protocolVersion"` // initialize
	Capabilities clientCapabilities `json:"capabilities"`    // initialize
}

// clientCapabilities are what matters here of what a client can do.
type clientCapabilities struct {
	Elicitation struct {
		URL *struct{} `json:"url"` // it can show a person an address
	} `json:"elicitation"`
}

func (q *request) protocolVersion() string { return q.header.Get(versionHeader) }

func (q *request) isSessionless() bool { return q.protocolVersion() >= firstSessionless }

// checkHeaders reports what is wrong with the headers of a POST, or 0. The protocol requires clients to accept JSON
// and a stream of events: which one an answer is, is decided while it is made (stream.go).
func checkHeaders(h http.Header) (status int, text string) {
	if bareMediaType(h.Get("Content-Type")) != "application/json" {
		return http.StatusUnsupportedMediaType, "Content-Type must be application/json."
	}
	if !acceptsType(h, "application/json") || !acceptsType(h, "text/event-stream") {
		return http.StatusBadRequest, "Accept must name application/json and text/event-stream."
	}
	v := h.Get(versionHeader)
	// checkVersionHeaders refuses later versions, with a list of those that there are.
	if v != "" && v < firstSessionless && !slices.Contains(versions, v) {
		return http.StatusBadRequest, versionHeader + " must be one of " + strings.Join(versions, ", ") + "."
	}
	return 0, ""
}

// acceptsType reports whether a client takes a kind of answer, such as text/html.
func acceptsType(h http.Header, kind string) bool {
	family, _, _ := strings.Cut(kind, "/")
	for _, value := range h.Values("Accept") {
		for one := range strings.SplitSeq(value, ",") {
			switch bareMediaType(one) {
			case kind, family + "/*", "*/*":
				return true
			}
		}
	}
	return false
}

// bareMediaType is a media type without its parameters.
func bareMediaType(text string) string {
	text, _, _ = strings.Cut(text, ";")
	return strings.ToLower(strings.TrimSpace(text))
}

// handleMessage answers a message, and returns the HTTP status for one that is not in a batch.
// A notification gets no answer, nor does a message that is itself an answer.
func (d *Door) handleMessage(ctx context.Context, q *request) (text []byte, status int) {
	out, err := d.dispatchMessage(ctx, q)
	switch {
	case err != nil:
		var refused *rpcError
		if errors.As(err, &refused) {
			return encodeFailure(q.id, refused), q.httpStatus(refused.Code)
		}
		d.Log.ErrorContext(ctx, "a message could not be answered", "method", q.method, "err", err)
		refused = newRPCError(codeInternal, "Something went wrong on our side. Retry in a moment.")
		return encodeFailure(q.id, refused), fault.FromError(err).Status
	case out == nil:
		return nil, http.StatusAccepted
	case q.isSessionless():
		if out["resultType"] == nil {
			out["resultType"] = "complete"
		}
		out.addMeta("io.modelcontextprotocol/serverInfo", serverInfo)
	}
	return encodeSuccess(q.id, out), http.StatusOK
}

// httpStatus is the HTTP status of a refusal. A message that was understood is answered with
// 200 even when it is refused, because older clients read no other body; the version
// without sessions gives some refusals a status of their own.
func (q *request) httpStatus(code int) int {
	switch {
	case code == codeInvalid, code == codeHeaders, code == codeNoVersion, code == codeBadParams && q.isSessionless():
		return http.StatusBadRequest
	case code == codeNoMethod && q.isSessionless():
		return http.StatusNotFound
	}
	return http.StatusOK
}

// dispatchMessage checks a message and runs its method.
func (d *Door) dispatchMessage(ctx context.Context, q *request) (result, error) {
	notification := strings.HasPrefix(q.method, "notifications/")
	switch {
	// First, because nothing else about the message matters then.
	case q.gate != nil && q.id != nil && q.method != "" && q.method != "ping":
		d.metrics.refused.WithLabelValues(q.gate.name).Inc()
		return nil, q.gate.asRPCError()
	case q.jsonrpc != "2.0":
		return nil, newRPCError(codeInvalid, "jsonrpc must be 2.0.")
	case q.id == nil && notification, q.id != nil && q.method == "":
		return nil, nil
	case q.id == nil:
		return nil, newRPCError(codeInvalid, "A call needs an id.")
	}
	m, ok := methods[q.method]
	if !ok {
		return nil, q.methodNotFound()
	}
	if q.params == nil && m.needsParams {
		return nil, newRPCError(codeInvalid, "%s needs params.", q.method)
	}
	if q.params != nil {
		if err := json.Unmarshal(q.params, &q.in, lenient); err != nil {
			return nil, newRPCError(codeBadParams, "params: %v.", err)
		}
	}
	if err := q.checkVersionHeaders(m); err != nil {
		return nil, err
	}
	if m.onlySessions && q.isSessionless() || m.onlySessionless && !q.isSessionless() {
		return nil, q.methodNotFound()
	}
	return m.run(d, ctx, q)
}

func (q *request) methodNotFound() error {
	return newRPCError(codeNoMethod, "There is no method %q.", q.method)
}

// checkVersionHeaders compares what a call says in _meta and params with its headers: a proxy
// may have decided by the headers.
func (q *request) checkVersionHeaders(m method) error {
	version, meta := q.protocolVersion(), &q.in.Meta
	switch {
	case meta.Version == "" && !q.isSessionless():
		return nil
	case meta.Version == "":
		return newRPCError(codeBadParams, "_meta must have io.modelcontextprotocol/protocolVersion.")
	case meta.Version != version:
		return newRPCError(codeHeaders, "%s must be %q, like the version in _meta.", versionHeader, meta.Version)
	case !q.isSessionless():
		return nil
	case !slices.Contains(versions, version):
		e := newRPCError(codeNoVersion, "There is no version %q here.", version)
		e.Data = map[string]any{"supported": versions, "requested": version}
		return e
	case q.header.Get(methodHeader) != q.method:
		return newRPCError(codeHeaders, "%s must be %q, like the method.", methodHeader, q.method)
	case m.named && q.header.Get(nameHeader) != q.in.Name+q.in.URI: // params have one of them
		return newRPCError(codeHeaders, "%s must be %q, as in params.", nameHeader, q.in.Name+q.in.URI)
	case meta.Capabilities == nil:
		return newRPCError(codeBadParams, "_meta must have io.modelcontextprotocol/clientCapabilities.")
	}
	return nil
}

// initializeSession begins a session. A client that wants a version that this door does not
// speak is offered the newest one with sessions, and may leave.
func (d *Door) initializeSession(ctx context.Context, q *request) (result, error) {
	if q.session == "" {
		session, err := d.Grants.OpenSession(ctx, q.login, q.in.Capabilities.Elicitation.URL != nil)
		if err != nil {
			return nil, err
		}
		q.reply.Set(sessionHeader, session)
	}
	version := q.in.Version
	if version >= firstSessionless || !slices.Contains(versions, version) {
		version = lastWithSessions
	}
	return result{"protocolVersion": version, "capabilities": offeredCapabilities(true),
		"instructions": instructions, "serverInfo": serverInfo}, nil
}

// discoverServer answers what initialize does, for versions without sessions.
func (d *Door) discoverServer(context.Context, *request) (result, error) {
	return markPrivate(result{"supportedVersions": versions, "capabilities": offeredCapabilities(false),
		"instructions": instructions}), nil
}

func emptyResult(*Door, context.Context, *request) (result, error) { return result{}, nil }

// listTools answers tools/list, and notes what the session was told of, so that a later call can say that it changed.
func (d *Door) listTools(ctx context.Context, q *request) (result, error) {
	if err := d.noteListed(ctx, q); err != nil {
		return nil, err
	}
	return q.listResult("tools", d.visibleTools(q.view, q.login.Caller))
}

// listResult answers a list method with everything on one page. Clients put all pages before
// their model anyway.
func (q *request) listResult(what string, items []byte) (result, error) {
	if q.in.Cursor != "" {
		return nil, newRPCError(codeBadParams, "No page has the cursor %q.", q.in.Cursor)
	}
	return markPrivate(result{what: jsontext.Value(items)}), nil
}

// markPrivate marks an answer as valid for this agent only and not to be cached.
func markPrivate(r result) result {
	r["ttlMs"], r["cacheScope"] = 0, "private"
	return r
}
