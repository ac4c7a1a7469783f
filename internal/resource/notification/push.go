package notification

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/outbound"

	"github.com/go-json-experiment/json"
)

var _ = db.Declare("push_subscriptions", db.Life{
	Refs:       []db.Ref{db.RefTo("user_id", "users", db.Keeps)},
	Permanent:  true,
	Sealed:     []db.Sealed{{Column: "sealed", Place: "'push_subscriptions/' || id"}},
	Unexported: []string{"endpoint_hash"},
})

// Subscription is a browser that takes push messages.
type Subscription struct {
	ID        id.ID      `json:"id"`
	CreatedAt clock.Time `json:"createdAt"`
	Label     string     `json:"label" doc:"the browser"`
}

// browserAddress is how a browser is reached. It is stored sealed: whoever knows it can send to the browser.
type browserAddress struct {
	Endpoint string `json:"endpoint"`
	Key      []byte `json:"key"`
	Auth     []byte `json:"auth"`
}

func subscriptionPlace(v id.ID) string { return "push_subscriptions/" + string(v) }

const (
	pushJob          = "notifications.push"
	pushTimeout      = 10 * time.Second
	pushWorkers      = 8
	pushAttempts     = 6       // over some minutes: what is late by more is on the desk
	pushTTL          = "86400" // how long a push service keeps a message for a browser that is off, in seconds
	maxSubscriptions = 20      // of a person; a further one replaces the oldest
)

type subscribeInput struct {
	Endpoint string `json:"endpoint" min:"1" max:"2000" doc:"the address that the browser was given"`
	Key      string `json:"key" doc:"p256dh of the browser, base64url"`
	Auth     string `json:"auth" doc:"its secret, base64url"`
	Label    string `json:"label" min:"1" max:"100"`
}

