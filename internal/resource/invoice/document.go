package invoice

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/resource/business"
	"frontdesk/third_party/dejavu"

	"codeberg.org/go-pdf/fpdf"
)

// Dimensions of the document in millimetres; font sizes in points.
const (
	margin     = 18.0
	footer     = 16.0 // kept free at the bottom of each page
	lineHeight = 5.0
	small      = 8.0
	normal     = 9.5
)

// maxPages bounds a document. An invoice with ordinary lines, however many,
// fills about twenty.
const maxPages = 400

var errTooLong = errors.New("invoice: the document has too many pages")

// document places one sheet on pages. The texts are final by then.
type document struct {
	*sheet
	pdf     *fpdf.Fpdf
	from    *business.Letterhead
	locale  *locale.Format
	width   float64 // between the margins
	bottom  float64 // where the footer starts
	pages   int     // the total, once counted
	columns []float64
	inTable bool
}

// Render writes an invoice as a PDF: the same bytes for the same invoice. It takes some
// milliseconds, so it must not run in a transaction.
func Render(v *Invoice, from *business.Letterhead) ([]byte, error) {
	f := locale.New(from.Locale, from.Timezone)
	return render(v.sheet(from, f), from, f)
}

// RenderCreditNote writes a credit note of an invoice as a PDF, like RenderInvoice.
func RenderCreditNote(n *CreditNote, v *Invoice, from *business.Letterhead) ([]byte, error) {
	f := locale.New(from.Locale, from.Timezone)
	return render(n.sheet(v, f), from, f)
}

// render draws a document, usually twice: the footer of each page shows the number of pages,
// which only the first drawing tells.
func render(s *sheet, from *business.Letterhead, f *locale.Format) ([]byte, error) {
	pages := 0
	for {
		d := &document{sheet: s, from: from, locale: f, pages: pages}
		d.draw()
		if err := d.pdf.Error(); err != nil {
			return nil, fmt.Errorf("invoice: pdf: %w", err)
		}
		if n := d.pdf.PageCount(); n != pages {
			pages = n
			continue
		}
		var out bytes.Buffer
		if err := d.pdf.Output(&out); err != nil {
			return nil, fmt.Errorf("invoice: pdf: %w", err)
		}
		return out.Bytes(), nil
	}
}

// paper is the paper size that printers in the business's country use.
func (d *document) paper() string {
	switch d.locale.Region() {
	case "US", "CA", "MX", "PH", "CO", "CL", "VE", "GT", "CR", "DO", "PR":
		return "Letter"
	}
	return "A4"
}

// draw places all parts, from top to bottom. The dates of the file are those of the invoice,
// so that the bytes do not depend on when it is drawn.
func (d *document) draw() {
	p := fpdf.New("P", "mm", d.paper(), "")
	d.pdf = p
	p.AddUTF8FontFromBytes("sans", "", dejavu.Sans())
	p.AddUTF8FontFromBytes("sans", "B", dejavu.SansBold())
	p.SetCatalogSort(true)
	p.SetCreationDate(d.at.Std())
	p.SetModificationDate(d.at.Std())
	p.SetProducer("Frontdesk", true)
	p.SetTitle(d.title, true)
	p.SetAuthor(printable(d.from.Name), true)
	p.SetMargins(margin, margin, margin)
	p.SetCellMargin(0)
	p.SetAutoPageBreak(false, 0)
	w, h := p.GetPageSize()
	d.width, d.bottom = w-2*margin, h-footer-4
	d.columns = d.columnWidths()
	p.SetHeaderFunc(d.header)
	p.SetFooterFunc(d.footer)
	p.AddPage()
	d.head()
	d.parties()
	d.table()
	d.totals()
	for _, p := range d.paragraphs {
		d.prose(p)
	}
}

func (d *document) font(style string, size float64) { d.pdf.SetFont("sans", style, size) }

// ink sets the color of text: dark for content, gray for labels.
func (d *document) ink(dark bool) {
	if dark {
		d.pdf.SetTextColor(28, 32, 38)
	} else {
		d.pdf.SetTextColor(104, 112, 122)
	}
}

