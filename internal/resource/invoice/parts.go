package invoice

import (
	"strings"

	"frontdesk/internal/resource/business"
)

// The parts of a document, from top to bottom. Numbers are millimetres, but for font sizes.

// setAccentColor sets the color of text and lines to that of the business.
func (d *document) setAccentColor() {
	c := d.from.Accent
	if c == nil {
		c = &business.Color{31, 78, 121}
	}
	r, g, b := int(c[0]), int(c[1]), int(c[2])
	d.pdf.SetTextColor(r, g, b)
	d.pdf.SetDrawColor(r, g, b)
}

// drawLetterhead draws the letterhead on the left, and the kind and number of the document on the right.
func (d *document) drawLetterhead() {
	p := d.pdf
	left := d.width - 62
	d.setInk(true)
	d.setFont("B", 16)
	p.SetY(d.drawLogo())
	d.drawLines(margin, left, 7.5, "L", d.wrapText(d.from.Name, left))
	d.setInk(false)
	d.setFont("", fontSmall+0.5)
	for _, text := range d.from.Lines {
		d.drawLines(margin, left, 4.6, "L", d.wrapText(text, left))
	}
	end := p.GetY()
	page := p.PageNo()
	if page == 1 { // a long letterhead may have filled the page
		p.SetXY(margin+left, margin)
		d.setInk(true)
		d.setFont("", 21)
		d.setAccentColor()
		p.CellFormat(62, 9, d.heading, "", 2, "R", false, 0, "")
		d.setFont("", fontNormal)
		d.setInk(false)
		p.CellFormat(62, 5.5, d.number, "", 2, "R", false, 0, "")
	}
	p.SetY(max(end, margin+15) + 9)
}

// drawParties shows the bill-to beside the dates.
func (d *document) drawParties() {
	p, v := d.pdf, d.billed
	right := 74.0
	left := d.width - right - 10
	top, page := p.GetY(), p.PageNo()

	for i, f := range d.facts {
		p.SetXY(margin+d.width-right, top+float64(i)*5.6)
		d.setFont("", fontNormal)
		d.setInk(false)
		p.CellFormat(28, 5.6, f[0], "", 0, "L", false, 0, "")
		d.setInk(true)
		if i == len(d.facts)-1 {
			d.setFont("B", fontNormal)
		}
		d.shrinkToFit(f[1], right-28)
		p.CellFormat(right-28, 5.6, f[1], "", 0, "R", false, 0, "")
	}
	under := top + float64(len(d.facts))*5.6

	p.SetXY(margin, top)
	d.setFont("", fontSmall)
	d.setInk(false)
	d.drawLines(margin, left, 5, "L", []string{"Bill to"})
	d.setInk(true)
	d.setFont("B", fontNormal+0.5)
	d.drawBlock(v.BillToName, left)
	d.setFont("", fontNormal)
	for _, text := range d.billToLines() {
		d.drawBlock(&text, left)
	}
	d.drawBlock(v.BillToEmail, left)
	if p.PageNo() == page {
		p.SetY(max(under, p.GetY()))
	}
	p.SetY(p.GetY() + 9)
}

// drawBlock draws a text of the bill-to, if there is one.
func (d *document) drawBlock(text *string, width float64) {
	if text != nil && strings.TrimSpace(*text) != "" {
		d.drawLines(margin, width, lineHeight, "L", d.wrapText(*text, width))
	}
}