// subscribe keeps the address of the visitor's browser. Somebody else who used the same browser before gets nothing
// there any more.
func (s *Service) subscribe(ctx context.Context, c *op.Call, in subscribeInput) (*Subscription, error) {
	address, err := s.checkAddress(in)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(in.Endpoint))
	hash := hex.EncodeToString(sum[:])
	_, err = db.Exec(ctx, c.Tx, `
		DELETE FROM push_subscriptions WHERE endpoint_hash = $3 AND (user_id <> $2 OR organization_id = $1)`,
		c.Org, c.Caller.User, hash)
	if err != nil {
		return nil, err
	}
	v := &Subscription{ID: c.NewID(), CreatedAt: c.Now, Label: in.Label}
	text, err := json.Marshal(address)
	if err != nil {
		return nil, err
	}
	sealed, err := s.cfg.Seal.Seal(text, subscriptionPlace(v.ID))
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, c.Tx, `
		INSERT INTO push_subscriptions (id, organization_id, created_at, user_id, label, endpoint_hash, sealed)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, v.ID, c.Org, c.Now, c.Caller.User, in.Label, hash, sealed)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, c.Tx, `
		DELETE FROM push_subscriptions WHERE organization_id = $1 AND user_id = $2 AND seq NOT IN
			(SELECT seq FROM push_subscriptions WHERE organization_id = $1 AND user_id = $2
			ORDER BY seq DESC LIMIT $3)`, c.Org, c.Caller.User, maxSubscriptions)
	if err != nil {
		return nil, err
	}
	return v, c.Emit(subscribedEvent, c.Caller.User, v)
}

// checkAddress refuses what no browser was given, and addresses that are not public.
func (s *Service) checkAddress(in subscribeInput) (*browserAddress, error) {
	u, err := url.Parse(in.Endpoint)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && !s.cfg.Insecure ||
		s.client.CheckHost(u.Hostname()) != nil {
		return nil, fault.Field("endpoint", "Must be the https address of a public push service")
	}
	key, err := base64url.DecodeString(in.Key)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		return nil, fault.Field("key", "Must be the p256dh key of the browser, as base64url")
	}
	auth, err := base64url.DecodeString(in.Auth)
	if err != nil || len(auth) != pushAuthBytes {
		return nil, fault.Field("auth", "Must be the auth secret of the browser: 16 bytes, as base64url")
	}
	return &browserAddress{in.Endpoint, key, auth}, nil
}

func unsubscribe(ctx context.Context, c *op.Call, in notificationRef) (op.Nothing, error) {
	n, err := db.Exec(ctx, c.Tx,
		"DELETE FROM push_subscriptions WHERE organization_id = $1 AND user_id = $2 AND id = $3",
		c.Org, c.Caller.User, in.ID)
	if err != nil || n == 0 {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit(unsubscribedEvent, c.Caller.User, in)
}

func listSubscriptions(ctx context.Context, tx *db.Tx, org, user id.ID) ([]Subscription, error) {
	return db.QueryAll[Subscription](ctx, tx, `
		SELECT id, created_at, label FROM push_subscriptions
		WHERE organization_id = $1 AND user_id = $2 ORDER BY seq`, org, user)
}

type pushArgs struct {
	Organization id.ID `json:"organization"`
	User         id.ID `json:"user"`
	Subscription id.ID `json:"subscription"`
	Notification id.ID `json:"notification"`
}

// enqueuePushes has a notification sent to each browser of its person.
func (s *Service) enqueuePushes(ctx context.Context, tx *db.Tx, n *Notification) error {
	rows, err := listSubscriptions(ctx, tx, n.OrganizationID, n.UserID)
	if err != nil {
		return err
	}
	for _, v := range rows {
		_, err := s.cfg.Jobs.Enqueue(ctx, tx, pushJob, pushArgs{n.OrganizationID, n.UserID, v.ID, n.ID},
			job.ForOrganization(n.OrganizationID))
		if err != nil {
			return err
		}
	}
	return nil
}

// pushMessage is what the browser's worker shows. Its tag makes that a message which comes twice is shown once.
type pushMessage struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	URL   string `json:"url"`
	Tag   string `json:"tag"`
}

// push is the job that sends a notification to a browser.
func (s *Service) push(ctx context.Context, j job.Job, a pushArgs) (job.Outcome, error) {
	var to *browserAddress
	var text []byte
	err := s.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		to, text, err = s.loadPush(ctx, tx, a)
		return err
	})
	if err != nil || to == nil {
		return nil, err
	}
	res, err := s.sendPush(ctx, to, text)
	if err == nil && res.Status >= 300 {
		err = fmt.Errorf("notification: the push service answered %d", res.Status)
	}
	switch {
	case err == nil:
		return nil, nil
	case errors.Is(err, outbound.ErrPrivate) || errors.Is(err, outbound.ErrScheme),
		res != nil && (res.Status == http.StatusNotFound || res.Status == http.StatusGone):
		return endSubscription(a), nil // RFC 8030: the browser no longer wants any
	case j.IsLastAttempt() || res != nil && res.Status < 500 && res.Status != http.StatusTooManyRequests:
		s.cfg.Log.WarnContext(ctx, "a push message was not taken", "organization", a.Organization, "err", err)
		return nil, nil // the desk has it
	}
	return nil, err
}

// loadPush reads what is to be sent and where to. There is nothing to send when the notification was read, or the
// person left or may no longer see it.
func (s *Service) loadPush(ctx context.Context, tx *db.Tx, a pushArgs) (*browserAddress, []byte, error) {
	n, err := notifications.Get(ctx, tx, a.Organization, a.Notification)
	if fault.IsKind(err, fault.NotFound) || err == nil && n.ReadAt != nil {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	m, err := account.FindActiveMember(ctx, tx, a.Organization, a.User)
	if err != nil || m == nil || !slices.Contains(readable(m.Allowed()), n.Permission) {
		return nil, nil, err
	}
	sealed, err := db.QueryOne[[]byte](ctx, tx,
		"SELECT sealed FROM push_subscriptions WHERE organization_id = $1 AND user_id = $2 AND id = $3",
		a.Organization, a.User, a.Subscription)
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	plain, err := s.cfg.Seal.Open(sealed, subscriptionPlace(a.Subscription))
	if err != nil {
		return nil, nil, err
	}
	to := &browserAddress{}
	if err := json.Unmarshal(plain, to); err != nil {
		return nil, nil, err
	}
	p := pushMessage{Title: n.Words().String(), URL: s.link(n), Tag: string(n.ID)}
	if n.Text != nil {
		p.Body = *n.Text
	}
	text, err := json.Marshal(p)
	return to, text, err
}

// sendPush sends an encrypted message to a browser's push service.
func (s *Service) sendPush(ctx context.Context, to *browserAddress, text []byte) (*outbound.Answer, error) {
	body, err := encryptPush(text, to.Key, to.Auth)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	authorization, err := s.vapidHeader(req.URL, s.cfg.Clock.Now())
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", authorization)
	req.Header.Set("Content-Encoding", "aes128gcm")
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("TTL", pushTTL)
	return s.client.Do(req)
}

// endSubscription forgets a browser.
func endSubscription(a pushArgs) job.Outcome {
	return func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "DELETE FROM push_subscriptions WHERE organization_id = $1 AND id = $2",
			a.Organization, a.Subscription)
		return err
	}
}
