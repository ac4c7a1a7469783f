package domain

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// A hold says who has a name in the whole service, and whose its zone is. A
// domain takes it when it is verified, added as a subdomain or ordered, and
// keeps it while it is only out of proof. It loses the hold when it is deleted,
// leaves, or when somebody else has the better right (proof.go).

// holdRow is a hold with the domain that has it.
type holdRow struct {
	Org       id.ID `db:"organization_id"`
	Domain    id.ID `db:"domain_id"`
	ZoneReady bool  `db:"zone_ready"`
}

// heldNow is the hold on a name, or nil.
func heldNow(ctx context.Context, tx *db.Tx, name string) (*holdRow, error) {
	h, err := db.One[holdRow](ctx, tx,
		"SELECT organization_id, domain_id, zone_ready FROM domain_holds WHERE name = $1", name)
	if errors.Is(err, db.ErrNone) {
		return nil, nil
	}
	return &h, err
}

// hold takes a name for one domain, in the whole service. The index decides
// between two that try at once.
func hold(ctx context.Context, tx *db.Tx, org id.ID, name string, domain id.ID, now clock.Time) error {
	n, err := db.Exec(ctx, tx, `INSERT INTO domain_holds (organization_id, created_at, name, domain_id, zone_ready)
		VALUES ($1, $2, $3, $4, FALSE) ON CONFLICT (name) DO NOTHING`, org, now, name, domain)
	if err == nil && n == 0 {
		err = held(name)
	}
	return err
}

// ready notes that the zone of a name was emptied for the domain that has it.
// It refuses when the domain has it no more.
func ready(ctx context.Context, tx *db.Tx, org id.ID, name string, domain id.ID) error {
	n, err := db.Exec(ctx, tx, `UPDATE domain_holds SET zone_ready = TRUE
		WHERE organization_id = $1 AND domain_id = $2 AND name = $3`, org, domain, name)
	if err == nil && n == 0 {
		err = held(name)
	}
	return err
}

func held(name string) error {
	return Unavailable.Say("%s is held or being registered by somebody else.", name)
}

// heldNames are those of the names that cannot be registered because somebody
// has them here, or the organization is adding them.
func heldNames(ctx context.Context, tx *db.Tx, org id.ID, names []string) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT name FROM domain_holds WHERE name = ANY($2)
		UNION SELECT name FROM domains WHERE organization_id = $1 AND name = ANY($2) AND deleted_at IS NULL`, org, names)
}

// release gives the names of a domain and its subdomains back.
func release(ctx context.Context, tx *db.Tx, org, domain id.ID) error {
	_, err := db.Exec(ctx, tx, `DELETE FROM domain_holds WHERE organization_id = $1 AND (domain_id = $2 OR domain_id IN
		(SELECT id FROM domains WHERE organization_id = $1 AND parent_domain_id = $2))`, org, domain)
	return err
}

// heldBy is the organization that has a name, or nothing.
func heldBy(ctx context.Context, tx *db.Tx, name string) (id.ID, error) {
	h, err := heldNow(ctx, tx, name)
	if h == nil {
		return "", err
	}
	return h.Org, err
}

// Holders are the organizations that have these names as active domains.
func Holders(ctx context.Context, tx *db.Tx, names []string) (map[string]id.ID, error) {
	type row struct {
		Name string `db:"name"`
		Org  id.ID  `db:"organization_id"`
	}
	rows, err := db.All[row](ctx, tx, `SELECT h.name, h.organization_id FROM domain_holds h
		JOIN domains d ON d.organization_id = h.organization_id AND d.id = h.domain_id
		WHERE h.name = ANY($1) AND d.status = 'active' AND d.deleted_at IS NULL`, names)
	out := make(map[string]id.ID, len(rows))
	for _, r := range rows {
		out[r.Name] = r.Org
	}
	return out, err
}
