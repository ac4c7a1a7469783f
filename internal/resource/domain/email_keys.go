package domain

import (
	"context"
	"crypto"
	"errors"
	"fmt"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/dkimkey"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/zone"
)

var _ = db.Declare("domain_email", db.Life{
	Parent: db.RefTo("domain_id", "domains", db.EndsAtPurge),
	Sealed: []db.Sealed{
		{Column: "ed25519_sealed", Place: "'domain_email/' || domain_id || '/fd-ed25519'"},
		{Column: "rsa_sealed", Place: "'domain_email/' || domain_id || '/fd-rsa'"},
	},
})

// Email is hosted email: whose domains have it, what signs for them (here) and
// which records their zones get (email_records.go). An apex domain has it or
// not; its subdomains follow.
type Email struct {
	db    *db.DB
	clock *clock.Clock
	zones *zone.Zones
	seal  op.Sealer
	host  string // receives the mail: what MX records name
	spf   string // sends it: the mechanisms of SPF records
}

// emailRow is an apex domain that has or had email.
type emailRow struct {
	DomainID      id.ID     `db:"domain_id"`
	Enabled       bool      `db:"enabled"`     // the zone has its records
	Wanted        bool      `db:"wanted"`      // it is turned on; Enabled follows
	Mode          EmailMode `db:"wanted_mode"` // the mode column follows it
	Version       int       `db:"version"`     // counts the changes of what the zone should have
	RSARecord     string    `db:"rsa_record"`
	Ed25519Record string    `db:"ed25519_record"`
}

func loadEmailRows(ctx context.Context, tx *db.Tx, org id.ID, apexes []id.ID) ([]emailRow, error) {
	return db.QueryAll[emailRow](ctx, tx, `
		SELECT domain_id, enabled, wanted, wanted_mode, version, rsa_record, ed25519_record
		FROM domain_email
		WHERE organization_id = $1 AND domain_id = ANY($2)`, org, apexes)
}

// sealingPlace is what a sealed key is bound to. The table's Life repeats it in
// SQL.
func sealingPlace(domain id.ID, selector string) string {
	return "domain_email/" + string(domain) + "/" + selector
}

// ensureSigningKeys creates the signing keys of a domain, unless it has them. If two calls do so at
// once, the first pair wins. wanted is whether the domain has email from the start.
func (e *Email) ensureSigningKeys(ctx context.Context, org, domain id.ID, wanted bool) error {
	var rows []emailRow
	err := e.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = loadEmailRows(ctx, tx, org, []id.ID{domain})
		return err
	})
	if err != nil || len(rows) > 0 {
		return err
	}
	pair, err := dkimkey.GeneratePair()
	if err != nil {
		return err
	}
	return e.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		// Sealed inside the transaction: a rotation of the sealing key waits
		// for the writes that began before it, and removes the old key after
		// them.
		sealed, record := map[string][]byte{}, map[string]string{}
		for _, k := range pair {
			var err error
			if sealed[k.Selector], err = e.seal.Seal(k.Private, sealingPlace(domain, k.Selector)); err != nil {
				return err
			}
			record[k.Selector] = k.Record
		}
		_, err := db.Exec(ctx, tx, `
			INSERT INTO domain_email (organization_id, created_at, domain_id, enabled, wanted, version,
				rsa_sealed, rsa_record, ed25519_sealed, ed25519_record)
			VALUES ($1, $2, $3, FALSE, $4, 1, $5, $6, $7, $8)
			ON CONFLICT (organization_id, domain_id) DO NOTHING`,
			org, e.clock.Now(), domain, wanted,
			sealed[dkimkey.RSA], record[dkimkey.RSA], sealed[dkimkey.Ed25519], record[dkimkey.Ed25519])
		return err
	})
}

// activeDomainSQL finds an active domain d that has its name; of a subdomain, the
// domain p above it is active too.
const activeDomainSQL = `
	FROM domains d
	JOIN domains p ON p.organization_id = d.organization_id AND p.id = coalesce(d.parent_domain_id, d.id)
		AND p.deleted_at IS NULL AND p.status = 'active'
	JOIN domain_holds h ON h.organization_id = d.organization_id AND h.domain_id = d.id AND h.name = d.name`

