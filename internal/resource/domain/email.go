package domain

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/zone"
)

func (d *Domains) emailOperations() []*op.Op {
	const ref = `{"id": ` + exampleID + `}`
	return []*op.Op{
		op.Flow(op.Spec{
			Name:      "domains.email.enable",
			NounWords: "mailbox, mail, own domain, dkim, spf, mx",
			Words:     "get mail, receive mail, set up mail, set up email, mail at domain, activate, switch on",
			Route:     "POST /v1/domains/{id}/email",
			Summary:   "Turn hosted email on for a domain.",
			Description: "Writes the MX, SPF, DKIM and DMARC records of the domain and its subdomains into its zone; " +
				"MX only where the purpose is general. A domain that was registered here has them from the start. " +
				"The zone of another must be delegated to our name servers, or its records copied from the " +
				"answer to GET. Your own SPF and DMARC records stay, and ours are not written beside them. " +
				"With the mode sending there is no MX: mail is received where it is today. " +
				"Calling it again adds what is missing, and changes the mode if it names another.",
			Status:  200,
			Outward: true,
			Errors: zone.WithProviderErrors(NotVerified, Unavailable, zone.Missing, zone.Busy, zone.Full,
				zone.RecordConflict),
			Events:  []string{"domain.email.created", "domain.email.updated"},
			Example: `{"id": ` + exampleID + `, "mode": "sending"}`,
		}, d.enableEmail),
		op.Flow(op.Spec{
			Name:    "domains.email.get",
			Words:   "mail set up, mail properly, check mail, mail works",
			Route:   "GET /v1/domains/{id}/email",
			Summary: "Get the records of hosted email, and what the DNS has of them.",
			Description: "Looks every record of the domain or subdomain up in the DNS. Where the zone is not " +
				"delegated " +
				"to our name servers, these are the records to copy to where it is. Without email there are none.",
			Example: ref,
		}, d.getEmailSetup),
		op.Flow(op.Spec{
			Name:        "domains.email.disable",
			Words:       "switch off, deactivate",
			Rehearses:   true,
			Route:       "DELETE /v1/domains/{id}/email",
			Summary:     "Turn hosted email off for a domain.",
			Description: "Removes the records that turning it on wrote. The signing keys are kept for the next time.",
			Errors:      zone.WithProviderErrors(zone.Missing, zone.Busy),
			Events:      []string{"domain.email.deleted"},
			Example:     ref,
		}, d.disableEmail),
	}
}

type emailInput struct {
	domainRef
	Mode *EmailMode `json:"mode" enum:"full,sending" doc:"full unless given; while email is on, it stays unless given"`
}

// publishFallbackDelay is how long the fallback job waits. By then the request that changed
// the email has published the records itself, or is dead.
const publishFallbackDelay = 90 * time.Second

func (d *Domains) enableEmail(ctx context.Context, c *op.Call, in emailInput) (*Domain, error) {
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := domains.Get(ctx, tx, c.Org, in.ID)
		if err != nil {
			return err
		}
		return checkMayHaveEmail(v)
	})
	if err != nil {
		return nil, err
	}
	if err := d.Email.ensureSigningKeys(ctx, c.Org, in.ID, false); err != nil {
		return nil, err
	}
	return d.switchEmail(ctx, c, in.ID, true, in.Mode)
}

// checkMayHaveEmail refuses a domain whose email cannot be turned on.
func checkMayHaveEmail(v *Domain) error {
	switch {
	case v.Kind == KindSubdomain:
		return followsParentFault(v)
	case v.Status == StatusPending:
		return NotVerified.Say("Verify %s first.", v.Name)
	case v.Status != StatusActive:
		return Unavailable.Say("%s is %s.", v.Name, v.Status)
	}
	return nil
}

// followsParentFault refuses to turn email on or off for a subdomain alone.
func followsParentFault(v *Domain) error {
	f := zone.Missing.Say("The email of %s follows the domain above it. Use that domain's id.", v.Name)
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
		if v.Kind == KindSubdomain {
			return followsParentFault(v)
		}
		rows, err := loadEmailRows(ctx, tx, c.Org, []id.ID{in.ID})
		has = len(rows) > 0
		return err
	})
	if err != nil || !has {
		return op.Nothing{}, err
	}
	_, err = d.switchEmail(ctx, c, in.ID, false, nil)
	return op.Nothing{}, err
}

