// Package rest is the door for programs: JSON over HTTP under /v1, with an API
// key. It identifies the caller, applies the rate limit, finds the route (router.go)
// and takes the request apart. op.Runner does everything after that: permissions,
// validation, idempotency, the transaction and the events.
//
// A few operations are public (public.go): their path has a token instead of a key.
// Uploads and downloads are streams with a deadline that progress extends (stream.go).
// The door knows no operation by name; it mounts whatever the catalog declares for
// REST. Every refusal is written in one place, Door.writeRefusal, which also logs what
// is not the caller's fault.
//
// Start reading at Door.ServeHTTP, which follows the order of checks.
package rest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/peer"
)

// MaxBody is the largest JSON body.
const MaxBody = 1 << 20

// Door serves every operation that is declared for REST.
type Door struct {
	Runner   *op.Runner
	Accounts *account.Accounts
	Log      *slog.Logger
	// Limits are requests per minute by plan.
	Limits map[string]int
	// PublicLimit is requests per minute and IP address to public operations.
	PublicLimit int
	Proxies     peer.Proxies
	// Pace is how long 64 KiB of a stream may take; 60 seconds if zero.
	Pace time.Duration

	routes  routeNode
	limiter limit.LeasedLimiter[id.ID] // by organization
	public  publicRoutes
	metrics *metrics
}

// Mount adds the operations of the catalog that are declared for REST.
func (d *Door) Mount(c *op.Catalog) {
	d.metrics = newMetrics()
	d.limiter.Name, d.limiter.Ledger, d.limiter.Per = "requests", limit.NewLedger(d.Runner.DB), time.Minute
	for _, o := range c.All() {
		if o.Doors&op.RESTDoor == 0 || o.Path == "" {
			continue
		}
		r := &route{o, d.metrics.forOperation(o.Name)}
		if o.Public {
			d.public.addRoute(r)
		} else {
			d.routes.addRoute(r)
		}
	}
}

// ServeHTTP answers one request, in this order of checks: request id, key, rate
// limit, account, agreement, route; and then the Runner's, which begin with the
// permission.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	request := string(id.NewRequestID())
	h := w.Header()
	h["X-Request-ID"] = []string{request}
	defer d.answerPanic(w, r, request)
	rt, status := d.serveOperation(w, r, request)
	if rt != nil {
		rt.observeRequest(status, time.Since(began))
	} else {
		d.metrics.countRefused(status)
	}
	if d.Log.Enabled(r.Context(), slog.LevelDebug) {
		d.Log.DebugContext(r.Context(), "request", "trace_id", request, "method", r.Method, "path",
			redactPath(r.URL.Path),
			"status", status, "took", time.Since(began))
	}
}

// answerPanic answers 500 after a panic that no transaction caught. It is deferred, so
// recover works here.
func (d *Door) answerPanic(w http.ResponseWriter, r *http.Request, request string) {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler: // from abortConnection: the answer must not look complete
		panic(v)
	default:
		d.metrics.countRefused(d.writeRefusal(w, r, request, &db.PanicError{Value: v, Stack: debug.Stack()}))
	}
}

