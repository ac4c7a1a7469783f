package people

import (
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/customer"
)

var customers = &desk.Noun[customer.Customer]{
	Path: "customers", Type: "customer", One: "customer", Many: "customers", Icon: "building",
	Lead:   "A customer is a person or company that you bill. Their invoices, payments and balance are here.",
	Seek:   "Name, email, phone",
	Import: "/imports/new?objectType=customers",
	Tabs: []desk.Tab{{Word: "All"}, {Word: "Active", Query: "status=active"},
		{Word: "Prospects", Query: "status=prospect"}, {Word: "Inactive", Query: "status=inactive"}},
	Table: []desk.Column[customer.Customer]{
		{Head: "Name", Sort: "name", Width: "w3", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
			return desk.Named(c.Name, customerShape(c))
		}},
		{Head: "Status", Width: "w1", Fold: "three", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
			return desk.State(standing(c))
		}},
		{Head: "Contact", Width: "w2p", Fold: "two", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
			return desk.To("contacts", c.ContactID)
		}},
		{Head: "Email", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell { return desk.Opt(c.Email) }},
		{Head: "Phone", Width: "w2", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
			return desk.Opt(c.Phone)
		}},
		{Head: "Tags", Width: "w1", Cell: func(_ *desk.Visit, c *customer.Customer) desk.Cell {
			return desk.Tags(c.Tags)
		}},
		{Head: "Customer since", Width: "w2", Fold: "four", End: true,
			Cell: func(v *desk.Visit, c *customer.Customer) desk.Cell { return v.At(c.CustomerSince) }},
	},
	Filters: []desk.Filter{
		{Field: "status", Word: "Status"},
		{Field: "type", Word: "Type"},
		{Field: "tag", Word: "Tag"},
		{Field: "businessId", Word: "Business", Ref: "businesses", Only: true},
		{Field: "contactId", Word: "Contact", Ref: "contacts", Only: true},
		{Field: "createdAfter", Word: "Added after", Day: true},
	},
	Bulk: []desk.Bulk[customer.Customer]{desk.MayTag(func(c *customer.Customer) []string { return c.Tags })},
	Name: func(_ *desk.Visit, c *customer.Customer) string { return c.Name },
	Line: func(_ *desk.Visit, c *customer.Customer) desk.Line {
		return desk.Line{Avatar: desk.Face(c.Name, customerShape(c)), Text: c.Name, Faint: labelled(c.Email),
			Pill: standing(c)}
	},
	State: func(_ *desk.Visit, c *customer.Customer) desk.Pill { return standing(c) },
	Shape: customerShape,
	Fields: []desk.Field{
		{Field: "name", Word: "Name"},
		{Field: "status", Word: "Status"},
		{Field: "type", Word: "Type", Words: customerTypes},
		{Field: "email", Word: "Email"},
		{Field: "phone", Word: "Phone"},
		{Field: "contactId", Word: "Contact", Ref: "contacts"},
		{Field: "tags", Word: "Tags"},
		{Field: "customerSince", Word: "Since"},
		{Field: "notes", Word: "About"},
		{Field: "businessId", Word: "Business", Ref: "businesses"},
		{Field: "externalId", Word: "External id", Rare: true},
	},
	Make: func(v *desk.Visit, in desk.Fields) { v.Chosen("customers.create", in) },
	Form: []desk.Field{
		{Field: "name", Word: "Name"},
		{Field: "type", Word: "Type", Words: customerTypes},
		{Field: "email", Word: "Email"},
		{Field: "phone", Word: "Phone"},
		{Field: "contactId", Word: "Contact", Ref: "contacts", Help: "The person you talk to."},
		{Field: "status", Word: "Status"},
		{Field: "tags", Word: "Tags"},
		{Field: "notes", Word: "About"},
	},
	Actions: []desk.Action[customer.Customer]{
		{Key: "invoice", Word: "New invoice", Icon: "invoice", Main: true, Op: "invoices.create",
			To: func(_ *desk.Visit, c *customer.Customer) string {
				return "/invoices/new?customerId=" + string(c.ID)
			}, When: func(v *desk.Visit, _ *customer.Customer) bool { return v.Has("/invoices/new") }},
		{Key: "task", Word: "New task", Icon: "task", Op: "tasks.create", To: func(_ *desk.Visit,
			c *customer.Customer) string {
			return "/tasks/new?customerId=" + string(c.ID) + "&back=/customers/" + string(c.ID)
		}, When: func(v *desk.Visit, _ *customer.Customer) bool { return v.Has("/tasks/new") }},
		{Key: "transactions", Word: "Record a credit or charge", Icon: "invoice", Op: "customers.transactions.create",
			Done: "saved", Menu: true,
			Ask: func(_ *desk.Visit, c *customer.Customer) string {
				return "A credit lowers what " + c.Name +
					" owes, a charge raises it. Invoices and payments are booked " +
					"by themselves."
			},
			Form: []desk.Field{{Field: "type", Word: "Type"}, {Field: "amountCents", Word: "Amount", Kind: "money"},
				{Field: "description", Word: "What for"}}},
	},
	First: []desk.Part[customer.Customer]{balance},
	Parts: []desk.Part[customer.Customer]{
		Properties[customer.Customer]("customers"),
		desk.Related[customer.Customer]("Invoices", "invoices", "customerId", "Write the first one with New invoice."),
		desk.Related[customer.Customer]("Tasks", "tasks", "customerId", ""),
	},
	Above: []desk.Part[customer.Customer]{statement, Suggestions[customer.Customer]("customers")},
	Compose: &desk.Composer[customer.Customer]{Tabs: []desk.Compose{
		{Key: "task", Word: "Task", Icon: "task", Op: "tasks.create", Field: "title",
			Label: "What needs to be done for this customer", Button: "Create task", Done: "created",
			Set: func(_ *desk.Visit, ref id.ID) desk.Fields { return desk.Fields{"customerId": ref} }},
	}},
	Story: []desk.Source[customer.Customer]{
		func(v *desk.Visit, c *customer.Customer) ([]desk.Moment, error) {
			return mail(v, "customerId", c.ID, c.Name)
		},
	},
}

