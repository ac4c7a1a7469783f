// Package frontdesk is the API of a Frontdesk server: contacts, customers,
// tasks, messages, invoices, files, domains and what else there is.
//
//	client := frontdesk.New("https://frontdesk.example", "fd_…")
//	contact, err := client.Contacts.Create(ctx, frontdesk.ContactCreateInput{
//		FirstName: frontdesk.Set("Ada"),
//	})
//
// Calls that fail for a while are tried again, without a second effect. The
// methods and types are in generated.go; everything else is written by hand.
package frontdesk

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Version is that of this library.
const Version = "0.1.0"

// longestWait is how long a Retry-After may ask for.
const longestWait = 60 * time.Second

// New makes a client. An empty baseURL or apiKey stands for the environment's
// FRONTDESK_URL or FRONTDESK_API_KEY. It may be used by many goroutines.
func New(baseURL, apiKey string, options ...Option) *Client {
	c := &caller{
		baseURL: strings.TrimRight(cmp.Or(baseURL, os.Getenv("FRONTDESK_URL")), "/"),
		settings: settings{http: http.DefaultClient, maxRetries: 4, retryDelay: 500 * time.Millisecond,
			timeout: time.Minute, header: http.Header{}},
	}
	key := cmp.Or(apiKey, os.Getenv("FRONTDESK_API_KEY"))
	switch {
	case c.baseURL == "":
		c.err = errors.New("frontdesk: give a base URL, or set FRONTDESK_URL")
	case key == "":
		c.err = errors.New("frontdesk: give an API key, or set FRONTDESK_API_KEY")
	}
	c.settings.header.Set("Authorization", "Bearer "+key)
	c.settings.header.Set("User-Agent", "frontdesk-go/"+Version)
	for _, o := range options {
		o(&c.settings)
	}
	own := *c.settings.http
	// A redirect would make a GET of a POST.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.settings.http = &own
	return newClient(c)
}

// Option is a setting of a client, or of a single call.
type Option func(*settings)

type settings struct {
	http       *http.Client
	maxRetries int
	retryDelay time.Duration
	timeout    time.Duration
	timeoutSet bool
	header     http.Header
	key        string
	response   *Response
}

// WithHTTPClient is used instead of http.DefaultClient.
func WithHTTPClient(c *http.Client) Option { return func(s *settings) { s.http = c } }

// WithMaxRetries is how often a call that failed for a while is tried again; 4
// by default.
func WithMaxRetries(n int) Option { return func(s *settings) { s.maxRetries = n } }

// WithRetryDelay is how long the first further try waits, half a second by
// default. Each one after it waits twice as long.
func WithRetryDelay(d time.Duration) Option { return func(s *settings) { s.retryDelay = d } }

// WithTimeout bounds one try; a minute by default. Downloads have no bound, and
// uploads only if the call is given one. The context bounds all tries together.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) { s.timeout, s.timeoutSet = d, true }
}

// WithHeader sends a header of your own.
func WithHeader(name, value string) Option { return func(s *settings) { s.header.Set(name, value) } }

// WithIdempotencyKey is a key of your own, so that a call happens once even when
// your program starts anew. Only for a single call.
func WithIdempotencyKey(key string) Option { return func(s *settings) { s.key = key } }

// WithIfMatch changes something only if its ETag is still this one. Only for a
// single call.
func WithIfMatch(etag string) Option { return WithHeader("If-Match", etag) }

// WithResponse stores what is known of the answer beside its content: its ETag,
// for example.
func WithResponse(into *Response) Option { return func(s *settings) { s.response = into } }

// Response is an answer without its content.
type Response struct {
	Status    int
	Header    http.Header
	RequestID string
}

// Request is a call that the generated methods do not know.
type Request struct {
	Method string
	Path   string // /v1/contacts
	Query  url.Values
	Body   any    // sent as JSON, unless it is nil
	Form   []Part // sent as multipart/form-data
}

// caller makes calls, whatever they are about.
type caller struct {
	baseURL string
	err     error // what is missing
	settings
}

// Call makes any call, and decodes the data of its answer into out.
func (c *caller) Call(ctx context.Context, r Request, out any, options ...Option) error {
	return c.send(ctx, r, options, func(answer *http.Response) error {
		return decode(answer, &struct {
			Data any `json:"data"`
		}{out})
	})
}

