package domain

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// EmailConfig is what hosted email stands on.
type EmailConfig struct {
	DB    *db.DB
	Clock *clock.Clock
	Zones *Zones
	Seal  op.Sealer

	Host string // takes the mail: what MX records name
	SPF  string // who sends it: the mechanisms of SPF records
}

// Email is hosted email: whose domains have it, what signs for them
// (email_keys.go) and which records their zones get (email_records.go). An
// apex domain has it or not; its subdomains follow.
type Email struct{ EmailConfig }

// NewEmail joins the parts.
func NewEmail(c EmailConfig) *Email { return &Email{c} }

func (d *Domains) emailOperations() []*op.Op {
	const ref = `{"id": ` + exampleID + `}`
	return []*op.Op{
		op.Flow(op.Spec{Name: "domains.email.enable", Outward: true, Route: "POST /v1/domains/{id}/email", Summary: "Turn hosted email on for a domain.", Status: 200,
			Description: "Writes the MX, SPF, DKIM and DMARC records of the domain and its subdomains into its zone; MX only where the purpose is general. " +
				"A domain that was registered here has them from the start. The zone of another must be delegated to our name servers, or its records copied from the list of DNS records. " +
				"Your own SPF and DMARC records stay, and ours are not written beside them. Calling it again mends what is missing.",
			Errors: dnsErrors(NotVerified, Unavailable, ZoneMissing, ZoneBusy, ZoneFull, RecordConflict), Events: []string{"domain.email.created"}, Example: ref}, d.enableEmail),
		op.Flow(op.Spec{Name: "domains.email.disable", Route: "DELETE /v1/domains/{id}/email", Summary: "Turn hosted email off for a domain.",
			Description: "Removes the records that turning it on wrote. The signing keys are kept for the next time.",
			Errors:      dnsErrors(ZoneMissing, ZoneBusy), Events: []string{"domain.email.deleted"}, Example: ref}, d.disableEmail),
	}
}

func (d *Domains) enableEmail(ctx context.Context, c *op.Call, in domainRef) (*Domain, error) {
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := domains.Get(ctx, tx, c.Org, in.ID)
		if err != nil {
			return err
		}
		return mayHaveEmail(v)
	})
	if err != nil {
		return nil, err
	}
	if err := d.Email.makeKeys(ctx, c.Org, in.ID); err != nil {
		return nil, err
	}
	return d.turnEmail(ctx, c, in.ID, true)
}

// mayHaveEmail refuses a domain whose email cannot be turned on.
func mayHaveEmail(v *Domain) error {
	switch {
	case v.Kind == "subdomain":
		return followsParent(v)
	case v.Status == "pending_verification":
		return NotVerified.Say("Verify %s first.", v.Name)
	case v.Status != "active":
		return Unavailable.Say("%s is %s.", v.Name, v.Status)
	}
	return nil
}

func followsParent(v *Domain) error {
	f := ZoneMissing.Say("The email of %s follows the domain above it. Use that domain's id.", v.Name)
	f.Details = map[string]*id.ID{"parentDomainId": v.ParentDomainID}
	return f
}

func (d *Domains) disableEmail(ctx context.Context, c *op.Call, in domainRef) (op.Nothing, error) {
	var has bool
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := domains.Get(ctx, tx, c.Org, in.ID)
		if err != nil {
			return err
		}
		if v.Kind == "subdomain" {
			return followsParent(v)
		}
		rows, err := emailRows(ctx, tx, c.Org, []id.ID{in.ID})
		has = len(rows) > 0
		return err
	})
	if err != nil || !has {
		return op.Nothing{}, err
	}
	_, err = d.turnEmail(ctx, c, in.ID, false)
	return op.Nothing{}, err
}

// turnEmail commits what is wanted, makes the zone follow, and commits that it
// did. When the process dies in between, a job does the rest.
func (d *Domains) turnEmail(ctx context.Context, c *op.Call, domain id.ID, on bool) (*Domain, error) {
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := domains.Lock(ctx, tx, c.Org, domain)
		if err != nil {
			return err
		}
		if on {
			if err := mayHaveEmail(v); err != nil {
				return err
			}
		}
		_, err = db.Exec(ctx, tx, "UPDATE domain_email SET wanted = $3, version = version + 1 WHERE organization_id = $1 AND domain_id = $2", c.Org, domain, on)
		if err != nil {
			return err
		}
		return d.republish(ctx, tx, c.Org, domain, d.Clock.Now().Add(intentLease))
	})
	if err != nil {
		return nil, err
	}
	// A domain that lost its zone has no records that could be removed.
	if err := d.Email.publish(ctx, c.Org, domain, ""); err != nil && (on || !fault.Has(err, fault.NotFound)) {
		return nil, err
	}
	d.pause("email-published")
	finish := func(ctx context.Context) (*Domain, error) {
		v, changed, err := d.settleEmail(ctx, c.Tx, c.Org, domain)
		if err != nil || !changed {
			return v, err
		}
		return v, c.Emit(emailEvent(v), v.ID, v)
	}
	if on {
		return op.Finish(ctx, c, finish)
	}
	_, err = op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		_, err := finish(ctx)
		return op.Nothing{}, err
	})
	return nil, err
}

