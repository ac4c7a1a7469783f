package task

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// TaskActivity is something that happened to a task, or a comment on it.
type TaskActivity struct {
	op.Record
	TaskID    id.ID                  `json:"taskId"`
	Kind      string                 `json:"kind" enum:"created,status_changed,assigned,unassigned,updated,comment"`
	ActorKind string                 `json:"actorKind" enum:"user,agent,api,automation,system"`
	ActorID   *id.ID                 `json:"actorId"`
	Body      *string                `json:"body" max:"10000" doc:"the text of a comment"`
	Changes   *map[string]TaskChange `json:"changes" doc:"the fields that changed; for assigned and unassigned, userId"`
}

// TaskChange is what a field was and what it became.
type TaskChange struct {
	From *string `json:"from" max:"10000"`
	To   *string `json:"to" max:"10000"`
}

// The kinds of activity.
const (
	kindCreated       = "created"
	kindStatusChanged = "status_changed"
	kindAssigned      = "assigned"
	kindUnassigned    = "unassigned"
	kindUpdated       = "updated"
	kindComment       = "comment"
)

var activities = op.NewNested[TaskActivity]("task_activity", db.Life{
	Noun:         "activity",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("task_id", "tasks", db.EndsAtPurge),
	Refs:         []db.Ref{db.RefTo("actor_id", "", db.Keeps)},
	Permanent:    true,
	Erase: life.BlankColumns("body = NULL, changes = NULL").
		OnlyWhere("kind IN ('comment', 'updated') AND (body IS NOT NULL OR changes IS NOT NULL)").
		AlsoFind(findActivityOfPerson),
})

func activityOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:      "tasks.activity.list",
			NounWords: "comment, progress, history",
			Words:     "happen, so far",
			Route:     "GET /v1/tasks/{id}/activity",
			Summary:   "List what happened to a task, newest first.",
			Example:   `{` + exampleID + `}`,
		}, listActivity),
		op.Write(op.Spec{
			Name:    "tasks.activity.create",
			Words:   "write under, comment",
			Route:   "POST /v1/tasks/{id}/activity",
			Summary: "Comment on a task.",
			Events:  []string{"task.activity.created"},
			Example: `{` + exampleID + `, "body": "They want the larger engine."}`,
		}, addComment),
	}
}

type activityList struct {
	op.Page
	ID id.ID `path:"id" doc:"the task"`
}

func listActivity(ctx context.Context, c *op.Call, in activityList) (*op.List[TaskActivity], error) {
	return activities.ListUncounted(ctx, c, in.ID, activities.WhereParent(c, in.ID), in.Page)
}

type commentAdd struct {
	ID   id.ID  `path:"id" doc:"the task"`
	Body string `json:"body" min:"1" max:"10000"`
}

func addComment(ctx context.Context, c *op.Call, in commentAdd) (*TaskActivity, error) {
	if err := activities.LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	v, err := recordActivity(ctx, c, in.ID, activity{kind: kindComment, body: &in.Body})
	if err != nil {
		return nil, err
	}
	return v, c.Emit("task.activity.created", v.ID, v)
}

// activity is what note records, on behalf of the caller.
type activity struct {
	kind    string
	body    *string
	changes map[string]TaskChange
}

// recordActivity adds an entry to a task's activity. The caller has locked the task or
// just created it.
func recordActivity(ctx context.Context, c *op.Call, task id.ID, a activity) (*TaskActivity, error) {
	v := &TaskActivity{Record: c.NewRecord(), TaskID: task, Kind: a.kind, ActorKind: string(c.Caller.Kind),
		ActorID: c.Caller.ActorIDOrNil(), Body: a.body}
	if len(a.changes) > 0 {
		v.Changes = &a.changes
	}
	return v, activities.Rows.Insert(ctx, c.Tx, v)
}

// recordChanges records what a PATCH did: one entry for the status, and one for
// all other fields together.
func recordChanges(ctx context.Context, c *op.Call, before, v *Task) error {
	if changes := diffFields(before, v); len(changes) > 0 {
		if _, err := recordActivity(ctx, c, v.ID, activity{kind: kindUpdated, changes: changes}); err != nil {
			return err
		}
	}
	if v.Status == before.Status {
		return nil
	}
	_, err := recordActivity(ctx, c, v.ID,
		activity{kind: kindStatusChanged,
			changes: map[string]TaskChange{"status": {(*string)(&before.Status), (*string)(&v.Status)}}})
	return err
}

// diffFields compares every field that a caller can change, except the
// status.
func diffFields(before, v *Task) map[string]TaskChange {
	all := map[string]TaskChange{
		"title":       {&before.Title, &v.Title},
		"description": {before.Description, v.Description},
		"priority":    {&before.Priority, &v.Priority},
		"dueAt":       {textOrNil(before.DueAt), textOrNil(v.DueAt)},
		"contactId":   {textOrNil(before.ContactID), textOrNil(v.ContactID)},
		"customerId":  {textOrNil(before.CustomerID), textOrNil(v.CustomerID)},
		"businessId":  {textOrNil(before.BusinessID), textOrNil(v.BusinessID)},
	}
	for field, change := range all {
		if change.From == nil && change.To == nil || change.From != nil && change.To != nil &&
			*change.From == *change.To {
			delete(all, field)
		}
	}
	return all
}

// textOrNil is a value as callers see it, or nil.
func textOrNil[T any](v *T) *string {
	if v == nil {
		return nil
	}
	s := fmt.Sprint(*v)
	return &s
}
