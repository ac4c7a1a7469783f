// Package house is the room of the business itself: its profile, what it offers
// and where it is found, its email templates, who agreed to get mail, and the
// fields that it defined itself.
package house

import (
	"embed"

	"frontdesk/internal/door/desk"
)

//go:embed *.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddNouns(businesses, templates, optIns, properties, views)
	d.Add(
		desk.Route{Pattern: "POST /businesses/{id}/profile", Show: saveProfile},
		desk.Route{Pattern: "GET /templates/{id}/preview", Show: preview},
	)
	d.AddPages(desk.AnySite, desk.Pages{
		"GET /unsubscribe/{token}": unsubscribePage, "POST /unsubscribe/{token}": unsubscribe,
	})
}
