// Package task holds what is to be done: tasks, the members of the
// organization who are to do them, and the record of what happened to each.
//
// Start reading at Task, then TaskActivity, which every change writes in its
// own transaction.
package task

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Task is something to do, perhaps about a contact, a customer or a business.
type Task struct {
	op.Record
	Title       string      `json:"title"`
	Description *string     `json:"description" max:"10000"`
	Status      string      `json:"status" enum:"open,in_progress,completed,canceled"`
	Priority    string      `json:"priority" enum:"low,normal,high,urgent"`
	DueAt       *clock.Time `json:"dueAt"`
	CompletedAt *clock.Time `json:"completedAt" doc:"when the status became completed; null while it is another"`
	ContactID   *id.ID      `json:"contactId"`
	CustomerID  *id.ID      `json:"customerId"`
	BusinessID  *id.ID      `json:"businessId"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`
}

var tasks = db.NewTable[Task]("tasks", "task")

// Operations lists everything that can be done with tasks.
func Operations() []*op.Op {
	return slices.Concat(taskOperations(), assigneeOperations(), activityOperations())
}

const exampleID = `"id": "3a5d7c92-1e4b-4f60-8d2a-6b9c0e1f2a35"`

func taskOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{Name: "tasks.list", Route: "GET /v1/tasks", Summary: "List tasks, newest first.",
			Example: `{"status": "open", "dueBefore": "2026-02-01T00:00:00Z", "limit": 20}`}, listTasks),
		op.Write(op.Spec{Name: "tasks.create", Route: "POST /v1/tasks", Summary: "Create a task.", Events: []string{"task.created"},
			Example: `{"title": "Send the drawings", "priority": "high", "dueAt": "2026-01-31T12:00:00Z", "contactId": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`}, createTask),
		op.Read(op.Spec{Name: "tasks.get", Route: "GET /v1/tasks/{id}", Summary: "Get a task.",
			Example: `{` + exampleID + `}`}, getTask),
		op.Write(op.Spec{Name: "tasks.update", Route: "PATCH /v1/tasks/{id}", Summary: "Change fields of a task.",
			Description: "completedAt follows the status.", Events: []string{"task.updated"},
			Example: `{` + exampleID + `, "status": "completed", "description": null}`}, updateTask),
		op.Write(op.Spec{Name: "tasks.delete", Route: "DELETE /v1/tasks/{id}", Summary: "Delete a task.", Events: []string{"task.deleted"},
			Example: `{` + exampleID + `}`}, deleteTask),
	}
}

type taskRef struct {
	ID id.ID `path:"id" doc:"the task"`
}

type taskList struct {
	op.Page
	Status     *string     `query:"status" enum:"open,in_progress,completed,canceled"`
	Priority   *string     `query:"priority" enum:"low,normal,high,urgent"`
	AssigneeID *id.ID      `query:"assigneeId" doc:"a user that the task is assigned to"`
	ContactID  *id.ID      `query:"contactId"`
	CustomerID *id.ID      `query:"customerId"`
	DueBefore  *clock.Time `query:"dueBefore" doc:"tasks that are due earlier than this"`
	Query      *string     `query:"query" max:"200" doc:"part of the title or description; one or two characters match word beginnings"`
}

func listTasks(ctx context.Context, c *op.Call, in taskList) (*op.List[Task], error) {
	w := db.In(c.Org)
	db.Equal(w, "contact_id", in.ContactID)
	db.Equal(w, "customer_id", in.CustomerID)
	db.Choice(w, "priority", in.Priority, "normal")
	db.Choice(w, "status", in.Status, completed)
	if in.AssigneeID != nil {
		w.Among(db.Named{Table: assignees.Rows.Name(), Column: "task_id", Where: "user_id = ? AND deleted_at IS NULL", Args: []any{*in.AssigneeID}})
	}
	if in.DueBefore != nil {
		due := db.Named{Where: "status IN ('open', 'in_progress', 'completed', 'canceled') AND due_at < ? AND deleted_at IS NULL", Args: []any{*in.DueBefore}}
		if in.Status != nil {
			due.Where, due.Args = "status = ? AND due_at < ? AND deleted_at IS NULL", []any{*in.Status, *in.DueBefore}
		}
		w.Among(due)
	}
	rows, err := tasks.Search(ctx, c.Tx, in.Query, w, in.DB())
	return op.ListOf(in.Page, rows), err
}

