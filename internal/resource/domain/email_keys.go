package domain

import (
	"context"
	"crypto"
	"errors"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/dkimkey"
	"frontdesk/internal/kernel/id"
)

// emailRow is an apex domain that has or had email.
type emailRow struct {
	DomainID      id.ID  `db:"domain_id"`
	Enabled       bool   `db:"enabled"`
	Wanted        bool   `db:"wanted"`
	Version       int    `db:"version"`
	RSARecord     string `db:"rsa_record"`
	Ed25519Record string `db:"ed25519_record"`
}

func emailRows(ctx context.Context, tx *db.Tx, org id.ID, apexes []id.ID) ([]emailRow, error) {
	return db.All[emailRow](ctx, tx, "SELECT domain_id, enabled, wanted, version, rsa_record, ed25519_record FROM domain_email WHERE organization_id = $1 AND domain_id = ANY($2)", org, apexes)
}

// keyPlace is what a sealed key is bound to, as internal/app/rotate.go writes it.
func keyPlace(domain id.ID, selector string) string {
	return "domain_email/" + string(domain) + "/" + selector
}

// makeKeys gives a domain its keys, once. Of two that try at the same time,
// the first pair stays.
func (e *Email) makeKeys(ctx context.Context, org, domain id.ID) error {
	var rows []emailRow
	err := e.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = emailRows(ctx, tx, org, []id.ID{domain})
		return err
	})
	if err != nil || len(rows) > 0 {
		return err
	}
	pair, err := dkimkey.Pair()
	if err != nil {
		return err
	}
	return e.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		// Sealed in here: a rotation of the sealing key waits for the writes that
		// began before it, and takes the old key out after them.
		sealed, record := map[string][]byte{}, map[string]string{}
		for _, k := range pair {
			var err error
			if sealed[k.Selector], err = e.Seal.Seal(k.Private, keyPlace(domain, k.Selector)); err != nil {
				return err
			}
			record[k.Selector] = k.Record
		}
		_, err := db.Exec(ctx, tx, `INSERT INTO domain_email (organization_id, created_at, domain_id, enabled, wanted, version, rsa_sealed, rsa_record, ed25519_sealed, ed25519_record)
			VALUES ($1, $2, $3, FALSE, FALSE, 1, $4, $5, $6, $7) ON CONFLICT (organization_id, domain_id) DO NOTHING`,
			org, e.Clock.Now(), domain, sealed[dkimkey.RSA], record[dkimkey.RSA], sealed[dkimkey.Ed25519], record[dkimkey.Ed25519])
		return err
	})
}

// alive joins a domain, or a subdomain with the one above it, to its hold while
// both are active.
const alive = ` JOIN domains p ON p.organization_id = d.organization_id AND p.id = coalesce(d.parent_domain_id, d.id)
		AND p.deleted_at IS NULL AND p.status = 'active'
	JOIN domain_holds h ON h.organization_id = d.organization_id AND h.domain_id = d.id AND h.name = d.name`

// hosting is the hosted email of a domain that alive found.
const hosting = `domain_email e ON e.organization_id = p.organization_id AND e.domain_id = p.id
		AND e.enabled AND e.wanted`

const living = ` WHERE d.deleted_at IS NULL AND d.status = 'active'`

// Sends reports whether an organization sends mail from a domain of this name:
// an active one, whether or not its email is hosted here. receives is whether
// the domain takes mail too.
func (e *Email) Sends(ctx context.Context, tx *db.Tx, org id.ID, name string) (sends, receives bool, err error) {
	type found struct {
		Purpose string `db:"purpose"`
		Hosted  *id.ID `db:"domain_id"`
	}
	f, err := db.One[found](ctx, tx, "SELECT d.purpose, e.domain_id FROM domains d"+alive+" LEFT JOIN "+hosting+living+
		" AND d.organization_id = $1 AND d.name = $2", org, name)
	if errors.Is(err, db.ErrNone) {
		return false, false, nil
	}
	return err == nil, f.Purpose == "general" && f.Hosted != nil, err
}

// Receiver is the organization that a domain of this name belongs to, and
// whether it takes mail there. Without email there is no organization.
func (e *Email) Receiver(ctx context.Context, tx *db.Tx, name string) (org id.ID, receives bool, err error) {
	type found struct {
		Organization id.ID  `db:"organization_id"`
		Purpose      string `db:"purpose"`
	}
	f, err := db.One[found](ctx, tx, "SELECT d.organization_id, d.purpose FROM domains d"+
		alive+" JOIN "+hosting+living+" AND h.name = $1", name)
	if errors.Is(err, db.ErrNone) {
		return "", false, nil
	}
	return f.Organization, f.Purpose == "general", err
}

// Signer signs under a selector.
type Signer struct {
	Selector string
	Key      crypto.Signer
}

// ErrNotSending says that a domain is not the organization's, or not active.
var ErrNotSending = errors.New("domain: not an active domain of the organization")

// Signers are the keys that sign for a domain that the organization sends
// from. Without hosted email there are none: nobody could find their records.
func (e *Email) Signers(ctx context.Context, org id.ID, name string) ([]Signer, error) {
	type sealed struct {
		DomainID *id.ID `db:"domain_id"`
		RSA      []byte `db:"rsa_sealed"`
		Ed25519  []byte `db:"ed25519_sealed"`
	}
	var row sealed
	err := e.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		row, err = db.One[sealed](ctx, tx, "SELECT e.domain_id, e.rsa_sealed, e.ed25519_sealed FROM domains d"+
			alive+" LEFT JOIN "+hosting+living+" AND d.organization_id = $1 AND d.name = $2", org, name)
		return err
	})
	if errors.Is(err, db.ErrNone) {
		return nil, fmt.Errorf("%w: %s", ErrNotSending, name)
	}
	if err != nil || row.DomainID == nil {
		return nil, err
	}
	var out []Signer
	for _, k := range []struct {
		selector string
		sealed   []byte
	}{{dkimkey.Ed25519, row.Ed25519}, {dkimkey.RSA, row.RSA}} {
		var signer crypto.Signer
		plain, err := e.Seal.Open(k.sealed, keyPlace(*row.DomainID, k.selector))
		if err == nil {
			signer, err = dkimkey.Parse(plain)
		}
		if err != nil {
			return nil, fmt.Errorf("domain: the key %s of %s: %w", k.selector, name, err)
		}
		out = append(out, Signer{k.selector, signer})
	}
	return out, nil
}