// serveOperation answers a request and returns its route, or nil if it reached none, and the
// status.
func (d *Door) serveOperation(w http.ResponseWriter, r *http.Request, request string) (*route, int) {
	refuse := func(rt *route, err error) (*route, int) { return rt, d.writeRefusal(w, r, request, err) }
	var buffer [4]string // room for the path's values, so that most requests allocate none
	caller, node, values, err := d.identifyAndRoute(w, r, buffer[:0])
	if err != nil {
		return refuse(nil, err)
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	rt := node.methods[method]
	if rt == nil {
		w.Header().Set("Allow", node.allow)
		return refuse(nil, fault.MethodNotAllowed.Say("This path accepts %s.", node.allow))
	}
	q := op.Request{Caller: caller, Door: op.RESTDoor, ID: request, Path: values}
	// What is wrong with the request is answered by the Runner, after the permission: a
	// caller without it learns nothing else.
	q.Malformed = d.parsePathAndQuery(w, r, rt.op, &q)
	if key, ok := r.Header["Idempotency-Key"]; ok {
		q.Key, q.HasKey = key[0], true
	}
	q.IfMatch = r.Header.Get("If-Match")
	if method == http.MethodPost {
		q.UseAllowance = func(more int) error { return d.spendRequests(r.Context(), w.Header(), caller, more) }
	}
	if rt.op.TakesStream() {
		q.Stream = &op.Stream{Reader: d.newPacedReader(w, r), ContentType: r.Header.Get("Content-Type"),
			Length: r.ContentLength,
			Head:   r.Method == http.MethodHead}
	} else if mayHaveBody(method) {
		buf := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(buf)
		q.Body = func() ([]byte, error) { return readLimitedBody(w, r, buf) }
	}
	answer, err := d.Runner.Do(r.Context(), rt.op, q)
	if err != nil {
		return refuse(rt, err)
	}
	return rt, d.writeAnswer(w, r, &q, rt.op, answer)
}

// parsePathAndQuery decodes the path's values and the query into q, and returns what is wrong
// with the request before its body is read.
func (d *Door) parsePathAndQuery(w http.ResponseWriter, r *http.Request, o *op.Op, q *op.Request) (err error) {
	if err := checkContentType(o, r); err != nil {
		return err
	}
	for i, s := range q.Path {
		if q.Path[i], err = url.PathUnescape(s); err != nil {
			return fault.BadInput.Say("The path is not well formed.")
		}
	}
	if r.URL.RawQuery == "" {
		return nil
	}
	if q.Query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return malformedQuery(err)
	}
	nameIgnoredParameters(w.Header(), o, q.Query)
	return o.CheckView(q.Query)
}

// maxIgnoredNamed bounds how many ignored parameters the header names.
const maxIgnoredNamed = 20

// nameIgnoredParameters lists unknown query parameters in a header: without it, a misspelt filter
// would look like a filter that matches everything.
func nameIgnoredParameters(h http.Header, o *op.Op, query url.Values) {
	var names []string
	for name := range query {
		if !o.HasQueryField(name) && (name != op.ViewParameter || !o.HasShortForm()) {
			names = append(names, url.QueryEscape(name))
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		h.Set("X-Ignored-Parameters", strings.Join(names[:min(len(names), maxIgnoredNamed)], ", "))
	}
}

// malformedQuery says why a query string cannot be parsed.
func malformedQuery(err error) error {
	return (*fault.Tree)(nil).Add("The query is not well formed: " + err.Error()).Fault(fault.BadInput)
}

// NotFound answers a program that asks for a path that no door serves.
func (d *Door) NotFound(w http.ResponseWriter, r *http.Request) {
	request := string(id.NewRequestID())
	w.Header()["X-Request-ID"] = []string{request}
	d.metrics.countRefused(d.writeRefusal(w, r, request, pathNotFound()))
}

// Allowance tells how many requests an organization has left.
func (d *Door) Allowance(ctx context.Context, tx *db.Tx, org id.ID, plan string) (limit.Verdict, error) {
	return d.limiter.Peek(ctx, tx, org, d.Limits[plan], time.Now())
}

// identifyAndRoute finds out who calls and what is at the path: with a key, after its rate
// limit and the state of its account; for a public operation, after the
// address's limit.
func (d *Door) identifyAndRoute(w http.ResponseWriter, r *http.Request, values []string) (*op.Caller, *routeNode,
	[]string, error) {
	if !strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != "/v1" {
		node, values, err := d.admitPublic(w, r)
		return publicCaller, node, values, err
	}
	login, err := d.loginByHeader(r)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := d.spendRequests(r.Context(), w.Header(), login.Caller, 1); err != nil {
		return nil, nil, nil, err
	}
	if err := login.Refused(); err != nil {
		return nil, nil, nil, err
	}
	node, values := d.routes.findNode(r.URL.EscapedPath(), values)
	if node == nil {
		return nil, nil, nil, pathNotFound()
	}
	return login.Caller, node, values, nil
}

// spendRequests takes requests from an organization's allowance and shows what is left in the
// headers. A batch takes one for each of its rows (op.Request.UseAllowance).
func (d *Door) spendRequests(ctx context.Context, h http.Header, c *op.Caller, times int) error {
	v := d.limiter.SpendMany(ctx, c.Organization, times, d.Limits[c.Plan], time.Now())
	setLimitHeaders(v, h)
	if v.OK {
		return nil
	}
	f := fault.RateLimited.New()
	f.RetryAfter = v.Retry
	return f
}

func (d *Door) loginByHeader(r *http.Request) (*account.Login, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, fault.Unauthorized.New()
	}
	return d.Accounts.LoginByKey(r.Context(), strings.TrimSpace(token))
}

