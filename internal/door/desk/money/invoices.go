package money

import (
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/invoice"
)

var invoices = &desk.Noun[invoice.Invoice]{
	Path: "invoices", Type: "invoice", One: "invoice", Many: "invoices", Icon: "invoice",
	EmptyText:  "Write an invoice, send it, and see who has paid.",
	SearchHint: "Number, customer",
	Tabs: []desk.Tab{
		{Label: "All"}, {Label: "Drafts", Query: "status=draft"}, {Label: "Unpaid", Query: "unpaid=true"},
		{Label: "Overdue", Query: "status=overdue"}, {Label: "Paid", Query: "status=paid"},
		{Label: "Void", Query: "status=void"},
	},
	Columns: []desk.Column[invoice.Invoice]{
		{Head: "Invoice", Width: "w3", Cell: func(_ *desk.Visit, i *invoice.Invoice) desk.Cell {
			return desk.Text(number(i))
		}},
		{Head: "Customer", Field: "customerId", Fold: "two", Cell: func(_ *desk.Visit, i *invoice.Invoice) desk.Cell {
			if i.CustomerID == nil {
				return desk.OptionalText(i.BillToName)
			}
			return desk.LinkTo("customers", i.CustomerID)
		}},
		{Head: "State", Field: "status", Width: "w2", Fold: "four",
			Cell: func(_ *desk.Visit, i *invoice.Invoice) desk.Cell {
				return desk.State(state(i))
			}},
		{Head: "Issued", Field: "issuedAt", Width: "w1", Cell: func(v *desk.Visit,
			i *invoice.Invoice) desk.Cell {
			return v.At(i.IssuedAt)
		}},
		{Head: "Due", Field: "dueAt", Sort: "dueAt", Width: "w1",
			Cell: func(v *desk.Visit, i *invoice.Invoice) desk.Cell {
				return v.At(i.DueAt)
			}},
		{Head: "Left to pay", Field: "amountDueCents", Width: "w2", End: true,
			Cell: func(v *desk.Visit, i *invoice.Invoice) desk.Cell {
				switch {
				case i.AmountToRefundCents > 0:
					return desk.Text(v.Money(i.AmountToRefundCents, i.Currency) + " back")
				case i.AmountDueCents == 0 || i.Status == "draft":
					return desk.Text("")
				}
				return v.MoneyCell(i.AmountDueCents, i.Currency)
			}},
		{Head: "Total", Field: "totalCents", Sort: "totalCents", Width: "w2", End: true, Fold: "three",
			Cell: func(v *desk.Visit, i *invoice.Invoice) desk.Cell { return v.MoneyCell(i.TotalCents, i.Currency) }},
	},
	Filters: []desk.Filter{
		{Field: "status", Label: "State"},
		{Field: "unpaid", Label: "Unpaid"},
		{Field: "dueBefore", Label: "Due before", ByDay: true},
		{Field: "dueAfter", Label: "Due after", ByDay: true},
		{Field: "customerId", Label: "Customer", Ref: "customers", HideChoice: true},
		{Field: "businessId", Label: "Business", Ref: "businesses", HideChoice: true},
	},
	Total: total,
	Name:  func(_ *desk.Visit, i *invoice.Invoice) string { return number(i) },
	ListLine: func(v *desk.Visit, i *invoice.Invoice) desk.Line {
		l := desk.Line{Icon: "invoice", Text: number(i), Pill: state(i), Sum: v.Money(i.TotalCents, i.Currency)}
		if i.BillToName != nil && i.InvoiceNumber != nil {
			l.Faint = *i.BillToName
		}
		if i.Status == "overdue" {
			l.Sum = v.Money(i.AmountDueCents, i.Currency)
		}
		return l
	},
	State:    func(_ *desk.Visit, i *invoice.Invoice) desk.Pill { return state(i) },
	Currency: func(i *invoice.Invoice) string { return i.Currency },
	Form: []desk.Field{
		{Field: "customerId", Label: "Customer", Ref: "customers", Wide: true},
		{Field: dueIn, Label: "Due", Options: dueOptions, StartText: func(*desk.Visit) string { return "14" }},
		{Field: "dueAt", Label: "Or due on a day", Kind: "date"},
		{Field: "currency", Label: "Currency",
			StartText: func(v *desk.Visit) string { return v.CurrentBusiness().Currency }},
	},
	BeforeCreate: setDueDay,
	AdjustForm:   billContact,
	CreateWith:   createInvoice,
	FormHelp:     "This creates a draft. Nobody receives it until you issue and send it.",
	Fields: []desk.Field{
		{Field: "customerId", Label: "Customer", Ref: "customers"},
		{Field: "dueAt", Label: "Due"},
		{Field: "billToEmail", Label: "Goes to"},
		{Field: "currency", Label: "Currency", Show: func(_ *desk.Visit, i any) desk.Cell {
			return desk.Text(strings.ToUpper(i.(*invoice.Invoice).Currency))
		}},
		{Field: "pricesIncludeTax", Label: "Prices include tax", Group: "On the invoice"},
		{Field: "discountPercent", Label: "Discount in %", OnDemand: true},
		{Field: "notes", Label: "Text"},
		{Field: "terms", Label: "Terms"},
		{Field: "billToName", Label: "Name", Group: "Billed to"},
		{Field: "billToAddressLine1", Label: "Street"},
		{Field: "billToAddressLine2", Label: "More", OnDemand: true},
		{Field: "billToPostalCode", Label: "Postal code"},
		{Field: "billToCity", Label: "City"},
		{Field: "billToState", Label: "State", OnDemand: true},
		{Field: "billToCountry", Label: "Country"},
	},
	NotShown: []string{
		"lineItems", // which have an editor
		"data",      // for programs
	},
	Frozen: func(i *invoice.Invoice) bool { return i.Status != "draft" },
	Actions: []desk.Action[invoice.Invoice]{
		sending(desk.Action[invoice.Invoice]{Key: "issue-and-send", Label: "Issue and send", First: "invoices.issue",
			IsMain: true, DoneKey: "issued-sent", Explain: issueAndSendWords,
			When: func(v *desk.Visit, i *invoice.Invoice) bool {
				return i.Status == "draft" && v.May("invoices.issue")
			}}),
		{Key: "issue", Label: "Issue without sending", Icon: "check", Op: "invoices.issue", IsMain: true, InMenu: true,
			DoneKey: "issued",
			When:    func(_ *desk.Visit, i *invoice.Invoice) bool { return i.Status == "draft" },
			Explain: func(v *desk.Visit, i *invoice.Invoice) string {
				return "The invoice for " + v.Money(i.TotalCents, i.Currency) +
					" gets the next number and is booked " +
					"with the customer. After that its lines stay as they are; void it or write a credit note instead."
			}},
		sending(desk.Action[invoice.Invoice]{Key: "send", Label: "Send", IsMain: true,
			When: func(_ *desk.Visit, i *invoice.Invoice) bool { return i.Status == "issued" }}),
		{Key: "pay", Label: "Record payment", Icon: "check", Op: "invoices.record_payment", IsMain: true,
			DoneKey: "paid", When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.AmountDueCents > 0 && i.Status != "draft" && i.Status != "void"
			},
			Explain: func(v *desk.Visit, i *invoice.Invoice) string {
				return v.Money(i.AmountDueCents, i.Currency) + " is left to pay."
			},
			Form: []desk.Field{
				{Field: "amountCents", Label: "Amount", Kind: "money", StartField: "amountDueCents"},
				{Field: "method", Label: "How"},
				{Field: "paidAt", Label: "When", Help: "Empty means now."},
				{Field: "note", Label: "Note", Kind: "text"}}},
		sending(desk.Action[invoice.Invoice]{Key: "remind", Label: "Remind",
			FixedInput: func(*desk.Visit, *invoice.Invoice) desk.Fields {
				return desk.Fields{"templateKey": "invoice_reminder"}
			},
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.Status == "sent" || i.Status == "overdue" || i.Status == "partially_paid"
			}}),
		sending(desk.Action[invoice.Invoice]{Key: "sendagain", Label: "Send again", InMenu: true,
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.Status == "sent" || i.Status == "overdue" || i.Status == "partially_paid" || i.Status == "paid"
			}}),
		{Key: "credit", Label: "Write a credit note", Icon: "invoice", Op: "invoices.credit_notes.create", InMenu: true,
			Link: func(_ *desk.Visit, i *invoice.Invoice) string { return "/invoices/" + string(i.ID) + "/credit" },
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.Status != "draft" && i.Status != "void" && creditable(i) > 0
			}},
		{Key: "void", Label: "Void", Icon: "x", Op: "invoices.void", DoneKey: "voided",
			When: func(_ *desk.Visit, i *invoice.Invoice) bool {
				return i.Status != "draft" && i.Status != "void" && i.AmountPaidCents == 0
			},
			Explain: func(_ *desk.Visit, i *invoice.Invoice) string {
				return number(i) + " keeps its number but no longer counts. This cannot be undone."
			},
			Warnings: []string{"The customer no longer owes this sum.", "Links to the invoice say that it is void."}},
	},
	Template:     "invoice",
	TemplateData: editorData,
	SideSections: []desk.Part[invoice.Invoice]{payments, creditNotes},
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
	words := v.MoneyOfEach(s.Total) + " in all"
	if len(s.Due) > 0 {
		words += " · " + v.MoneyOfEach(s.Due) + " left to pay"
	}
	if len(s.ToRefund) > 0 {
		words += " · " + v.MoneyOfEach(s.ToRefund) + " to pay back"
	}
	return words, nil
}
