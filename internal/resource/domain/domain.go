// Package domain holds the names that an organization is reached by: those it
// registered here, those it owns elsewhere and proved with a TXT record, and their
// subdomains. It also knows their hosted email: the keys that sign it and the DNS
// records that it needs.
//
// A registration or a renewal is an order, an Operation. Its row is written before
// the card is charged, and a job with saved steps carries it out afterwards
// (order.go). A hold says which domain has a name in the whole service (hold.go);
// rival.go decides who loses a name that two organizations claim.
//
// Registrar, Payments and zone.Provider are ports that adapters implement. No call
// to one of them happens inside a transaction, and no card is charged without an
// order's row: whoever takes over from a process that died must be able to ask
// what happened. The records of a domain's zone are the package zone's.
//
// Start reading at register.go, a registration from the request to the domain, and
// order.go below it, which registrations and renewals share. external.go proves a
// domain that is registered elsewhere. service.go lists the operations and the
// jobs.
package domain

import (
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Kind says whether a domain stands alone or below another.
type Kind string

// The kinds of domains. Only an apex has a zone, a proof and a registration;
// its subdomains follow it.
const (
	KindApex      Kind = "apex"
	KindSubdomain Kind = "subdomain"
)

// Status is what a domain may be used for.
type Status string

// The statuses of domains. Only an active one sends and receives mail.
const (
	StatusPending     Status = "pending_verification"
	StatusActive      Status = "active"
	StatusExpired     Status = "expired"
	StatusTransferred Status = "transferred"
)

// Source is where a domain was registered.
type Source string

// The sources of domains.
const (
	SourceRegistered Source = "registered" // here
	SourceExternal   Source = "external"
)

// Purpose is what a domain's mail is for.
type Purpose string

// PurposeGeneral sends and receives mail; all other purposes only send.
const PurposeGeneral Purpose = "general"

// Domain is a name that the organization uses.
type Domain struct {
	op.Record
	Name           string        `json:"name" doc:"lower-case ASCII; other scripts in their xn-- form"`
	UnicodeName    string        `json:"unicodeName" db:"-" doc:"the name as people read it"`
	Kind           Kind          `json:"kind" enum:"apex,subdomain"`
	ParentDomainID *id.ID        `json:"parentDomainId" doc:"of a subdomain"`
	Purpose        Purpose       `json:"purpose" enum:"general,transactional,marketing" doc:"only general gets mail"`
	Status         Status        `json:"status" enum:"pending_verification,active,expired,transferred"`
	Source         Source        `json:"source" enum:"registered,external"`
	Verification   *Verification `json:"verification" db:"-" doc:"null for registered domains and subdomains"`
	Email          DomainEmail   `json:"email" db:"-"`
	Registration   *Registration `json:"registration" db:"-" doc:"null unless it was registered here"`

	VerificationValue   *string              `json:"-" db:"verification_value"`
	VerifiedAt          *clock.Time          `json:"-" db:"verified_at"`
	ProofLookedAt       *clock.Time          `json:"-" db:"proof_looked_at"`
	ProofSeenAt         *clock.Time          `json:"-" db:"proof_seen_at"`
	ProofGoneAt         *clock.Time          `json:"-" db:"proof_gone_at"`
	Registrar           *string              `json:"-" db:"registrar"`
	RegisteredAt        *clock.Time          `json:"-" db:"registered_at"`
	ExpiresAt           *clock.Time          `json:"-" db:"expires_at"`
	AutoRenew           *bool                `json:"-" db:"auto_renew"`
	TransferLock        *bool                `json:"-" db:"transfer_lock"`
	ContactID           *id.ID               `json:"-" db:"contact_id"`
	ContactVerification *ContactVerification `json:"-" db:"contact_verification"`
	TransferRequestedAt *clock.Time          `json:"-" db:"transfer_requested_at"`
	RenewalFailedAt     *clock.Time          `json:"-" db:"renewal_failed_at"`
	ExpiryNoticed       *int                 `json:"-" db:"expiry_told"` // how many days ahead the last notice was
}

// Verification is the TXT record that proves an external domain.
type Verification struct {
	RecordName  string      `json:"recordName"`
	RecordValue string      `json:"recordValue"`
	VerifiedAt  *clock.Time `json:"verifiedAt"`
}

// verificationLabel is where the TXT record of an external domain is.
const verificationLabel = "_frontdesk"

// RecordState is whether our zone has an email record.
type RecordState string

// The states of email records.
const (
	RecordPublished RecordState = "published" // ours
	RecordCustom    RecordState = "custom"    // the caller's own in its place
	RecordMissing   RecordState = "missing"
)

// EmailMode is what hosted email does.
type EmailMode string

// The modes of hosted email.
const (
	EmailFull    EmailMode = "full"    // where the purpose is general, it receives too
	EmailSending EmailMode = "sending" // mail is received elsewhere
)

// DomainEmail is the state of hosted email. If a zone is not delegated to us,
// its records must be copied to where the zone is.
type DomainEmail struct {
	Enabled      bool       `json:"enabled"`
	Mode         *EmailMode `json:"mode" enum:"full,sending" doc:"null without email"`
	DKIMSelector *string    `json:"dkimSelector" doc:"of the RSA key; fd-ed25519 is the other key's"`

	SPF   *RecordState `json:"spf" enum:"published,custom,missing" doc:"custom is your own record; null without email"`
	DKIM  *RecordState `json:"dkim" enum:"published,custom,missing"`
	DMARC *RecordState `json:"dmarc" enum:"published,custom,missing"`
}

// ContactVerification is whether a registrant confirmed the email address.
type ContactVerification string

// The states of a registrant's address.
const (
	ContactPending  ContactVerification = "pending"
	ContactVerified ContactVerification = "verified"
)

// Registration is what a domain that was registered here has beside its name.
type Registration struct {
	Registrar    string     `json:"registrar"`
	RegisteredAt clock.Time `json:"registeredAt"`
	ExpiresAt    clock.Time `json:"expiresAt"`
	AutoRenew    bool       `json:"autoRenew" doc:"renews itself 30 days before expiresAt"`
	TransferLock bool       `json:"transferLock"`
	WhoisPrivacy bool       `json:"whoisPrivacy" doc:"always true"`
	ContactID    *id.ID     `json:"contactId" doc:"the domain contact that it is registered for"`

	ContactVerification ContactVerification `json:"contactVerification" enum:"pending,verified" doc:"of the email"`

	Transfer *Transfer `json:"transfer" doc:"to another registrar; null when there is none"`

	op.NoExternalText
}

// TransferStatus is how far along a transfer is.
type TransferStatus string

// The statuses of transfers.
const (
	TransferRequested TransferStatus = "requested"
	TransferCompleted TransferStatus = "completed"
)

// Transfer is a domain's move to another registrar.
type Transfer struct {
	Status      TransferStatus `json:"status" enum:"requested,completed"`
	RequestedAt clock.Time     `json:"requestedAt"`
}

// buildRegistration builds the answer's part about the registration from the columns; nil for a
// domain that was not registered here.
func (v *Domain) buildRegistration() *Registration {
	if v.Registrar == nil {
		return nil
	}
	r := &Registration{
		Registrar:           *v.Registrar,
		RegisteredAt:        *v.RegisteredAt,
		ExpiresAt:           *v.ExpiresAt,
		AutoRenew:           *v.AutoRenew,
		TransferLock:        *v.TransferLock,
		WhoisPrivacy:        true,
		ContactID:           v.ContactID,
		ContactVerification: *v.ContactVerification,
	}
	if v.TransferRequestedAt != nil {
		r.Transfer = &Transfer{TransferRequested, *v.TransferRequestedAt}
		if v.Status == StatusTransferred {
			r.Transfer.Status = TransferCompleted
		}
	}
	return r
}

// apexID is the domain whose zone the name is in.
func (v *Domain) apexID() id.ID {
	if v.ParentDomainID != nil {
		return *v.ParentDomainID
	}
	return v.ID
}

var domains = db.NewTable[Domain]("domains", db.Life{
	Noun:         "domain",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("parent_domain_id", "domains", db.EndsAtPurge),
		db.RefTo("contact_id", "domain_contacts"),
	},
})

