package house

import (
	"frontdesk/internal/door/desk"
	"frontdesk/internal/door/desk/people"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/invoice"
)

var businesses = &desk.Noun[business.Business]{
	Path: "businesses", Type: "business", One: "business", Many: "businesses", Icon: "store",
	EmptyText: "What you send carries the name of a business.",
	Columns: []desk.Column[business.Business]{
		{Head: "Name", Sort: "name", Width: "w4", Cell: func(_ *desk.Visit, b *business.Business) desk.Cell {
			return desk.NameCell(b.Name, "co")
		}},
		{Head: "Legal name", Field: "legalName", Fold: "two",
			Cell: func(_ *desk.Visit, b *business.Business) desk.Cell {
				return desk.OptionalText(b.LegalName)
			}},
		{Head: "Industry", Field: "industry", Width: "w3", Cell: func(_ *desk.Visit, b *business.Business) desk.Cell {
			return desk.OptionalText(b.Industry)
		}},
		{Head: "Time zone", Field: "timezone", Width: "w3", Cell: func(_ *desk.Visit, b *business.Business) desk.Cell {
			return desk.Text(b.Timezone)
		}},
	},
	Filters: []desk.Filter{{Field: "createdAfter", Label: "Added after", ByDay: true, HideChoice: true}},
	Name:    func(_ *desk.Visit, b *business.Business) string { return b.Name },
	ListLine: func(_ *desk.Visit, b *business.Business) desk.Line {
		return desk.Line{Avatar: desk.AvatarOf(b.Name, "co"), Text: b.Name}
	},
	AvatarShape: func(*business.Business) string { return "co" },
	Fields: []desk.Field{
		{Field: "name", Label: "Name"},
		{Field: "legalName", Label: "Legal name"},
		{Field: "description", Label: "Description"},
		{Field: "industry", Label: "Industry"},
		{Field: "timezone", Label: "Time zone", Help: "Like Europe/London."},
		{Field: "locale", Label: "Language", Help: "How dates and sums are written, like en-US or de-DE."},
		{Field: "currency", Label: "Currency"},
		{Field: "logoFileId", Label: "Logo", Ref: "files", Help: "A PNG or JPEG among your files."},
		{Field: "accentColor", Label: "Color", Hint: "#1f4e79", Help: "Of your invoices, and of the button in mail."},
		{Field: "paymentInstructions", Label: "How to pay", Help: "Printed on invoices until they are paid."},
		{Field: "iban", Label: "IBAN", Help: "Where customers pay to. Printed on invoices until they are paid."},
		{Field: "bic", Label: "BIC"},
		{Field: "bankName", Label: "Bank"},
	},
	Children: []desk.AnyChild{
		&desk.Child[business.BusinessOffering]{Key: "offerings", Ops: "businesses.offerings", Param: "offeringId",
			Head: "What you offer", One: "product or service", Wide: true, Limit: 50,
			EmptyText: "Products and services, with their prices.",
			Table: []desk.Column[business.BusinessOffering]{
				{Head: "Name", Cell: func(_ *desk.Visit,
					o *business.BusinessOffering) desk.Cell {
					return desk.Text(o.Name)
				}},
				{Head: "Kind", Width: "w1", Cell: func(_ *desk.Visit, o *business.BusinessOffering) desk.Cell {
					return desk.OptionalText(o.Kind)
				}},
				{Head: "Price", Width: "w2", End: true, Fold: "three",
					Cell: func(v *desk.Visit, o *business.BusinessOffering) desk.Cell {
						if o.PriceCents == nil {
							return desk.Text("")
						}
						c := v.MoneyCell(*o.PriceCents, o.Currency)
						if o.Unit != nil && *o.Unit != "" {
							c.Text += " / " + *o.Unit
						}
						return c
					}},
				{Head: "Offered", Width: "w2", Cell: func(_ *desk.Visit, o *business.BusinessOffering) desk.Cell {
					if o.IsActive {
						return desk.Text("")
					}
					return desk.State(desk.Pill{Text: "not offered"})
				}},
			},
			Fields: []desk.Field{{Field: "name", Label: "Name"}, {Field: "kind", Label: "Kind"},
				{Field: "priceCents", Label: "Price", Kind: "money"}, {Field: "unit", Label: "Per", Hint: "hour"},
				{Field: "taxRate", Label: "Tax in %", Hint: "20"},
				{Field: "taxName", Label: "Tax is called", Hint: "VAT"},
				{Field: "description", Label: "Description"}, {Field: "isActive", Label: "Offered now",
					StartText: func(*desk.Visit) string { return "yes" }}}},
		&desk.Child[business.BusinessOnlinePresence]{Key: "online-presences", Ops: "businesses.online_presences",
			Param: "onlinePresenceId", Head: "On the web", One: "web page",
			Line: func(_ *desk.Visit, p *business.BusinessOnlinePresence) desk.Line {
				return desk.Line{Text: p.URL, Faint: desk.Choice(p.Kind)}
			},
			Fields: []desk.Field{{Field: "url", Label: "Address", Hint: "https://example.com"},
				{Field: "kind", Label: "Where"}, {Field: "handle", Label: "Handle"},
				{Field: "description", Label: "Description"}}},
		&desk.Child[business.BusinessPhysicalPresence]{Key: "physical-presences", Ops: "businesses.physical_presences",
			Param: "physicalPresenceId", Head: "Places", One: "place",
			Line: func(_ *desk.Visit, p *business.BusinessPhysicalPresence) desk.Line {
				l := desk.Line{Text: p.Name}
				if p.Address != nil {
					l.Faint = *p.Address
				}
				return l
			},
			Fields: []desk.Field{{Field: "name", Label: "Name"}, {Field: "address", Label: "Address"},
				{Field: "description", Label: "Description"}}},
		&desk.Child[invoice.ReminderRule]{Key: "invoice-reminders", Ops: "businesses.invoice_reminders",
			Param: "invoiceReminderId", Head: "Reminders", One: "reminder",
			EmptyText: "Customers are reminded of unpaid invoices on these days.",
			Line: func(_ *desk.Visit, r *invoice.ReminderRule) desk.Line {
				return desk.Line{Text: reminderWords(r.DaysAfterDue)}
			},
			Fields: []desk.Field{{Field: "daysAfterDue", Label: "Days after the due date",
				Help: "A negative number is before it."}}},
	},
	SideSections: []desk.Part[business.Business]{people.Properties[business.Business]("businesses"), places},
	MainSections: []desk.Part[business.Business]{profile, people.Suggestions[business.Business]("businesses")},
}

