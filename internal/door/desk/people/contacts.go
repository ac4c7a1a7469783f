package people

import (
	"net/url"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
)

var contacts = &desk.Noun[contact.Contact]{
	Path: "contacts", Type: "contact", One: "contact", Many: "contacts", Icon: "people",
	EmptyText:  "Everyone your business talks to, with everything that happened between you.",
	SearchHint: "Name, email, phone", ImportPage: "/imports/new?objectType=contacts",
	Columns: []desk.Column[contact.Contact]{
		{Head: "Name", Sort: "name", Width: "w4", Cell: func(_ *desk.Visit, c *contact.Contact) desk.Cell {
			return desk.NameCell(Name(c), contactShape(c))
		}},
		{Head: "Company", Field: "organizationName", Width: "w3", Fold: "two",
			Cell: func(_ *desk.Visit, c *contact.Contact) desk.Cell {
				if contactShape(c) != "" {
					return desk.Text("")
				}
				return sameCompany(c)
			}},
		{Head: "Email", Field: "emails",
			Cell: func(_ *desk.Visit, c *contact.Contact) desk.Cell { return desk.Text(Email(c)) }},
		{Head: "Phone", Field: "phoneNumbers", Width: "w2p", Cell: func(v *desk.Visit, c *contact.Contact) desk.Cell {
			return desk.Text(v.Phone(phone(c)))
		}},
		{Head: "Tags", Field: "tags", Width: "w2p", Cell: func(_ *desk.Visit, c *contact.Contact) desk.Cell {
			return desk.Tags(c.Tags)
		}},
		{Head: "Added", Field: "createdAt", Sort: "createdAt", Width: "w1", Fold: "four", End: true,
			Cell: func(v *desk.Visit, c *contact.Contact) desk.Cell { return v.At(&c.CreatedAt) }},
	},
	OwnFieldsOf: "contact",
	Filters: []desk.Filter{
		{Field: "tag", Label: "Tag"},
		{Field: "organizationName", Label: "Company"},
		{Field: "email", Label: "Email"},
		{Field: "phone", Label: "Phone"},
		{Field: "createdAfter", Label: "Added after", ByDay: true},
		{Field: "createdBefore", Label: "Added before", ByDay: true},
		{Field: "externalId", Label: "External id", HideChoice: true},
	},
	Bulk: []desk.Bulk[contact.Contact]{desk.MayTag(func(c *contact.Contact) []string { return c.Tags })},
	Name: func(_ *desk.Visit, c *contact.Contact) string { return Name(c) },
	ListLine: func(_ *desk.Visit, c *contact.Contact) desk.Line {
		return desk.Line{Avatar: desk.AvatarOf(Name(c), contactShape(c)), Text: Name(c), Faint: detail(c)}
	},
	AvatarShape: contactShape,
	Fields: []desk.Field{
		{Field: "firstName", Label: "First name"},
		{Field: "middleName", Label: "Middle name", OnDemand: true},
		{Field: "lastName", Label: "Last name"},
		{Field: "organizationName", Label: "Company"},
		{Field: "jobTitle", Label: "Job title"},
		{Field: "tags", Label: "Tags"},
		{Field: "birthday", Label: "Birthday", OnDemand: true},
		{Field: "notes", Label: "About"},
		{Field: "prefix", Label: "Title", OnDemand: true},
		{Field: "suffix", Label: "Suffix", OnDemand: true},
		{Field: "externalId", Label: "External id", OnDemand: true},
	},
	Form: []desk.Field{
		{Field: "firstName", Label: "First name"},
		{Field: "lastName", Label: "Last name"},
		{Field: "email", Label: "Email", Kind: "email", Hint: "ada@example.com"},
		{Field: "phone", Label: "Phone", Kind: "tel"},
		{Field: "organizationName", Label: "Company"},
		{Field: "jobTitle", Label: "Job title"},
		{Field: "tags", Label: "Tags"},
		{Field: "birthday", Label: "Birthday"},
		{Field: "notes", Label: "About"},
	},
	BeforeCreate: nestEmailAndPhone,
	Actions: []desk.Action[contact.Contact]{
		{Key: "write", Label: "Write", Icon: "mail", IsMain: true, Op: "messages.create",
			Link: func(_ *desk.Visit, c *contact.Contact) string {
				return "/inbox/new?contactId=" + string(c.ID)
			}, When: func(v *desk.Visit, c *contact.Contact) bool {
				return len(c.Emails) > 0 && v.Has("/inbox/new")
			}},
		{Key: "task", Label: "New task", Icon: "task", Op: "tasks.create",
			Link: func(_ *desk.Visit, c *contact.Contact) string {
				return "/tasks/new?contactId=" + string(c.ID) + "&back=/contacts/" + string(c.ID)
			}, When: func(v *desk.Visit, _ *contact.Contact) bool { return v.Has("/tasks/new") }},
		{Key: "invoice", Label: "New invoice", Icon: "invoice", Op: "invoices.create",
			Link: func(_ *desk.Visit, c *contact.Contact) string {
				return "/invoices/new?contactId=" + string(c.ID)
			}, When: func(v *desk.Visit, _ *contact.Contact) bool { return v.Has("/invoices/new") }},
		{Key: "merge", Label: "Merge with another contact", Icon: "merge", InMenu: true,
			Link: func(_ *desk.Visit, c *contact.Contact) string { return "/contacts/" + string(c.ID) + "/merge" },
			When: func(v *desk.Visit, _ *contact.Contact) bool { return v.May("contacts.merge") }},
	},
	Children: []desk.AnyChild{
		&desk.Child[contact.Email]{Key: "emails", Ops: "contacts.emails", Param: "emailId", Head: "Email",
			One: "email address",
			Line: func(_ *desk.Visit, e *contact.Email) desk.Line {
				return desk.Line{Text: e.Email, Faint: labelled(e.Label), Pill: primary(e.IsPrimary)}
			},
			Fields: []desk.Field{{Field: "email", Label: "Email"}, {Field: "label", Label: "Label", Hint: "work"},
				{Field: "isPrimary", Label: "Write here first"}}},
		&desk.Child[contact.PhoneNumber]{Key: "phone-numbers", Ops: "contacts.phone_numbers", Param: "phoneNumberId",
			Head: "Phone", One: "phone number",
			Line: func(v *desk.Visit, p *contact.PhoneNumber) desk.Line {
				return desk.Line{Text: v.Phone(p.PhoneNumber), Faint: labelled(p.Label)}
			},
			Fields: []desk.Field{{Field: "phoneNumber", Label: "Phone", Kind: "tel"},
				{Field: "label", Label: "Label", Hint: "mobile"}}},
		&desk.Child[contact.Address]{Key: "addresses", Ops: "contacts.addresses", Param: "addressId", Head: "Address",
			One: "address",
			Line: func(v *desk.Visit, a *contact.Address) desk.Line {
				return desk.Line{Text: addressLine(v, a), Faint: labelled(a.Label), Pill: primary(a.IsPrimary)}
			},
			Fields: []desk.Field{{Field: "line1", Label: "Street"}, {Field: "line2", Label: "More"},
				{Field: "postalCode", Label: "Postal code"}, {Field: "city", Label: "City"},
				{Field: "state", Label: "State"}, {Field: "country", Label: "Country", Hint: "US",
					Help: "Two letters."},
				{Field: "label", Label: "Label", Hint: "home"}, {Field: "isPrimary", Label: "The main address"}}},
	},
	TopSections: []desk.Part[contact.Contact]{balance(ofContact), lastWord(ofContact)},
	SideSections: []desk.Part[contact.Contact]{
		Properties[contact.Contact]("contacts"),
		desk.Related[contact.Contact]("Customer", "customers", "contactId", ""),
		desk.Related[contact.Contact]("Tasks", "tasks", "contactId", ""),
		desk.Related[contact.Contact]("Email consent", "opt-ins", "contactId", ""),
	},
	MainSections: []desk.Part[contact.Contact]{mergedLately, duplicates, Suggestions[contact.Contact]("contacts")},
	Compose: &desk.Composer[contact.Contact]{Tabs: []desk.Compose{
		{Key: "note", Word: "Note", Icon: "note", Op: "contacts.notes.create", Field: "body",
			Label: "A note that only your team sees", Button: "Save note", Done: "noted"},
		{Key: "mail", Word: "Mail", Icon: "mail", Op: "messages.create", Page: "/inbox/new?contactId="},
		{Key: "task", Word: "Task", Icon: "task", Op: "tasks.create", Field: "title",
			Label: "What needs to be done for this person", Button: "Create task", Done: "created",
			Set: func(_ *desk.Visit, ref id.ID) desk.Fields { return desk.Fields{"contactId": ref} }},
		{Key: "call", Word: "Call", Icon: "phone", Op: "contacts.notes.create", Field: "body",
			Label: "What was said in the call; only your team sees it", Button: "Save call", Done: "noted",
			Set: func(_ *desk.Visit, ref id.ID) desk.Fields { return desk.Fields{"id": ref, "kind": "call"} }},
	}},
	Timeline: []desk.Source[contact.Contact]{between(ofContact)},
}

