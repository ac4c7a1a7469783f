package task

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// TaskAssignee is a member of the organization who is assigned a task. It
// outlives the membership: who had the work is worth knowing, and somebody must
// reassign it.
type TaskAssignee struct {
	op.Record
	TaskID id.ID `json:"taskId"`
	UserID id.ID `json:"userId"`
}

var assignees = op.NewNested[TaskAssignee]("task_assignees", db.Life{
	Noun:         "assignee",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("task_id", "tasks"),
	Refs:         []db.Ref{db.RefTo("user_id", "users", db.Keeps)},
})

// AssigneeExists refuses to assign a task to the same user twice.
var AssigneeExists = fault.DefineKind("TASK_ASSIGNEE_EXISTS", 409, "The task is already assigned to this user.")

func assigneeOperations() []*op.Op {
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "tasks.assignees.list",
			NounWords: "assign, responsible, in charge, do job",
			Words:     "who is working, who does, working on"}, assignees),
		op.Write(op.Spec{
			Name:    "tasks.assignees.create",
			Words:   "hand, let do, give to, should do, delegate, over to, put in charge",
			Route:   "POST /v1/tasks/{id}/assignees",
			Summary: "Assign a task to a member of the organization.",
			Errors:  []*fault.Kind{AssigneeExists},
			Events:  []string{"task.assignee.created"},
			Example: `{` + exampleID + `, "userId": "7d2b9e40-8c1f-4a3d-b5e6-0f9a8c7d6e51"}`,
		}, addAssignee),
		op.DeleteChild(op.Spec{
			Name:        "tasks.assignees.delete",
			Words:       "take off, not any more, unassign, no longer",
			Summary:     "Unassign a task.",
			Description: "assigneeId is the id of the assignment, not of the user.",
		}, assignees, recordUnassigned),
	}
}

type assigneeAdd struct {
	ID     id.ID `path:"id" doc:"the task"`
	UserID id.ID `json:"userId" ref:"-" doc:"a member of the organization"`
}

func addAssignee(ctx context.Context, c *op.Call, in assigneeAdd) (*TaskAssignee, error) {
	if err := assignees.LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	return assignUser(ctx, c, in.ID, in.UserID)
}

const notMemberIssue = "There is no active member with this id in the organization"

// assignUser assigns a task, which is new or locked.
func assignUser(ctx context.Context, c *op.Call, task, user id.ID) (*TaskAssignee, error) {
	if active, err := account.IsActiveMember(ctx, c.Tx, c.Org, user); err != nil {
		return nil, err
	} else if !active {
		return nil, fault.Field("userId", notMemberIssue)
	}
	v := &TaskAssignee{Record: c.NewRecord(), TaskID: task, UserID: user}
	free, err := assignees.Rows.TryInsert(ctx, c.Tx, v)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, AssigneeExists.New()
	}
	if _, err := recordActivity(ctx, c, task,
		activity{kind: kindAssigned,
			changes: map[string]TaskChange{"userId": {To: textOrNil(&v.UserID)}}}); err != nil {
		return nil, err
	}
	return v, c.Emit("task.assignee.created", v.ID, v)
}

func recordUnassigned(ctx context.Context, c *op.Call, v *TaskAssignee) error {
	_, err := recordActivity(ctx, c, v.TaskID,
		activity{kind: kindUnassigned, changes: map[string]TaskChange{"userId": {From: textOrNil(&v.UserID)}}})
	return err
}