func reminderWords(days int64) string {
	switch {
	case days == 0:
		return "On the due date"
	case days < 0:
		return desk.Count(int(-days), "day", "days") + " before it is due"
	}
	return desk.Count(int(days), "day", "days") + " after it was due"
}

var profileFields = []desk.Field{
	{Field: "tagline", Label: "Tagline", Kind: "text"}, {Field: "about", Label: "About", Kind: "area"},
	{Field: "mission", Label: "Mission", Kind: "area"}, {Field: "toneOfVoice", Label: "Tone of voice", Kind: "text"},
	{Field: "audience", Label: "Audience", Kind: "text"}, {Field: "foundedOn", Label: "Founded"},
	{Field: "taxId", Label: "Tax id"}, {Field: "email", Label: "Email"}, {Field: "phone", Label: "Phone"},
	{Field: "website", Label: "Website"},
}

// profile is what the business says about itself, read by agents and shown on
// documents.
func profile(v *desk.Visit, b *business.Business) (*desk.Section, error) {
	if !v.May("businesses.profile.get") {
		return nil, nil
	}
	var raw map[string]any
	if err := v.Do("businesses.profile.get", desk.Fields{"id": b.ID}, &raw); err != nil {
		return nil, err
	}
	at := "/businesses/" + string(b.ID)
	return &desk.Section{Head: "Profile", Word: "profile", Name: "quick-facts",
		Data: v.QuickFacts("businesses.profile.update", at, at+"/profile", "profile", profileFields, raw)}, nil
}

func saveProfile(v *desk.Visit) error {
	return v.SaveQuickFact("businesses.profile.update", "/businesses/", profileFields)
}

// places are the pages of the room that the rail does not have.
func places(_ *desk.Visit, _ *business.Business) (*desk.Section, error) {
	return &desk.Section{Head: "More of your business", Name: "lines", Data: desk.LinesOf(
		desk.Line{Icon: "note", Text: "Email templates", Href: "/templates"},
		desk.Line{Icon: "mail", Text: "Email consent", Faint: "who agreed to get mail", Href: "/opt-ins"},
		desk.Line{Icon: "columns", Text: "Properties", Faint: "your own fields", Href: "/properties"},
	)}, nil
}