// The refusals of domains.
var (
	Exists       = fault.DefineKind("DOMAIN_EXISTS", 409, "The organization already has this domain.")
	ParentExists = fault.DefineKind("DOMAIN_PARENT_EXISTS", 409,
		"The organization has the domain above this name. Add it as a subdomain of that.")
	NestingUnsupported = fault.DefineKind("DOMAIN_NESTING_UNSUPPORTED", 409,
		"The name is more than one label below a domain of the organization.")
	SubdomainsExist = fault.DefineKind("DOMAIN_SUBDOMAINS_EXIST", 409, "The domain has subdomains. Remove them first.")
	Unavailable     = fault.DefineKind("DOMAIN_UNAVAILABLE", 409, "This domain is not available.")
	NotVerified     = fault.DefineKind("DOMAIN_NOT_VERIFIED", 409, "The TXT record was not found.")
	NotExpired      = fault.DefineKind("REGISTERED_DOMAIN_NOT_EXPIRED", 409,
		"A registered domain can be deleted once it has expired.")
	RenewalInFlight = fault.DefineKind("REGISTERED_DOMAIN_RENEWAL_IN_FLIGHT", 409,
		"A renewal of this domain is queued or running.")
	TransferInFlight = fault.DefineKind("REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT", 409,
		"A transfer to another registrar is under way.")
	Locked = fault.DefineKind("REGISTERED_DOMAIN_LOCKED", 409,
		"The transfer lock is on. Turn transferLock off first.")
	ZoneNotEmpty = fault.DefineKind("REGISTERED_DOMAIN_DNS_NOT_EMPTY", 409,
		"The zone still has records. Remove them first.")
	Unsupported = fault.DefineKind("REGISTRAR_UNSUPPORTED_OPERATION", 422, "This is not possible for this domain.")
)

