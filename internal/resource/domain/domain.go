// Package domain holds the names that an organization is reached by: those it
// registered here, those it owns elsewhere and proved, and their subdomains.
//
// What costs money is an order: its intent is a row of operations before the
// charge, and a job with saved steps carries it out after (order.go,
// register.go, renew.go). The registrar, the payment provider and the DNS
// server are ports; no call to one happens inside a transaction.
//
// Start reading at Domains, then place in order.go.
package domain

import (
	"context"
	"log/slog"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Config is what domains stand on.
type Config struct {
	DB     *db.DB
	Clock  *clock.Clock
	Log    *slog.Logger
	Events *event.Log
	Jobs   *job.Queue

	Registrar Registrar
	Payments  Payments
	DNS       DNS
	Email     *Email
	LookupTXT func(ctx context.Context, name string) ([]string, error)
	// Delegates says that the DNS server lets a child zone of another
	// organization answer only where the parent's zone delegates it. With one
	// that does not, such a zone is not made.
	Delegates bool
	// Tell mails a notice to the owners of an organization, once the
	// transaction is committed.
	Tell func(ctx context.Context, tx *db.Tx, org id.ID, n Notice) error

	// Pause is called between the steps of an order, so that a test can end
	// the process there.
	Pause func(step string)
}

// Domains is everything that can be done with names.
type Domains struct {
	Config
	asking, ordering chan struct{} // bound the requests that wait for a provider
}

// How many requests may wait for a provider at once. Those that pay have
// places of their own.
const (
	askingPlaces   = 32
	orderingPlaces = 64
)

// enter takes a place, or refuses at once when there is none.
func enter(places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	default:
		return nil, fault.Unavailable.Say("Too many requests wait for the registrar. Retry in a moment.")
	}
}

// New joins the ports. Handle declares the jobs.
func New(c Config) *Domains {
	return &Domains{Config: c, asking: make(chan struct{}, askingPlaces), ordering: make(chan struct{}, orderingPlaces)}
}

// Domain is a name that the organization uses.
type Domain struct {
	op.Record
	Name           string        `json:"name" doc:"lower-case ASCII; other scripts in their xn-- form"`
	Kind           string        `json:"kind" enum:"apex,subdomain"`
	ParentDomainID *id.ID        `json:"parentDomainId" doc:"of a subdomain"`
	Purpose        string        `json:"purpose" enum:"general,transactional,marketing" doc:"general sends and receives mail; the others only send"`
	Status         string        `json:"status" enum:"pending_verification,active,expired,transferred"`
	Source         string        `json:"source" enum:"registered,external"`
	Verification   *Verification `json:"verification" db:"-" doc:"null for registered domains and subdomains"`
	Email          DomainEmail   `json:"email" db:"-"`
	Registration   *Registration `json:"registration" db:"-" doc:"null unless it was registered here"`

	VerificationValue   *string     `json:"-" db:"verification_value"`
	VerifiedAt          *clock.Time `json:"-" db:"verified_at"`
	ProofLookedAt       *clock.Time `json:"-" db:"proof_looked_at"`
	ProofSeenAt         *clock.Time `json:"-" db:"proof_seen_at"`
	ProofGoneAt         *clock.Time `json:"-" db:"proof_gone_at"`
	Registrar           *string     `json:"-" db:"registrar"`
	RegisteredAt        *clock.Time `json:"-" db:"registered_at"`
	ExpiresAt           *clock.Time `json:"-" db:"expires_at"`
	AutoRenew           *bool       `json:"-" db:"auto_renew"`
	TransferLock        *bool       `json:"-" db:"transfer_lock"`
	ContactID           *id.ID      `json:"-" db:"contact_id"`
	ContactVerification *string     `json:"-" db:"contact_verification"`
	TransferRequestedAt *clock.Time `json:"-" db:"transfer_requested_at"`
	RenewalFailedAt     *clock.Time `json:"-" db:"renewal_failed_at"`
	ExpiryTold          *int        `json:"-" db:"expiry_told"`
}

// Verification is the TXT record that proves an external domain.
type Verification struct {
	RecordName  string      `json:"recordName"`
	RecordValue string      `json:"recordValue"`
	VerifiedAt  *clock.Time `json:"verifiedAt"`
}

// DomainEmail is the state of hosted email. The records of a zone that is not
// delegated to us have to be copied to where it is.
type DomainEmail struct {
	Enabled      bool    `json:"enabled"`
	DKIMSelector *string `json:"dkimSelector" doc:"of the RSA key; fd-ed25519 is the other key's"`
	SPF          *string `json:"spf" enum:"published,custom,missing" doc:"as our zone has it: ours, your own in its place, or none; null without email"`
	DKIM         *string `json:"dkim" enum:"published,custom,missing"`
	DMARC        *string `json:"dmarc" enum:"published,custom,missing"`
}

var domains = db.NewTable[Domain]("domains", "domain")

