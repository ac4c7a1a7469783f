package house

import (
	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/optin"
)

var consent = map[string]string{"pending": "asked", "opted_in": "yes", "opted_out": "no"}

var optIns = &desk.Noun[optin.EmailOptIn]{
	Path: "opt-ins", Ops: "email_opt_ins", Type: "email_opt_in", Rail: "businesses",
	One: "consent", Many: "consents", Title: "Email consents", Icon: "mail",
	Lead: "Marketing email goes only to people who said yes. Here is who did, when and where.",
	Seek: "Email address",
	Tabs: []desk.Tab{{Word: "Yes", Query: "status=opted_in"}, {Word: "No", Query: "status=opted_out"},
		{Word: "Asked", Query: "status=pending"}, {Word: "All"}},
	Table: []desk.Column[optin.EmailOptIn]{
		{Head: "Address", Sort: "email", Width: "w4", Cell: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Cell {
			return desk.Text(o.Email)
		}},
		{Head: "Agreed", Width: "w1", Fold: "three", Cell: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Cell {
			return desk.State(agreed(o))
		}},
		{Head: "Contact", Width: "w3", Fold: "two", Cell: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Cell {
			return desk.To("contacts", o.ContactID)
		}},
		{Head: "Where it comes from", Cell: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Cell {
			return desk.Opt(o.Source)
		}},
		{Head: "Since", Width: "w2", End: true, Cell: func(v *desk.Visit, o *optin.EmailOptIn) desk.Cell {
			if o.OptedOutAt != nil {
				return v.At(o.OptedOutAt)
			}
			return v.At(o.OptedInAt)
		}},
	},
	Filters: []desk.Filter{
		{Field: "status", Word: "Agreed"},
		{Field: "email", Word: "Address"},
		{Field: "contactId", Word: "Contact", Ref: "contacts", Only: true},
	},
	Name: func(_ *desk.Visit, o *optin.EmailOptIn) string { return o.Email },
	Line: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Line {
		return desk.Line{Icon: "mail", Text: o.Email, Pill: agreed(o)}
	},
	State: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Pill { return agreed(o) },
	Fields: []desk.Field{
		{Field: "email", Word: "Address"},
		{Field: "status", Word: "Agreed", Words: consent},
		{Field: "contactId", Word: "Contact", Ref: "contacts"},
		{Field: "source", Word: "Where it comes from"},
		{Field: "optedInAt", Word: "Said yes", Fixed: true},
		{Field: "optedOutAt", Word: "Said no", Fixed: true},
	},
	Form: []desk.Field{
		{Field: "email", Word: "Address"},
		{Field: "status", Word: "Agreed", Words: consent},
		{Field: "contactId", Word: "Contact", Ref: "contacts"},
		{Field: "source", Word: "Where it comes from", Hint: "newsletter form"},
	},
}

func agreed(o *optin.EmailOptIn) desk.Pill {
	return desk.Pill{Text: consent[string(o.Status)],
		Tone: map[string]string{"opted_in": "good", "opted_out": "bad"}[string(o.Status)]}
}