type taskCreate struct {
	Title       string      `json:"title" min:"1"`
	Description *string     `json:"description" max:"10000"`
	Status      string      `json:"status" default:"open" enum:"open,in_progress,completed,canceled"`
	Priority    string      `json:"priority" default:"normal" enum:"low,normal,high,urgent"`
	DueAt       *clock.Time `json:"dueAt"`
	ContactID   *id.ID      `json:"contactId" ref:"contacts"`
	CustomerID  *id.ID      `json:"customerId" ref:"customers"`
	BusinessID  *id.ID      `json:"businessId" ref:"businesses"`
}

func createTask(ctx context.Context, c *op.Call, in taskCreate) (*Task, error) {
	v := &Task{Record: c.NewRecord(), Title: in.Title, Description: in.Description, Status: in.Status, Priority: in.Priority, DueAt: in.DueAt,
		ContactID: in.ContactID, CustomerID: in.CustomerID, BusinessID: in.BusinessID}
	if err := op.References(ctx, c, v.references(&Task{})...); err != nil {
		return nil, err
	}
	v.settle(c.Now, "")
	if err := tasks.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	db.Index(c.Tx, tasks.Name(), v.Seq, v.Search)
	if _, err := note(ctx, c, v.ID, activity{kind: created}); err != nil {
		return nil, err
	}
	return v, c.Emit("task.created", v.ID, v)
}

// references are the rows that a task names; what it named before may stay.
func (v *Task) references(before *Task) []op.Ref {
	return []op.Ref{
		{Field: "contactId", Table: "contacts", ID: v.ContactID, Was: before.ContactID},
		{Field: "customerId", Table: "customers", ID: v.CustomerID, Was: before.CustomerID},
		{Field: "businessId", Table: "businesses", ID: v.BusinessID, Was: before.BusinessID},
	}
}

// settle fills in what follows from the fields: the time of completion, and
// the words that a task is found by.
func (v *Task) settle(now clock.Time, statusBefore string) {
	if v.Status != statusBefore {
		v.CompletedAt = nil
		if v.Status == completed {
			v.CompletedAt = &now
		}
	}
	v.Search = db.SearchText(&v.Title, v.Description)
}

const completed = "completed"

func getTask(ctx context.Context, c *op.Call, in taskRef) (*Task, error) {
	return tasks.Get(ctx, c.Tx, c.Org, in.ID)
}

type taskUpdate struct {
	taskRef
	Title       op.Maybe[string]   `json:"title" min:"1"`
	Description op.Opt[string]     `json:"description" max:"10000"`
	Status      op.Maybe[string]   `json:"status" enum:"open,in_progress,completed,canceled"`
	Priority    op.Maybe[string]   `json:"priority" enum:"low,normal,high,urgent"`
	DueAt       op.Opt[clock.Time] `json:"dueAt"`
	ContactID   op.Opt[id.ID]      `json:"contactId" ref:"contacts"`
	CustomerID  op.Opt[id.ID]      `json:"customerId" ref:"customers"`
	BusinessID  op.Opt[id.ID]      `json:"businessId" ref:"businesses"`
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
	if err := op.References(ctx, c, v.references(&before)...); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	v.settle(c.Now, before.Status)
	if v.Search != before.Search {
		db.Index(c.Tx, tasks.Name(), v.Seq, v.Search)
	}
	if err := tasks.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := noteChanges(ctx, c, &before, v); err != nil {
		return nil, err
	}
	return v, c.Emit("task.updated", v.ID, v)
}

// deleteTask leaves assignees and activity as they are: they are seen only
// while their task is, and end with it.
func deleteTask(ctx context.Context, c *op.Call, in taskRef) (op.Nothing, error) {
	v, err := tasks.Remove(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	db.Index(c.Tx, tasks.Name(), v.Seq, "")
	return op.Nothing{}, c.Emit("task.deleted", v.ID, v)
}
