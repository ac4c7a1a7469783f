// Package web is the room of domains: found and bought, their health, their DNS
// and their email.
package web

import (
	"embed"

	"frontdesk/internal/door/desk"
)

//go:embed *.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddNouns(domains, owners)
	d.Add(
		desk.Route{Pattern: "GET /domains/search", Show: searchPage},
		desk.Route{Pattern: "GET /domains/buy", Show: buyPage},
		desk.Route{Pattern: "POST /domains/buy", Show: buy},
	)
}
