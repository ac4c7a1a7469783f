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

func (f form) urlValues() url.Values {
	out := url.Values{}
	for name, value := range f {
		out.Set(name, value)
	}
	return out
}

// postForm sends a request. key is the idempotency key, or empty for a request that may be
// repeated without one.
func (c *Client) postForm(ctx context.Context, path, key string, in form, out any) error {
	api := c.api
	if key != "" {
		api = api.WithHeader("Idempotency-Key", key)
	}
	return parseAPIError(api.Call(ctx, http.MethodPost, path, in.urlValues(), out))
}

func (c *Client) getJSON(ctx context.Context, path string, query form, out any) error {
	if len(query) > 0 {
		path += "?" + query.urlValues().Encode()
	}
	return parseAPIError(c.api.Call(ctx, http.MethodGet, path, nil, out))
}

// listElement is an element of a list. The id of the last element on a page asks for the
// next page.
type listElement interface{ objectID() string }

// listPages goes through the elements of a list, newest first, and reads its pages as they
// are needed. It changes query.
func listPages[T listElement](ctx context.Context, c *Client, path string, query form) iter.Seq2[T, error] {
	query["limit"] = "100"
	return func(yield func(T, error) bool) {
		for {
			var page struct {
				Data    []T  `json:"data"`
				HasMore bool `json:"has_more"`
			}
			if err := c.getJSON(ctx, path, query, &page); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, v := range page.Data {
				if !yield(v, nil) {
					return
				}
				query["starting_after"] = v.objectID()
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

// parseAPIError reads Stripe's error from an answer that is not a success. It returns an
// error without an answer, or with another body, unchanged.
func parseAPIError(err error) error {
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

// paymentIntent is a PaymentIntent.
type paymentIntent struct {
	ID               string            `json:"id"`
	Status           string            `json:"status"`
	Metadata         map[string]string `json:"metadata"`
	LastPaymentError *apiError         `json:"last_payment_error"`
}

func (v paymentIntent) objectID() string { return v.ID }

// refundObject is a Refund.
type refundObject struct {
	ID            string            `json:"id"`
	Status        string            `json:"status"`
	FailureReason string            `json:"failure_reason"`
	Metadata      map[string]string `json:"metadata"`
}

func (v refundObject) objectID() string { return v.ID }

// paymentMethod is a PaymentMethod.
type paymentMethod struct {
	ID       string `json:"id"`
	Customer string `json:"customer"` // its id; empty when the card is detached
	Card     *struct {
		Brand    string `json:"brand"`
		Last4    string `json:"last4"`
		ExpMonth int    `json:"exp_month"`
		ExpYear  int    `json:"exp_year"`
	} `json:"card"`
}

// checkoutSession is a Checkout Session.
type checkoutSession struct {
	ID                string `json:"id"`
	URL               string `json:"url"`
	Mode              string `json:"mode"`
	Status            string `json:"status"`
	Customer          string `json:"customer"`
	ClientReferenceID string `json:"client_reference_id"`
}

// setupSession is a Checkout Session with its SetupIntent and PaymentMethod expanded.
type setupSession struct {
	checkoutSession
	SetupIntent *struct {
		Status        string         `json:"status"`
		Customer      string         `json:"customer"`
		PaymentMethod *paymentMethod `json:"payment_method"`
	} `json:"setup_intent"`
}
