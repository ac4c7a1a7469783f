// Package task holds the work to do: tasks, the members of the organization who
// are assigned to them, and the activity of each.
//
// Start reading at Task in this file. assignee.go has the assignments, and
// activity.go the history of a task: every change writes a TaskActivity in its
// own transaction, and comments are entries of the same list. erase.go finds
// entries that mention a person who is to be erased.
//
// Entries are only added. An assignment survives the member's leaving, so that
// somebody can take over the work.
package task

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Fields are what callers set of a task.
type Fields struct {
	Title       string      `json:"title" min:"1"`
	Description *string     `json:"description" max:"10000"`
	Status      Status      `json:"status" default:"open" enum:"open,in_progress,completed,canceled"`
	Priority    string      `json:"priority" default:"normal" enum:"low,normal,high,urgent"`
	DueAt       *clock.Time `json:"dueAt"`
	ContactID   *id.ID      `json:"contactId" ref:"contacts"`
	CustomerID  *id.ID      `json:"customerId" ref:"customers"`
	BusinessID  *id.ID      `json:"businessId" ref:"businesses"`
}

// Task is something to do, perhaps about a contact, a customer or a business.
type Task struct {
	op.Record
	Fields
	CompletedAt *clock.Time `json:"completedAt" doc:"when the status became completed; otherwise null"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`
}

var tasks = db.NewTable[Task]("tasks", db.Life{
	Noun:         "task",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("contact_id", "contacts"),
		db.RefTo("customer_id", "customers"),
		db.RefTo("business_id", "businesses", db.Keeps),
	},
	// The task is the organization's work and stays, with its status, dates and
	// assignees.
	Erase: life.BlankColumns(`
		title = 'Task about an erased contact',
		description = NULL,
		search = ' task about an erased contact'`).FoundBy("contact_id"),
})

// Get loads a task that is not deleted, or answers 404.
func Get(ctx context.Context, tx *db.Tx, org, task id.ID) (*Task, error) {
	return tasks.Get(ctx, tx, org, task)
}

// Operations lists everything that can be done with tasks.
func Operations() []*op.Op {
	return slices.Concat(op.WithExport(op.WithBatch(taskOperations())), assigneeOperations(), activityOperations())
}

const exampleID = `"id": "3a5d7c92-1e4b-4f60-8d2a-6b9c0e1f2a35"`

func taskOperations() []*op.Op {
	return []*op.Op{
		op.ListRows(op.Spec{
			Name:      "tasks.list",
			NounWords: "to-do, todo, job, chore, errand, appointment, reminder, order",
			Words:     "plate, today, late, due, overdue, agenda, pending, what to do, this week",
			Example:   `{"status": ["open"], "dueBefore": "2026-02-01T00:00:00Z", "limit": 20}`,
		}, tasks, filterTasks),
		op.Write(op.Spec{
			Name:    "tasks.create",
			Words:   "remind me, remember to, do not forget, don't forget, tomorrow, to-do list",
			Route:   "POST /v1/tasks",
			Summary: "Create a task.",
			Events:  []string{"task.created", "task.assignee.created"},
			Example: `{"title": "Send the drawings", "priority": "high", "dueAt": "2026-01-31T12:00:00Z", ` +
				`"contactId": ` +
				`"6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`,
			FieldExceptions: []string{"assigneeIds"}, // rows of their own
		}, createTask),
		op.GetRow(op.Spec{Name: "tasks.get"}, tasks),
		op.Write(op.Spec{
			Name: "tasks.update",
			Words: "tick, tick off, done, finish, postpone, push back, deadline, priority, complete, urgent, " +
				"put off",
			Route:       "PATCH /v1/tasks/{id}",
			Summary:     "Change fields of a task.",
			Description: "completedAt follows the status.",
			Events:      []string{"task.updated"},
			Example:     `{` + exampleID + `, "status": "completed", "description": null}`,
		}, updateTask),
		// Assignees and activity stay as they are: they are visible only while their task is, and
		// are purged with it.
		op.DeleteRow(op.Spec{Name: "tasks.delete"}, tasks),
		op.RestoreRow("tasks", "tasks", tasks, nil),
	}
}

type taskList struct {
	op.Browse
	SortBy     string      `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,dueAt,title"`
	Status     []Status    `query:"status" enum:"open,in_progress,completed,canceled"`
	Priority   []string    `query:"priority" enum:"low,normal,high,urgent"`
	AssigneeID *id.ID      `query:"assigneeId" doc:"a user the task is assigned to"`
	ContactID  *id.ID      `query:"contactId"`
	CustomerID *id.ID      `query:"customerId"`
	BusinessID *id.ID      `query:"businessId"`
	DueBefore  *clock.Time `query:"dueBefore"`
	DueAfter   *clock.Time `query:"dueAfter"`
	Query      *string     `query:"query" max:"200" doc:"part of title or description; 1-2 letters match word starts"`
}

