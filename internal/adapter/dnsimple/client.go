// Package dnsimple registers domains and keeps zones in an account at DNSimple,
// through the second version of their API. Client (registrar.go) is a
// domain.Registrar, DNS (dns.go) a zone.Provider; this file has what they share.
//
// DNSimple has no idempotency keys, so everything that costs money first looks whether
// it has already happened, and an order is followed until it is done or refused. The
// package never guesses the outcome of an order: without an answer it returns an error
// that is not a domain.Refusal, and the caller asks again later.
//
// It was written from the published description and tested against a server that
// follows it; it was never tried against the live service, so begin with the address
// of DNSimple's own sandbox.
package dnsimple

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"frontdesk/internal/kernel/outbound"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Client registers domains for one account.
type Client struct {
	api          *outbound.Provider
	endings      []string
	pollInterval time.Duration // between two looks at an order that is not done yet
}

// New prepares a client for the API at address, for example https://api.dnsimple.com.
// endings are the top-level domains that the operator offers.
func New(address, account, token string, endings []string) *Client {
	return &Client{api: newProvider(address, account, token, 30*time.Second), endings: endings,
		pollInterval: time.Second}
}

func newProvider(address, account, token string, timeout time.Duration) *outbound.Provider {
	return outbound.NewProvider(outbound.ProviderConfig{
		Name:    "dnsimple",
		URL:     strings.TrimSuffix(address, "/") + "/v2/" + url.PathEscape(account),
		Headers: map[string]string{"Authorization": "Bearer " + token},
		Timeout: timeout,
	})
}

// apiError is an error that DNSimple answered.
type apiError struct {
	Status  int                 `json:"-"`
	Message string              `json:"message"`
	Errors  map[string][]string `json:"errors"`
}

func (e *apiError) Error() string { return fmt.Sprintf("dnsimple: %d: %s", e.Status, e.fullMessage()) }

// fullMessage is DNSimple's message with what it says about single fields.
func (e *apiError) fullMessage() string {
	s := strings.TrimSuffix(e.Message, ".")
	for field, issues := range e.Errors {
		s += "; " + field + " " + strings.Join(issues, ", ")
	}
	return s + "."
}

// isDefinite reports whether DNSimple understood the request and will not do it. Any
// other status leaves open whether something happened.
func (e *apiError) isDefinite() bool { return e.Status == 400 || e.Status == 404 || e.Status == 422 }

// callAPI makes one request below the account. in and out may be nil; out gets the
// member data of the answer.
func (c *Client) callAPI(ctx context.Context, method, path string, in, out any) error {
	if out == nil {
		return parseAPIError(c.api.Call(ctx, method, path, in, nil))
	}
	var answer struct {
		Data jsontext.Value `json:"data"`
	}
	if err := c.api.Call(ctx, method, path, in, &answer); err != nil {
		return parseAPIError(err)
	}
	if err := json.Unmarshal(answer.Data, out); err != nil {
		return fmt.Errorf("dnsimple: %s %s: %w", method, path, err)
	}
	return nil
}

// parseAPIError reads DNSimple's error from an answer that is not a success.
func parseAPIError(err error) error {
	var refused *outbound.StatusError
	if !errors.As(err, &refused) {
		return err
	}
	e := &apiError{Status: refused.Status}
	if json.Unmarshal(refused.Body, e) != nil || e.Message == "" {
		e.Message = fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	}
	return e
}

// CheckAccount asks for the account's domains, which the token must be able to see.
func (c *Client) CheckAccount(ctx context.Context) error {
	return c.callAPI(ctx, http.MethodGet, "/domains?per_page=1", nil, nil)
}
