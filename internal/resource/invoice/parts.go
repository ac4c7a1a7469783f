package invoice

import (
	"strings"

	"frontdesk/internal/kernel/clock"
)

// The parts of the document, from the top to the foot.

func (d *document) head() {
	p := d.pdf
	left := d.width - 62
	d.ink(true)
	d.font("B", 16)
	p.SetY(margin)
	d.lines(margin, left, 7.5, "L", d.wrap(d.from.Name, left))
	d.ink(false)
	d.font("", small+0.5)
	for _, text := range d.from.Lines {
		d.lines(margin, left, 4.6, "L", d.wrap(text, left))
	}
	end := p.GetY()
	page := p.PageNo()
	if page == 1 {
		p.SetXY(margin+left, margin)
		d.ink(true)
		d.font("", 21)
		p.CellFormat(62, 9, "INVOICE", "", 2, "R", false, 0, "")
		d.font("", normal)
		d.ink(false)
		number := "Draft"
		if d.invoice.InvoiceNumber != nil {
			number = *d.invoice.InvoiceNumber
		}
		p.CellFormat(62, 5.5, number, "", 2, "R", false, 0, "")
	}
	p.SetY(max(end, margin+15) + 9)
}

// parties tells who is to pay, beside the dates.
func (d *document) parties() {
	p, v := d.pdf, d.invoice
	right := 74.0
	left := d.width - right - 10
	top, page := p.GetY(), p.PageNo()

	facts := [][2]string{}
	date := func(label string, t *clock.Time) {
		if t != nil {
			facts = append(facts, [2]string{label, d.locale.Date(t.Std())})
		}
	}
	date("Issued", v.IssuedAt)
	date("Due", v.DueAt)
	facts = append(facts, [2]string{"Status", statusWords[v.Status]}, [2]string{"Amount due", d.money(v.AmountDueCents)})
	for i, f := range facts {
		p.SetXY(margin+d.width-right, top+float64(i)*5.6)
		d.font("", normal)
		d.ink(false)
		p.CellFormat(28, 5.6, f[0], "", 0, "L", false, 0, "")
		d.ink(true)
		if i == len(facts)-1 {
			d.font("B", normal)
		}
		p.CellFormat(right-28, 5.6, d.fit(f[1], right-28), "", 0, "R", false, 0, "")
	}
	under := top + float64(len(facts))*5.6

	p.SetXY(margin, top)
	d.font("", small)
	d.ink(false)
	d.lines(margin, left, 5, "L", []string{"Bill to"})
	d.ink(true)
	d.font("B", normal+0.5)
	d.block(v.BillToName, left)
	d.font("", normal)
	for _, text := range d.address() {
		d.block(&text, left)
	}
	d.block(v.BillToEmail, left)
	if p.PageNo() == page {
		p.SetY(max(under, p.GetY()))
	}
	p.SetY(p.GetY() + 9)
}

var statusWords = map[string]string{draft: "Draft", issued: "Issued", sent: "Issued", partiallyPaid: "Partially paid", paid: "Paid", overdue: "Overdue", void: "Void"}

func (d *document) block(text *string, width float64) {
	if text != nil && strings.TrimSpace(*text) != "" {
		d.lines(margin, width, lineHeight, "L", d.wrap(*text, width))
	}
}

