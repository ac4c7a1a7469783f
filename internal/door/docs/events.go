package docs

import (
	"strings"

	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/op"
)

const aboutEvents = `# Events

Every change writes one event, in the same transaction: the event exists exactly when the change does. The log is read
at ` + "`GET /v1/events`" + ` and feeds webhooks and automations; it is also the audit trail. An event says what
happened (` + "`type`" + `), to what (` + "`resourceType`, `resourceId`" + `), who did it
(` + "`actorKind`, `actorId`" + `),
how they came in (` + "`door`" + `), in which request (` + "`requestId`" + `), and what the resource looked
like right after (` + "`data`" + `, as GET returns it).

This page is generated from the declarations of the operations by ` + "`make generate`" + `.

| event | about | happens with |
|---|---|---|
`

// EventsMarkdown lists every kind of event in Markdown.
func EventsMarkdown(c *op.Catalog) string {
	var b strings.Builder
	b.WriteString(aboutEvents)
	for _, t := range c.EventTypes() {
		var by []string
		for _, o := range t.Operations {
			by = append(by, "`"+o+"`")
		}
		if t.When != "" {
			by = append(by, t.When)
		}
		b.WriteString("| `" + t.Type + "` | `" + event.ResourceType(t.Type) + "` | " + strings.Join(by, ", ") + " |\n")
	}
	return b.String()
}
