package zone

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Provider answers for the zones of registered and verified domains. Zones and
// names are lower-case ASCII without a trailing dot. A call that finds its work
// already done succeeds, so that every call can be repeated.
type Provider interface {
	// CreateZone creates a zone with its built-in SOA and apex NS records.
	CreateZone(ctx context.Context, zone string) error
	// EmptyZone is CreateZone for a new holder: an existing zone loses every
	// record but the built-in ones.
	EmptyZone(ctx context.Context, zone string) error
	// DeleteZone removes a zone and everything in it.
	DeleteZone(ctx context.Context, zone string) error
	// Records lists a zone, its built-in records among them.
	Records(ctx context.Context, zone string) ([]Record, error)
	// Add puts a record into a zone. A record that exists with another TTL
	// gets the new one.
	Add(ctx context.Context, zone string, r Record) error
	// Replace puts one record in the place of another, both at once where the
	// provider can. A missing old record is a *ProviderError with status 404.
	Replace(ctx context.Context, zone string, old, r Record) error
	// Remove takes a record out. A missing one is a *ProviderError with
	// status 404.
	Remove(ctx context.Context, zone string, r Record) error
}

// Record is one DNS record. Type, name, content and priority together distinguish it from the
// others of its zone.
type Record struct {
	Type     string // A, AAAA, CAA, CNAME, MX, NS, SOA, SRV, TXT
	Name     string // relative to the zone; "@" is the apex
	Content  string // as people write it: TXT without quotes, host names without a trailing dot
	TTL      int
	Priority *int // of MX and SRV
	BuiltIn  bool // the SOA and apex NS records that the zone was created with
}

// ProviderError is a refusal of the provider, with its status.
type ProviderError struct {
	Status  int
	Message string
}

func (e *ProviderError) Error() string { return fmt.Sprintf("dns: %d: %s", e.Status, e.Message) }

// ProviderStatus is the status of the provider's refusal in err, or 0 for any other
// error: nobody knows then whether the provider acted.
func ProviderStatus(err error) int {
	var e *ProviderError
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// RecordNotFound is the error of a provider that is asked to change a record which the zone does not
// have.
func RecordNotFound(zone string, r Record) error {
	return &ProviderError{
		Status:  http.StatusNotFound,
		Message: fmt.Sprintf("The zone %s has no such %s record named %s.", zone, r.Type, r.Name),
	}
}
