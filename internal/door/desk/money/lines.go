package money

import (
	"net/http"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/invoice"
)

// saveLines replaces the lines of a draft with those of the form. A line that was
// saved goes when its description is cleared. When something is wrong, nothing is
// saved, and the page comes back as it was typed.
func saveLines(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	at := "/invoices/" + string(ref)
	var current invoice.Invoice
	if err := v.Do("invoices.get", desk.Fields{"id": ref}, &current); err != nil {
		return err
	}
	typed, items, from := readLines(v, &current)
	if v.Value("do") == "catalog" && v.Value("offering") != "" {
		x, item, err := lineFromCatalog(v, &current)
		if err != nil {
			return err
		}
		if n := len(typed); n > len(current.LineItems) && typed[n-1].Description == "" {
			typed = typed[:n-1] // the empty line at the end
		}
		x.N = len(typed) + 1
		typed = append(typed, x)
		switch {
		case x.Wrong != "":
			items = nil
		case items != nil:
			items, from = append(items, item), append(from, len(typed)-1)
		}
	}
	if items == nil {
		return showTyped(v, http.StatusBadRequest, typed, "")
	}
	err = v.Do("invoices.update", desk.Fields{"id": ref, "lineItems": items}, nil)
	if err == nil {
		return v.DoneWith(at, "saved", ref)
	}
	whole, _, status, rest := desk.Refused(err)
	if rest != nil {
		return rest
	}
	if !blame(err, typed, from) {
		return v.Explain(err, "invoices", at)
	}
	return showTyped(v, status, typed, whole)
}

// readLines reads the form: the lines as they were typed, what the operation takes,
// and from which typed line each of these comes. There is nothing to take when a
// line is wrong.
func readLines(v *desk.Visit, current *invoice.Invoice) (typed []line, items []desk.Fields, from []int) {
	f := v.R.PostForm
	cell := func(name string, i int) string {
		if values := f[name]; i < len(values) {
			return strings.TrimSpace(values[i])
		}
		return ""
	}
	ok := true
	items = []desk.Fields{}
	for i := range f["description"] {
		x := line{Description: cell("description", i), Quantity: cell("quantity", i), Price: cell("price", i),
			Tax: cell("tax", i), N: i + 1}
		saved := i < len(current.LineItems)
		if x.Description == "" && (saved || x.Price == "" && x.Quantity == "" && x.Tax == "") {
			typed = append(typed, x)
			continue
		}
		item := x.read(current.Currency)
		if saved { // what the table does not show stays
			keepHidden(item, &current.LineItems[i])
		}
		ok = ok && x.Wrong == ""
		typed, items, from = append(typed, x), append(items, item), append(from, i)
	}
	if !ok {
		return typed, nil, nil
	}
	return typed, items, from
}

// read makes a line item of what was typed, or says what is wrong with it.
func (x *line) read(currency string) desk.Fields {
	if x.Description == "" {
		x.At, x.Wrong = "description", "Say what it is"
		return nil
	}
	if x.Price == "" {
		x.At, x.Wrong = "price", "Write a price; 0 if it costs nothing"
		return nil
	}
	cents, issue := desk.Cents(x.Price, currency)
	if issue != "" {
		x.At, x.Wrong = "price", issue
		return nil
	}
	item := desk.Fields{"description": x.Description, "unitAmountCents": cents}
	if q := strings.ReplaceAll(x.Quantity, ",", "."); q != "" {
		item["quantity"] = q
	}
	if t := strings.TrimSpace(strings.TrimSuffix(strings.ReplaceAll(x.Tax, ",", "."), "%")); t != "" {
		item["taxRate"] = t
	}
	return item
}

func keepHidden(item desk.Fields, old *invoice.LineItem) {
	if item == nil {
		return
	}
	if old.TaxName != nil && item["taxRate"] != nil {
		item["taxName"] = *old.TaxName
	}
	if old.DiscountPercent != nil {
		item["discountPercent"] = *old.DiscountPercent
	} else if old.DiscountCents > 0 {
		item["discountCents"] = old.DiscountCents
	}
}

// blame puts what the operation refused beside the lines that it is about, and
// reports whether that says all of it.
func blame(err error, typed []line, from []int) bool {
	tree, ok := fault.FromError(err).Details.(*fault.Tree)
	if !ok || tree.Properties["lineItems"] == nil {
		return false
	}
	found := false
	for i, t := range tree.Properties["lineItems"].Items {
		for field, name := range map[string]string{"description": "description", "quantity": "quantity",
			"unitAmountCents": "price", "taxRate": "tax"} {
			if t != nil && t.Properties[field] != nil && len(t.Properties[field].Errors) > 0 && i < len(from) {
				x := &typed[from[i]]
				x.At, x.Wrong, found = name, t.Properties[field].Errors[0], true
			}
		}
	}
	return found
}

// showTyped shows the invoice's page with the lines as they were typed.
func showTyped(v *desk.Visit, status int, typed []line, whole string) error {
	for i := range typed {
		if typed[i].Wrong != "" {
			typed[i].Focus = true
			break
		}
	}
	return invoices.Again(v, status, func(more any) {
		d := more.(*editor)
		for i := range typed { // what a saved line comes to is not known before it is saved again
			if n := len(d.Lines); i < n-1 && typed[i].Price == d.Lines[i].Price &&
				typed[i].Quantity == d.Lines[i].Quantity {
				typed[i].Amount = d.Lines[i].Amount
			}
		}
		d.Lines, d.Wrong = typed, whole
		if last := typed[len(typed)-1]; last.Description != "" || last.Price != "" {
			d.Lines = append(d.Lines, line{N: len(typed) + 1})
		}
	})
}
