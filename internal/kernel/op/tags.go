package op

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Tagged is a table of the tags that a noun's rows have, folded, by which they
// are found. The row itself has them in a column tags, as they are shown.
type Tagged struct {
	Table  string
	Column string // names the row
}

// TidyTags trims tags and drops those that are there already, by their folded
// text. It records an issue at the field tags for a tag that no filter could name.
func TidyTags(tree *fault.Tree, list []string) ([]string, *fault.Tree) {
	out, seen := make([]string, 0, len(list)), map[string]bool{}
	for i, tag := range list {
		tag = strings.TrimSpace(tag)
		folded := db.Fold(tag)
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

// Write replaces the tags of a row, which is new or locked.
func (t Tagged) Write(ctx context.Context, c *Call, row id.ID, before, tags []string) error {
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
			", tag) VALUES ($1, $2, $3)", c.Org, row, db.Fold(tag)); err != nil {
			return err
		}
	}
	return nil
}

// Filter keeps the rows that have one of the tags; no tags keep all.
func (t Tagged) Filter(w *db.Where, tags []string) {
	if len(tags) == 0 {
		return
	}
	folded := make([]string, len(tags))
	for i, tag := range tags {
		folded[i] = db.Fold(strings.TrimSpace(tag))
	}
	text, args := db.AnyOf("tag", folded)
	w.Among(db.Named{Table: t.Table, Column: t.Column, Where: text, Args: args})
}

// ExternalIDTaken refuses an externalId that another row has.
var ExternalIDTaken = fault.Define("EXTERNAL_ID_TAKEN", 409, "Another record has this externalId.")

// TakeExternalID makes sure that no other live row of a table has the externalId,
// and that none gets it before the transaction ends. It locks the organization,
// and so comes before any lock of a row: an UPDATE has no ON CONFLICT.
func TakeExternalID(ctx context.Context, c *Call, table string, row id.ID, external *string) error {
	if external == nil {
		return nil
	}
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return err
	}
	holders, err := db.All[id.ID](ctx, c.Tx, "SELECT id FROM "+table+
		" WHERE organization_id = $1 AND external_id = $2 AND deleted_at IS NULL", c.Org, *external)
	if err != nil || len(holders) == 0 || holders[0] == row {
		return err
	}
	return ExternalIDTaken.Say("Another %s has the externalId %s.", db.LifeOf(table).Noun, *external)
}

// Known is a row that was found by what is known of it.
type Known struct {
	ID         id.ID    `db:"id"`
	Tags       []string `db:"tags"`
	ExternalID *string  `db:"external_id"`
	Email      *string  `db:"email"`
}

// KnownAs finds the live rows of a table that have one of the externalIds.
func KnownAs(ctx context.Context, tx *db.Tx, table string, org id.ID, externals []string) ([]Known, error) {
	return db.All[Known](ctx, tx, "SELECT id, tags, external_id, NULL AS email FROM "+table+
		" WHERE organization_id = $1 AND external_id = ANY($2) AND deleted_at IS NULL", org, externals)
}
