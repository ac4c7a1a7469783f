package stripe

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"frontdesk/internal/kernel/outbound"

	"github.com/go-json-experiment/json"
)

// APIVersion is the version of the API that this package is written for. Every request
// names it, because an account may have another default.
const APIVersion = "2026-03-25.dahlia"

// form holds the fields of a request under Stripe's names.
type form map[string]string

func (f form) values() url.Values {
	out := url.Values{}
	for name, value := range f {
		out.Set(name, value)
	}
	return out
}

// post sends a request. key is the idempotency key, or empty for a request that may be
// repeated without one.
func (c *Client) post(ctx context.Context, path, key string, in form, out any) error {
	api := c.api
	if key != "" {
		api = api.With("Idempotency-Key", key)
	}
	return explain(api.Call(ctx, http.MethodPost, path, in.values(), out))
}

func (c *Client) get(ctx context.Context, path string, query form, out any) error {
	if len(query) > 0 {
		path += "?" + query.values().Encode()
	}
	return explain(c.api.Call(ctx, http.MethodGet, path, nil, out))
}

// listed is an element of a list. The id of the last element on a page asks for the
// next page.
type listed interface{ identity() string }

// list goes through the elements of a list, newest first, and reads its pages as they
// are needed. It changes query.
func list[T listed](ctx context.Context, c *Client, path string, query form) iter.Seq2[T, error] {
	query["limit"] = "100"
	return func(yield func(T, error) bool) {
		for {
			var page struct {
				Data    []T  `json:"data"`
				HasMore bool `json:"has_more"`
			}
			if err := c.get(ctx, path, query, &page); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, v := range page.Data {
				if !yield(v, nil) {
					return
				}
				query["starting_after"] = v.identity()
			}
			if !page.HasMore || len(page.Data) == 0 {
				return
			}
		}
	}
}

// apiError is an error that Stripe answered.
type apiError struct {
	Status      int    `json:"-"`
	Type        string `json:"type"`
	Code        string `json:"code"`
	DeclineCode string `json:"decline_code"`
	Message     string `json:"message"`
	Param       string `json:"param"`
}

// Error types that blame the request, not Stripe.
const (
	cardError      = "card_error"
	invalidRequest = "invalid_request_error"
)

func (e *apiError) Error() string {
	return fmt.Sprintf("%d %s %s: %s", e.Status, e.Type, e.Code, e.Message)
}

// explain reads Stripe's error from an answer that is not a success. It returns an
// error without an answer, or with another body, unchanged.
func explain(err error) error {
	var refused *outbound.StatusError
	if !errors.As(err, &refused) {
		return err
	}
	var said struct {
		Error apiError `json:"error"`
	}
	if json.Unmarshal(refused.Body, &said) != nil {
		return err
	}
	said.Error.Status = refused.Status
	return &said.Error
}

// intent is a PaymentIntent.
type intent struct {
	ID               string            `json:"id"`
	Status           string            `json:"status"`
	Metadata         map[string]string `json:"metadata"`
	LastPaymentError *apiError         `json:"last_payment_error"`
}

func (v intent) identity() string { return v.ID }

// refund is a Refund.
type refund struct {
	ID            string            `json:"id"`
	Status        string            `json:"status"`
	FailureReason string            `json:"failure_reason"`
	Metadata      map[string]string `json:"metadata"`
}

func (v refund) identity() string { return v.ID }

// method is a PaymentMethod.
type method struct {
	ID       string `json:"id"`
	Customer string `json:"customer"` // its id; empty when the card is detached
	Card     *struct {
		Brand    string `json:"brand"`
		Last4    string `json:"last4"`
		ExpMonth int    `json:"exp_month"`
		ExpYear  int    `json:"exp_year"`
	} `json:"card"`
}

// session is a Checkout Session.
type session struct {
	ID                string `json:"id"`
	URL               string `json:"url"`
	Mode              string `json:"mode"`
	Status            string `json:"status"`
	Customer          string `json:"customer"`
	ClientReferenceID string `json:"client_reference_id"`
}

// setupSession is a Checkout Session with its SetupIntent and PaymentMethod expanded.
type setupSession struct {
	session
	SetupIntent *struct {
		Status        string  `json:"status"`
		Customer      string  `json:"customer"`
		PaymentMethod *method `json:"payment_method"`
	} `json:"setup_intent"`
}