// decode reads an answer to its end. One without content leaves out as it is.
func decode(answer *http.Response, out any) error {
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || len(text) == 0 {
		return err
	}
	return json.Unmarshal(text, out)
}

func call[T any](ctx context.Context, c *caller, r Request, options []Option) (*T, error) {
	var out T
	if err := c.Call(ctx, r, &out, options...); err != nil {
		return nil, err
	}
	return &out, nil
}

// send makes a call until it has an answer, or further tries make no sense.
func (c *caller) send(ctx context.Context, r Request, options []Option, read func(*http.Response) error) error {
	if c.err != nil {
		return c.err
	}
	for _, segment := range strings.Split(r.Path, "/")[1:] {
		if segment == "" || segment == "." || segment == ".." {
			return fmt.Errorf("frontdesk: the path %s has an id that is none", r.Path)
		}
	}
	s := c.settings
	s.header, s.timeoutSet = maps.Clone(s.header), false
	for _, o := range options {
		o(&s)
	}
	if r.Method == http.MethodPost && r.Form == nil {
		s.header.Set("Idempotency-Key", cmp.Or(s.key, newKey()))
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return fmt.Errorf("frontdesk: the input: %w", err)
		}
		s.header.Set("Content-Type", "application/json")
	}
	if r.Form != nil && !s.timeoutSet {
		s.timeout = 0
	}
	unknown := false // whether an earlier try may have done its work
	for attempt := 0; ; attempt++ {
		err := c.attempt(ctx, r, &s, body, read)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if unknown && r.Method == http.MethodDelete && errors.Is(err, CodeNotFound) {
			return nil // the try before has deleted it
		}
		refused := wasRefused(err)
		again := refused && rewind(r.Form) || isUnknown(err) && r.Form == nil && s.header.Get("If-Match") == ""
		wait := backoff(s.retryDelay, attempt)
		var e *Error
		if errors.As(err, &e) && e.RetryAfter > 0 {
			wait = e.RetryAfter
		}
		if !again || wait > longestWait || attempt >= s.maxRetries {
			return err
		}
		unknown = unknown || !refused
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// attempt is one try, its answer read to the end.
func (c *caller) attempt(ctx context.Context, r Request, s *settings, body []byte,
	read func(*http.Response) error) error {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	address := c.baseURL + r.Path
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	var content io.Reader
	if r.Body != nil {
		content = bytes.NewReader(body)
	}
	header := s.header
	if r.Form != nil {
		stream, kind := encodeForm(r.Form)
		defer stream.Close()
		content, header = stream, maps.Clone(header)
		header.Set("Content-Type", kind)
	}
	q, err := http.NewRequestWithContext(ctx, r.Method, address, content)
	if err != nil {
		return fmt.Errorf("frontdesk: %w", err)
	}
	q.Header = header
	answer, err := s.http.Do(q)
	if err != nil {
		return &ConnectionError{Err: err}
	}
	if s.response != nil {
		*s.response = Response{answer.StatusCode, answer.Header, answer.Header.Get("X-Request-Id")}
	}
	if answer.StatusCode >= 300 {
		defer answer.Body.Close()
		return errorOf(answer)
	}
	if err := read(answer); err != nil {
		answer.Body.Close()
		return &ConnectionError{Err: err, RequestID: answer.Header.Get("X-Request-Id")}
	}
	return nil
}

// wasRefused reports whether nothing happened, and the same may work later.
func wasRefused(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == http.StatusTooManyRequests || e.Code == CodeServiceUnavailable ||
		e.Code == CodeIdempotencyKeyInFlight)
}

// isUnknown reports whether it is not known what happened.
func isUnknown(err error) bool {
	var lost *ConnectionError
	var e *Error
	return errors.As(err, &lost) || errors.As(err, &e) && (e.Status >= 500 || e.Status == http.StatusRequestTimeout)
}

// backoff is between half of the delay and all of it.
func backoff(delay time.Duration, attempt int) time.Duration {
	d := min(8*time.Second, delay<<min(attempt, 20))
	return d/2 + mathrand.N(d/2+1)
}

func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
