package proposal

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// ProposalDeletions tells what becomes of the rows around those that a proposal deletes.
type ProposalDeletions struct {
	Deletions []Deletion `json:"deletions" max:"20"`
	Uncounted int        `json:"uncounted" doc:"further deletions, around which nothing was counted"`
	KeptHours int        `json:"keptHours" doc:"how long deleted rows can be brought back"`
}

// Deletion is what goes with a deleted row and what stays without it, as the lives of the
// tables declare it.
type Deletion struct {
	ResourceID id.ID      `json:"resourceId"`
	Goes       []RowCount `json:"goes" max:"100" doc:"rows that are deleted with it"`
	Stays      []RowCount `json:"stays" max:"100" doc:"rows that lose their reference to it"`
	Restorable bool       `json:"restorable" doc:"it can be brought back"`
}

// RowCount is a number of rows of one kind.
type RowCount struct {
	Noun  string `json:"noun"`
	Count int    `json:"count"`
}

const maxDeletions = 20 // whose surroundings are counted for a page

// listDeletions counts what the deletions of a proposal would take along. It is for people
// alone: the maker may not be allowed to know how much there is.
func (s *Service) listDeletions(ctx context.Context, c *op.Call, in proposalRef) (*ProposalDeletions, error) {
	v, err := proposals.Find(ctx, c.Tx, visibleTo(c).And("id = ?", in.ID))
	if err != nil {
		return nil, err
	}
	out := &ProposalDeletions{Deletions: []Deletion{}, KeptHours: int(s.cfg.DeletedFor.Hours())}
	for i := range v.Effects {
		e := &v.Effects[i]
		if e.Kind != KindDelete || e.ResourceID == nil {
			continue
		}
		if len(out.Deletions) == maxDeletions {
			out.Uncounted++
			continue
		}
		d := Deletion{ResourceID: *e.ResourceID, Goes: []RowCount{}, Stays: []RowCount{},
			Restorable: s.emits(e.ResourceType + ".restored")}
		if err := d.countAround(ctx, c, db.TableOfEventName(e.ResourceType)); err != nil {
			return nil, err
		}
		out.Deletions = append(out.Deletions, d)
	}
	return out, nil
}

// emits reports whether an operation emits a type of event.
func (s *Service) emits(eventType string) bool {
	for _, o := range s.cfg.Catalog.All() {
		for _, t := range o.Events {
			if t == eventType {
				return true
			}
		}
	}
	return false
}

// countAround counts the rows that refer to a row of a table, by what becomes of them when
// it is deleted. Tables without a noun hold what people see as part of the row itself.
func (d *Deletion) countAround(ctx context.Context, c *op.Call, table string) error {
	graph := c.Tx.LifeGraph()
	for _, r := range graph.Referrers[table] {
		l, has := db.LifeOfTable(r.Table), graph.Tables[r.Table].HasColumn
		if l.Noun == "" || !has("organization_id") || !has("deleted_at") {
			continue
		}
		n, err := db.QueryOne[int](ctx, c.Tx, "SELECT count(*) FROM "+r.Table+
			" WHERE organization_id = $1 AND "+r.Ref.Column+" = $2 AND deleted_at IS NULL", c.Org, d.ResourceID)
		if err != nil {
			return err
		}
		switch {
		case n == 0:
		case r.Ref.Fate == db.Ends || r.Ref.Fate == db.EndsAtPurge:
			d.Goes = append(d.Goes, RowCount{l.Noun, n})
		default:
			d.Stays = append(d.Stays, RowCount{l.Noun, n})
		}
	}
	return nil
}
