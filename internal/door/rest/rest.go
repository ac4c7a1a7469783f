// Package rest is the door for programs: JSON over HTTP under /v1, with an
// API key. It knows who calls, spends the rate limit, finds the route and
// takes the request apart; everything after that is the Runner's.
//
// Start reading at Door.ServeHTTP, which follows the order of checks.
package rest

import (
	"bytes"
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

// Door serves every operation that REST may enter.
type Door struct {
	Runner   *op.Runner
	Accounts *account.Accounts
	Log      *slog.Logger
	// Limits are requests per minute by plan.
	Limits map[string]int
	// PublicLimit is requests per minute and address to what needs no key.
	PublicLimit int
	Proxies     peer.Proxies
	// Pace is how long 64 KiB of a stream may take; 60 seconds when zero.
	Pace time.Duration

	routes  router
	limiter limit.Limiter[id.ID] // by organization
	public  public
	metrics *metrics
}

// Mount adds the operations.
func (d *Door) Mount(c *op.Catalog) {
	d.metrics = newMetrics()
	for _, o := range c.All() {
		if o.Doors&op.REST == 0 || o.Path == "" {
			continue
		}
		r := &route{o, d.metrics.figures(o.Name)}
		if o.Public {
			d.public.add(r)
		} else {
			d.routes.add(r)
		}
	}
}

// ServeHTTP answers one request, in this order of checks: request id, key, rate limit, account, agreement, route, permission,
// content type, and then the Runner.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	request := string(id.New())
	h := w.Header()
	h["X-Request-ID"] = []string{request}
	defer d.recover(w, r, request)
	rt, status := d.serve(w, r, request)
	if rt != nil {
		rt.observe(status, time.Since(began))
	} else {
		d.metrics.refused(status)
	}
	if d.Log.Enabled(r.Context(), slog.LevelDebug) {
		d.Log.DebugContext(r.Context(), "request", "trace_id", request, "method", r.Method, "path", redacted(r.URL.Path), "status", status, "took", time.Since(began))
	}
}

// recover answers for a mistake of ours that no transaction caught.
func (d *Door) recover(w http.ResponseWriter, r *http.Request, request string) {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler: // an answer that must not look whole
		panic(v)
	default:
		d.metrics.refused(d.refuse(w, r, request, &db.PanicError{Value: v, Stack: debug.Stack()}))
	}
}

func (d *Door) serve(w http.ResponseWriter, r *http.Request, request string) (*route, int) {
	refuse := func(rt *route, err error) (*route, int) { return rt, d.refuse(w, r, request, err) }
	var buffer [4]string
	caller, node, values, err := d.enter(w, r, buffer[:0])
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
		return refuse(nil, fault.MethodNotAllowed.Say("This path takes %s.", node.allow))
	}
	if err := rt.op.Permit(caller, op.REST); err != nil {
		return refuse(rt, err)
	}
	if err := checkContentType(rt.op, r); err != nil {
		return refuse(rt, err)
	}
	for i, s := range values {
		if values[i], err = url.PathUnescape(s); err != nil {
			return refuse(rt, fault.BadInput.Say("The path is not well formed."))
		}
	}
	q := op.Request{Caller: caller, Door: op.REST, ID: request, Path: values}
	if r.URL.RawQuery != "" {
		if q.Query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			return refuse(rt, badQuery(err))
		}
		tellIgnored(w.Header(), rt.op, q.Query)
	}
	if key, ok := r.Header["Idempotency-Key"]; ok {
		q.Key, q.HasKey = key[0], true
	}
	if rt.op.Streams() {
		q.Stream = &op.Stream{Reader: d.pacedReader(w, r), ContentType: r.Header.Get("Content-Type"), Length: r.ContentLength, Head: r.Method == http.MethodHead}
	} else if takesJSON(method) {
		buf := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(buf)
		q.Body = func() ([]byte, error) { return readBody(w, r, buf) }
	}
	answer, err := d.Runner.Do(r.Context(), rt.op, q)
	if err != nil {
		return refuse(rt, err)
	}
	return rt, d.answer(w, r, request, answer)
}

// maxIgnored bounds how many parameters are named.
const maxIgnored = 20

