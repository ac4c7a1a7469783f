package domain

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// ZonesConfig is what zones stand on.
type ZonesConfig struct {
	DB     *db.DB
	Clock  *clock.Clock
	Log    *slog.Logger
	Events *event.Log
	Jobs   *job.Queue
	DNS    DNS

	// Pause is called between the steps of a write, so that a test can end
	// the process there.
	Pause func(step string)
}

// Zones is the DNS records of domains. The provider holds them; here are
// their ids, who manages them, and the intents of writes (dns_intent.go).
type Zones struct{ ZonesConfig }

// NewZones joins the parts. Handle declares the jobs.
func NewZones(c ZonesConfig) *Zones { return &Zones{c} }

func (z *Zones) pause(step string) {
	if z.Pause != nil {
		z.Pause(step)
	}
}

// store opens short transactions: a Flow's call, or the database itself.
type store interface {
	Read(context.Context, db.Func) error
	Write(context.Context, db.Func) error
}

// zoneRef is a domain that has a zone.
type zoneRef struct {
	Org    id.ID  `db:"organization_id"`
	ID     id.ID  `db:"id"`
	Name   string `db:"name"`
	Kind   string `db:"kind"`
	Status string `db:"status"`
	Parent *id.ID `db:"parent_domain_id"`
	Held   bool   `db:"held"` // it has its name
	Lost   bool   `db:"lost"` // to whoever has the name now
}

// zoneOf looks a domain up, whether or not it has a zone.
func zoneOf(ctx context.Context, tx *db.Tx, org, domain id.ID) (zoneRef, error) {
	at, err := db.One[zoneRef](ctx, tx, `SELECT organization_id, id, name, kind, status, parent_domain_id,
		EXISTS (SELECT 1 FROM domain_holds h WHERE h.name = domains.name AND h.domain_id = domains.id) AS held,
		EXISTS (SELECT 1 FROM domain_holds h WHERE h.name = domains.name AND h.domain_id <> domains.id) AS lost
		FROM domains WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL`, org, domain)
	return at, db.Missing(err, "domain")
}

// findZone looks a domain up, and refuses one without a zone.
func findZone(ctx context.Context, tx *db.Tx, org, domain id.ID) (zoneRef, error) {
	at, err := zoneOf(ctx, tx, org, domain)
	switch {
	case err != nil:
		return at, err
	case at.Kind == "subdomain":
		f := ZoneMissing.Say("The records of %s are in the zone of the domain above it. Use that domain's id.", at.Name)
		f.Details = map[string]*id.ID{"parentDomainId": at.Parent}
		return at, f
	case at.Status == "pending_verification":
		return at, ZoneMissing.Say("%s has no zone before it is verified. Publish its TXT record and call verify first.", at.Name)
	case at.Lost: // a zone is known by its name alone, and is theirs
		return at, ZoneMissing.Say("%s has left, and somebody else has it now. Delete the domain.", at.Name)
	}
	return at, nil
}

// look is findZone in a snapshot of its own.
func (z *Zones) look(ctx context.Context, s store, org, domain id.ID) (at zoneRef, err error) {
	err = s.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		at, err = findZone(ctx, tx, org, domain)
		return err
	})
	return at, err
}

// dnsFailures are DNS_ERROR with the statuses that a provider's is passed on as.
var dnsFailures = func() map[int]*fault.Kind {
	out := map[int]*fault.Kind{}
	for _, status := range upstream {
		out[status] = DNSFailed.As(status)
	}
	return out
}()

// upstream are these statuses, the usual one first.
var upstream = []int{404, 400, 409, 422, 429, 500, 502, 503, 504}

// dnsErrors lists them for declarations.
func dnsErrors(more ...*fault.Kind) []*fault.Kind {
	for _, status := range upstream {
		more = append(more, dnsFailures[status])
	}
	return more
}

// dnsRefusal is the provider's refusal as a caller hears of it. That our own
// credentials are wrong is no caller's business.
func dnsRefusal(err error) error {
	var e *DNSError
	if !errors.As(err, &e) {
		return fault.Unavailable.Because(err)
	}
	kind := dnsFailures[e.Status]
	switch {
	case kind != nil && e.Status < 500:
		said := []rune(e.Message)
		f := kind.Because(err)
		f.Text = "The DNS provider refused it: " + string(said[:min(len(said), 300)])
		if e.Status == http.StatusTooManyRequests {
			f.RetryAfter = 10 * time.Second // it did not say
		}
		return f
	case kind != nil:
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden, e.Status >= 500, e.Status < 400:
		kind = dnsFailures[http.StatusBadGateway]
	default:
		kind = dnsFailures[http.StatusUnprocessableEntity]
	}
	f := kind.Because(err)
	f.Text = "The DNS provider could not do it. Retry in a moment."
	return f
}

// definite reports whether an error says for certain that nothing was done.
func definite(err error) bool {
	status := StatusOf(err)
	return status >= 400 && status < 500 && status != http.StatusRequestTimeout
}
