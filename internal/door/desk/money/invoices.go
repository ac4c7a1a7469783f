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
			switch {
			case i.AmountToRefundCents > 0:
				return desk.Text(v.Money(i.AmountToRefundCents, i.Currency) + " back")
			case i.AmountDueCents == 0 || i.Status == "draft":
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
	NotShown: []string{
		"lineItems", // which have an editor
		"data",      // for programs
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
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.Status != "draft" && i.Status != "void" && creditable(i) > 0
			},
			Ask: creditWords,
			Form: []desk.Field{
				{Field: "amountCents", Word: "Amount to credit", Kind: "money", Help: "With tax.", Needed: true,
					First: func(i any) any { return float64(creditFirst(i.(*invoice.Invoice))) }},
				{Field: "reason", Word: "Reason", Kind: "text"}}},
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

// creditable is what can still be credited of an invoice, paid or not.
func creditable(i *invoice.Invoice) int64 { return i.TotalCents - i.AmountCreditedCents }

// creditFirst is what the form of a credit note begins with: what is still to be
// paid. Of an invoice that was paid it is all, which is then to be paid back.
func creditFirst(i *invoice.Invoice) int64 {
	if i.AmountDueCents > 0 {
		return i.AmountDueCents
	}
	return creditable(i)
}

func creditWords(v *desk.Visit, i *invoice.Invoice) string {
	text := v.Money(i.AmountDueCents, i.Currency) + " of " + number(i) + " is still to be paid. A credit note takes " +
		"back that much or less, and the customer owes it no more."
	if i.AmountPaidCents > 0 {
		text = v.Money(i.AmountPaidCents, i.Currency) + " of " + number(i) + " was paid, and " +
			v.Money(i.AmountDueCents, i.Currency) + " is still to be paid. What you credit beyond that is to be paid " +
			"back to the customer; at most " + v.Money(creditable(i), i.Currency) + " can be credited."
	}
	return text
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
	if i.AmountToRefundCents > 0 {
		return desk.Pill{Text: "to pay back", Tone: "warn"}
	}
	return desk.Pill{Text: strings.ReplaceAll(strings.Replace(string(i.Status), "partially", "partly", 1), "_", " "),
		Tone: map[invoice.Status]string{"paid": "good", "overdue": "bad", "partially_paid": "warn"}[i.Status]}
}

// Sums are what invoices add up to, by currency.
type Sums struct {
	Count                int
	Total, Due, ToRefund map[string]int64
}

// AddUp adds up all invoices that match the filters of their list. Every page that
// shows a sum of invoices asks here.
func AddUp(v *desk.Visit, filters desk.Fields) (Sums, error) {
	s := Sums{Total: map[string]int64{}, Due: map[string]int64{}, ToRefund: map[string]int64{}}
	var found invoice.Totals
	err := v.Do("invoices.totals", filters, &found)
	for _, t := range found.Totals {
		s.Count += t.Count
		s.Total[t.Currency] = t.TotalCents
		if t.AmountDueCents > 0 {
			s.Due[t.Currency] = t.AmountDueCents
		}
		if t.AmountToRefundCents > 0 {
			s.ToRefund[t.Currency] = t.AmountToRefundCents
		}
	}
	return s, err
}

// total says what a list of invoices adds up to.
func total(v *desk.Visit, filters desk.Fields) (string, error) {
	s, err := AddUp(v, filters)
	if err != nil || s.Count == 0 {
		return "", err
	}
	words := v.Sums(s.Total) + " in all"
	if len(s.Due) > 0 {
		words += " · " + v.Sums(s.Due) + " left to pay"
	}
	if len(s.ToRefund) > 0 {
		words += " · " + v.Sums(s.ToRefund) + " to pay back"
	}
	return words, nil
}
