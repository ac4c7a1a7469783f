package domain

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
)

// A call to a provider has three outcomes. A result is success. A *Refusal is
// definitive: nothing happened and nothing will. Every other error means that
// nobody knows; the caller then asks (Registered, Renewed, Charged, Refunded)
// before it calls again, with the same key.

// Refusal is a provider's definitive no.
type Refusal struct {
	Code    string // the provider's, for the operator
	Message string // a sentence that the caller may read
}

func (e *Refusal) Error() string { return e.Code + ": " + e.Message }

// ErrUnknownToProvider is a provider's answer about a call that it has never seen, so the call can be
// made.
var ErrUnknownToProvider = errors.New("domain: the provider knows nothing of it")

// UnsupportedError is a registrar's answer to a request that it cannot do for a
// name.
type UnsupportedError struct{ Operation string }

func (e *UnsupportedError) Error() string { return "the registrar does not support " + e.Operation }

// Registrar is where names are registered. Names are lower-case ASCII.
type Registrar interface {
	// Name is the registrar's name in answers.
	Name() string
	// Endings are the ones it offers, in the order of search results.
	Endings() []string
	// Check says whether a name could be registered now, and its prices. An
	// ending that is not offered is a nil offer.
	Check(ctx context.Context, name string) (*Offer, error)

	// Register registers a name. The same key twice is one registration.
	Register(ctx context.Context, key string, r RegistrationRequest) (*HeldRegistration, error)
	// Registered asks for the outcome of a Register: the registration, or
	// ErrUnknownToProvider if it was not made, or not completely.
	Registered(ctx context.Context, key string, r RegistrationRequest) (*HeldRegistration, error)
	// Renew adds years to a registration that ends at until.
	Renew(ctx context.Context, key, name string, years int, until clock.Time) (*HeldRegistration, error)
	// Renewed asks for the outcome of a Renew: the registration, or
	// ErrUnknownToProvider.
	Renewed(ctx context.Context, key, name string, until clock.Time) (*HeldRegistration, error)

	// SetTransferLock turns the transfer lock on or off.
	SetTransferLock(ctx context.Context, name string, on bool) error
	// ChangeContact replaces the registrant. A name that does not allow it is
	// an *UnsupportedError.
	ChangeContact(ctx context.Context, name string, r Registrant) error
	// BeginTransfer prepares a name for another registrar and returns the code
	// that the other one asks for; empty if it is mailed to the registrant.
	BeginTransfer(ctx context.Context, name string) (authCode string, err error)
	// EndTransfer withdraws what BeginTransfer began.
	EndTransfer(ctx context.Context, name string) error
	// Left reports whether a name is at another registrar now.
	Left(ctx context.Context, name string) (bool, error)
}

// providerFault turns a provider's error into what the caller sees.
func providerFault(err error) error {
	var no *Refusal
	if errors.As(err, &no) {
		return Unavailable.Say("%s", no.Message)
	}
	f := fault.Unavailable.Because(err)
	f.Text = "The registrar does not answer. Retry in a moment."
	return f
}

// Offer is what a registrar says about a name.
type Offer struct {
	Available      bool
	Premium        bool
	FirstYearPrice int64 // cents of a US dollar, all fees included
	RenewalPrice   int64 // per year
}

// registrationTotal is the price of registering a name for so many years, all fees included.
func (o *Offer) registrationTotal(years int) int64 {
	return o.FirstYearPrice + int64(years-1)*o.RenewalPrice
}

// renewalTotal is the price of renewing a name for so many years.
func (o *Offer) renewalTotal(years int) int64 { return int64(years) * o.RenewalPrice }

// RegistrationRequest is what a name is registered with. WHOIS privacy is always on.
type RegistrationRequest struct {
	Name       string
	Years      int
	Registrant Registrant
}

// HeldRegistration is a registration as the registrar has it, in whole seconds.
type HeldRegistration struct {
	RegisteredAt clock.Time `json:"registeredAt"`
	ExpiresAt    clock.Time `json:"expiresAt"`
	Verified     bool       `json:"verified"` // the registrant's address was confirmed
}

// Registrant is who a name is registered for.
type Registrant struct {
	FirstName        string  `json:"firstName" min:"1"`
	LastName         string  `json:"lastName" min:"1"`
	OrganizationName *string `json:"organizationName" doc:"required for names under .ai, .co, .io and .me"`
	JobTitle         *string `json:"jobTitle" doc:"required with organizationName"`
	Address1         string  `json:"address1" min:"1" doc:"street"`
	Address2         *string `json:"address2"`
	City             string  `json:"city" min:"1"`
	StateProvince    string  `json:"stateProvince" min:"1"`
	PostalCode       string  `json:"postalCode" min:"1" max:"20"`
	Country          string  `json:"country" format:"country" doc:"ISO 3166, two letters"`
	Email            string  `json:"email" format:"email"`
	Phone            string  `json:"phone" min:"3" max:"32" doc:"E.164, or a number of the country"`
}
