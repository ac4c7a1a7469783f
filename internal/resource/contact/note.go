package contact

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// ContactNote is one entry that somebody of the organization wrote about a
// contact, with its author and time. Contact.Notes, in contrast, is a single text
// that everybody edits.
type ContactNote struct {
	op.Record
	ContactID      id.ID  `json:"contactId"`
	CreatedBy      *id.ID `json:"createdBy" doc:"the user, also behind a key or agent; null if unknown"`
	CreatedByAgent bool   `json:"createdByAgent"`
	noteFields
}

// noteFields are what callers set of a note.
type noteFields struct {
	Body string `json:"body" min:"1" max:"10000"`
	Kind string `json:"kind" default:"note" enum:"note,call" doc:"call: by phone"`
}

var notes = op.NewNested[ContactNote]("contact_notes", db.Life{
	Noun:         "note",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("contact_id", "contacts"),
	Refs:         []db.Ref{db.RefTo("created_by", "", db.Keeps)},
})

func noteOperations() []*op.Op {
	const ref = `"id": ` + exampleID + `, "noteId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "contacts.notes.list",
			NounWords: "remark, memo, remember, write down, keep in mind",
			Words:     "write about, last time"}, notes),
		op.Write(op.Spec{
			Name:        "contacts.notes.create",
			Words:       "jot, remember that, note that, note down",
			Route:       "POST /v1/contacts/{id}/notes",
			Summary:     "Add a note to a contact.",
			Description: "Notes are for the house alone.",
			Events:      []string{"contact.note.created"},
			Example:     `{"id": ` + exampleID + `, "body": "Met at the fair. Likes punched cards."}`,
		}, addNote),
		op.Write(op.Spec{
			Name:    "contacts.notes.update",
			Route:   "PATCH /v1/contacts/{id}/notes/{noteId}",
			Summary: "Change a note on a contact.",
			Events:  []string{"contact.note.updated"},
			Example: `{` + ref + `, "body": "Met at the fair. Likes tea and punched cards."}`,
		}, updateNote),
		op.DeleteChild(op.Spec{Name: "contacts.notes.delete"}, notes),
	}
}

type noteAdd struct {
	ID id.ID `path:"id" doc:"the contact"`
	noteFields
}

func addNote(ctx context.Context, c *op.Call, in noteAdd) (*ContactNote, error) {
	v := &ContactNote{
		Record:         c.NewRecord(),
		ContactID:      in.ID,
		CreatedBy:      c.Caller.UserIDOrNil(),
		CreatedByAgent: c.Caller.Kind == op.AgentActor,
		noteFields:     in.noteFields,
	}
	if err := notes.Add(ctx, c, in.ID, v); err != nil {
		return nil, err
	}
	return v, c.Emit("contact.note.created", v.ID, v)
}

type noteUpdate struct {
	ID     id.ID `path:"id" doc:"the contact"`
	NoteID id.ID `path:"noteId"`
	op.Changes[noteFields]
}

func updateNote(ctx context.Context, c *op.Call, in noteUpdate) (*ContactNote, error) {
	v, changed, err := notes.Change(ctx, c, in.ID, in.NoteID, &in, func(v *ContactNote) { v.UpdatedAt = c.Now })
	if err != nil || !changed {
		return v, err
	}
	return v, c.Emit("contact.note.updated", v.ID, v)
}
