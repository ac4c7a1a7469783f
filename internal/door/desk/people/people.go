// Package people is the room of contacts and customers: who they are, and what
// happened with them.
package people

import (
	"embed"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/contact"
)

//go:embed *.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddNouns(contacts, customers, imports)
	d.Add(
		desk.Route{Pattern: "GET /imports/new", Show: newImport},
		desk.Route{Pattern: "POST /imports/new", Show: takeFile, Streams: true},
		desk.Route{Pattern: "GET /imports/check", Show: checkImport},
		desk.Route{Pattern: "POST /imports/check", Show: startImport},
		desk.Route{Pattern: "GET /imports/check/refused.csv", Show: wouldBeRefused},
		desk.Route{Pattern: "GET /imports/{id}/refused.csv", Show: wereRefused},
		desk.Route{Pattern: "POST /imports/{id}/undo", Show: undoImport},
		desk.Route{Pattern: "GET /customers/{id}/statement.pdf", Show: statementPDF},
		desk.Route{Pattern: "GET /contacts/{id}/merge", Show: askMerge},
		desk.Route{Pattern: "POST /contacts/{id}/merge", Show: merge},
	)
	for _, path := range []string{"contacts", "customers", "businesses"} {
		d.Add(desk.Route{Pattern: "POST /" + path + "/{id}/property", Show: saveProperty(path)},
			desk.Route{Pattern: "POST /" + path + "/{id}/suggestion", Show: decide(path)})
	}
}

// Name is what people call a contact.
func Name(c *contact.Contact) string {
	words := []string{}
	for _, s := range []*string{c.Prefix, c.FirstName, c.MiddleName, c.LastName, c.Suffix} {
		if s != nil && *s != "" {
			words = append(words, *s)
		}
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, " ")
	case c.OrganizationName != nil && *c.OrganizationName != "":
		return *c.OrganizationName
	case len(c.Emails) > 0:
		return c.Emails[0].Email
	case len(c.PhoneNumbers) > 0:
		return c.PhoneNumbers[0].PhoneNumber
	}
	return "Unnamed contact"
}

// contactShape reports whether a contact is a company without a person.
func contactShape(c *contact.Contact) string {
	if c.FirstName == nil && c.LastName == nil && c.OrganizationName != nil {
		return "co"
	}
	return ""
}
