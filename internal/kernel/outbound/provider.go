package outbound

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
)

// The bounds of one request to a provider.
const (
	providerTime  = 10 * time.Second
	providerBytes = 32 << 20
)

// ProviderConfig is how to reach an API that the operator chose.
type ProviderConfig struct {
	Name    string            // what errors call it
	URL     string            // the base of all paths
	Headers map[string]string // sent with every request
	Timeout time.Duration     // of one request; by default 10 seconds
}

// Provider is a client for a JSON API that the operator chose, and that may therefore be anywhere, this machine
// included.
type Provider struct {
	name    string
	base    string
	headers map[string]string
	http    *http.Client
}

// NewProvider returns a client for an API.
func NewProvider(c ProviderConfig) *Provider {
	return &Provider{name: c.Name, base: strings.TrimSuffix(c.URL, "/"), headers: c.Headers, http: &http.Client{
		Timeout:       cmp.Or(c.Timeout, providerTime),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// WithHeader returns a copy of the provider that sends one more header with every request.
func (p *Provider) WithHeader(header, value string) *Provider {
	out := *p
	out.headers = maps.Clone(p.headers)
	out.headers[header] = value
	return &out
}

// StatusError is an answer with a status of 300 or above.
type StatusError struct {
	Provider string
	Status   int
	Body     []byte
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s: answered %d", e.Provider, e.Status) }

// Field is the text of one field in the body, for example a message; without it, the text of the status.
func (e *StatusError) Field(name string) string {
	said := map[string]any{}
	if err := json.Unmarshal(e.Body, &said); err == nil {
		if text, ok := said[name].(string); ok && text != "" {
			return text
		}
	}
	return http.StatusText(e.Status)
}

// Call sends in, as a form if it is url.Values and otherwise as JSON, and reads the answer into out. Either may be nil.
// A status of 300 or above is a *StatusError; any other error leaves open whether the provider acted.
func (p *Provider) Call(ctx context.Context, method, path string, in, out any) error {
	if db.InTransaction(ctx) {
		panic("outbound: " + p.name + " called inside a transaction")
	}
	req, err := p.newRequest(ctx, method, path, in)
	if err != nil {
		return fmt.Errorf("%s: %s %s: %w", p.name, method, path, err)
	}
	res, err := p.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, providerBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", p.name, err)
	case len(text) > providerBytes:
		return fmt.Errorf("%s: %w", p.name, ErrTooLarge)
	case res.StatusCode >= 300:
		return &StatusError{p.name, res.StatusCode, text}
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s: %s %s: %w", p.name, method, path, err)
	}
	return nil
}

// newRequest builds the request for Call.
func (p *Provider) newRequest(ctx context.Context, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	kind := "application/json"
	if form, ok := in.(url.Values); ok {
		kind, body = "application/x-www-form-urlencoded", strings.NewReader(form.Encode())
	} else if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "frontdesk")
	if in != nil {
		req.Header.Set("Content-Type", kind)
	}
	for name, value := range p.headers {
		req.Header.Set(name, value)
	}
	return req, nil
}
