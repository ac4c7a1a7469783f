package contact

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// erasedTitle is what a task is called whose own title told of a person.
const erasedTitle = "Task about an erased contact"

// taskMentions are the traces of a person in what is told of tasks. A comment
// does not name the contact, only its task; so the tasks are those that name
// the contact now and those whose own events say that they did.
func taskMentions(e db.Engine, within func(column string) string) []trace {
	named, namedInBytes := "contact_id = $2", "contact_id = CAST($2 AS TEXT)"
	taskOf := "json_extract(data, '$.taskId')"
	inBody := "instr(body, CAST(id AS BLOB)) > 0"
	if e == db.Postgres {
		named = "contact_id = CAST(CAST($2 AS text) AS uuid)"
		namedInBytes = "contact_id = CAST(convert_from(CAST($2 AS bytea), 'UTF8') AS uuid)"
		taskOf = "CAST(data ->> 'taskId' AS uuid)"
		inBody = "position(convert_to(CAST(id AS text), 'UTF8') IN body) > 0"
	}
	about := "SELECT id FROM tasks WHERE organization_id = $1 AND " + named +
		" UNION SELECT resource_id FROM events WHERE organization_id = $1 AND seq > $3 AND resource_type = 'task' AND " + within("data")
	return []trace{
		{key: "seq", table: "events", where: "organization_id = $1 AND data IS NOT NULL AND (resource_type = 'task' AND resource_id IN (" + about + ")" +
			" OR resource_type = 'task.activity' AND " + taskOf + " IN (" + about + "))",
			end: "UPDATE events SET data = NULL", count: func(e *Erased) *int64 { return &e.Events }},
		{key: "seq", table: "idempotency", where: "organization_id = $1 AND status IS NOT NULL AND operation LIKE 'tasks.%' AND EXISTS (SELECT 1 FROM tasks WHERE organization_id = $1 AND " +
			namedInBytes + " AND " + inBody + ")", bytes: true,
			end: "DELETE FROM idempotency", count: func(e *Erased) *int64 { return &e.Answers }},
		{key: "seq", table: "task_activity", where: "organization_id = $1 AND " + within("changes"),
			end: "UPDATE task_activity SET changes = NULL", count: func(e *Erased) *int64 { return &e.TaskActivity }},
	}
}

// eraseTasks empties the tasks that name the contact of their words. They are
// the organization's work and stay, with their state, dates and assignees.
func eraseTasks(ctx context.Context, c *op.Call, contact id.ID, out *Erased) error {
	n, err := db.Exec(ctx, c.Tx, `UPDATE task_activity SET body = NULL, changes = NULL, updated_at = $3 WHERE organization_id = $1 AND kind IN ('comment', 'updated') AND (body IS NOT NULL OR changes IS NOT NULL)
		AND task_id IN (SELECT id FROM tasks WHERE organization_id = $1 AND contact_id = $2)`, c.Org, contact, c.Now)
	if err != nil {
		return err
	}
	out.TaskActivity += n
	title := erasedTitle
	words := db.SearchText(&title)
	type row struct {
		Seq     int64 `db:"seq"`
		Deleted bool  `db:"deleted"`
	}
	rows, err := db.All[row](ctx, c.Tx, `UPDATE tasks SET contact_id = NULL, title = $4, description = NULL, search = $5, updated_at = $3
		WHERE organization_id = $1 AND contact_id = $2 RETURNING seq, deleted_at IS NOT NULL AS deleted`, c.Org, contact, c.Now, title, words)
	for _, r := range rows {
		if !r.Deleted {
			db.Index(c.Tx, "tasks", r.Seq, words)
		}
	}
	out.Tasks = int64(len(rows))
	return err
}
