package people

import (
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/customer"
)

var customers = &desk.Noun[customer.Customer]{
	Path: "customers", Type: "customer", One: "customer", Many: "customers", Icon: "building",
	EmptyText:  "A customer is a person or company that you bill. Their invoices, payments and balance are here.",
	SearchHint: "Name, email, phone",
	ImportPage: "/imports/new?objectType=customers",
	Tabs: []desk.Tab{{Label: "All"}, {Label: "Active", Query: "status=active"},
		{Label: "Prospects", Query: "status=prospect"}, {Label: "Inactive", Query: "status=inactive"}},
	Columns: []desk.Column[customer.Customer]{
		{Head: "Name", Sort: "name", Width: "w3", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
			return desk.NameCell(c.Name, customerShape(c))
		}},
		{Head: "Status", Field: "status", Width: "w1", Fold: "three",
			Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
				return desk.State(statusPill(c))
			}},
		{Head: "Contact", Field: "contactId", Width: "w2p", Fold: "two",
			Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
				return desk.LinkTo("contacts", c.ContactID)
			}},
		{Head: "Email", Field: "email", Cell: func(_ *desk.Visit,
			c *customer.Customer) desk.Cell {
			return desk.OptionalText(c.Email)
		}},
		{Head: "Phone", Field: "phone", Width: "w2", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
			return desk.OptionalText(c.Phone)
		}},
		{Head: "Tags", Field: "tags", Width: "w1", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
			return desk.Tags(c.Tags)
		}},
		{Head: "Customer since", Field: "customerSince", Width: "w2", Fold: "four", End: true,
			Cell: func(v *desk.Visit, c *customer.Customer) desk.Cell { return v.At(c.CustomerSince) }},
	},
	OwnFieldsOf: "customer",
	Filters: []desk.Filter{
		{Field: "status", Label: "Status"},
		{Field: "type", Label: "Type"},
		{Field: "tag", Label: "Tag"},
		{Field: "businessId", Label: "Business", Ref: "businesses", HideChoice: true},
		{Field: "contactId", Label: "Contact", Ref: "contacts", HideChoice: true},
		{Field: "createdAfter", Label: "Added after", ByDay: true},
	},
	Bulk: []desk.Bulk[customer.Customer]{desk.MayTag(func(c *customer.Customer) []string { return c.Tags }),
		desk.MaySet[customer.Customer]("customers.update", "status", "Status", "check")},
	Name: func(_ *desk.Visit, c *customer.Customer) string { return c.Name },
	ListLine: func(_ *desk.Visit, c *customer.Customer) desk.Line {
		return desk.Line{Avatar: desk.AvatarOf(c.Name, customerShape(c)), Text: c.Name, Faint: labelled(c.Email),
			Pill: statusPill(c)}
	},
	State:       func(_ *desk.Visit, c *customer.Customer) desk.Pill { return statusPill(c) },
	AvatarShape: customerShape,
	Fields: []desk.Field{
		{Field: "name", Label: "Name"},
		{Field: "status", Label: "Status"},
		{Field: "type", Label: "Type", ChoiceLabels: customerTypes},
		{Field: "email", Label: "Email"},
		{Field: "phone", Label: "Phone"},
		{Field: "contactId", Label: "Contact", Ref: "contacts"},
		{Field: "tags", Label: "Tags"},
		{Field: "customerSince", Label: "Since"},
		{Field: "notes", Label: "About"},
		{Field: "businessId", Label: "Business", Ref: "businesses"},
		{Field: "externalId", Label: "External id", OnDemand: true},
	},
	BeforeCreate: func(v *desk.Visit, in desk.Fields) { v.Chosen("customers.create", in) },
	Form: []desk.Field{
		{Field: "name", Label: "Name"},
		{Field: "type", Label: "Type", ChoiceLabels: customerTypes},
		{Field: "email", Label: "Email"},
		{Field: "phone", Label: "Phone"},
		{Field: "contactId", Label: "Contact", Ref: "contacts", Help: "The person you talk to."},
		{Field: "status", Label: "Status"},
		{Field: "tags", Label: "Tags"},
		{Field: "notes", Label: "About"},
	},
	Actions: []desk.Action[customer.Customer]{
		{Key: "invoice", Label: "New invoice", Icon: "invoice", IsMain: true, Op: "invoices.create",
			Link: func(_ *desk.Visit, c *customer.Customer) string {
				return "/invoices/new?customerId=" + string(c.ID)
			}, When: func(v *desk.Visit, _ *customer.Customer) bool { return v.Has("/invoices/new") }},
		{Key: "task", Label: "New task", Icon: "task", Op: "tasks.create", Link: func(_ *desk.Visit,
			c *customer.Customer) string {
			return "/tasks/new?customerId=" + string(c.ID) + "&back=/customers/" + string(c.ID)
		}, When: func(v *desk.Visit, _ *customer.Customer) bool { return v.Has("/tasks/new") }},
		{Key: "transactions", Label: "Record a credit or charge", Icon: "invoice", Op: "customers.transactions.create",
			DoneKey: "saved", InMenu: true,
			Explain: func(_ *desk.Visit, c *customer.Customer) string {
				return "A credit lowers what " + c.Name +
					" owes, a charge raises it. Invoices and payments are booked " +
					"by themselves."
			},
			Form: []desk.Field{{Field: "type", Label: "Type"}, {Field: "amountCents", Label: "Amount", Kind: "money"},
				{Field: "description", Label: "What for"}}},
	},
	TopSections: []desk.Part[customer.Customer]{balance(ofCustomer), lastWord(ofCustomer)},
	SideSections: []desk.Part[customer.Customer]{
		Properties[customer.Customer]("customers"),
		desk.Related[customer.Customer]("Invoices", "invoices", "customerId", "Write the first one with New invoice."),
		desk.Related[customer.Customer]("Tasks", "tasks", "customerId", ""),
	},
	MainSections: []desk.Part[customer.Customer]{statementSection, Suggestions[customer.Customer]("customers")},
	Compose: &desk.Composer[customer.Customer]{Tabs: []desk.Compose{
		{Key: "task", Word: "Task", Icon: "task", Op: "tasks.create", Field: "title",
			Label: "What needs to be done for this customer", Button: "Create task", Done: "created",
			Set: func(_ *desk.Visit, ref id.ID) desk.Fields { return desk.Fields{"customerId": ref} }},
	}},
	Timeline: []desk.Source[customer.Customer]{between(ofCustomer)},
}

