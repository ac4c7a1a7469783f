package message

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// ThreadNote is an internal note on a thread, for the organization's own people.
// No mail ever contains one.
type ThreadNote struct {
	op.Record
	ThreadID       id.ID  `json:"threadId"`
	CreatedBy      *id.ID `json:"createdBy" doc:"the user, also behind a key or agent; null if unknown"`
	CreatedByAgent bool   `json:"createdByAgent"`
	Body           string `json:"body" max:"10000"`
}

var threadNotes = op.NewNested[ThreadNote]("thread_notes", db.Life{
	Noun:         "note",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("thread_id", "threads"),
	Refs:         []db.Ref{db.RefTo("created_by", "", db.Keeps)},
	Erase:        life.WholeRow, // although erasing a person only blanks the thread and keeps its row
})

func threadNoteOperations() []*op.Op {
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "threads.notes.list",
			NounWords: "internal, comment, colleague, remark", Resource: threadResource}, threadNotes),
		op.Write(op.Spec{
			Name:        "threads.notes.create",
			Words:       "comment for",
			Route:       "POST /v1/threads/{id}/notes",
			Resource:    threadResource,
			Summary:     "Add a note to a thread.",
			Description: "Notes are for the house alone: no mail ever contains one.",
			Events:      []string{"thread.note.created"},
			Example:     `{` + exampleThread + `, "body": "She called: the drawings can wait until Monday."}`,
		}, addThreadNote),
		op.DeleteChild(op.Spec{Name: "threads.notes.delete", Resource: threadResource}, threadNotes),
	}
}

type threadNoteAdd struct {
	threadRef
	Body string `json:"body" min:"1" max:"10000"`
}

func addThreadNote(ctx context.Context, c *op.Call, in threadNoteAdd) (*ThreadNote, error) {
	v := &ThreadNote{
		Record:         c.NewRecord(),
		ThreadID:       in.ID,
		CreatedBy:      c.Caller.UserIDOrNil(),
		CreatedByAgent: c.Caller.Kind == op.AgentActor,
		Body:           in.Body,
	}
	if err := threadNotes.Add(ctx, c, in.ID, v); err != nil {
		return nil, err
	}
	return v, c.Emit("thread.note.created", v.ID, v)
}
