package domain

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// verificationLabel is where the TXT record of an external domain stands.
const verificationLabel = "_frontdesk"

func verificationValue() (string, error) {
	var b [20]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return "frontdesk-verification=" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:])), nil
}

// NotSeen is what the details of DOMAIN_NOT_VERIFIED say.
type NotSeen struct {
	RecordName  string   `json:"recordName"`
	RecordValue string   `json:"recordValue"`
	Seen        []string `json:"seen" doc:"the TXT records at that name"`
	Problem     *string  `json:"problem" doc:"what the DNS answered when it could not tell, like SERVFAIL"`
}

// unproven refuses a domain whose record the DNS did not show.
func unproven(v *Domain, l look) error {
	said := NotSeen{v.Verification.RecordName, *v.VerificationValue, append([]string{}, l.seen...), nil}
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

// verify takes the name before it touches the zone, and makes the domain
// active after it. Whoever dies in between has the name, and goes on with the
// next call.
func (d *Domains) verify(ctx context.Context, c *op.Call, in domainRef) (*Domain, error) {
	var v *Domain
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = d.get(ctx, tx, c.Org, in.ID)
		return err
	})
	if err != nil || v.Status != "pending_verification" {
		return v, err
	}
	if v.Kind == "subdomain" {
		return nil, followsProof(v)
	}
	l := d.lookFor(ctx, v.Name)
	switch {
	case l.silence != nil:
		return nil, fault.Unavailable.Because(l.silence)
	case !slices.Contains(l.seen, *v.VerificationValue):
		return nil, unproven(v, l)
	}
	rival, err := d.rivalOf(ctx, c.Org, v.Name, l.seen)
	if err != nil {
		return nil, err
	}
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := d.lock(ctx, tx, c.Org, in.ID)
		if err != nil || v.Status != "pending_verification" {
			return err
		}
		return d.take(ctx, tx, c.Org, v.Name, v.ID, rival)
	})
	if err != nil {
		return nil, err
	}
	d.pause("name-taken")
	if err := d.openZone(ctx, v); err != nil {
		return nil, dnsFault(err)
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Domain, error) { return d.verified(ctx, c, in) })
}

// followsProof refuses to verify a subdomain by itself.
func followsProof(v *Domain) error {
	f := NotVerified.Say("%s follows the domain above it. Verify that one.", v.Name)
	f.Details = map[string]any{"parentDomainId": v.ParentDomainID}
	return f
}

// verified makes a domain active that has its name and its zone.
func (d *Domains) verified(ctx context.Context, c *op.Call, in domainRef) (*Domain, error) {
	v, err := d.lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil || v.Status != "pending_verification" {
		return v, err
	}
	if err := ready(ctx, c.Tx, c.Org, v.Name, v.ID); err != nil {
		return nil, err
	}
	v.Status, v.VerifiedAt, v.UpdatedAt = "active", &c.Now, c.Now
	v.ProofLookedAt, v.ProofSeenAt, v.ProofGoneAt = &c.Now, &c.Now, nil
	if err := revive(ctx, c.Tx, v, c.Now); err != nil {
		return nil, err
	}
	if err := d.save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	// The zone that was there may have been a former domain's, and on its way out.
	if _, err := d.Jobs.Enqueue(ctx, c.Tx, raiseZone, zoneArgs{v.Name}, job.For(c.Org)); err != nil {
		return nil, err
	}
	if err := d.shade(ctx, c.Tx, c.Org, v.Name); err != nil {
		return nil, err
	}
	return v, c.Emit("domain.verified", v.ID, v)
}

// openZone makes the zone of a domain that has its name: empty when it is new
// to it, and with the proof, so that a zone that is delegated to us proves
// the domain too.
func (d *Domains) openZone(ctx context.Context, v *Domain) error {
	var h *holdRow
	err := d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		h, err = heldNow(ctx, tx, v.Name)
		return err
	})
	if err != nil || h == nil || h.Domain != v.ID {
		return err
	}
	if ok, err := d.mayHaveZone(ctx, h.Org, v.Name); err != nil || !ok {
		return err
	}
	if h.ZoneReady {
		err = d.DNS.CreateZone(ctx, v.Name)
	} else {
		err = d.emptyFor(ctx, v.Name, v.ID)
	}
	if err != nil || v.VerificationValue == nil {
		return err
	}
	proof := Record{Type: "TXT", Name: verificationLabel, Content: *v.VerificationValue, TTL: DefaultTTL}
	return d.DNS.Add(ctx, v.Name, proof)
}

// emptyFor empties the zone of a name for the domain that has it now.
func (d *Domains) emptyFor(ctx context.Context, name string, domain id.ID) error {
	if err := d.quiet(ctx, name, domain); err != nil {
		return err
	}
	return d.DNS.EmptyZone(ctx, name)
}

// quiet waits until former holders of a name write no more into its zone. They
// cannot begin anything new.
func (d *Domains) quiet(ctx context.Context, name string, domain id.ID) error {
	for end := time.Now().Add(turnTime); time.Now().Before(end); { //nolint:forbidigo // how long it waits, not when
		var open int
		err := d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
			now, err := db.Now(ctx, tx)
			if err != nil {
				return err
			}
			open, err = db.One[int](ctx, tx, `SELECT count(*) FROM domains d
				JOIN dns_records r ON r.organization_id = d.organization_id AND r.domain_id = d.id
				WHERE d.name = $1 AND d.id <> $2 AND r.intent_id IS NOT NULL AND r.intent_until > $3`,
				name, domain, now)
			return err
		})
		if err != nil || open == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(turnPause):
		}
	}
	return nil
}

// mayHaveZone reports whether a name gets a zone. Where the DNS server does
// not ask the parent's zone, a child of another organization's domain has none
// unless that zone delegates it.
func (d *Domains) mayHaveZone(ctx context.Context, org id.ID, name string) (bool, error) {
	above := parents(name)
	if d.Delegates || len(above) == 0 {
		return true, nil
	}
	var holders map[string]id.ID
	err := d.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		holders, err = Holders(ctx, tx, above)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, parent := range above {
		if holder := holders[parent]; holder == "" || holder == org {
			continue
		}
		records, err := d.DNS.Records(ctx, parent)
		if StatusOf(err) == 404 {
			continue
		}
		if err != nil {
			return false, err
		}
		cut := func(r Record) bool { return r.Type == "NS" && r.Full(parent) == name }
		return slices.ContainsFunc(records, cut), nil
	}
	return true, nil
}

// shade removes the zones of names below one that another organization has,
// where the DNS server would let them answer in its place.
func (d *Domains) shade(ctx context.Context, tx *db.Tx, org id.ID, name string) error {
	if d.Delegates {
		return nil
	}
	rows, err := below(ctx, tx, org, name)
	if err != nil {
		return err
	}
	for _, r := range rows {
		v, err := domains.Get(ctx, tx, r.Organization, r.Domain)
		if err != nil {
			return err
		}
		if _, err := d.Jobs.Enqueue(ctx, tx, dropZone, zoneArgs{v.Name}, job.For(r.Organization)); err != nil {
			return err
		}
		if err := d.tell(ctx, tx, r.Organization, zoneRemoved(v, name, d.Clock.Now())); err != nil {
			return err
		}
	}
	return nil
}

// dnsFault is the DNS provider's trouble as a caller hears of it.
func dnsFault(err error) error {
	return fault.Unavailable.Because(err)
}
