package contact

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Unmerge is a merge that was taken back.
type Unmerge struct {
	Contact  Contact      `json:"contact" doc:"the one that stayed, without what it had gained"`
	Restored Contact      `json:"restored" doc:"the one that is back"`
	Fields   []string     `json:"fields" doc:"those of the contact that are as before the merge"`
	Moved    []MergedRows `json:"moved" doc:"the records that name the restored contact again"`
	Kept     []Kept       `json:"kept" max:"5000" doc:"what stays as it is, because it was changed since"`
}

// Kept is a record, or a field of it, that somebody changed after the merge.
type Kept struct {
	ResourceType string `json:"resourceType"`
	ResourceID   id.ID  `json:"resourceId"`
	Field        string `json:"field" doc:"empty for the whole record"`
	Why          string `json:"why"`
}

// NotMerged refuses to take back a merge that nobody made, or that is too old.
var NotMerged = fault.DefineKind("CONTACT_NOT_MERGED", 409,
	"This contact was not merged into the other, was restored since, or the merge is too old to be taken back.")

func unmergeOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:    "contacts.unmerge",
			Words:   "separate, split, different, apart, undo merge",
			Route:   "POST /v1/contacts/{id}/unmerge",
			Summary: "Take back a merge: restore the other contact, and what was moved goes back to it.",
			Description: "Fields that the contact took over get their former values. What somebody changed since the " +
				"merge stays as it is and is named in kept. Works as long as deleted contacts and events are kept.",
			Status:  200,
			Errors:  []*fault.Kind{NotMerged, op.PlaceTaken},
			Events:  []string{"contact.unmerged", "contact.restored"},
			Example: `{"id": ` + exampleID + `, "contactId": "7a2d3b45-0e7d-4d2f-9b65-2a1b4e7c8d99"}`,
		}, unmergeContact),
	}
}

type contactUnmerge struct {
	contactRef
	ContactID id.ID `json:"contactId" ref:"-" doc:"the contact that was merged into this one"`
}

