package contact

import "frontdesk/internal/kernel/db"

// executionMentions are the traces of a person in what automations did: in
// executions that an event about the person started, or that name the contact
// in what they were given or came to; in their events; and in the answers that
// their steps keep for a crash. An execution that has not ended is canceled:
// it has nothing left to work with.
func executionMentions(e db.Engine) []trace {
	who, whoInBytes, asText := "$2", "CAST($2 AS TEXT)", "id"
	about := func(who string) string { return "resource_id = " + who }
	inText := func(column, who string) string { return "instr(" + column + ", " + who + ") > 0" }
	if e == db.Postgres {
		who, whoInBytes, asText = "CAST($2 AS text)", "convert_from(CAST($2 AS bytea), 'UTF8')", "CAST(id AS text)"
		about = func(who string) string { return "resource_id = CAST(" + who + " AS uuid)" }
		inText = func(column, who string) string { return "strpos(CAST(" + column + " AS text), " + who + ") > 0" }
	}
	// Asked row by row, so that only the events of new executions are looked at.
	tells := func(who string) string {
		return "(" + inText("steps", who) + " OR " + inText("input", who) + " OR " + inText("saved", who) +
			" OR EXISTS (SELECT 1 FROM events WHERE organization_id = $1 AND id = event_id AND (" + about(who) + " OR " + inText("data", who) + ")))"
	}
	return []trace{
		// The keys of steps begin with automation/ and the execution's id.
		{key: "seq", table: "idempotency", where: "organization_id = $1 AND status IS NOT NULL AND key LIKE 'automation/%' AND EXISTS (SELECT 1 FROM automation_executions WHERE organization_id = $1 AND " +
			asText + " = substr(key, 12, 36) AND " + tells(whoInBytes) + ")", bytes: true,
			end: "DELETE FROM idempotency", count: func(e *Erased) *int64 { return &e.Answers }},
		{key: "seq", table: "events", where: "organization_id = $1 AND data IS NOT NULL AND resource_type = 'automation_execution' AND (" + inText("data", who) + " OR resource_id IN (SELECT id FROM automation_executions WHERE organization_id = $1 AND " +
			tells(who) + "))",
			end: "UPDATE events SET data = NULL", count: func(e *Erased) *int64 { return &e.Events }},
		{key: "seq", table: "automation_executions", where: "organization_id = $1 AND " + tells(who),
			end:   "UPDATE automation_executions SET steps = '[]', input = '{}', saved = NULL, plan = NULL, error_message = NULL, status = CASE WHEN status IN ('queued', 'running') THEN 'canceled' ELSE status END",
			count: func(e *Erased) *int64 { return &e.Executions }},
	}
}