// switchEmail commits what is wanted, makes the zone follow, and commits that it did. If the
// process dies in between, a job does the rest.
func (d *Domains) switchEmail(
	ctx context.Context, c *op.Call, domain id.ID, on bool, mode *EmailMode,
) (*Domain, error) {
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := domains.Lock(ctx, tx, c.Org, domain)
		if err != nil {
			return err
		}
		if on {
			if err := checkMayHaveEmail(v); err != nil {
				return err
			}
		}
		rows, err := loadEmailRows(ctx, tx, c.Org, []id.ID{domain})
		if err != nil || len(rows) == 0 {
			return err
		}
		tx.AddToTrace(op.AnnouncedEvent{Type: "domain.email.updated", Resource: domain})
		_, err = db.Exec(ctx, tx, `
			UPDATE domain_email SET wanted = $3, wanted_mode = $4, version = version + 1
			WHERE organization_id = $1 AND domain_id = $2`, c.Org, domain, on, rows[0].nextMode(on, mode))
		if err != nil {
			return err
		}
		return d.enqueuePublishEmail(ctx, tx, c.Org, domain, d.cfg.Clock.Now().Add(publishFallbackDelay))
	})
	if err != nil {
		return nil, err
	}
	if !c.Rehearsing() {
		// A domain that lost its zone has no records that could be removed.
		if err := d.Email.publishRecords(ctx, c.Org, domain); err != nil && (on || !fault.IsKind(err, fault.NotFound)) {
			return nil, err
		}
	}
	d.pauseAt("email-published")
	finish := func(ctx context.Context) (*Domain, error) {
		v, event, err := d.settleEmail(ctx, c.Tx, c.Org, domain)
		if err != nil || event == "" {
			return v, err
		}
		return v, c.Emit(event, v.ID, v)
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

// nextMode is the mode that email has from now on: the given one, full when it is turned on anew,
// or else the mode it has.
func (r *emailRow) nextMode(on bool, mode *EmailMode) EmailMode {
	switch {
	case mode != nil:
		return *mode
	case on && !r.Wanted:
		return EmailFull
	}
	return r.Mode
}

// settleEmail commits that the zone has what is wanted, and returns the type of the event for
// that; empty if nothing changed.
func (d *Domains) settleEmail(ctx context.Context, tx *db.Tx, org, domain id.ID) (v *Domain, event string, err error) {
	if _, err := domains.Lock(ctx, tx, org, domain); err != nil {
		return nil, "", err
	}
	turned, changed, err := confirmEmail(ctx, tx, org, domain)
	if err != nil {
		return nil, "", err
	}
	v, err = d.loadDomain(ctx, tx, org, domain)
	switch {
	case err != nil:
		return nil, "", err
	case turned && v.Email.Enabled:
		event = "domain.email.created"
	case turned:
		event = "domain.email.deleted"
	case changed && v.Email.Enabled:
		event = "domain.email.updated"
	}
	return v, event, nil
}

// confirmEmail records that the zone has the wanted email records, and reports
// whether that turned email on or off, and whether it changed the mode.
func confirmEmail(ctx context.Context, tx *db.Tx, org, domain id.ID) (turned, changed bool, err error) {
	modes, err := db.Exec(ctx, tx, `
		UPDATE domain_email SET mode = wanted_mode
		WHERE organization_id = $1 AND domain_id = $2 AND mode <> wanted_mode`, org, domain)
	if err != nil {
		return false, false, err
	}
	turns, err := db.Exec(ctx, tx, `
		UPDATE domain_email SET enabled = wanted
		WHERE organization_id = $1 AND domain_id = $2 AND enabled <> wanted`, org, domain)
	return turns > 0, modes > 0, err
}

const publishEmailJob = "domain.publish_email"

type emailArgs struct {
	Org    id.ID `json:"org"`
	Domain id.ID `json:"domain"`
}

// enqueuePublishEmail enqueues the job that brings the zone's email records up to date.
func (d *Domains) enqueuePublishEmail(ctx context.Context, tx *db.Tx, org, domain id.ID, at clock.Time) error {
	_, err := d.cfg.Jobs.Enqueue(ctx, tx, publishEmailJob, emailArgs{org, domain}, job.RunAt(at),
		job.ForOrganization(org))
	return err
}

// republishParentEmail has the email records of a domain published again after a subdomain came
// or went. A domain that never had email has none.
func (d *Domains) republishParentEmail(ctx context.Context, c *op.Call, parent id.ID) error {
	n, err := db.Exec(ctx, c.Tx, `
		UPDATE domain_email SET version = version + 1
		WHERE organization_id = $1 AND domain_id = $2`, c.Org, parent)
	if err != nil || n == 0 {
		return err
	}
	return d.enqueuePublishEmail(ctx, c.Tx, c.Org, parent, c.Now)
}

// publishEmail is the job that brings the zone's email records up to date.
func (d *Domains) publishEmail(ctx context.Context, _ job.Job, a emailArgs) (job.Outcome, error) {
	err := d.Email.publishRecords(ctx, a.Org, a.Domain)
	if fault.IsKind(err, fault.NotFound) { // the domain is deleted, and its zone with it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) error {
		v, event, err := d.settleEmail(ctx, tx, a.Org, a.Domain)
		if fault.IsKind(err, fault.NotFound) {
			return nil
		}
		if err != nil || event == "" {
			return err
		}
		return d.emitSystemEvent(ctx, tx, v.newEvent(event), v)
	}, nil
}

// provisionRecords publishes the email records of a domain that is being registered, which has an id
// but no row yet. It can be repeated. confirmEmail follows once the row is written.
func (e *Email) provisionRecords(ctx context.Context, org, domain id.ID, name string) error {
	if err := e.ensureSigningKeys(ctx, org, domain, true); err != nil {
		return err
	}
	return e.setRecords(ctx, zone.Ref{Org: org, Domain: domain, Name: name, Registering: true})
}

// publishTries bounds how often a call starts over because the wanted records
// changed meanwhile. Then it gives up, and whoever changed them publishes.
const publishTries = 20

var errOvertaken = errors.New("domain: the zone should have other email records by now")

// publishRecords gives the zone of a domain its email records. When the wanted records change
// meanwhile, it writes nothing more and starts over.
func (e *Email) publishRecords(ctx context.Context, org, domain id.ID) error {
	for range publishTries {
		at, err := e.findEmailZone(ctx, org, domain)
		if err != nil {
			return err
		}
		if err := e.setRecords(ctx, at); !errors.Is(err, errOvertaken) {
			return err
		}
	}
	return zone.Busy.New()
}

// findEmailZone finds the zone that gets the email records of a domain. A domain
// whose proof has lapsed keeps its zone, and loses the email records.
func (e *Email) findEmailZone(ctx context.Context, org, domain id.ID) (at zone.Ref, err error) {
	err = e.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		o, err := findZoneOwner(ctx, tx, org, domain)
		if err != nil {
			return err
		}
		at = o.zoneRef()
		if o.Status != StatusPending {
			return o.checkHasZone()
		}
		if !o.Held {
			return fault.NotFound.Say("%s has no zone.", o.Name)
		}
		return nil
	})
	return at, err
}

// setRecords makes the email records of a zone those that are wanted now, or
// stops with errOvertaken once others are.
func (e *Email) setRecords(ctx context.Context, at zone.Ref) error {
	var version int
	return e.zones.SetEmailRecords(ctx, at, zone.EmailRecords{
		Want: func(ctx context.Context, tx *db.Tx, others []zone.Record) (want []zone.Record, err error) {
			version, want, err = e.wantedRecords(ctx, tx, at, others)
			return want, err
		},
		StillValid: func(ctx context.Context, tx *db.Tx) error {
			now, err := db.QueryOne[int](ctx, tx, `
				SELECT version FROM domain_email
				WHERE organization_id = $1 AND domain_id = $2`, at.Org, at.Domain)
			if err == nil && now != version {
				err = errOvertaken
			}
			return err
		},
	})
}
