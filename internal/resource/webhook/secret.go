package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// Prescribed by Standard Webhooks.
const (
	secretPrefix  = "whsec_"
	secretBytes   = 32
	secretVersion = "v1"
)

// secretOverlap is how long the previous secret signs alongside the new one.
const secretOverlap = 24 * time.Hour

func newSecret() string {
	raw := make([]byte, secretBytes)
	rand.Read(raw)
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// The places that sealed secrets are bound to. The table's Life repeats them in
// SQL.
func secretPlace(webhook id.ID) string         { return "webhooks/" + string(webhook) }
func previousSecretPlace(webhook id.ID) string { return "webhooks/" + string(webhook) + "/previous" }

// signatureHeader is the webhook-signature header of a message: one signature, followed by one of
// the previous secret while that still signs.
func (s *Service) signatureHeader(w *Webhook, now clock.Time, message id.ID, at time.Time, body []byte) (string,
	error) {
	sealed := []struct {
		text  []byte
		place string
	}{{w.Sealed, secretPlace(w.ID)}}
	if w.Previous != nil && w.PreviousSecretUntil != nil && *w.PreviousSecretUntil > now {
		sealed = append(sealed, struct {
			text  []byte
			place string
		}{w.Previous, previousSecretPlace(w.ID)})
	}
	var out []string
	for _, v := range sealed {
		secret, err := s.seal.Open(v.text, v.place)
		if err != nil {
			return "", err
		}
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), secretPrefix))
		if err != nil {
			return "", fmt.Errorf("webhook: the secret of %s: %w", w.ID, err)
		}
		sum := hmac.New(sha256.New, key)
		fmt.Fprintf(sum, "%s.%d.%s", message, at.Unix(), body)
		out = append(out, secretVersion+","+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	return strings.Join(out, " "), nil
}
