package domain

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// A hold says who has a name in the whole service, and whose zone it is. A
// domain takes the hold when it is verified, added as a subdomain or ordered,
// and keeps it if only its proof has lapsed. It loses the hold when it is
// deleted, leaves, or when somebody else has the better right (rival.go).

var _ = db.Declare("domain_holds", db.Life{Refs: []db.Ref{db.RefTo("domain_id", "domains", db.Keeps)}})

// nameHold is a row of domain_holds.
type nameHold struct {
	Org       id.ID `db:"organization_id"`
	Domain    id.ID `db:"domain_id"`
	ZoneReady bool  `db:"zone_ready"` // the zone was emptied for this domain
}

// findHold finds the hold on a name, or nil.
func findHold(ctx context.Context, tx *db.Tx, name string) (*nameHold, error) {
	h, err := db.QueryOne[nameHold](ctx, tx, `
		SELECT organization_id, domain_id, zone_ready FROM domain_holds WHERE name = $1`, name)
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &h, err
}

// namedDomain is a domain that holds its name, or is to hold it.
type namedDomain struct {
	org    id.ID
	domain id.ID
	name   string
}

// insertHold takes a name for one domain, in the whole service. The unique index decides between
// two that try at once.
func insertHold(ctx context.Context, tx *db.Tx, v namedDomain, now clock.Time) error {
	n, err := db.Exec(ctx, tx, `
		INSERT INTO domain_holds (organization_id, created_at, name, domain_id, zone_ready)
		VALUES ($1, $2, $3, $4, FALSE)
		ON CONFLICT (name) DO NOTHING`, v.org, now, v.name, v.domain)
	if err == nil && n == 0 {
		err = nameTakenFault(v.name)
	}
	return err
}

// markZoneReady records that the zone of a name was emptied for the domain that has it. It
// refuses if the domain lost the name meanwhile.
func markZoneReady(ctx context.Context, tx *db.Tx, v namedDomain) error {
	n, err := db.Exec(ctx, tx, `
		UPDATE domain_holds SET zone_ready = TRUE
		WHERE organization_id = $1 AND domain_id = $2 AND name = $3`, v.org, v.domain, v.name)
	if err == nil && n == 0 {
		err = nameTakenFault(v.name)
	}
	return err
}

func nameTakenFault(name string) error {
	return Unavailable.Say("%s is held or being registered by somebody else.", name)
}

// findTakenNames finds the names among these that cannot be registered, because somebody holds
// them here or the organization has added them.
func findTakenNames(ctx context.Context, tx *db.Tx, org id.ID, names []string) ([]string, error) {
	return db.QueryAll[string](ctx, tx, `
		SELECT name FROM domain_holds WHERE name = ANY($2)
		UNION
		SELECT name FROM domains WHERE organization_id = $1 AND name = ANY($2) AND deleted_at IS NULL`, org, names)
}

// releaseNames gives up the names of a domain and its subdomains.
func releaseNames(ctx context.Context, tx *db.Tx, org, domain id.ID) error {
	_, err := db.Exec(ctx, tx, `
		DELETE FROM domain_holds
		WHERE organization_id = $1 AND (domain_id = $2 OR domain_id IN
			(SELECT id FROM domains WHERE organization_id = $1 AND parent_domain_id = $2))`, org, domain)
	return err
}

// domainsBelow lists the external domains of other organizations under a name. They are
// sorted, so that two callers that lock them one after the other cannot deadlock.
func domainsBelow(ctx context.Context, tx *db.Tx, org id.ID, name string) ([]domainArgs, error) {
	return db.QueryAll[domainArgs](ctx, tx, `
		SELECT d.organization_id, d.id
		FROM domain_holds h
		JOIN domains d ON d.organization_id = h.organization_id AND d.id = h.domain_id AND d.deleted_at IS NULL
		WHERE h.organization_id <> $1 AND h.name LIKE '%.' || CAST($2 AS text)
		AND d.kind = 'apex' AND d.source = 'external'
		ORDER BY d.id`, org, name)
}

// ActiveHolders finds the organizations that have these names as active domains.
func ActiveHolders(ctx context.Context, tx *db.Tx, names []string) (map[string]id.ID, error) {
	type row struct {
		Name string `db:"name"`
		Org  id.ID  `db:"organization_id"`
	}
	rows, err := db.QueryAll[row](ctx, tx, `
		SELECT h.name, h.organization_id
		FROM domain_holds h
		JOIN domains d ON d.organization_id = h.organization_id AND d.id = h.domain_id
		WHERE h.name = ANY($1) AND d.status = 'active' AND d.deleted_at IS NULL`, names)
	out := make(map[string]id.ID, len(rows))
	for _, r := range rows {
		out[r.Name] = r.Org
	}
	return out, err
}