// unsupportedFault refuses what cannot be done with a domain, and says why where that is known.
func unsupportedFault(operation string, v *Domain) error {
	f := Unsupported.Say("%s cannot do this: %s.", v.Name, operation)
	if v.Registration == nil {
		f = Unsupported.Say("%s is not registered here.", v.Name)
	} else if v.Status == StatusTransferred {
		f = Unsupported.Say("%s has left for another registrar.", v.Name)
	}
	f.Details = map[string]string{"operation": operation}
	return f
}

// notRegisteredFault refuses a domain whose registration is asked for and that has none here.
func notRegisteredFault(v *Domain) error {
	return fault.NotFound.Say("%s has no registration here.", v.Name)
}

// checkNotLeaving refuses a domain that is not registered here, that has moved to another
// registrar, or whose transfer is under way.
func checkNotLeaving(v *Domain, operation string) error {
	if v.Registration == nil || v.Status == StatusTransferred {
		return unsupportedFault(operation, v)
	}
	if v.TransferRequestedAt != nil {
		return TransferInFlight.New()
	}
	return nil
}

// domainRef is the input that names a domain.
type domainRef struct {
	ID id.ID `path:"id" doc:"the domain"`
}

// domainArgs names a domain in the arguments of a job.
type domainArgs struct {
	Organization id.ID `json:"organization" db:"organization_id"`
	Domain       id.ID `json:"domain" db:"id"`
}

// exampleID is the domain in the examples of operations.
const exampleID = `"3b0f6a52-77a4-4d4f-9c7b-0c5a1d2e3f40"`

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
