package mail

import (
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/invoice"
)

// insertion is something that "/" puts into a mail: words, or a file beside them.
type insertion struct {
	Icon, Text, Faint string
	Put               string
	File              *attached
}

type insertions struct {
	Head  string
	Items []insertion
}

// insertionsEach is how many of a kind are offered.
const insertionsEach = 5

// offerInsertions answers the script with what fits the words after "/": invoices, first those of whom the mail goes
// to, what the business offers, and files. The form itself has the templates.
func offerInsertions(v *desk.Visit) error {
	if err := v.Permit("messages.create"); err != nil {
		return err
	}
	found := []insertions{}
	for _, kind := range []struct {
		head string
		find func(*desk.Visit, desk.Fields) ([]insertion, error)
	}{{"Invoices", invoicesToInsert}, {"What you offer", offeringsToInsert}, {"Files to attach", filesToInsert}} {
		in := desk.Fields{"limit": insertionsEach - 2} // all kinds are seen at once
		if text := cut.Runes(v.R.URL.Query().Get("query"), 200); text != "" {
			in["query"], in["limit"] = text, insertionsEach
		}
		items, err := kind.find(v, in)
		if err != nil {
			return err
		}
		if len(items) > 0 {
			found = append(found, insertions{kind.head, items})
		}
	}
	return v.Fragment("insertions", found)
}

func invoicesToInsert(v *desk.Visit, in desk.Fields) (out []insertion, err error) {
	if !v.May("invoices.list") || !v.May("invoices.public_link") {
		return nil, nil
	}
	who := contactAt(v, v.R.URL.Query().Get("to"))
	if ref, ok := id.Parse(v.R.URL.Query().Get("contactId")); ok {
		who = &ref
	}
	in["status"] = []string{"issued", "sent", "partially_paid", "overdue", "paid"} // the others have no page
	ways := []desk.Fields{in}
	if bill := customerOf(v, desk.IDOrEmpty(who)); who != nil && bill != "" {
		theirs := desk.Fields{"customerId": bill}
		for name, value := range in {
			theirs[name] = value
		}
		ways = []desk.Fields{theirs, in}
	}
	for _, way := range ways {
		rows, _, err := desk.List[invoice.Invoice](v, "invoices.list", v.Chosen("invoices.list", way))
		if err != nil {
			return nil, err
		}
		for i := range rows {
			x, err := invoiceToInsert(v, &rows[i])
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(out, func(o insertion) bool { return o.Put == x.Put }) {
				out = append(out, x)
			}
		}
	}
	return out[:min(len(out), in["limit"].(int))], nil
}

// invoiceToInsert is the number, which leads to the page that its customer sees, and the sum.
func invoiceToInsert(v *desk.Visit, row *invoice.Invoice) (insertion, error) {
	x := insertion{Icon: "invoice", Faint: v.Money(row.TotalCents, row.Currency)}
	if row.InvoiceNumber != nil {
		x.Text = *row.InvoiceNumber
	}
	if row.BillToName != nil {
		x.Faint = *row.BillToName + ", " + x.Faint
	}
	x.Put = x.Text + ", " + v.Money(row.TotalCents, row.Currency)
	var link invoice.PublicLink
	err := v.Do("invoices.public_link", desk.Fields{"id": row.ID}, &link)
	if link.URL != nil {
		x.Put = "[" + x.Text + "](" + *link.URL + "), " + v.Money(row.TotalCents, row.Currency)
	}
	return x, err
}

func offeringsToInsert(v *desk.Visit, in desk.Fields) (out []insertion, err error) {
	of := v.CurrentBusiness().ID
	if of == "" || !v.May("businesses.offerings.list") {
		return nil, nil
	}
	in["id"], in["isActive"] = of, true
	rows, _, err := desk.List[business.BusinessOffering](v, "businesses.offerings.list", in)
	for i := range rows {
		x := insertion{Icon: "tag", Text: rows[i].Name, Put: rows[i].Name}
		if rows[i].PriceCents != nil {
			x.Faint = v.Money(*rows[i].PriceCents, rows[i].Currency)
			if rows[i].Unit != nil && *rows[i].Unit != "" {
				x.Faint += " per " + *rows[i].Unit
			}
			x.Put += ": " + x.Faint
		}
		out = append(out, x)
	}
	return out, err
}

func filesToInsert(v *desk.Visit, in desk.Fields) (out []insertion, err error) {
	if !v.May("files.list") {
		return nil, nil
	}
	rows, _, err := desk.List[file.File](v, "files.list", in)
	for i := range rows {
		out = append(out, insertion{Icon: "file", Text: rows[i].Name, Faint: desk.Size(rows[i].SizeBytes),
			File: fileToAttach(rows[i].ID, rows[i].Name)})
	}
	return out, err
}

func fileToAttach(ref id.ID, name string) *attached {
	return &attached{Name: name, Kind: "file", ID: string(ref), Href: "/files/" + string(ref)}
}

func invoiceToAttach(ref id.ID, number string) *attached {
	return &attached{Name: strings.TrimSpace("Invoice " + number), Kind: "invoice", ID: string(ref),
		Href: "/invoices/" + string(ref) + "/pdf"}
}

// keptIDs are the files or invoices of a form that are not left out.
func keptIDs(posted url.Values, kind string) []id.ID {
	out := []id.ID{}
	for _, text := range posted[kind+"-kept"] {
		if ref, ok := id.Parse(text); ok && !slices.Contains(posted[kind+"-gone"], text) && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// keptFiles are the files and invoices that a form has, as far as the visitor may know them.
func keptFiles(v *desk.Visit, posted url.Values) (out []attached, err error) {
	for kind, path := range map[string]string{"file": "files", "invoice": "invoices"} {
		refs := keptIDs(posted, kind)
		if len(refs) == 0 || !v.May(path+".list") {
			continue
		}
		names, err := v.Names(path, refs[:min(len(refs), 100)])
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			switch {
			case names[ref] == "":
			case kind == "file":
				out = append(out, *fileToAttach(ref, names[ref]))
			default:
				out = append(out, *invoiceToAttach(ref, names[ref]))
			}
		}
	}
	return out, nil
}

// showKept answers the script that puts a form back with the files that it had.
func showKept(v *desk.Visit) error {
	kept, err := keptFiles(v, v.R.URL.Query())
	if err != nil {
		return err
	}
	return v.Fragment("attached-files", kept)
}
