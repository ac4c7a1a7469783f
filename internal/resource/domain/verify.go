package domain

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"net"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
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
	Seen        []string `json:"seen"`
}

func (d *Domains) verify(ctx context.Context, c *op.Call, in domainRef) (*Domain, error) {
	var v *Domain
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = d.get(ctx, tx, c.Org, in.ID)
		return err
	})
	if err != nil || v.Status != "pending_verification" {
		return v, err
	}
	seen, err := d.LookupTXT(ctx, v.Verification.RecordName)
	var none *net.DNSError
	if err != nil && (!errors.As(err, &none) || !none.IsNotFound) {
		return nil, fault.Unavailable.Because(err)
	}
	if !slices.Contains(seen, *v.VerificationValue) {
		f := NotVerified.Say("There is no TXT record at %s with the wanted value. A new record may take some minutes to be seen.", v.Verification.RecordName)
		f.Details = NotSeen{v.Verification.RecordName, *v.VerificationValue, append([]string{}, seen...)}
		return nil, f
	}
	// The zone comes first: one without an active domain harms nobody, and is
	// there when verification is called again.
	if err := d.DNS.CreateZone(ctx, v.Name); err != nil {
		return nil, dnsFault(err)
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Domain, error) {
		v, err := d.lock(ctx, c.Tx, c.Org, in.ID)
		if err != nil || v.Status != "pending_verification" {
			return v, err
		}
		if err := hold(ctx, c.Tx, c.Org, v.Name, v.ID, c.Now); err != nil {
			return nil, err
		}
		v.Status, v.VerifiedAt, v.UpdatedAt = "active", &c.Now, c.Now
		if err := d.save(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		// The zone that was there may have been a former domain's, and on its way out.
		if _, err := d.Jobs.Enqueue(ctx, c.Tx, raiseZone, zoneArgs{v.Name}, job.For(c.Org)); err != nil {
			return nil, err
		}
		return v, c.Emit("domain.verified", v.ID, v)
	})
}

// dnsFault is the DNS provider's trouble as a caller hears of it.
func dnsFault(err error) error {
	return fault.Unavailable.Because(err)
}
