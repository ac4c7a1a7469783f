package money

import (
	"cmp"
	"net/http"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/invoice"

	"github.com/shopspring/decimal"
)

// creditData is the page on which an invoice is credited: some of its lines, or an amount. The
// template is "invoice-credit".
type creditData struct {
	To, Back, Lead string
	Error          string
	Lines          []creditLine
	Fields         []desk.Input
}

// creditLine is a line of the invoice, and how much of it is left to credit.
type creditLine struct {
	ID, Description, Left, Price string
	Typed, Wrong                 string
	N                            int
}

func askCredit(v *desk.Visit) error {
	i, err := invoiceOf(v)
	if err != nil {
		return err
	}
	return creditPage(v, http.StatusOK, i, "", nil, nil)
}

// creditPage asks what to credit. wrong is by line item, fields by field.
func creditPage(v *desk.Visit, status int, i *invoice.Invoice, whole string, wrong map[id.ID]string,
	fields map[string]string) error {
	at := "/invoices/" + string(i.ID)
	if i.Status == "draft" || i.Status == "void" || creditable(i) <= 0 {
		return v.Redirect(at)
	}
	left, err := leftToCredit(v, i)
	if err != nil {
		return err
	}
	d := &creditData{To: at + "/credit", Back: at, Lead: creditWords(v, i), Error: whole}
	typed := typedQuantities(v)
	for n := range i.LineItems {
		l := &i.LineItems[n]
		if l.AmountCents <= 0 || !left[l.ID].IsPositive() {
			continue
		}
		d.Lines = append(d.Lines, creditLine{ID: string(l.ID), Description: l.Description,
			Left: v.Number(left[l.ID].String()), Price: v.Money(l.UnitAmountCents, i.Currency),
			Typed: typed[l.ID], Wrong: wrong[l.ID], N: n + 1})
	}
	amount := v.Value("amountCents")
	if v.R.Method == http.MethodGet {
		amount = desk.Plain(creditFirst(i), i.Currency)
	}
	d.Fields = []desk.Input{
		{ID: "amountCents", Name: "amountCents", Word: "Or an amount, with tax", Kind: "money", Unmarked: true,
			Unit: strings.ToUpper(i.Currency), Value: amount, Error: fields["amountCents"],
			Help: "Used where no quantity is filled in above. It is taken from all lines in proportion; at most " +
				v.Money(creditable(i), i.Currency) + "."},
		{ID: "reason", Name: "reason", Word: "Reason", Kind: "text", Value: v.Value("reason"), Max: 10000,
			Error: fields["reason"]},
	}
	return v.Show(status, "invoice-credit", desk.View{Title: "Write a credit note: " + number(i), Section: "invoices",
		Data: d, Crumbs: []desk.Crumb{{Text: "Invoices", Href: "/invoices"}, {Text: number(i), Href: at},
			{Text: "Credit note"}}})
}

// leftToCredit is how much of each line earlier credit notes have left.
func leftToCredit(v *desk.Visit, i *invoice.Invoice) (map[id.ID]decimal.Decimal, error) {
	out := map[id.ID]decimal.Decimal{}
	for _, l := range i.LineItems {
		out[l.ID], _ = decimal.NewFromString(l.Quantity)
	}
	if i.AmountCreditedCents == 0 {
		return out, nil
	}
	notes, err := desk.ListFirst[invoice.CreditNote](v, "invoices.credit_notes.list", desk.Fields{"id": i.ID})
	for _, n := range notes {
		for _, l := range n.LineItems {
			if l.Quantity != nil {
				taken, _ := decimal.NewFromString(*l.Quantity)
				out[l.LineItemID] = out[l.LineItemID].Sub(taken)
			}
		}
	}
	return out, err
}

// typedQuantities are what the form has beside the lines, by line item.
func typedQuantities(v *desk.Visit) map[id.ID]string {
	out := map[id.ID]string{}
	quantities := v.R.PostForm["quantity"]
	for n, text := range v.R.PostForm["lineItemId"] {
		if ref, ok := id.Parse(text); ok && n < len(quantities) && strings.TrimSpace(quantities[n]) != "" {
			out[ref] = strings.TrimSpace(quantities[n])
		}
	}
	return out
}

// credit writes a credit note over the quantities of the form, or its amount.
func credit(v *desk.Visit) error {
	i, err := invoiceOf(v)
	if err != nil {
		return err
	}
	in := desk.Fields{"id": i.ID}
	if reason := v.Value("reason"); reason != "" {
		in["reason"] = reason
	}
	typed := typedQuantities(v)
	asked := []id.ID{}
	lines := []desk.Fields{}
	for _, text := range v.R.PostForm["lineItemId"] {
		if ref, ok := id.Parse(text); ok && typed[ref] != "" {
			asked = append(asked, ref)
			lines = append(lines, desk.Fields{"lineItemId": ref, "quantity": strings.ReplaceAll(typed[ref], ",", ".")})
		}
	}
	amount := v.Value("amountCents")
	refuse := func(field, text string) error {
		return creditPage(v, http.StatusBadRequest, i, "", nil, map[string]string{field: text})
	}
	switch {
	case len(lines) > 0:
		in["lineItems"] = lines
	case amount == "":
		return refuse("amountCents", "Fill this in, or a quantity beside a line")
	default:
		cents, issue := desk.Cents(amount, i.Currency)
		if issue != "" {
			return refuse("amountCents", issue)
		}
		in["amountCents"] = cents
	}
	err = v.Do("invoices.credit_notes.create", in, nil)
	if err == nil {
		return v.Done("/invoices/"+string(i.ID), "credited", nil)
	}
	whole, fields, status, rest := desk.Refused(err)
	if rest != nil {
		return rest
	}
	return creditPage(v, status, i, cmp.Or(whole, foreignLine(err, asked, i)), lineIssues(err, asked), fields)
}

// lineIssues are what the operation refused of each line.
func lineIssues(err error, asked []id.ID) map[id.ID]string {
	out := map[id.ID]string{}
	tree, ok := fault.FromError(err).Details.(*fault.Tree)
	if !ok || tree.Properties["lineItems"] == nil {
		return out
	}
	for n, t := range tree.Properties["lineItems"].Items {
		if _, issue := t.First(); issue != "" && n < len(asked) {
			out[asked[n]] = issue
		}
	}
	return out
}

// foreignLine says what is wrong with a line that the page does not show.
func foreignLine(err error, asked []id.ID, i *invoice.Invoice) string {
	for ref, issue := range lineIssues(err, asked) {
		found := false
		for _, l := range i.LineItems {
			found = found || l.ID == ref
		}
		if !found {
			return issue
		}
	}
	return ""
}
