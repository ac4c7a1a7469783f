// Package overview is the room of Today and of the activity: what matters now,
// and everything that happened.
package overview

import (
	"embed"

	"frontdesk/internal/door/desk"
)

//go:embed *.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.Add(
		desk.Route{Pattern: "GET /{$}", Show: today},
		desk.Route{Pattern: "GET /activity", Show: activity},
		desk.Route{Pattern: "GET /activity/{id}", Show: oneEvent},
	)
}