// address writes the town as the country does, where that is known.
func (d *document) address() (out []string) {
	v := d.invoice
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return strings.TrimSpace(*s)
	}
	join := func(between string, parts ...string) string {
		var full []string
		for _, p := range parts {
			if p != "" {
				full = append(full, p)
			}
		}
		return strings.Join(full, between)
	}
	city, state, code, country := text(v.BillToCity), text(v.BillToState), text(v.BillToPostalCode), text(v.BillToCountry)
	town := join(" ", code, city)
	switch country {
	case "US", "CA", "AU", "", "IN", "BR":
		town = join(", ", city, join(" ", state, code))
		state = ""
	case "GB", "IE":
		town, state = city, join("\n", state, code)
	}
	if country != "" && country != d.locale.Region() {
		country = d.locale.Country(country)
	} else {
		country = "" // a letter within the country does not name it
	}
	for _, line := range []string{text(v.BillToAddressLine1), text(v.BillToAddressLine2), town, state, country} {
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

func (d *document) money(cents int64) string {
	return printable(d.locale.Money(cents, d.invoice.Currency))
}

// cells writes one line of the table. Figures that are too wide for their
// column are made smaller.
func (d *document) cells(height float64, texts [4]string) {
	d.pdf.SetX(margin)
	size, style := d.size()
	for i, text := range texts {
		align, next := "R", 0
		if i == 0 {
			align = "L"
		}
		if i == 3 {
			next = 1
		}
		text = printable(text)
		for s := size; i > 0 && s > 4 && d.pdf.GetStringWidth(text) > d.columns[i]-2; s -= 0.5 {
			d.font(style, s)
		}
		d.pdf.CellFormat(d.columns[i], height, text, "", next, align, false, 0, "")
		d.font(style, size)
	}
}

func (d *document) rule(shade int) {
	d.pdf.SetDrawColor(shade, shade, shade+4)
	d.pdf.Line(margin, d.pdf.GetY(), margin+d.width, d.pdf.GetY())
}

func (d *document) tableHead() {
	d.font("B", small)
	d.ink(false)
	d.cells(6, [4]string{"Description", "Quantity", "Unit price", "Amount"})
	d.pdf.SetLineWidth(0.35)
	d.rule(140)
	d.pdf.SetLineWidth(0.2)
	d.pdf.SetY(d.pdf.GetY() + 1.6)
}

func (d *document) table() {
	d.need(30)
	d.tableHead()
	d.inTable = true
	for _, l := range d.invoice.LineItems {
		d.font("", normal)
		d.ink(true)
		text := d.wrap(l.Description, d.columns[0]-4)
		// A short item is not torn apart; a long one flows on.
		d.need(min(float64(len(text)), 5)*lineHeight + 3)
		d.cells(lineHeight, [4]string{text[0], d.locale.Number(l.Quantity), d.money(l.UnitAmountCents), d.money(l.AmountCents)})
		d.lines(margin, d.columns[0], lineHeight, "L", text[1:])
		d.pdf.SetY(d.pdf.GetY() + 1.5)
		d.rule(226)
		d.pdf.SetY(d.pdf.GetY() + 1.5)
	}
	d.inTable = false
}

func (d *document) totals() {
	v := d.invoice
	rows := [][2]string{{"Total", d.money(v.TotalAmountCents)}}
	if v.AmountPaidCents > 0 {
		rows = append(rows, [2]string{"Paid", d.money(-v.AmountPaidCents)})
	}
	rows = append(rows, [2]string{"Amount due (" + strings.ToUpper(v.Currency) + ")", d.money(v.AmountDueCents)})
	d.need(float64(len(rows))*6.5 + 6)
	d.pdf.SetY(d.pdf.GetY() + 3)
	const label, value = 44.0, 48.0
	x := margin + d.width - label - value
	for i, r := range rows {
		last := i == len(rows)-1
		if last {
			d.pdf.SetDrawColor(140, 140, 144)
			d.pdf.Line(x, d.pdf.GetY()+0.6, margin+d.width, d.pdf.GetY()+0.6)
			d.pdf.SetY(d.pdf.GetY() + 1.4)
		}
		d.ink(last)
		style := ""
		if last {
			style = "B"
		}
		d.font(style, normal)
		d.pdf.SetX(x)
		d.pdf.CellFormat(label, 6.5, r[0], "", 0, "L", false, 0, "")
		d.ink(true)
		if last {
			d.font("B", normal+1.5)
		}
		d.pdf.CellFormat(value, 6.5, r[1], "", 1, "R", false, 0, "")
	}
}

func (d *document) prose(heading string, text *string) {
	if text == nil || strings.TrimSpace(*text) == "" {
		return
	}
	d.need(22)
	d.pdf.SetY(d.pdf.GetY() + 8)
	d.font("B", small)
	d.ink(false)
	d.lines(margin, d.width, 5, "L", []string{heading})
	d.font("", normal-0.5)
	d.ink(true)
	d.lines(margin, d.width, 4.7, "L", d.wrap(*text, d.width-2))
}
