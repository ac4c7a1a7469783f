package house

import (
	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/optin"
)

var consent = map[string]string{"pending": "asked", "opted_in": "yes", "opted_out": "no"}

var optIns = &desk.Noun[optin.EmailOptIn]{
	Path: "opt-ins", Ops: "email_opt_ins", Type: "email_opt_in", RailKey: "businesses",
	One: "consent", Many: "consents", Title: "Email consents", Icon: "mail",
	EmptyText:  "Marketing email goes only to people who said yes. Here is who did, when and where.",
	SearchHint: "Email address",
	Tabs: []desk.Tab{{Label: "Yes", Query: "status=opted_in"}, {Label: "No", Query: "status=opted_out"},
		{Label: "Asked", Query: "status=pending"}, {Label: "All"}},
	Columns: []desk.Column[optin.EmailOptIn]{
		{Head: "Address", Sort: "email", Width: "w4", Cell: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Cell {
			return desk.Text(o.Email)
		}},
		{Head: "Agreed", Field: "status", Width: "w1", Fold: "three",
			Cell: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Cell {
				return desk.State(agreed(o))
			}},
		{Head: "Contact", Field: "contactId", Width: "w3", Fold: "two",
			Cell: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Cell {
				return desk.LinkTo("contacts", o.ContactID)
			}},
		{Head: "Where it comes from", Field: "source", Cell: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Cell {
			return desk.OptionalText(o.Source)
		}},
		{Head: "Since", Field: "optedInAt", Width: "w2", End: true,
			Cell: func(v *desk.Visit, o *optin.EmailOptIn) desk.Cell {
				if o.OptedOutAt != nil {
					return v.At(o.OptedOutAt)
				}
				return v.At(o.OptedInAt)
			}},
	},
	Filters: []desk.Filter{
		{Field: "status", Label: "Agreed"},
		{Field: "email", Label: "Address"},
		{Field: "contactId", Label: "Contact", Ref: "contacts", HideChoice: true},
	},
	Name: func(_ *desk.Visit, o *optin.EmailOptIn) string { return o.Email },
	ListLine: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Line {
		return desk.Line{Icon: "mail", Text: o.Email, Pill: agreed(o)}
	},
	State: func(_ *desk.Visit, o *optin.EmailOptIn) desk.Pill { return agreed(o) },
	Fields: []desk.Field{
		{Field: "email", Label: "Address"},
		{Field: "status", Label: "Agreed", ChoiceLabels: consent},
		{Field: "contactId", Label: "Contact", Ref: "contacts"},
		{Field: "source", Label: "Where it comes from"},
		{Field: "optedInAt", Label: "Said yes", ReadOnly: true},
		{Field: "optedOutAt", Label: "Said no", ReadOnly: true},
	},
	Form: []desk.Field{
		{Field: "email", Label: "Address"},
		{Field: "status", Label: "Agreed", ChoiceLabels: consent},
		{Field: "contactId", Label: "Contact", Ref: "contacts"},
		{Field: "source", Label: "Where it comes from", Hint: "newsletter form"},
	},
}

func agreed(o *optin.EmailOptIn) desk.Pill {
	return desk.Pill{Text: consent[string(o.Status)],
		Tone: map[string]string{"opted_in": "good", "opted_out": "bad"}[string(o.Status)]}
}