// unmergeContact restores the deleted contact, gives both their former fields and
// moves the records back, except for what somebody changed since.
func unmergeContact(ctx context.Context, c *op.Call, in contactUnmerge) (*Unmerge, error) {
	v, err := in.lockBoth(ctx, c)
	if err != nil {
		return nil, err
	}
	was, err := in.findMerge(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &Unmerge{Fields: []string{}, Moved: []MergedRows{}, Kept: []Kept{}}
	tagged := v.Tags
	out.revertFields(v, was)
	v.UpdatedAt = c.Now
	if err := tags.Write(ctx, c, v.ID, tagged, v.Tags); err != nil {
		return nil, err
	}
	if err := v.saveAndIndex(ctx,
		c); err != nil { // first, because the other may get its externalId back, which is unique
		return nil, err
	}
	other, _, err := contacts.Undelete(ctx, c.Tx, c.Org, in.ContactID, c.Now)
	if errors.Is(err, db.ErrNotUnique) {
		return nil, op.PlaceTaken.Because(err)
	}
	if err != nil {
		return nil, err
	}
	if err := out.moveRowsBack(ctx, c, other, v, was); err != nil {
		return nil, err
	}
	if err := other.refreshUnmerged(ctx, c); err != nil {
		return nil, err
	}
	if err := v.refreshUnmerged(ctx, c); err != nil {
		return nil, err
	}
	out.Contact, out.Restored = *v, *other
	if err := c.Emit("contact.unmerged", v.ID, out); err != nil {
		return nil, err
	}
	return out, c.Emit("contact.restored", other.ID, other)
}

// lockBoth locks both contacts in the order of their ids, as a merge does, and checks
// that one is deleted and was merged into the other.
func (in *contactUnmerge) lockBoth(ctx context.Context, c *op.Call) (*Contact, error) {
	ids := []id.ID{in.ID, in.ContactID}
	slices.Sort(ids)
	for _, row := range ids {
		if err := db.LockEvenIfDeleted(ctx, c.Tx, contacts.Name(), c.Org, row); err != nil {
			return nil, err
		}
	}
	v, err := contacts.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	into, err := db.QueryAll[id.ID](ctx, c.Tx, `
		SELECT merged_into_id
		FROM contacts
		WHERE organization_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND merged_into_id IS NOT NULL`,
		c.Org, in.ContactID)
	if err == nil && (len(into) == 0 || into[0] != v.ID) {
		err = NotMerged.New()
	}
	if err != nil {
		return nil, err
	}
	return v, v.fillChildren(ctx, c)
}

// listMerges reads the merges into a contact from the event log, newest first.
func listMerges(ctx context.Context, c *op.Call, contact id.ID) ([]Merge, error) {
	found, err := event.ListWhere(ctx, c.Tx, c.Org, event.Condition{
		SQL: "resource_id = $2 AND type = 'contact.merged'", Args: []any{contact}}, maxMerges)
	if err != nil {
		return nil, err
	}
	out := make([]Merge, len(found))
	for i, e := range found {
		if err := json.Unmarshal(e.Data, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxMerges is how many merges into one contact are looked through.
const maxMerges = 100

// findMerge finds what the merge did, from its event.
func (in *contactUnmerge) findMerge(ctx context.Context, c *op.Call) (*Merge, error) {
	all, err := listMerges(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(m Merge) bool { return m.Merged.ID == in.ContactID })
	if i < 0 {
		return nil, NotMerged.New()
	}
	return &all[i], nil
}

// revertFields gives the fields that the contact gained their former values, unless
// somebody changed them after the merge.
func (out *Unmerge) revertFields(v *Contact, was *Merge) {
	v.LastMessages.revert(was.Contact.LastMessages, was.Before.LastMessages)
	back, kept := op.RestoreFields(&v.Fields, &was.Contact.Fields, &was.Before.Fields, was.Fields)
	out.Fields = append(out.Fields, back...)
	for _, name := range kept {
		out.Kept = append(out.Kept, Kept{"contact", v.ID, name, "Somebody changed it since, so it stays."})
	}
}

// moveRowsBack lets the records that moved name the restored contact again. Contacts
// that had been merged into it, and so became a part of the other, become a part
// of it again.
func (out *Unmerge) moveRowsBack(ctx context.Context, c *op.Call, other, v *Contact, was *Merge) error {
	var moved []life.MovedRows
	for _, table := range db.DeclaredTables() {
		for _, m := range was.Moved {
			if noun := db.LifeOfTable(table).Noun; noun != "" && db.EventName(noun) == m.Type {
				moved = append(moved, life.MovedRows{Table: table, IDs: m.IDs, Changed: m.Changed})
			}
		}
	}
	merge := life.Merge{Table: contacts.Name(), Organization: c.Org, From: other.ID, To: v.ID, Now: c.Now}
	back, stays, err := merge.Undo(ctx, c.Tx, moved)
	if err != nil {
		return err
	}
	for _, m := range back {
		out.Moved = append(out.Moved, MergedRows{Type: resourceTypeOf(m.Table), IDs: m.IDs, Changed: []id.ID{},
			Dropped: []id.ID{}})
	}
	for _, m := range stays {
		for _, row := range m.IDs {
			out.Kept = append(out.Kept, Kept{resourceTypeOf(m.Table), row, "",
				"It names another contact by now, or none, so it stays."})
		}
	}
	earlier, err := listMerges(ctx, c, other.ID)
	if err != nil {
		return err
	}
	for _, m := range earlier {
		if _, err := db.Exec(ctx, c.Tx, `
			UPDATE contacts
			SET merged_into_id = $3
			WHERE organization_id = $1 AND id = $2 AND merged_into_id = $4`, c.Org, m.Merged.ID, other.ID,
			v.ID); err != nil {
			return err
		}
	}
	other.MergedInto = nil
	return tags.Write(ctx, c, other.ID, []string{""}, other.Tags)
}

func resourceTypeOf(table string) string { return db.EventName(db.LifeOfTable(table).Noun) }

// refreshUnmerged brings a contact up to date after a merge was taken back: it needs a
// primary email and address, and new search text.
func (v *Contact) refreshUnmerged(ctx context.Context, c *op.Call) error {
	if err := emails.ensurePrimary(ctx, c, v.ID); err != nil {
		return err
	}
	if err := addresses.ensurePrimary(ctx, c, v.ID); err != nil {
		return err
	}
	return v.reloadAndSave(ctx, c)
}
