package money

import (
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/invoice"
)

var invoices = &desk.Noun[invoice.Invoice]{
	Path: "invoices", Type: "invoice", One: "invoice", Many: "invoices", Icon: "invoice",
	Lead: "Write an invoice, send it, and see who has paid.",
	Seek: "Number, customer",
	Tabs: []desk.Tab{
		{Word: "All"}, {Word: "Drafts", Query: "status=draft"}, {Word: "Unpaid", Query: "unpaid=true"},
		{Word: "Overdue", Query: "status=overdue"}, {Word: "Paid", Query: "status=paid"},
		{Word: "Void", Query: "status=void"},
	},
	Table: []desk.Column[invoice.Invoice]{
		{Head: "Invoice", Width: "w3", Cell: func(_ *desk.Visit, i *invoice.Invoice) desk.Cell {
			return desk.Text(number(i))
		}},
		{Head: "Customer", Fold: "two", Cell: func(_ *desk.Visit, i *invoice.Invoice) desk.Cell {
			if i.CustomerID == nil {
				return desk.Opt(i.BillToName)
			}
			return desk.To("customers", i.CustomerID)
		}},
		{Head: "State", Width: "w2", Fold: "four", Cell: func(_ *desk.Visit, i *invoice.Invoice) desk.Cell {
			return desk.State(state(i))
		}},
		{Head: "Issued", Width: "w1", Cell: func(v *desk.Visit,
			i *invoice.Invoice) desk.Cell {
			return v.At(i.IssuedAt)
		}},
		{Head: "Due", Sort: "dueAt", Width: "w1", Cell: func(v *desk.Visit, i *invoice.Invoice) desk.Cell {
			return v.At(i.DueAt)
		}},
		{Head: "Left to pay", Width: "w2", End: true, Cell: func(v *desk.Visit, i *invoice.Invoice) desk.Cell {
			if i.AmountDueCents == 0 || i.Status == "draft" {
				return desk.Text("")
			}
			return v.Sum(i.AmountDueCents, i.Currency)
		}},
		{Head: "Total", Sort: "totalCents", Width: "w2", End: true, Fold: "three",
			Cell: func(v *desk.Visit, i *invoice.Invoice) desk.Cell { return v.Sum(i.TotalCents, i.Currency) }},
	},
	Filters: []desk.Filter{
		{Field: "status", Word: "State"},
		{Field: "unpaid", Word: "Unpaid"},
		{Field: "dueBefore", Word: "Due before", Day: true},
		{Field: "dueAfter", Word: "Due after", Day: true},
		{Field: "customerId", Word: "Customer", Ref: "customers", Only: true},
		{Field: "businessId", Word: "Business", Ref: "businesses", Only: true},
	},
	Total: total,
	Name:  func(_ *desk.Visit, i *invoice.Invoice) string { return number(i) },
	Line: func(v *desk.Visit, i *invoice.Invoice) desk.Line {
		l := desk.Line{Icon: "invoice", Text: number(i), Pill: state(i), Sum: v.Money(i.TotalCents, i.Currency)}
		if i.BillToName != nil && i.InvoiceNumber != nil {
			l.Faint = *i.BillToName
		}
		if i.Status == "overdue" {
			l.Sum = v.Money(i.AmountDueCents, i.Currency)
		}
		return l
	},
	State: func(_ *desk.Visit, i *invoice.Invoice) desk.Pill { return state(i) },
	Coin:  func(i *invoice.Invoice) string { return i.Currency },
	Form: []desk.Field{
		{Field: "customerId", Word: "Customer", Ref: "customers", Wide: true},
		{Field: "dueAt", Word: "Due", Start: func(v *desk.Visit) string {
			day := v.Now().Std().In(v.Zone()).AddDate(0, 0, 14)
			return day.Format("2006-01-02") + "T17:00"
		}},
		{Field: "currency", Word: "Currency", Start: func(v *desk.Visit) string { return v.House().Currency },
			Help: "Three letters, like usd or eur."},
	},
	Help: "This creates a draft. Nobody receives it until you issue and send it.",
	Fields: []desk.Field{
		{Field: "customerId", Word: "Customer", Ref: "customers"},
		{Field: "dueAt", Word: "Due"},
		{Field: "currency", Word: "Currency"},
		{Field: "pricesIncludeTax", Word: "Prices include tax"},
		{Field: "discountPercent", Word: "Discount in %", Rare: true},
		{Field: "notes", Word: "Text"},
		{Field: "terms", Word: "Terms"},
		{Field: "billToName", Word: "Name", Group: "Billed to"},
		{Field: "billToEmail", Word: "Email"},
		{Field: "billToAddressLine1", Word: "Street"},
		{Field: "billToAddressLine2", Word: "More", Rare: true},
		{Field: "billToPostalCode", Word: "Postal code"},
		{Field: "billToCity", Word: "City"},
		{Field: "billToState", Word: "State", Rare: true},
		{Field: "billToCountry", Word: "Country"},
	},
	Frozen: func(i *invoice.Invoice) bool { return i.Status != "draft" },
	Actions: []desk.Action[invoice.Invoice]{
		{Key: "issue", Word: "Issue", Icon: "check", Op: "invoices.issue", Main: true, Done: "issued",
			When: func(_ *desk.Visit, i *invoice.Invoice) bool { return i.Status == "draft" },
			Ask: func(v *desk.Visit, i *invoice.Invoice) string {
				return "The invoice for " + v.Money(i.TotalCents, i.Currency) +
					" gets the next number and is booked " +
					"with the customer. After that its lines stay as they are; void it or write a credit note instead."
			}},
		{Key: "send", Word: "Send", Icon: "send", Op: "invoices.send", Main: true, Done: "sent",
			When: func(_ *desk.Visit, i *invoice.Invoice) bool { return i.Status == "issued" }, Ask: sendWords,
			Form: sendForm},
		{Key: "pay", Word: "Record payment", Icon: "check", Op: "invoices.record_payment", Main: true, Done: "paid",
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.AmountDueCents > 0 && i.Status != "draft" && i.Status != "void"
			},
			Ask: func(v *desk.Visit, i *invoice.Invoice) string {
				return v.Money(i.AmountDueCents, i.Currency) + " is left to pay."
			},
			Form: []desk.Field{
				{Field: "amountCents", Word: "Amount", Kind: "money", From: "amountDueCents"},
				{Field: "method", Word: "How"},
				{Field: "paidAt", Word: "When", Help: "Empty means now."},
				{Field: "note", Word: "Note", Kind: "text"}}},
		{Key: "remind", Word: "Remind", Icon: "send", Op: "invoices.send", Done: "sent",
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.Status == "sent" || i.Status == "overdue" || i.Status == "partially_paid"
			},
			Ask: sendWords,
			Set: func(*desk.Visit,
				*invoice.Invoice) desk.Fields {
				return desk.Fields{"templateKey": "invoice_reminder"}
			},
			Form: sendForm},
		{Key: "sendagain", Word: "Send again", Icon: "send", Op: "invoices.send", Done: "sent", Menu: true,
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.Status == "sent" || i.Status == "overdue" || i.Status == "partially_paid" || i.Status == "paid"
			},
			Ask: sendWords, Form: sendForm},
		{Key: "credit", Word: "Write a credit note", Icon: "invoice", Op: "invoices.credit_notes.create", Menu: true,
			Done: "credited",
			When: func(_ *desk.Visit, i *invoice.Invoice) bool { return i.Status != "draft" && i.Status != "void" },
			Ask: func(_ *desk.Visit, i *invoice.Invoice) string {
				return "The rest of " + number(i) + " is credited in full, with a credit note of its own."
			},
			Form: []desk.Field{{Field: "reason", Word: "Reason", Kind: "text"}}},
		{Key: "void", Word: "Void", Icon: "x", Op: "invoices.void", Done: "voided",
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.Status != "draft" && i.Status != "void" && i.AmountPaidCents == 0
			},
			Ask: func(_ *desk.Visit, i *invoice.Invoice) string {
				return number(i) + " keeps its number but no longer counts. This cannot be undone."
			},
			Lost: []string{"The customer no longer owes this sum.", "Links to the invoice say that it is void."}},
	},
	Layout: "invoice",
	Data:   editorData,
	Parts:  []desk.Part[invoice.Invoice]{payments, creditNotes},
}