// billToLines formats the bill-to address. City, state and postal code are in the order of the
// country, where that is known.
func (d *document) billToLines() (out []string) {
	v := d.billed
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
	city, state, code, country := text(v.BillToCity), text(v.BillToState), text(v.BillToPostalCode),
		text(v.BillToCountry)
	town := join(" ", code, city)
	switch country {
	case "US", "CA", "AU", "", "IN", "BR":
		town = join(", ", city, join(" ", state, code))
		state = ""
	case "GB", "IE":
		town, state = city, join("\n", state, code)
	}
	if country != "" && country != d.locale.RegionCode() {
		country = d.locale.CountryName(country)
	} else {
		country = "" // mail within the country does not name it
	}
	for _, line := range []string{text(v.BillToAddressLine1), text(v.BillToAddressLine2), town, state, country} {
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// columnWidths gives the description what the figures leave.
func (d *document) columnWidths() []float64 {
	left := d.width
	for _, w := range d.part.widths {
		left -= w
	}
	return append([]float64{left}, d.part.widths...)
}

// drawCells draws one line of the table. Figures that are too wide for their column shrink.
func (d *document) drawCells(height float64, texts []string) {
	d.pdf.SetX(margin)
	size, style := d.currentFont()
	for i, text := range texts {
		align, next := "R", 0
		if i == 0 {
			align = "L"
		}
		if i == len(texts)-1 {
			next = 1
		}
		text = toPrintable(text)
		if i > 0 {
			d.shrinkToFit(text, d.columns[i])
		}
		d.pdf.CellFormat(d.columns[i], height, text, "", next, align, false, 0, "")
		d.setFont(style, size)
	}
}

// shrinkToFit sets a smaller font until a figure fits, because a figure must never be cut.
func (d *document) shrinkToFit(text string, width float64) {
	size, style := d.currentFont()
	for s := size; s > 4 && d.pdf.GetStringWidth(text) > width-2; s -= 0.5 {
		d.setFont(style, s)
	}
}

// drawRule draws a gray line across the page.
func (d *document) drawRule(shade int) {
	d.pdf.SetDrawColor(shade, shade, shade+4)
	d.pdf.Line(margin, d.pdf.GetY(), margin+d.width, d.pdf.GetY())
}

// drawTableHead draws the names of the columns; also on each further page of the table.
func (d *document) drawTableHead() {
	d.setFont("B", fontSmall)
	d.setInk(false)
	d.drawCells(6, d.part.heads)
	d.pdf.SetLineWidth(0.35)
	d.setAccentColor()
	d.pdf.Line(margin, d.pdf.GetY(), margin+d.width, d.pdf.GetY())
	d.pdf.SetLineWidth(0.2)
	d.pdf.SetY(d.pdf.GetY() + 1.6)
}

// drawTables draws the tables of the sheet, each with what it adds up to.
func (d *document) drawTables() {
	all := d.tables
	if d.heads != nil {
		all = []sheetTable{d.sheetTable}
	}
	for i, t := range all {
		if i > 0 {
			d.pdf.SetY(d.pdf.GetY() + 8)
		}
		d.part = t
		d.columns = d.columnWidths()
		d.drawTable()
		d.drawTotals()
	}
}

func (d *document) drawTable() {
	d.ensureSpace(30)
	d.drawTableHead()
	d.inTable = true
	for _, r := range d.part.rows {
		d.setFont("", fontNormal)
		d.setInk(true)
		text := d.wrapText(r.description, d.columns[0]-4)
		// A short item stays on one page; a long one continues on the next.
		d.ensureSpace(min(float64(len(text)), 5)*lineHeight + 3)
		d.drawCells(lineHeight, append([]string{text[0]}, r.figures...))
		d.drawLines(margin, d.columns[0], lineHeight, "L", text[1:])
		if r.remark != "" {
			d.setFont("", fontSmall)
			d.setInk(false)
			d.drawLines(margin, d.columns[0], lineHeight-0.4, "L", d.wrapText(r.remark, d.columns[0]-4))
		}
		d.pdf.SetY(d.pdf.GetY() + 1.5)
		d.drawRule(226)
		d.pdf.SetY(d.pdf.GetY() + 1.5)
	}
	d.inTable = false
}

// drawTotals draws how the lines become what is due.
func (d *document) drawTotals() {
	const label, value = 92.0, 44.0
	x := margin + d.width - label - value
	d.ensureSpace(float64(min(len(d.part.sums), 12))*6 + 6)
	d.pdf.SetY(d.pdf.GetY() + 3)
	for i, r := range d.part.sums {
		last := i == len(d.part.sums)-1
		d.ensureSpace(8)
		if last {
			d.pdf.SetDrawColor(140, 140, 144)
			d.pdf.Line(x, d.pdf.GetY()+0.6, margin+d.width, d.pdf.GetY()+0.6)
			d.pdf.SetY(d.pdf.GetY() + 1.4)
		}
		d.setInk(last)
		style := ""
		if last || r.strong {
			style = "B"
		}
		d.setFont(style, fontNormal)
		d.pdf.SetX(x)
		text := toVisualOrder(toPrintable(r.label))
		d.shrinkToFit(text, label)
		d.pdf.CellFormat(label, 6, text, "", 0, "L", false, 0, "")
		d.setInk(!r.includedInOther)
		d.setFont(style, fontNormal)
		if last {
			d.setFont(style, fontNormal+1.5)
		}
		d.shrinkToFit(r.value, value)
		d.pdf.CellFormat(value, 6, r.value, "", 1, "R", false, 0, "")
	}
}

// drawParagraph draws a paragraph with its heading, and the facts below it.
func (d *document) drawParagraph(p paragraph) {
	d.ensureSpace(22)
	d.pdf.SetY(d.pdf.GetY() + 8)
	d.setFont("B", fontSmall)
	d.setInk(false)
	d.drawLines(margin, d.width, 5, "L", []string{p.heading})
	d.setFont("", fontNormal-0.5)
	d.setInk(true)
	d.drawLines(margin, d.width, 4.7, "L", d.wrapText(p.text, d.width-2))
	for i, f := range p.facts {
		if i == 0 {
			d.ensureSpace(float64(len(p.facts))*5 + 2)
			d.pdf.SetY(d.pdf.GetY() + 2)
		}
		d.drawFact(f[0], f[1])
	}
}

// drawFact draws a label and its value, which is cut to one line.
func (d *document) drawFact(name, value string) {
	const label = 30.0
	d.pdf.SetX(margin)
	d.setInk(false)
	d.pdf.CellFormat(label, 5, name, "", 0, "L", false, 0, "")
	d.setInk(true)
	d.pdf.CellFormat(d.width-label, 5, d.fitToWidth(value, d.width-label), "", 1, "L", false, 0, "")
}
