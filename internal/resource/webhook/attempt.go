package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/outbound"
)

// outgoingAttempt is an attempt that is about to be made.
type outgoingAttempt struct {
	webhook  *Webhook
	delivery id.ID
	message  *message
	began    clock.Time // when the attempt was recorded
}

// attemptResult is the outcome of an attempt.
type attemptResult struct {
	delivery id.ID
	url      string
	began    clock.Time
	took     time.Duration
	status   int    // 0 without an answer
	body     string // an excerpt
	failure  string // why it failed; empty on success
}

func (r *attemptResult) isSuccess() bool { return r.failure == "" }

// sendAttempt sends one delivery. An error is the service's own trouble and says nothing about the
// endpoint; what the endpoint did wrong is in the result.
func (s *Service) sendAttempt(ctx context.Context, client *outbound.Client, l *outgoingAttempt) (*attemptResult,
	error) {
	body, err := l.message.encodeBody()
	if err != nil {
		return nil, err
	}
	at := time.Now() //nolint:forbidigo // the receiver compares it with its own clock, which no setting shifts
	signature, err := s.signatureHeader(l.webhook, s.clock.Now(), l.message.ID, at, body)
	if err != nil {
		return nil, err
	}
	r := &attemptResult{delivery: l.delivery, url: l.webhook.URL, began: l.began}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.webhook.URL, bytes.NewReader(body))
	if err != nil {
		r.failure = "The address is not valid."
		return r, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Frontdesk-Webhooks")
	req.Header.Set("Webhook-Id", string(l.message.ID))
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	req.Header.Set("Webhook-Signature", signature)
	// Go's transport does not send a header without values. But because of its
	// name it takes the POST for one that may be repeated, and does so on a new
	// connection if the endpoint has closed the kept one.
	req.Header["Idempotency-Key"] = []string{}
	answer, err := client.Do(req)
	r.took = time.Since(at)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err() // the service is stopping
	case errors.Is(err, outbound.ErrBusy):
		return nil, err
	case err != nil:
		r.failure = explainFailure(err)
		return r, nil
	}
	r.status, r.body = answer.Status, bodyExcerpt(answer.Body)
	switch {
	case r.status >= 300 && r.status < 400:
		r.failure = fmt.Sprintf("The endpoint answered %d. Redirects are not followed.", r.status)
	case r.status < 200 || r.status >= 300:
		r.failure = fmt.Sprintf("The endpoint answered %d.", r.status)
	}
	return r, nil
}

// explainFailure says why no answer came, without revealing anything of the service's own network.
func explainFailure(err error) string {
	var lookup *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, outbound.ErrPrivate):
		return "The address is not public."
	case errors.Is(err, outbound.ErrScheme):
		return "The address is not https."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("The endpoint did not answer within %g seconds.", attemptTimeout.Seconds())
	case errors.As(err, &lookup):
		return "The name of the endpoint could not be found."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The endpoint refused the connection."
	case strings.Contains(err.Error(), "tls:"), strings.Contains(err.Error(), "x509:"),
		strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return "The endpoint's certificate is not valid, or it does not speak TLS."
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return "The endpoint answered with headers that are too large."
	}
	return "The connection broke before the answer was complete."
}

// bodyExcerpt is the beginning of an answer, as text that every database accepts: valid UTF-8
// without NUL.
func bodyExcerpt(body []byte) string {
	body = body[:min(len(body), maxExcerptBytes)]
	return strings.ToValidUTF8(strings.ReplaceAll(string(body), "\x00", ""), "")
}
