package contact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Merge is the result of merging two contacts. The event contact.merged keeps it,
// and unmerge reads from there what to take back.
type Merge struct {
	DryRun  bool         `json:"dryRun" doc:"nothing was changed"`
	Contact Contact      `json:"contact" view:"name" doc:"the one that stays, with what it gained"`
	Before  Contact      `json:"before" view:"full" doc:"the one that stays, as it was"`
	Merged  Contact      `json:"merged" view:"name" doc:"the one that was deleted, as it was"`
	Fields  []string     `json:"fields" doc:"those of the contact that changed"`
	Moved   []MergedRows `json:"moved" doc:"the records that name the contact now"`
}

// MergedRows are the records of one kind that a merge moved.
type MergedRows struct {
	Type    string  `json:"type" doc:"customer, email, task and so on"`
	IDs     []id.ID `json:"ids" view:"count" max:"5000"`
	Changed []id.ID `json:"changed" view:"count" max:"5000" doc:"of these: no longer primary, or only suggested now"`
	Dropped []id.ID `json:"dropped" view:"count" max:"5000" doc:"deleted, because the contact has the same"`
}

// MergeTooLarge refuses to move more records than one transaction should.
var MergeTooLarge = fault.DefineKind("CONTACT_MERGE_TOO_LARGE", 409,
	"Too many records name the contact that would go. Merge the other way round.")

func mergeOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:    "contacts.merge",
			Words:   "same, join, combine, double, put together, one and the same",
			Route:   "POST /v1/contacts/{id}/merge",
			Summary: "Merge another contact into this one, and delete the other.",
			Description: "The contact keeps its own fields, but for those that take names, and takes those that it " +
				"lacks; notes are joined. Emails, " +
				"numbers, addresses, tags, properties, messages, tasks, customers and opt-ins of the other follow. " +
				"Where both have a confirmed property, the other's becomes a suggestion. With dryRun it only answers " +
				"what would move.",
			Status:  200,
			Errors:  []*fault.Kind{MergeTooLarge},
			Events:  []string{"contact.merged", "contact.deleted"},
			Example: `{"id": ` + exampleID + `, "contactId": "7a2d3b45-0e7d-4d2f-9b65-2a1b4e7c8d99", "dryRun": true}`,
		}, mergeContact),
	}
}

type contactMerge struct {
	contactRef
	ContactID id.ID `json:"contactId" ref:"contacts" doc:"the other contact, which goes"`
	DryRun    bool  `json:"dryRun" default:"false" doc:"only tell what would move"`

	Take []string `json:"take" optional:"yes" doc:"fields, like firstName, of which the other's value is taken"`
}

// takeableFields are the fields that have one value. Notes and tags are joined.
var takeableFields = func() (names []string) {
	for _, f := range op.FieldsOf[Fields]() {
		if f.Name != "notes" && f.Name != "tags" {
			names = append(names, f.Name)
		}
	}
	return names
}()

func (in *contactMerge) Prepare(_ context.Context, c *op.Call) error {
	if in.ID == in.ContactID {
		return fault.Field("contactId", "Must be another contact than the one that stays")
	}
	for i, name := range in.Take {
		if !slices.Contains(takeableFields, name) {
			return fault.AtPath([]any{"take", i}, "Must be one of "+strings.Join(takeableFields, ", "))
		}
	}
	return c.RequirePermission("contacts", op.ActionDelete, "A merge")
}

