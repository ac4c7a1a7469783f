package domain

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// hold takes a name for one domain, in the whole service. The index decides
// between two that try at once.
func hold(ctx context.Context, tx *db.Tx, org id.ID, name string, domain id.ID, now clock.Time) error {
	n, err := db.Exec(ctx, tx, `INSERT INTO domain_holds (organization_id, created_at, name, domain_id) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING`,
		org, now, name, domain)
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

// release gives a domain's name back.
func release(ctx context.Context, tx *db.Tx, org, domain id.ID) error {
	_, err := db.Exec(ctx, tx, "DELETE FROM domain_holds WHERE organization_id = $1 AND domain_id = $2", org, domain)
	return err
}

// heldBy is the organization that has a name, or nothing.
func heldBy(ctx context.Context, tx *db.Tx, name string) (id.ID, error) {
	org, err := db.One[id.ID](ctx, tx, "SELECT organization_id FROM domain_holds WHERE name = $1", name)
	if errors.Is(err, db.ErrNone) {
		return "", nil
	}
	return org, err
}