var customerTypes = map[string]string{"individual": "Person", "business": "Company"}

func customerShape(c *customer.Customer) string {
	if c.Type == "business" {
		return "co"
	}
	return ""
}

func statusPill(c *customer.Customer) desk.Pill {
	return desk.Pill{Text: string(c.Status), Tone: map[string]string{"active": "good"}[string(c.Status)]}
}

// statementSection is the customer's ledger, when it is asked for.
func statementSection(v *desk.Visit, c *customer.Customer) (*desk.Section, error) {
	if v.R.URL.Query().Get("show") != "statement" || !v.May("customers.transactions.list") {
		return nil, nil
	}
	rows, _, err := desk.List[customer.Transaction](v, "customers.transactions.list",
		desk.Fields{"id": c.ID, "limit": 100})
	if err != nil {
		return nil, err
	}
	lines := [][]desk.Cell{}
	for i := range rows {
		t := &rows[i]
		amount := t.AmountCents
		if !t.RaisesDebt() {
			amount = -amount
		}
		what := desk.Text(desk.Capital(t.Type))
		if t.InvoiceID != nil {
			what = desk.Link(desk.Capital(t.Type), "/invoices/"+string(*t.InvoiceID))
		}
		lines = append(lines, []desk.Cell{v.At(&t.OccurredAt), what, desk.OptionalText(t.Description),
			v.MoneyCell(amount, t.Currency)})
	}
	table := desk.PlainTable{Heads: []string{"When", "What", "For", "Amount"}, Rows: lines,
		Empty: "Nothing was billed yet."}
	d := map[string]any{"Table": table, "To": v.Now().Std().In(v.Zone()).Format(time.DateOnly)}
	if v.May("customers.statement") {
		d["PDF"] = "/customers/" + string(c.ID) + "/statement.pdf"
	}
	return &desk.Section{Head: "Statement", Word: "statement", Name: "statement", Data: d}, nil
}

// statementPDF is a customer's ledger over some days as a document.
func statementPDF(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	if err := v.Document("customers.statement", string(ref)); err != nil {
		return v.Explain(err, "customers", "/customers/"+string(ref)+"?show=statement#statement")
	}
	return nil
}
