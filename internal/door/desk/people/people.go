// Package people is the room of contacts and customers: who they are, and what
// happened with them.
package people

import (
	"embed"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/message"
)

//go:embed *.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddNouns(contacts, customers, imports)
	d.Add(
		desk.Route{Pattern: "GET /suggestions", Show: suggested},
		desk.Route{Pattern: "POST /suggestions/decide", Show: decideMany},
		desk.Route{Pattern: "POST /suggestions/undo", Show: undecide},
		desk.Route{Pattern: "GET /imports/new", Show: newImport},
		desk.Route{Pattern: "POST /imports/new", Show: takeFile, Streams: true},
		desk.Route{Pattern: "GET /imports/check", Show: checkImport},
		desk.Route{Pattern: "POST /imports/check", Show: startImport},
		desk.Route{Pattern: "POST /imports/{id}/undo", Show: undoImport},
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

// mail is what a person wrote and what was written to them.
func mail(v *desk.Visit, filter string, ref id.ID, name string) ([]desk.Moment, error) {
	if !v.May("messages.list") {
		return nil, nil
	}
	rows, _, err := desk.List[message.Message](v, "messages.list", desk.Fields{filter: ref, "limit": 20})
	if err != nil {
		return nil, err
	}
	out := []desk.Moment{}
	for _, m := range rows {
		x := desk.Moment{At: m.CreatedAt, Icon: "mail", What: m.Subject, Href: "/inbox/" + string(m.ThreadID)}
		if !v.Has("/inbox") {
			x.Href = ""
		}
		if x.What == "" {
			x.What = "(no subject)"
		}
		if m.Direction == "inbound" {
			x.Who, x.Verb, x.Icon = desk.Who{Name: name, Avatar: desk.AvatarOf(name, "")}, "wrote", ""
			if m.Text != nil {
				x.Said = excerpt(*m.Text)
			}
		} else {
			x.Verb = map[string]string{"draft": "Draft:", "scheduled": "To be sent:", "queued": "On its way:",
				"sending": "On its way:", "bounced": "Came back:", "failed": "Not sent:",
				"canceled": "Not sent:"}[string(m.Status)]
			if x.Verb == "" {
				x.Verb = "Sent:"
			}
			if m.Status == "bounced" || m.Status == "failed" {
				x.Pill = desk.Pill{Text: string(m.Status), Tone: "bad"}
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// excerpt is the beginning of a text, without what it quotes.
func excerpt(text string) string {
	lines := []string{}
	for _, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, ">") {
			break
		}
		lines = append(lines, l)
	}
	return cut.Ellipsis(strings.TrimSpace(strings.Join(lines, "\n")), 400)
}