var customerTypes = map[string]string{"individual": "Person", "business": "Company"}

func customerShape(c *customer.Customer) string {
	if c.Type == "business" {
		return "co"
	}
	return ""
}

func standing(c *customer.Customer) desk.Pill {
	return desk.Pill{Text: string(c.Status), Tone: map[string]string{"active": "good"}[string(c.Status)]}
}

// balance is what a customer owes, or is owed.
func balance(v *desk.Visit, c *customer.Customer) (*desk.Section, error) {
	if !v.May("customers.balance.get") {
		return nil, nil
	}
	var b customer.Balance
	if err := v.Do("customers.balance.get", desk.Fields{"id": c.ID}, &b); err != nil || len(b.Balances) == 0 {
		return nil, err
	}
	sums, word := []string{}, "Owes you"
	for _, x := range b.Balances {
		cents := x.BalanceCents
		if cents < 0 && len(b.Balances) == 1 {
			word, cents = "You owe them", -cents
		}
		sums = append(sums, v.Money(cents, x.Currency))
	}
	if len(b.Balances) == 1 && b.Balances[0].BalanceCents == 0 {
		word = "Everything is paid"
	}
	return &desk.Section{Name: "owes", Data: map[string]any{"Word": word, "Sums": sums,
		"Href": "/customers/" + string(c.ID) + "?show=statement#statement"}}, nil
}

// statement is the customer's ledger, when it is asked for.
func statement(v *desk.Visit, c *customer.Customer) (*desk.Section, error) {
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
		if t.Type == "payment" || t.Type == "credit" {
			amount = -amount
		}
		what := desk.Text(desk.Capital(t.Type))
		if t.InvoiceID != nil {
			what = desk.Link(desk.Capital(t.Type), "/invoices/"+string(*t.InvoiceID))
		}
		lines = append(lines, []desk.Cell{v.At(&t.OccurredAt), what, desk.Opt(t.Description), v.Sum(amount,
			t.Currency)})
	}
	return &desk.Section{Head: "Statement", Word: "statement", Name: "plain-table", Data: desk.PlainTable{
		Heads: []string{"When", "What", "For", "Amount"}, Rows: lines, Empty: "Nothing was billed yet."}}, nil
}