var sendForm = []desk.Field{
	{Field: "to", Word: "To", Kind: "email", From: "billToEmail"},
	{Field: "message", Word: "A few words", Help: "Above the invoice, in the mail."},
	{Field: "scheduledAt", Word: "Send later", Help: "Empty means now."},
}

func sendWords(_ *desk.Visit, i *invoice.Invoice) string {
	return "The customer gets a mail with the invoice as a PDF and a link to it."
}

// number is what people call an invoice.
func number(i *invoice.Invoice) string {
	if i.InvoiceNumber != nil {
		return *i.InvoiceNumber
	}
	if i.BillToName != nil && *i.BillToName != "" {
		return "Draft for " + *i.BillToName
	}
	return "Draft"
}

// state is where an invoice stands.
func state(i *invoice.Invoice) desk.Pill {
	return desk.Pill{Text: strings.ReplaceAll(strings.Replace(string(i.Status), "partially", "partly", 1), "_", " "),
		Tone: map[invoice.Status]string{"paid": "good", "overdue": "bad", "partially_paid": "warn"}[i.Status]}
}

// total adds up what the page of the list shows; a void invoice is none.
func total(v *desk.Visit, rows []invoice.Invoice) string {
	sum, one := int64(0), ""
	for i := range rows {
		if rows[i].Status == "void" {
			continue
		}
		if one != "" && rows[i].Currency != one {
			return ""
		}
		one = rows[i].Currency
		sum += rows[i].TotalCents
	}
	if one == "" {
		return ""
	}
	return v.Money(sum, one) + " on this page"
}
