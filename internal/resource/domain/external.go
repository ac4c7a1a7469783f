package domain

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// A domain that is registered elsewhere is added, and proved by a TXT record.

type domainCreate struct {
	Name    string  `json:"name" min:"1" max:"1000" doc:"a host name below a public suffix"`
	Purpose Purpose `json:"purpose" default:"general" enum:"general,transactional,marketing"`

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
	// The check covers all names of the organization, so two calls must not make it at once.
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	if err := checkMayAdd(ctx, c, in.ascii); err != nil {
		return nil, err
	}
	value, err := newVerificationValue()
	if err != nil {
		return nil, err
	}
	v := &Domain{
		Record:            c.NewRecord(),
		Name:              in.ascii,
		Kind:              KindApex,
		Purpose:           in.Purpose,
		Status:            StatusPending,
		Source:            SourceExternal,
		VerificationValue: &value,
	}
	if err := insertDomain(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := d.fillDomains(ctx, c.Tx, c.Org, v); err != nil {
		return nil, err
	}
	return v, c.Emit("domain.created", v.ID, v)
}

// insertDomain writes a new domain. It refuses a name that the organization already has.
func insertDomain(ctx context.Context, tx *db.Tx, v *Domain) error {
	ok, err := domains.TryInsert(ctx, tx, v)
	if err == nil && !ok {
		err = Exists.New()
	}
	return err
}

// checkMayAdd refuses a name that the organization has or is registering, and one
// below a domain of the organization.
func checkMayAdd(ctx context.Context, c *op.Call, name string) error {
	type row struct {
		ID   id.ID  `db:"id"`
		Name string `db:"name"`
		Kind Kind   `db:"kind"`
	}
	ancestors := parentNames(name)
	rows, err := db.QueryAll[row](ctx, c.Tx, `
		SELECT id, name, kind FROM domains
		WHERE organization_id = $1 AND name = ANY($2) AND deleted_at IS NULL`, c.Org, append(ancestors, name))
	if err != nil {
		return err
	}
	var refusal *fault.Fault
	for _, r := range rows {
		switch {
		case r.Name == name:
			return Exists.WithDetails(map[string]id.ID{"domainId": r.ID})
		case r.Name == ancestors[0] && r.Kind == KindApex:
			refusal = ParentExists.WithDetails(map[string]id.ID{"parentDomainId": r.ID})
		case refusal == nil:
			refusal = NestingUnsupported.New()
		}
	}
	if refusal != nil {
		return refusal
	}
	h, err := findHold(ctx, c.Tx, name)
	if err == nil && h != nil && h.Org == c.Org {
		err = Exists.Say("The organization is registering this domain.")
	}
	return err
}

// newVerificationValue is the random value of a TXT record, which proves that its domain is the
// organization's.
func newVerificationValue() (string, error) {
	var b [20]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return "frontdesk-verification=" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:])), nil
}

// VerificationFailure is the details of DOMAIN_NOT_VERIFIED.
type VerificationFailure struct {
	RecordName  string   `json:"recordName"`
	RecordValue string   `json:"recordValue"`
	Seen        []string `json:"seen" doc:"the TXT records at that name"`
	Problem     *string  `json:"problem" doc:"what the DNS answered when it could not tell, like SERVFAIL"`
}

// notVerifiedFault refuses a domain whose TXT record the DNS did not show, and says what it showed
// instead.
func notVerifiedFault(v *Domain, l proofLookup) error {
	said := VerificationFailure{v.Verification.RecordName, *v.VerificationValue, clipRecords(l.seen), nil}
	f := NotVerified.Say("There is no TXT record at %s with the wanted value. "+
		"A new record may take some minutes to be seen.", said.RecordName)
	if l.problem != "" {
		said.Problem = &l.problem
		f = NotVerified.Say("The DNS answered %s when it was asked for %s. "+
			"Check the name servers of %s, then try again.", l.problem, said.RecordName, v.Name)
	}
	f.Details = said
	return f
}

// verifyDomain looks for the proof, takes the name, sets up the zone and activates the domain, in
// this order. A call that dies in between keeps the name, and the next one goes on.
func (d *Domains) verifyDomain(ctx context.Context, c *op.Call, in domainRef) (*Domain, error) {
	v, err := d.readDomain(ctx, c.Org, in.ID)
	if err != nil || v.Status != StatusPending {
		return v, err
	}
	if v.Kind == KindSubdomain {
		return nil, followsProofFault(v)
	}
	l := d.lookUpProof(ctx, v.Name)
	switch {
	case l.noAnswer != nil:
		return nil, fault.Unavailable.Because(l.noAnswer)
	case !slices.Contains(l.seen, *v.VerificationValue):
		return nil, notVerifiedFault(v, l)
	}
	var h *nameHolder
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		h, err = findNameHolder(ctx, tx, v.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	var former *displacedHolder
	if h != nil && h.Org != c.Org {
		if former, err = d.challengeHolder(ctx, h, v.Name, l.seen); err != nil {
			return nil, err
		}
	}
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := d.lockDomain(ctx, tx, c.Org, in.ID)
		if err != nil || v.Status != StatusPending {
			return err
		}
		return d.takeName(ctx, tx, namedDomain{c.Org, v.ID, v.Name}, former)
	})
	if err != nil {
		return nil, err
	}
	d.pauseAt("name-taken")
	if err := d.setUpZone(ctx, v); err != nil {
		return nil, fault.Unavailable.Because(err)
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Domain, error) { return d.activateDomain(ctx, c, in) })
}

// followsProofFault refuses to verify a subdomain, which is proved by the domain above it.
func followsProofFault(v *Domain) error {
	f := NotVerified.Say("%s follows the domain above it. Verify that one.", v.Name)
	f.Details = map[string]any{"parentDomainId": v.ParentDomainID}
	return f
}

// activateDomain activates a domain that has its name and its zone.
func (d *Domains) activateDomain(ctx context.Context, c *op.Call, in domainRef) (*Domain, error) {
	v, err := d.lockDomain(ctx, c.Tx, c.Org, in.ID)
	if err != nil || v.Status != StatusPending {
		return v, err
	}
	if err := markZoneReady(ctx, c.Tx, namedDomain{c.Org, v.ID, v.Name}); err != nil {
		return nil, err
	}
	v.Status, v.VerifiedAt, v.UpdatedAt = StatusActive, &c.Now, c.Now
	v.ProofLookedAt, v.ProofSeenAt, v.ProofGoneAt = &c.Now, &c.Now, nil
	if err := reactivateSubdomains(ctx, c.Tx, v, c.Now); err != nil {
		return nil, err
	}
	if err := d.saveDomain(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	// A former domain of this name may have left a job that drops the zone.
	// This job makes sure that the zone exists afterwards.
	if err := d.enqueueZoneJob(ctx, c.Tx, restoreZoneJob, c.Org, v.Name); err != nil {
		return nil, err
	}
	if err := d.dropZonesBelow(ctx, c.Tx, c.Org, v.Name); err != nil {
		return nil, err
	}
	return v, c.Emit("domain.verified", v.ID, v)
}
