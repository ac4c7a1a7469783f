package op

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// TagTable is a table with one row per tag of a noun's row, folded, for filters. The noun's own row has its tags in a
// column tags, as people wrote them.
type TagTable struct {
	Table  string
	Column string // the column with the id of the tagged row
}

// NormalizeTags trims tags and drops duplicates, which it compares folded. It adds issues at the field tags for tags
// that no filter could name.
func NormalizeTags(tree *fault.Tree, list []string) ([]string, *fault.Tree) {
	out, seen := make([]string, 0, len(list)), map[string]bool{}
	for i, tag := range list {
		tag = strings.TrimSpace(tag)
		folded := db.FoldText(tag)
		switch {
		case tag == "":
			tree = tree.At([]any{"tags", i}, "Must not be blank")
		case strings.ContainsRune(tag, ','):
			tree = tree.At([]any{"tags", i}, "Must not contain a comma, which separates the tags of a filter")
		case !seen[folded]:
			seen[folded] = true
			out = append(out, tag)
		}
	}
	return out, tree
}

// Write replaces the tags of a row. The row must be new or locked, so that nobody else writes its tags at the same
// time.
func (t TagTable) Write(ctx context.Context, c *Call, row id.ID, before, tags []string) error {
	if slices.Equal(before, tags) {
		return nil
	}
	if len(before) > 0 {
		if _, err := db.Exec(ctx, c.Tx, "DELETE FROM "+t.Table+" WHERE organization_id = $1 AND "+t.Column+" = $2",
			c.Org, row); err != nil {
			return err
		}
	}
	for _, tag := range tags {
		if _, err := db.Exec(ctx, c.Tx, "INSERT INTO "+t.Table+" (organization_id, "+t.Column+
			", tag) VALUES ($1, $2, $3)", c.Org, row, db.FoldText(tag)); err != nil {
			return err
		}
	}
	return nil
}

// Filter restricts a list to the rows that have one of the tags; without tags it does nothing.
func (t TagTable) Filter(w *db.Where, tags []string) {
	if len(tags) == 0 {
		return
	}
	folded := make([]string, len(tags))
	for i, tag := range tags {
		folded[i] = db.FoldText(strings.TrimSpace(tag))
	}
	text, args := db.OneOfCondition("tag", folded)
	w.AmongRows(db.IndexedRows{Table: t.Table, Column: t.Column, Where: text, Args: args})
}

// ExternalIDTaken refuses an externalId that another row has.
var ExternalIDTaken = fault.DefineKind("EXTERNAL_ID_TAKEN", 409, "Another record has this externalId.")

// ReserveExternalID refuses an externalId that another live row of the table has, and keeps others from taking it
// before the transaction ends. A unique index alone would not do: an UPDATE has no ON CONFLICT, and a clash would end a
// PostgreSQL transaction. It locks the organization, so it must come before any lock of a row, or two calls could
// deadlock.
func ReserveExternalID(ctx context.Context, c *Call, table string, row id.ID, external *string) error {
	if external == nil {
		return nil
	}
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return err
	}
	holders, err := db.QueryAll[id.ID](ctx, c.Tx, "SELECT id FROM "+table+
		" WHERE organization_id = $1 AND external_id = $2 AND deleted_at IS NULL", c.Org, *external)
	if err != nil || len(holders) == 0 || holders[0] == row {
		return err
	}
	return ExternalIDTaken.Say("Another %s has the externalId %s.", db.LifeOfTable(table).Noun, *external)
}

// KnownRow is what an import needs of an existing row that one of its records matches.
type KnownRow struct {
	ID         id.ID    `db:"id"`
	Tags       []string `db:"tags"`
	ExternalID *string  `db:"external_id"`
	Email      *string  `db:"email"`
}

// FindByExternalIDs finds the rows of a table that have one of the externalIds and are not deleted.
func FindByExternalIDs(ctx context.Context, tx *db.Tx, table string, org id.ID, externals []string) ([]KnownRow,
	error) {
	return db.QueryAll[KnownRow](ctx, tx, "SELECT id, tags, external_id, NULL AS email FROM "+table+
		" WHERE organization_id = $1 AND external_id = ANY($2) AND deleted_at IS NULL", org, externals)
}