// What domains are refused with.
var (
	Exists             = fault.Define("DOMAIN_EXISTS", 409, "The organization has this domain already.")
	ParentExists       = fault.Define("DOMAIN_PARENT_EXISTS", 409, "The organization has the domain above this name. Add it as a subdomain of that.")
	NestingUnsupported = fault.Define("DOMAIN_NESTING_UNSUPPORTED", 409, "The name lies more than one label below a domain of the organization.")
	SubdomainsExist    = fault.Define("DOMAIN_SUBDOMAINS_EXIST", 409, "The domain has subdomains. Remove them first.")
	Unavailable        = fault.Define("DOMAIN_UNAVAILABLE", 409, "This domain is not available.")
	NotVerified        = fault.Define("DOMAIN_NOT_VERIFIED", 409, "The TXT record was not found.")
	NotExpired         = fault.Define("REGISTERED_DOMAIN_NOT_EXPIRED", 409, "A registered domain can be deleted once it has expired.")
	RenewalInFlight    = fault.Define("REGISTERED_DOMAIN_RENEWAL_IN_FLIGHT", 409, "A renewal of this domain is queued or running.")
	TransferInFlight   = fault.Define("REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT", 409, "A transfer to another registrar is under way.")
	Locked             = fault.Define("REGISTERED_DOMAIN_LOCKED", 409, "The transfer lock is on. Turn transferLock off first.")
	DNSNotEmpty        = fault.Define("REGISTERED_DOMAIN_DNS_NOT_EMPTY", 409, "The zone still has records. Remove them first.")
	Unsupported        = fault.Define("REGISTRAR_UNSUPPORTED_OPERATION", 422, "This is not possible for this domain.")
)

const exampleID = `"3b0f6a52-77a4-4d4f-9c7b-0c5a1d2e3f40"`

// Operations lists everything that can be done with domains.
func (d *Domains) Operations() []*op.Op {
	var out []*op.Op
	for _, group := range [][]*op.Op{d.domainOperations(), d.subdomainOperations(), d.orderOperations(), operationOperations(), d.registrationOperations(), d.contactOperations(), d.emailOperations()} {
		out = append(out, group...)
	}
	return out
}

func (d *Domains) domainOperations() []*op.Op {
	const ref = `{"id": ` + exampleID + `}`
	return []*op.Op{
		op.Read(op.Spec{Name: "domains.list", Route: "GET /v1/domains", Summary: "List domains, newest first.",
			Description: "Subdomains are listed under their domain.", Example: `{"limit": 20}`}, d.listDomains),
		op.Write(op.Spec{Name: "domains.create", Route: "POST /v1/domains", Summary: "Add a domain that is registered elsewhere.",
			Description: "The answer names the TXT record to publish; then call verify. Whether another organization has the name shows there.",
			Errors:      []*fault.Kind{Exists, ParentExists, NestingUnsupported}, Events: []string{"domain.created"},
			Example: `{"name": "example.com", "purpose": "general"}`}, d.createDomain),
		op.Read(op.Spec{Name: "domains.get", Route: "GET /v1/domains/{id}", Summary: "Get a domain or subdomain.", Example: ref}, d.getDomain),
		op.Flow(op.Spec{Name: "domains.verify", Route: "POST /v1/domains/{id}/verify", Summary: "Look for the TXT record that proves a domain.", Status: 200,
			Description: "Looks the record up in the DNS. A domain that is active already stays so.",
			Errors:      []*fault.Kind{NotVerified, Unavailable}, Events: []string{"domain.verified"}, Example: ref}, d.verify),
		op.Flow(op.Spec{Name: "domains.delete", Route: "DELETE /v1/domains/{id}", Summary: "Delete a domain.",
			Description: "A registered domain must have expired or left, and have no records, renewal, transfer or subdomains.",
			Errors:      []*fault.Kind{NotExpired, RenewalInFlight, TransferInFlight, DNSNotEmpty, SubdomainsExist}, Events: []string{"domain.deleted"}, Example: ref}, d.deleteDomain),
	}
}

type domainRef struct {
	ID id.ID `path:"id" doc:"the domain"`
}

// show fills in what a domain's answer has beside its columns.
func (d *Domains) show(ctx context.Context, tx *db.Tx, org id.ID, rows ...*Domain) error {
	for _, v := range rows {
		v.Verification, v.Registration = nil, v.registration()
		if v.VerificationValue != nil {
			v.Verification = &Verification{RecordName: verificationLabel + "." + v.Name, RecordValue: *v.VerificationValue, VerifiedAt: v.VerifiedAt}
		}
	}
	return d.Email.Fill(ctx, tx, org, rows)
}

