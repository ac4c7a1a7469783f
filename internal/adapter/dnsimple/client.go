// Package dnsimple registers domains and keeps zones in an account at DNSimple,
// through the second version of their API. It was written from the published description
// and tested against a server that follows it; it was never tried against the
// live service, so begin with the address of their own sandbox.
package dnsimple

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"
)

// Client speaks for one account.
type Client struct {
	base, token string
	http        *http.Client
	endings     []string
	poll        time.Duration // between two looks at what they do in their own time
}

// New speaks to the API at address, for example https://api.dnsimple.com.
func New(address, account, token string, endings []string) *Client {
	return &Client{base: strings.TrimSuffix(address, "/") + "/v2/" + url.PathEscape(account), token: token, endings: endings,
		http: &http.Client{Timeout: 30 * time.Second}, poll: time.Second}
}

// apiError is a refusal of theirs.
type apiError struct {
	Status  int
	Message string              `json:"message"`
	Errors  map[string][]string `json:"errors"`
}

func (e *apiError) Error() string { return fmt.Sprintf("dnsimple: %d: %s", e.Status, e.sentence()) }

// sentence is their message and what it says about single fields.
func (e *apiError) sentence() string {
	s := strings.TrimSuffix(e.Message, ".")
	for field, issues := range e.Errors {
		s += "; " + field + " " + strings.Join(issues, ", ")
	}
	return s + "."
}

// definite reports whether they understood the request and will not do it.
func (e *apiError) definite() bool { return e.Status == 400 || e.Status == 404 || e.Status == 422 }

const maxAnswer = 4 << 20

// call makes one request below the account. in and out may be nil; out gets
// what stands in data.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	db.Outside(ctx)
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "frontdesk")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("dnsimple: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("dnsimple: %w", err)
	}
	if res.StatusCode >= 300 {
		e := &apiError{Status: res.StatusCode}
		if json.Unmarshal(text, e) != nil || e.Message == "" {
			e.Message = res.Status
		}
		return e
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, &struct {
		Data any `json:"data"`
	}{out}); err != nil {
		return fmt.Errorf("dnsimple: %s %s: %w", method, path, err)
	}
	return nil
}

// CheckAccount asks for the account's domains, which the token must be able to see.
func (c *Client) CheckAccount(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, "/domains?per_page=1", nil, nil)
}
