// Package zone holds the DNS records of domains. The provider has the records and
// answers for them; the rows here give them ids, say who manages them, and hold
// the intents of writes.
//
// A write has three steps: commit the intent, call the provider, commit the
// outcome (intent.go). One intent at a time per zone, with a lease, keeps writers
// in all processes from overtaking each other, and lets the next one finish what a
// dead one left open. Before a read or a write the rows are compared with the
// provider's zone (mirror.go), because records may also change there. managed.go
// writes the records of hosted email in the same way. content.go, name.go and
// rules.go check what a caller sends; wire.go converts records to DNS messages and
// zone files.
//
// A zone belongs to a domain, about which this package knows nothing but what
// Config.Find and Config.Lock tell. It never creates or removes a zone; the
// package domain does. It never calls the provider inside a transaction.
//
// Start reading at record.go, the operations, then intent.go.
package zone

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// Ref names the zone of a domain.
type Ref struct {
	Org    id.ID
	Domain id.ID
	Name   string
	// Registering says that the domain is being registered and may not have a
	// row yet.
	Registering bool
}

// Config is what zones need. All but Pause is required.
type Config struct {
	DB     *db.DB
	Clock  *clock.Clock
	Log    *slog.Logger
	Events *event.Log
	Jobs   *job.Queue
	DNS    Provider
	SPF    string // what allows our servers to send, in the SPF records of hosted email

	// Find looks up the zone of a domain, and refuses a domain without one.
	Find func(ctx context.Context, tx *db.Tx, org, domain id.ID) (Ref, error)
	// Lock locks the domain of a zone for the rest of the transaction, so that
	// writes of its records take turns. A domain that is gone, or that lost its
	// name to another, is a fault.NotFound.
	Lock func(ctx context.Context, tx *db.Tx, at Ref) error

	// Pause is called between the steps of a write, so that a test can end
	// the process there.
	Pause func(step string)
}

// Zones are the DNS records of all domains.
type Zones struct{ cfg Config }

// New panics when a required field is missing. Handle declares the jobs.
func New(c Config) *Zones {
	for name, given := range map[string]bool{
		"DB": c.DB != nil, "Clock": c.Clock != nil, "Log": c.Log != nil, "Events": c.Events != nil,
		"Jobs": c.Jobs != nil, "DNS": c.DNS != nil, "Find": c.Find != nil, "Lock": c.Lock != nil,
	} {
		if !given {
			panic("zone: New needs Config." + name)
		}
	}
	return &Zones{c}
}

// pauseAt lets a test end the process at this step.
func (z *Zones) pauseAt(step string) {
	if z.cfg.Pause != nil {
		z.cfg.Pause(step)
	}
}

// File exports the zone of this name as a zone file.
func (z *Zones) File(ctx context.Context, name string) (string, error) {
	records, err := z.cfg.DNS.Records(ctx, name)
	if err != nil {
		return "", err
	}
	return FormatFile(name, records), nil
}

// transactor opens short transactions: it is the call of a Flow, or the database itself.
type transactor interface {
	Read(context.Context, db.Func) error
	Write(context.Context, db.Func) error
}

// findZone is Config.Find in a snapshot of its own.
func (z *Zones) findZone(ctx context.Context, s transactor, org, domain id.ID) (at Ref, err error) {
	err = s.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		at, err = z.cfg.Find(ctx, tx, org, domain)
		return err
	})
	return at, err
}

// passedOnStatuses are the provider's statuses that callers see as they are. The usual one comes
// first.
var passedOnStatuses = []int{404, 400, 409, 422, 429, 500, 502, 503, 504}

// refusalKinds has a DNS_ERROR for each of these statuses.
var refusalKinds = func() map[int]*fault.Kind {
	out := map[int]*fault.Kind{}
	for _, status := range passedOnStatuses {
		out[status] = Refused.As(status)
	}
	return out
}()

// WithProviderErrors lists them, after others, for the declaration of an operation.
func WithProviderErrors(more ...*fault.Kind) []*fault.Kind {
	for _, status := range passedOnStatuses {
		more = append(more, refusalKinds[status])
	}
	return more
}

// providerFault turns the provider's error into what the caller sees. Its message is passed on only
// for a client error. That our own credentials are wrong (401, 403) becomes a 502.
func providerFault(err error) error {
	var e *ProviderError
	if !errors.As(err, &e) {
		return fault.Unavailable.Because(err)
	}
	kind := refusalKinds[e.Status]
	switch {
	case kind != nil && e.Status < 500:
		f := kind.Because(err)
		f.Text = "The DNS provider refused it: " + cut.Runes(strings.ToValidUTF8(e.Message, "\uFFFD"), 300)
		if e.Status == http.StatusTooManyRequests {
			f.RetryAfter = 10 * time.Second // the provider did not say
		}
		return f
	case kind != nil: // a 5xx status that is passed on
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden, e.Status >= 500, e.Status < 400:
		kind = refusalKinds[http.StatusBadGateway]
	default:
		kind = refusalKinds[http.StatusUnprocessableEntity]
	}
	f := kind.Because(err)
	f.Text = "The DNS provider could not do it. Retry in a moment."
	return f
}

// isDefiniteRefusal reports whether an error proves that nothing was done. A timeout (408) does not.
func isDefiniteRefusal(err error) bool {
	status := ProviderStatus(err)
	return status >= 400 && status < 500 && status != http.StatusRequestTimeout
}