// mergeContact lets everything that names the other contact name this one, takes over
// its fields and deletes it. With dryRun it changes nothing and answers what would
// move.
func mergeContact(ctx context.Context, c *op.Call, in contactMerge) (*Merge, error) {
	v, other, err := in.lockBoth(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &Merge{DryRun: in.DryRun, Before: *v, Merged: *other, Moved: []MergedRows{}}
	if err := checkMergedSize(v, other); err != nil {
		return nil, err
	}
	out.Fields = v.takeOverFields(other, in.Take)
	v.LastMessages.join(other.LastMessages)
	merge := life.Merge{Table: contacts.Name(), Organization: c.Org, From: other.ID, To: v.ID, Now: c.Now,
		Dry: in.DryRun}
	moved, err := merge.Repoint(ctx, c.Tx)
	if errors.Is(err, life.ErrTooManyRows) {
		return nil, MergeTooLarge.New()
	}
	if err != nil {
		return nil, err
	}
	for _, m := range moved {
		out.Moved = append(out.Moved, MergedRows{Type: resourceTypeOf(m.Table), IDs: nonNilIDs(m.IDs),
			Changed: nonNilIDs(m.Changed), Dropped: nonNilIDs(m.Dropped)})
	}
	if in.DryRun {
		out.Contact = *v
		return out, nil
	}
	if err := v.absorbOther(ctx, c, other, &out.Before); err != nil {
		return nil, err
	}
	out.Contact = *v
	if err := c.Emit("contact.merged", v.ID, out); err != nil {
		return nil, err
	}
	gone := *other
	gone.DeletedAt, gone.UpdatedAt = &c.Now, c.Now
	return out, c.Emit("contact.deleted", gone.ID, &gone)
}

// nonNilIDs copies a list, so that it is never null in JSON.
func nonNilIDs(ids []id.ID) []id.ID { return append([]id.ID{}, ids...) }

// lockBoth locks both contacts, in the order of their ids: two merges of the same
// pair in opposite directions would otherwise deadlock.
func (in *contactMerge) lockBoth(ctx context.Context, c *op.Call) (v, other *Contact, err error) {
	rows := map[id.ID]*Contact{}
	ids := []id.ID{in.ID, in.ContactID}
	slices.Sort(ids)
	for _, row := range ids {
		found, err := contacts.Lock(ctx, c.Tx, c.Org, row)
		if fault.IsKind(err, fault.NotFound) {
			if row == in.ID {
				return nil, nil, err
			}
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if err := found.fillChildren(ctx, c); err != nil {
			return nil, nil, err
		}
		rows[row] = found
	}
	if rows[in.ContactID] == nil {
		return nil, nil, op.NoSuchReference("contactId")
	}
	return rows[in.ID], rows[in.ContactID], nil
}

// checkMergedSize refuses a merge whose result would be larger than a contact may be.
func checkMergedSize(v, other *Contact) error {
	notes := func(c *Contact) int {
		if c.Notes == nil {
			return 0
		}
		return utf8.RuneCountInString(*c.Notes) + len(notesSeparator)
	}
	for _, part := range []struct {
		name string
		n    int
		most int
	}{
		{"emails", countDistinct(v.Emails, other.Emails, func(e Email) string { return e.Folded }), maxChildren},
		{"phone numbers", countDistinct(v.PhoneNumbers, other.PhoneNumbers,
			func(p PhoneNumber) string { return p.PhoneNumber }),
			maxChildren},
		{"addresses", len(v.Addresses) + len(other.Addresses), maxChildren},
		{"tags", countDistinct(v.Tags, other.Tags, db.FoldText), 50},
		{"characters of notes", notes(v) + notes(other), 10_000},
	} {
		if part.n > part.most {
			return fault.Field("contactId", fmt.Sprintf("Together they would have %d %s; at most %d are possible",
				part.n,
				part.name, part.most))
		}
	}
	return nil
}

func countDistinct[T any](a, b []T, key func(T) string) int {
	seen := map[string]bool{}
	for _, v := range slices.Concat(a, b) {
		seen[key(v)] = true
	}
	return len(seen)
}

// notesSeparator separates the notes of two contacts.
const notesSeparator = "\n\n"

// takeOverFields takes over the fields that the contact lacks and those that were asked for,
// joins notes and tags, and returns what changed.
func (v *Contact) takeOverFields(other *Contact, take []string) []string {
	notes := joinNotes(v.Notes, other.Notes)
	fields := op.MergeFields(&v.Fields, &other.Fields, take)
	if notes != nil {
		v.Notes = notes
		fields = append(fields, "notes")
	}
	if all, _ := op.NormalizeTags(nil, slices.Concat(v.Tags, other.Tags)); len(all) > len(v.Tags) {
		v.Tags = all
		fields = append(fields, "tags")
	}
	return fields
}

// joinNotes is the notes of two contacts in one; nil where they need no joining.
func joinNotes(a, b *string) *string {
	if a == nil || b == nil || *a == *b {
		return nil
	}
	both := *a + notesSeparator + *b
	return &both
}

// absorbOther deletes the other contact and saves this one, which has its rows now.
func (v *Contact) absorbOther(ctx context.Context, c *op.Call, other, before *Contact) error {
	// First, because v may take over its externalId, which is unique among live contacts.
	if _, err := contacts.SoftDelete(ctx, c.Tx, c.Org, other.ID, c.Now); err != nil {
		return err
	}
	if _, err := db.Exec(ctx, c.Tx, `
		UPDATE contacts
		SET merged_into_id = $3
		WHERE organization_id = $1 AND (id = $2 OR merged_into_id = $2)`, c.Org, other.ID, v.ID); err != nil {
		return err
	}
	// The tag rows of the other were moved to this contact with everything else. The empty tag, which no contact has,
	// makes Write replace all of them even if the tags themselves did not change.
	found := slices.Concat(before.Tags, other.Tags, []string{""})
	if err := tags.Write(ctx, c, v.ID, found, v.Tags); err != nil {
		return err
	}
	return v.reloadAndSave(ctx, c)
}
