package outbound

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
)

// Bounds of one exchange with a provider.
const (
	providerTime  = 10 * time.Second
	providerBytes = 32 << 20
)

// Provider speaks JSON with an API that the operator chose, and which may
// therefore be anywhere, this machine included.
type Provider struct {
	name    string
	base    string
	headers map[string]string
	http    *http.Client
}

// NewProvider prepares a client for the API below base. The headers go with
// every request; name is for errors.
func NewProvider(name, base string, headers map[string]string) *Provider {
	return &Provider{name: name, base: strings.TrimSuffix(base, "/"), headers: headers, http: &http.Client{Timeout: providerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// StatusError is an answer that is no success.
type StatusError struct {
	Provider string
	Status   int
	Body     []byte
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s: answered %d", e.Provider, e.Status) }

// Field is the text of one field of the body, or the status's own.
func (e *StatusError) Field(name string) string {
	said := map[string]any{}
	if err := json.Unmarshal(e.Body, &said); err == nil {
		if text, ok := said[name].(string); ok && text != "" {
			return text
		}
	}
	return http.StatusText(e.Status)
}

// Call sends in and reads the answer into out; either may be nil. An answer
// that is no success is a *StatusError; any other error leaves open whether
// the provider acted.
func (p *Provider) Call(ctx context.Context, method, path string, in, out any) error {
	if db.Inside(ctx) {
		panic("outbound: " + p.name + " called inside a transaction")
	}
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s: %s %s: %w", p.name, method, path, err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, body)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "frontdesk")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range p.headers {
		req.Header.Set(name, value)
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