func filterTasks(in *taskList, w *db.Where) {
	db.FilterEqual(w, "contact_id", in.ContactID)
	db.FilterEqual(w, "customer_id", in.CustomerID)
	db.FilterEqual(w, "business_id", in.BusinessID)
	db.FilterChoice(w, "priority", in.Priority, "normal")
	db.FilterChoice(w, "status", in.Status, statusCompleted)
	if in.AssigneeID != nil {
		w.AmongRows(db.IndexedRows{Table: assignees.Rows.Name(), Column: "task_id",
			Where: "user_id = ? AND deleted_at IS NULL", Args: []any{*in.AssigneeID}})
	}
	if in.DueBefore != nil {
		// The index begins with the status, so a filter without one names them all.
		statuses := in.Status
		if len(statuses) == 0 {
			statuses = []Status{"open", "in_progress", statusCompleted, "canceled"}
		}
		has, args := db.OneOfCondition("status", statuses)
		w.AmongRows(db.IndexedRows{Where: has + " AND due_at < ? AND deleted_at IS NULL",
			Args: append(args, *in.DueBefore)})
	}
	db.FilterAfter(w, "due_at", in.DueAfter)
}

type taskCreate struct {
	Fields
	AssigneeIDs []id.ID `json:"assigneeIds,omitempty" ref:"-" max:"20" doc:"members, by their ids in members_list"`
}

// createTask writes a task, its first activity and its assignees.
func createTask(ctx context.Context, c *op.Call, in taskCreate) (*Task, error) {
	v := &Task{Record: c.NewRecord(), Fields: in.Fields}
	if err := op.LockReferences(ctx, c, v.listReferences(&Task{})...); err != nil {
		return nil, err
	}
	v.deriveFields(c.Now, "")
	if err := tasks.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if _, err := recordActivity(ctx, c, v.ID, activity{kind: kindCreated}); err != nil {
		return nil, err
	}
	if err := c.Emit("task.created", v.ID, v); err != nil {
		return nil, err
	}
	for i, user := range in.AssigneeIDs {
		_, err := assignUser(ctx, c, v.ID, user)
		switch {
		case fault.IsKind(err, fault.Invalid):
			return nil, (*fault.Tree)(nil).At([]any{"assigneeIds", i}, notMemberIssue).Fault(fault.Invalid)
		case fault.IsKind(err, AssigneeExists):
			return nil, (*fault.Tree)(nil).At([]any{"assigneeIds", i}, "Listed twice").Fault(fault.Invalid)
		case err != nil:
			return nil, err
		}
	}
	return v, nil
}

// listReferences lists the rows that a task names, for op.LockReferences to check. A
// reference that it had before may stay even if the row is gone.
func (v *Task) listReferences(before *Task) []op.FieldRef {
	return []op.FieldRef{
		{Field: "contactId", Table: "contacts", ID: v.ContactID, Stored: before.ContactID},
		{Field: "customerId", Table: "customers", ID: v.CustomerID, Stored: before.CustomerID},
		{Field: "businessId", Table: "businesses", ID: v.BusinessID, Stored: before.BusinessID},
	}
}

// deriveFields fills in what follows from the fields: the completion time and the
// search text.
func (v *Task) deriveFields(now clock.Time, statusBefore Status) {
	if v.Status != statusBefore {
		v.CompletedAt = nil
		if v.Status == statusCompleted {
			v.CompletedAt = &now
		}
	}
	v.Search = db.SearchText(&v.Title, v.Description)
}

// Status is how far along a task is.
type Status string

const statusCompleted Status = "completed" // reaching it sets completedAt

type taskUpdate struct {
	ID id.ID `path:"id" doc:"the task"`
	op.Changes[Fields]
}

func updateTask(ctx context.Context, c *op.Call, in taskUpdate) (*Task, error) {
	v, err := tasks.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	before := *v
	if !op.Apply(v, &in) {
		return v, nil
	}
	if err := op.LockReferences(ctx, c, v.listReferences(&before)...); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	v.deriveFields(c.Now, before.Status)
	if err := tasks.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := recordChanges(ctx, c, &before, v); err != nil {
		return nil, err
	}
	return v, c.Emit("task.updated", v.ID, v)
}