// mayHaveBody reports whether requests of a method have a body.
func mayHaveBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// checkContentType requires application/json for a body, or multipart/form-data
// for a form. An action that needs no input may come without either.
func checkContentType(o *op.Op, r *http.Request) error {
	if !mayHaveBody(r.Method) || o.TakesStream() && !o.IsForm() {
		return nil
	}
	header := r.Header.Get("Content-Type")
	if o.IsForm() {
		if kind, _, err := mime.ParseMediaType(header); err != nil || kind != "multipart/form-data" {
			return fault.BadInput.Say("Content-Type must be multipart/form-data.")
		}
		return nil
	}
	if header == "application/json" || header == "" && r.ContentLength == 0 && o.MayOmitBody() {
		return nil
	}
	if kind, params, err := mime.ParseMediaType(header); err == nil && kind == "application/json" {
		if c := params["charset"]; c == "" || strings.EqualFold(c, "utf-8") {
			return nil
		}
	}
	return fault.BadInput.Say("Content-Type must be application/json.")
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readLimitedBody reads a body of at most MaxBody into buf. The result is valid until buf goes
// back to the pool.
func readLimitedBody(w http.ResponseWriter, r *http.Request, buf *bytes.Buffer) ([]byte, error) {
	buf.Reset()
	tooLarge := fault.TooLarge.Say("The request body is larger than 1 MiB.")
	if r.ContentLength > MaxBody {
		return nil, tooLarge
	}
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, MaxBody)); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, tooLarge
		}
		f := fault.BadInput.Because(err)
		f.Text = "The request body broke off."
		return nil, f
	}
	return buf.Bytes(), nil
}

var jsonType = []string{"application/json"}

func writeResponse(w http.ResponseWriter, status int, body []byte) int {
	h := w.Header()
	if body != nil {
		h["Content-Type"] = jsonType
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	h["Cache-Control"] = noStore
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client is gone
	return status
}

var noStore = []string{"no-store"}

// writeAnswer writes the answer of an operation. A resource that has a version gets an ETag,
// and a GET whose client has that version is answered 304. The version is of the whole answer, whatever
// the view.
func (d *Door) writeAnswer(w http.ResponseWriter, r *http.Request, q *op.Request, o *op.Op, a op.Answer) int {
	if a.Replay {
		w.Header()["Idempotency-Replay"] = []string{"true"}
	}
	if a.Content != nil {
		return d.serveContent(w, r, q.ID, a.Content)
	}
	if version := o.Version(a.Body); version != "" {
		tag := `"` + version + `"`
		w.Header()["Etag"] = []string{tag}
		if r.Method == http.MethodGet && r.Header.Get("If-None-Match") == tag {
			return writeResponse(w, http.StatusNotModified, nil)
		}
	}
	if o.HasShortForm() && q.Query.Get(op.ViewParameter) == op.ShortView {
		a.Body = o.Shorten(a.Body)
	}
	return writeResponse(w, a.Status, a.Body)
}

// writeRefusal writes the error envelope. An error that is not a refusal is logged
// once, here, and the caller learns only the request id.
func (d *Door) writeRefusal(w http.ResponseWriter, r *http.Request, request string, err error) int {
	f := fault.FromError(err)
	if r.Context().Err() != nil && f.Kind == fault.Internal {
		f = fault.Unavailable.Because(err) // the client hung up
	}
	switch f.Kind {
	case fault.Internal:
		d.Log.ErrorContext(r.Context(), "request failed", "trace_id", request, "method", r.Method, "path",
			redactPath(r.URL.Path), "err", err)
	case fault.Unavailable, fault.OutcomeUnknown:
		d.Log.WarnContext(r.Context(), "request turned away", "trace_id", request, "method", r.Method, "path",
			redactPath(r.URL.Path), "err", err)
	case fault.Unauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if wait := f.RetryDelay(); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(limit.CeilSeconds(wait)))
	}
	body, encodeErr := op.ErrorBody(f)
	if encodeErr != nil {
		d.Log.ErrorContext(r.Context(), "a refusal could not be encoded", "trace_id", request, "err", encodeErr)
		body = []byte(`{"error":{"code":"INTERNAL_ERROR","message":"Something went wrong on our side."}}`)
	}
	return writeResponse(w, f.Status, body)
}