// settleEmail commits that the zone has what is wanted, and reports whether
// email was turned on or off by it.
func (d *Domains) settleEmail(ctx context.Context, tx *db.Tx, org, domain id.ID) (*Domain, bool, error) {
	if _, err := domains.Lock(ctx, tx, org, domain); err != nil {
		return nil, false, err
	}
	n, err := db.Exec(ctx, tx, "UPDATE domain_email SET enabled = wanted WHERE organization_id = $1 AND domain_id = $2 AND enabled <> wanted", org, domain)
	if err != nil {
		return nil, false, err
	}
	v, err := d.get(ctx, tx, org, domain)
	return v, n > 0, err
}

func emailEvent(v *Domain) string {
	if v.Email.Enabled {
		return "domain.email.created"
	}
	return "domain.email.deleted"
}

const publishEmail = "domain.publish_email"

type emailArgs struct {
	Org    id.ID `json:"org"`
	Domain id.ID `json:"domain"`
}

// republish has a job bring the zone's email records up to date.
func (d *Domains) republish(ctx context.Context, tx *db.Tx, org, domain id.ID, at clock.Time) error {
	_, err := d.Jobs.Enqueue(ctx, tx, publishEmail, emailArgs{org, domain}, job.At(at), job.For(org))
	return err
}

// subdomainsChanged brings the zone of a domain with email up to date.
func (d *Domains) subdomainsChanged(ctx context.Context, c *op.Call, parent id.ID) error {
	n, err := db.Exec(ctx, c.Tx, "UPDATE domain_email SET version = version + 1 WHERE organization_id = $1 AND domain_id = $2", c.Org, parent)
	if err != nil || n == 0 {
		return err
	}
	return d.republish(ctx, c.Tx, c.Org, parent, c.Now)
}

func (d *Domains) publishEmail(ctx context.Context, _ job.Job, a emailArgs) (job.Outcome, error) {
	err := d.Email.publish(ctx, a.Org, a.Domain, "")
	if fault.Has(err, fault.NotFound) { // the domain is deleted, and its zone with it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) error {
		v, changed, err := d.settleEmail(ctx, tx, a.Org, a.Domain)
		if fault.Has(err, fault.NotFound) {
			return nil
		}
		if err != nil || !changed {
			return err
		}
		return d.emit(ctx, tx, a.Org, emailEvent(v), v.ID, v)
	}, nil
}

// Provision gives a domain email while it is being registered, and has its id
// but no row yet. It may be called again.
func (e *Email) Provision(ctx context.Context, org, domain id.ID, zone string) error {
	if err := e.makeKeys(ctx, org, domain); err != nil {
		return err
	}
	turn := func(column string) error {
		return e.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE domain_email SET "+column+" = TRUE WHERE organization_id = $1 AND domain_id = $2", org, domain)
			return err
		})
	}
	if err := turn("wanted"); err != nil {
		return err
	}
	if err := e.publish(ctx, org, domain, zone); err != nil {
		return err
	}
	return turn("enabled")
}

// publishTries bounds how often a zone is looked at again because what it
// should have changed meanwhile; then it is somebody else's turn.
const publishTries = 20

var errOvertaken = errors.New("domain: the zone should have other email records by now")

// publish makes the email records of a zone those that it should have. A zone
// without a domain yet is given by its name. Whoever is overtaken by a change
// writes nothing more, and looks again.
func (e *Email) publish(ctx context.Context, org, domain id.ID, zone string) error {
	for range publishTries {
		v, err := e.look(ctx, org, domain, zone)
		if err != nil {
			return err
		}
		err = e.Zones.SetEmail(ctx, org, domain, v.zone, v.records, func(ctx context.Context, tx *db.Tx) error {
			version, err := db.One[int](ctx, tx, "SELECT version FROM domain_email WHERE organization_id = $1 AND domain_id = $2", org, domain)
			if err == nil && version != v.version {
				err = errOvertaken
			}
			return err
		})
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
	return ZoneBusy.New()
}