// tellIgnored names the parameters that mean nothing here: a misspelt filter
// would otherwise look like one that finds everything.
func tellIgnored(h http.Header, o *op.Op, query url.Values) {
	var names []string
	for name := range query {
		if !o.TakesQuery(name) {
			names = append(names, url.QueryEscape(name))
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		h.Set("X-Ignored-Parameters", strings.Join(names[:min(len(names), maxIgnored)], ", "))
	}
}

// badQuery says why a query string cannot be read.
func badQuery(err error) error {
	return (*fault.Tree)(nil).Add("The query is not well formed: " + err.Error()).Fault(fault.BadInput)
}

// NotFound answers a program that asks for a path which nobody serves.
func (d *Door) NotFound(w http.ResponseWriter, r *http.Request) {
	request := string(id.New())
	w.Header()["X-Request-ID"] = []string{request}
	d.metrics.refused(d.refuse(w, r, request, noPath()))
}

// Allowance tells what is left of an organization's requests, as this process
// counts them.
func (d *Door) Allowance(org id.ID, plan string) limit.Verdict {
	return d.limiter.Look(org, d.Limits[plan], time.Minute, time.Now())
}

// enter tells who calls and what is at the path: for a key, after its rate
// limit and its account's state; for what is public, after its address's.
func (d *Door) enter(w http.ResponseWriter, r *http.Request, values []string) (*op.Caller, *router, []string, error) {
	if !strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != "/v1" {
		node, values, err := d.admit(w, r)
		return anyone, node, values, err
	}
	login, err := d.login(r)
	if err != nil {
		return nil, nil, nil, err
	}
	v := d.limiter.Spend(login.Caller.Organization, d.Limits[login.Caller.Plan], time.Minute, time.Now())
	headers(v, w.Header())
	if !v.OK {
		f := fault.RateLimited.New()
		f.RetryAfter = v.Retry
		return nil, nil, nil, f
	}
	if err := login.Refused(); err != nil {
		return nil, nil, nil, err
	}
	node, values := d.routes.find(r.URL.EscapedPath(), values)
	if node == nil {
		return nil, nil, nil, noPath()
	}
	return login.Caller, node, values, nil
}

func (d *Door) login(r *http.Request) (*account.Login, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, fault.Unauthorized.New()
	}
	return d.Accounts.ByKey(r.Context(), strings.TrimSpace(token))
}

func takesJSON(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// checkContentType wants application/json for a body, or multipart/form-data
// for a form; an action that needs no input may come with neither.
func checkContentType(o *op.Op, r *http.Request) error {
	if !takesJSON(r.Method) || o.Streams() && !o.IsForm() {
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

func readBody(w http.ResponseWriter, r *http.Request, buf *bytes.Buffer) ([]byte, error) {
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

func send(w http.ResponseWriter, status int, body []byte) int {
	h := w.Header()
	if body != nil {
		h["Content-Type"] = jsonType
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	h["Cache-Control"] = noStore
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client is gone; nothing is left to say
	return status
}

var noStore = []string{"no-store"}

func (d *Door) answer(w http.ResponseWriter, r *http.Request, request string, a op.Answer) int {
	if a.Replay {
		w.Header()["Idempotency-Replay"] = []string{"true"}
	}
	if a.Content != nil {
		return d.serveContent(w, r, request, a.Content)
	}
	return send(w, a.Status, a.Body)
}

// refuse writes the error envelope. What is not a refusal of ours is logged
// once, here, and the caller learns only the request id.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, request string, err error) int {
	f := fault.Of(err)
	if r.Context().Err() != nil && f.Kind == fault.Internal {
		f = fault.Unavailable.Because(err) // the client hung up
	}
	switch f.Kind {
	case fault.Internal:
		d.Log.ErrorContext(r.Context(), "request failed", "trace_id", request, "method", r.Method, "path", redacted(r.URL.Path), "err", err)
	case fault.Unavailable, fault.OutcomeUnknown:
		d.Log.WarnContext(r.Context(), "request turned away", "trace_id", request, "method", r.Method, "path", redacted(r.URL.Path), "err", err)
	case fault.Unauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if wait := f.Wait(); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(limit.Seconds(wait)))
	}
	body, encodeErr := op.ErrorBody(f)
	if encodeErr != nil {
		d.Log.ErrorContext(r.Context(), "a refusal could not be written", "trace_id", request, "err", encodeErr)
		body = []byte(`{"error":{"code":"INTERNAL_ERROR","message":"Something went wrong on our side."}}`)
	}
	return send(w, f.Status, body)
}
