// Package work is the room of tasks: what needs to be done, by whom and when.
package work

import (
	"embed"

	"frontdesk/internal/door/desk"
)

//go:embed *.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddNouns(tasks)
	d.Add(
		desk.Route{Pattern: "POST /tasks/quick", Show: quickAdd},
		desk.Route{Pattern: "GET /tasks/board", Show: board},
		desk.Route{Pattern: "POST /tasks/{id}/status", Show: setStatus},
	)
}

var _ = desk.AddCounter("tasks", func(v *desk.Visit) (string, desk.Fields) {
	return "tasks.list", desk.Fields{"status": []string{"open", "in_progress"}, "dueBefore": v.EndOfDay(0)}
})