// sameCompany is a contact's company, which leads to all contacts of it.
func sameCompany(c *contact.Contact) desk.Cell {
	if c.OrganizationName == nil {
		return desk.Text("")
	}
	return desk.Link(*c.OrganizationName, "/contacts?"+url.Values{"organizationName": {*c.OrganizationName}}.Encode())
}

// Email is the address that a contact is written to first, or nothing.
func Email(c *contact.Contact) string {
	for _, e := range c.Emails {
		if e.IsPrimary {
			return e.Email
		}
	}
	if len(c.Emails) > 0 {
		return c.Emails[0].Email
	}
	return ""
}

func phone(c *contact.Contact) string {
	if len(c.PhoneNumbers) > 0 {
		return c.PhoneNumbers[0].PhoneNumber
	}
	return ""
}

// detail tells two people of the same name apart.
func detail(c *contact.Contact) string {
	if e := Email(c); e != "" && e != Name(c) {
		return e
	}
	if contactShape(c) == "" && c.OrganizationName != nil {
		return *c.OrganizationName
	}
	return phone(c)
}

func labelled(label *string) string {
	if label == nil {
		return ""
	}
	return *label
}

func primary(is bool) desk.Pill {
	if is {
		return desk.Pill{Text: "first"}
	}
	return desk.Pill{}
}

