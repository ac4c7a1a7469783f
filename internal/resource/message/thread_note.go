package message

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// ThreadNote is what somebody of the house says about a thread. It is part of
// no mail.
type ThreadNote struct {
	op.Record
	ThreadID       id.ID  `json:"threadId"`
	CreatedBy      *id.ID `json:"createdBy" doc:"the user, also behind a key or agent; null if unknown"`
	CreatedByAgent bool   `json:"createdByAgent"`
	Body           string `json:"body" max:"10000"`
}

var threadNotes = op.NewNested[ThreadNote]("thread_notes", db.Life{
	Noun:      "note",
	Strangers: db.NobodyOutside,
	Parent:    db.To("thread_id", "threads"),
	Refs:      []db.Ref{db.To("created_by", "", db.Keeps)},
	Erase:     db.WholeRow, // with a thread that is only emptied, too
})

func threadNoteOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "threads.notes.list",
			Route:    "GET /v1/threads/{id}/notes",
			Resource: resource,
			Summary:  "List the notes on a thread, newest first.",
			Example:  `{` + exampleThread + `}`,
		}, listThreadNotes),
		op.Write(op.Spec{
			Name:        "threads.notes.create",
			Route:       "POST /v1/threads/{id}/notes",
			Resource:    resource,
			Summary:     "Add a note to a thread.",
			Description: "Notes are for the house alone: no mail ever contains one.",
			Events:      []string{"thread.note.created"},
			Example:     `{` + exampleThread + `, "body": "She called: the drawings can wait until Monday."}`,
		}, addThreadNote),
		op.Write(op.Spec{
			Name:     "threads.notes.delete",
			Route:    "DELETE /v1/threads/{id}/notes/{noteId}",
			Resource: resource,
			Summary:  "Remove a note from a thread.",
			Events:   []string{"thread.note.deleted"},
			Example:  `{` + exampleThread + `, "noteId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`,
		}, removeThreadNote),
	}
}

type threadNoteList struct {
	op.Page
	threadRef
}

func listThreadNotes(ctx context.Context, c *op.Call, in threadNoteList) (*op.List[ThreadNote], error) {
	return threadNotes.List(ctx, c, in.ID, in.Page)
}

type threadNoteAdd struct {
	threadRef
	Body string `json:"body" min:"1" max:"10000"`
}

func addThreadNote(ctx context.Context, c *op.Call, in threadNoteAdd) (*ThreadNote, error) {
	v := &ThreadNote{
		Record:         c.NewRecord(),
		ThreadID:       in.ID,
		CreatedBy:      c.Caller.UserID(),
		CreatedByAgent: c.Caller.Kind == op.AgentActor,
		Body:           in.Body,
	}
	if err := threadNotes.Add(ctx, c, in.ID, v); err != nil {
		return nil, err
	}
	return v, c.Emit("thread.note.created", v.ID, v)
}

type threadNoteRef struct {
	threadRef
	NoteID id.ID `path:"noteId"`
}

func removeThreadNote(ctx context.Context, c *op.Call, in threadNoteRef) (op.Nothing, error) {
	v, err := threadNotes.Remove(ctx, c, in.ID, in.NoteID)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("thread.note.deleted", v.ID, v)
}