// hostedEmailSQL goes after JOIN or LEFT JOIN: it adds the hosted email e of the
// activeDomainSQL, and the WHERE that callers continue with AND.
const hostedEmailSQL = ` domain_email e ON e.organization_id = p.organization_id AND e.domain_id = p.id
		AND e.enabled AND e.wanted
	WHERE d.deleted_at IS NULL AND d.status = 'active'`

// fullModeSQL is the condition under which the hosted email e also receives.
const fullModeSQL = "e.mode = 'full' AND e.wanted_mode = 'full'"

// CanSendFrom reports whether an organization may send mail from a domain of this name: it must be
// active, whether or not its email is hosted here. receives is whether mail to the domain
// arrives here too.
func (e *Email) CanSendFrom(ctx context.Context, tx *db.Tx, org id.ID, name string) (sends, receives bool, err error) {
	type found struct {
		Purpose Purpose `db:"purpose"`
		Full    bool    `db:"in_full"`
	}
	f, err := db.QueryOne[found](ctx, tx, `
		SELECT d.purpose, CASE WHEN `+fullModeSQL+` THEN TRUE ELSE FALSE END AS in_full`+activeDomainSQL+`
		LEFT JOIN`+hostedEmailSQL+`
		AND d.organization_id = $1 AND d.name = $2`, org, name)
	if errors.Is(err, db.ErrNoRow) {
		return false, false, nil
	}
	return err == nil, f.Purpose == PurposeGeneral && f.Full, err
}

// FindReceiver finds the organization whose domain has this name, and whether the domain receives
// mail: one with another purpose than general only sends. The organization is empty if the
// name has no hosted email here, or has it in the mode sending.
func (e *Email) FindReceiver(ctx context.Context, tx *db.Tx, name string) (org id.ID, receives bool, err error) {
	type found struct {
		Organization id.ID   `db:"organization_id"`
		Purpose      Purpose `db:"purpose"`
	}
	f, err := db.QueryOne[found](ctx, tx, `
		SELECT d.organization_id, d.purpose`+activeDomainSQL+`
		JOIN`+hostedEmailSQL+`
		AND h.name = $1 AND `+fullModeSQL, name)
	if errors.Is(err, db.ErrNoRow) {
		return "", false, nil
	}
	return f.Organization, f.Purpose == PurposeGeneral, err
}

// Signer is a DKIM key with the selector that its record is published under.
type Signer struct {
	Selector string
	Key      crypto.Signer
}

// ErrMayNotSend means that a domain is not the organization's, or not active.
var ErrMayNotSend = errors.New("domain: not an active domain of the organization")

// LoadSigners opens the keys that sign for a domain that the organization sends from. Without
// hosted email there are none: their records are not published, so nobody could verify the
// signatures.
func (e *Email) LoadSigners(ctx context.Context, org id.ID, name string) ([]Signer, error) {
	type sealed struct {
		DomainID *id.ID `db:"domain_id"`
		RSA      []byte `db:"rsa_sealed"`
		Ed25519  []byte `db:"ed25519_sealed"`
	}
	var row sealed
	err := e.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		row, err = db.QueryOne[sealed](ctx, tx, `
			SELECT e.domain_id, e.rsa_sealed, e.ed25519_sealed`+activeDomainSQL+`
			LEFT JOIN`+hostedEmailSQL+`
			AND d.organization_id = $1 AND d.name = $2`, org, name)
		return err
	})
	if errors.Is(err, db.ErrNoRow) {
		return nil, fmt.Errorf("%w: %s", ErrMayNotSend, name)
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
		plain, err := e.seal.Open(k.sealed, sealingPlace(*row.DomainID, k.selector))
		if err == nil {
			signer, err = dkimkey.ParsePrivate(plain)
		}
		if err != nil {
			return nil, fmt.Errorf("domain: the key %s of %s: %w", k.selector, name, err)
		}
		out = append(out, Signer{k.selector, signer})
	}
	return out, nil
}