func addressLine(v *desk.Visit, a *contact.Address) string {
	words := []string{a.Line1}
	for _, s := range []*string{a.Line2, a.PostalCode, a.City, a.State} {
		if s != nil && *s != "" {
			words = append(words, *s)
		}
	}
	if a.Country != nil {
		words = append(words, v.Country(*a.Country))
	}
	return strings.Join(words, ", ")
}

// nestEmailAndPhone makes rows of the email and the phone number of the form.
func nestEmailAndPhone(v *desk.Visit, in desk.Fields) {
	delete(in, "email")
	delete(in, "phone")
	if e := v.Value("email"); e != "" {
		in["emails"] = []desk.Fields{{"email": e}}
	}
	if p := v.Value("phone"); p != "" {
		in["phoneNumbers"] = []desk.Fields{{"phoneNumber": v.DialedNumber(p)}}
	}
}

// duplicates offers to merge those who have the same address or number.
func duplicates(v *desk.Visit, c *contact.Contact) (*desk.Section, error) {
	ways := []desk.Fields{}
	for _, e := range c.Emails[:min(2, len(c.Emails))] {
		ways = append(ways, desk.Fields{"email": e.Email, "limit": 3})
	}
	for _, p := range c.PhoneNumbers[:min(2, len(c.PhoneNumbers))] {
		ways = append(ways, desk.Fields{"phone": p.PhoneNumber, "limit": 3})
	}
	for _, way := range ways {
		rows, _, err := desk.List[contact.Contact](v, "contacts.list", way)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if rows[i].ID == c.ID || !v.May("contacts.merge") {
				continue
			}
			shared := "the same email address"
			if way["phone"] != nil {
				shared = "the same phone number"
			}
			return &desk.Section{Name: "same-person", Data: map[string]string{"Name": Name(&rows[i]), "Shared": shared,
				"Other": "/contacts/" + string(rows[i].ID),
				"Merge": "/contacts/" + string(c.ID) + "/merge?contactId=" + string(rows[i].ID)}}, nil
		}
	}
	return nil, nil
}