// header is called at the start of each page. It draws the mark of a draft or void invoice
// across it, below everything else.
func (d *document) header() {
	word := d.mark
	if word == "" {
		return
	}
	w, h := d.pdf.GetPageSize()
	d.font("B", 110)
	d.pdf.SetTextColor(238, 238, 241)
	d.pdf.TransformBegin()
	d.pdf.TransformRotate(45, w/2, h/2)
	d.pdf.Text(w/2-d.pdf.GetStringWidth(word)/2, h/2+14, word)
	d.pdf.TransformEnd()
}

// footer is called at the end of each page: title, business, and the page number.
func (d *document) footer() {
	_, h := d.pdf.GetPageSize()
	d.font("", 7.5)
	d.ink(false)
	d.pdf.SetDrawColor(214, 218, 224)
	d.pdf.Line(margin, h-footer, margin+d.width, h-footer)
	d.pdf.SetXY(margin, h-footer+2)
	d.pdf.CellFormat(d.width*0.75, 5, d.fit(d.title+" · "+d.from.Name, d.width*0.75), "", 0, "L", false, 0, "")
	d.pdf.CellFormat(d.width*0.25, 5, fmt.Sprintf("Page %d of %d", d.pdf.PageNo(), d.pages), "", 0, "R", false, 0, "")
}

// fit cuts text that is too wide for its place, and ends it with an ellipsis.
func (d *document) fit(text string, width float64) string {
	text = strings.ReplaceAll(printable(text), "\n", " ")
	if d.pdf.GetStringWidth(text) <= width-2 {
		return visual(text)
	}
	runes := []rune(text)
	for len(runes) > 0 && d.pdf.GetStringWidth(string(runes)+"…") > width-2 {
		runes = runes[:len(runes)-1]
	}
	return visual(strings.TrimSpace(string(runes)) + "…")
}

// wrap breaks text into lines of the given width, splitting words that are too
// long.
func (d *document) wrap(text string, width float64) []string {
	var out []string
	for _, paragraph := range strings.Split(strings.TrimSpace(printable(text)), "\n") {
		line := ""
		for _, word := range strings.FieldsFunc(paragraph, func(r rune) bool { return r == ' ' }) {
			joined := strings.TrimPrefix(line+" "+word, " ")
			if d.pdf.GetStringWidth(joined) <= width {
				line = joined
				continue
			}
			if line != "" {
				out = append(out, visual(line))
			}
			parts := d.splitWord(word, width)
			for _, part := range parts[:len(parts)-1] {
				out = append(out, visual(part))
			}
			line = parts[len(parts)-1]
		}
		out = append(out, visual(line))
	}
	return out
}

// splitWord cuts a word into parts no wider than a line.
func (d *document) splitWord(word string, width float64) (parts []string) {
	part, wide := []rune(nil), 0.0
	for _, r := range word {
		w := d.pdf.GetStringWidth(string(r))
		if wide+w > width && len(part) > 0 {
			parts, part, wide = append(parts, string(part)), nil, 0
		}
		part, wide = append(part, r), wide+w
	}
	return append(parts, string(part))
}

// lines writes lines of text one below the other.
func (d *document) lines(x, width, height float64, align string, lines []string) {
	for _, l := range lines {
		d.ensureSpace(height)
		d.pdf.SetX(x)
		d.pdf.CellFormat(width, height, l, "", 2, align, false, 0, "")
	}
}

// ensureSpace starts a new page unless there is room for the height. The new page has the same
// font and color, and in a table its head again.
func (d *document) ensureSpace(height float64) {
	if d.pdf.GetY()+height <= d.bottom {
		return
	}
	if d.pdf.PageCount() >= maxPages {
		d.pdf.SetError(errTooLong) // nothing is drawn after this
		return
	}
	size, style := d.size()
	r, g, b := d.pdf.GetTextColor()
	d.pdf.AddPage()
	d.pdf.SetY(margin)
	if d.inTable {
		d.tableHead()
	}
	d.font(style, size)
	d.pdf.SetTextColor(r, g, b)
}

// size is the current font size in points, and the style.
func (d *document) size() (float64, string) {
	points, _ := d.pdf.GetFontSize()
	return points, d.pdf.GetFontStyle()
}