func (d *Domains) get(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Domain, error) {
	v, err := domains.Get(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	return v, d.show(ctx, tx, org, v)
}

// lock holds a domain for the rest of the transaction.
func (d *Domains) lock(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Domain, error) {
	v, err := domains.Lock(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	return v, d.show(ctx, tx, org, v)
}

// save writes a domain back, and makes its answer follow its columns.
func (d *Domains) save(ctx context.Context, tx *db.Tx, v *Domain) error {
	if err := domains.Save(ctx, tx, v); err != nil {
		return err
	}
	return d.show(ctx, tx, v.OrganizationID, v)
}

// emit writes what happened by the clock or by the outside world.
func (d *Domains) emit(ctx context.Context, tx *db.Tx, org id.ID, kind string, resource id.ID, v any) error {
	return d.append(ctx, tx, event.Event{Organization: org, Type: kind, ResourceID: resource}, v)
}

// emitFor writes what came of an order, for whatever led to that.
func (d *Domains) emitFor(ctx context.Context, tx *db.Tx, o *Operation, kind string, resource id.ID, v any) error {
	return d.append(ctx, tx, event.Event{Organization: o.OrganizationID, Type: kind, ResourceID: resource, Chain: o.Wanted.Chain}, v)
}

func (d *Domains) append(ctx context.Context, tx *db.Tx, e event.Event, v any) (err error) {
	if e.Data, err = json.Marshal(v, json.Deterministic(true)); err != nil {
		return err
	}
	e.At = d.Clock.Now()
	return d.Events.Append(ctx, tx, e.BySystem())
}

func (d *Domains) pause(step string) {
	if d.Pause != nil {
		d.Pause(step)
	}
}

type domainList struct{ op.Page }

func (d *Domains) listDomains(ctx context.Context, c *op.Call, in domainList) (*op.List[Domain], error) {
	rows, err := domains.List(ctx, c.Tx, db.In(c.Org).And("kind = 'apex'"), in.DB())
	if err != nil {
		return nil, err
	}
	return op.ListOf(in.Page, rows), d.showAll(ctx, c, rows)
}

func (d *Domains) showAll(ctx context.Context, c *op.Call, rows []Domain) error {
	each := make([]*Domain, len(rows))
	for i := range rows {
		each[i] = &rows[i]
	}
	return d.show(ctx, c.Tx, c.Org, each...)
}

func (d *Domains) getDomain(ctx context.Context, c *op.Call, in domainRef) (*Domain, error) {
	return d.get(ctx, c.Tx, c.Org, in.ID)
}

type domainCreate struct {
	Name    string `json:"name" min:"1" max:"1000" doc:"a host name below a public suffix"`
	Purpose string `json:"purpose" default:"general" enum:"general,transactional,marketing"`

	ascii string
}

func (in *domainCreate) Prepare(context.Context, *op.Call) error {
	name, issue := ParseName(in.Name)
	if issue != "" {
		return fault.Field("name", issue)
	}
	in.ascii = name
	return nil
}

func (d *Domains) createDomain(ctx context.Context, c *op.Call, in domainCreate) (*Domain, error) {
	// The organization is the root: the rule is about all its names.
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	if err := nested(ctx, c, in.ascii); err != nil {
		return nil, err
	}
	value, err := verificationValue()
	if err != nil {
		return nil, err
	}
	v := &Domain{Record: c.NewRecord(), Name: in.ascii, Kind: "apex", Purpose: in.Purpose, Status: "pending_verification", Source: "external", VerificationValue: &value}
	if err := added(domains.TryInsert(ctx, c.Tx, v)); err != nil {
		return nil, err
	}
	if err := d.show(ctx, c.Tx, c.Org, v); err != nil {
		return nil, err
	}
	return v, c.Emit("domain.created", v.ID, v)
}

// added refuses a name that the organization has.
func added(ok bool, err error) error {
	if err == nil && !ok {
		err = Exists.New()
	}
	return err
}

// nested refuses a name below a domain of the organization, and one that it is
// registering at this moment.
func nested(ctx context.Context, c *op.Call, name string) error {
	type above struct {
		ID   id.ID  `db:"id"`
		Name string `db:"name"`
		Kind string `db:"kind"`
	}
	ancestors := parents(name)
	rows, err := db.All[above](ctx, c.Tx, "SELECT id, name, kind FROM domains WHERE organization_id = $1 AND name = ANY($2) AND deleted_at IS NULL", c.Org, append(ancestors, name))
	if err != nil {
		return err
	}
	var refusal *fault.Fault
	for _, r := range rows {
		switch {
		case r.Name == name:
			return Exists.With(map[string]id.ID{"domainId": r.ID})
		case r.Name == ancestors[0] && r.Kind == "apex":
			refusal = ParentExists.With(map[string]id.ID{"parentDomainId": r.ID})
		case refusal == nil:
			refusal = NestingUnsupported.New()
		}
	}
	if refusal != nil {
		return refusal
	}
	holder, err := heldBy(ctx, c.Tx, name)
	if err == nil && holder == c.Org {
		err = Exists.Say("The organization is registering this domain.")
	}
	return err
}
