package frontdesk

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrWebhook is a webhook request that must not be believed.
var ErrWebhook = errors.New("frontdesk: not a genuine webhook request")

// webhookTolerance is how old a request may be.
const webhookTolerance = 5 * time.Minute

// WebhookEvent is what a webhook is told.
type WebhookEvent struct {
	Type           string          `json:"type"`
	Timestamp      time.Time       `json:"timestamp"`
	Data           json.RawMessage `json:"data"`     // the resource as it was right after the change
	Previous       json.RawMessage `json:"previous"` // former values of what changed; null for creations
	ID             string          `json:"id"`       // the same in every attempt: handle each event once
	OrganizationID string          `json:"organizationId"`
	ResourceType   string          `json:"resourceType"`
	ResourceID     string          `json:"resourceId"`
	ActorKind      string          `json:"actorKind"`
	ActorID        *string         `json:"actorId"`
	Door           string          `json:"door"`
	RequestID      string          `json:"requestId"`
}

// VerifyWebhook makes sure that a request was sent by Frontdesk within the last
// five minutes, and returns the event. The body is the request's as it arrived.
// Every other request is ErrWebhook: answer it with 400.
func VerifyWebhook(body []byte, header http.Header, secret string) (*WebhookEvent, error) {
	id, moment := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(moment, 10, 64)
	if err != nil || id == "" {
		return nil, fmt.Errorf("%w: headers are missing", ErrWebhook)
	}
	if age := time.Since(time.Unix(seconds, 0)); age > webhookTolerance || age < -webhookTolerance {
		return nil, fmt.Errorf("%w: it is too old, or from the future", ErrWebhook)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, fmt.Errorf("%w: the secret is not base64", ErrWebhook)
	}
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s.%s.", id, moment)
	sum.Write(body)
	want := []byte("v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	for _, given := range strings.Fields(header.Get("Webhook-Signature")) {
		if hmac.Equal(want, []byte(given)) {
			var out WebhookEvent
			return &out, json.Unmarshal(body, &out)
		}
	}
	return nil, fmt.Errorf("%w: no signature fits", ErrWebhook)
}
