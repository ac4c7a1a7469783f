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
	margin       = 18.0
	footerHeight = 16.0 // kept free at the bottom of each page
	lineHeight   = 5.0
	fontSmall    = 8.0
	fontNormal   = 9.5
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
	width   float64    // between the margins
	bottom  float64    // where the footer starts
	pages   int        // the total, once counted
	part    sheetTable // the table that is being drawn
	columns []float64
	inTable bool
}

// RenderInvoice writes an invoice as a PDF: the same bytes for the same invoice. It takes some
// milliseconds, so it must not run in a transaction.
func RenderInvoice(v *Invoice, from *business.Letterhead) ([]byte, error) {
	f := locale.New(from.Locale, from.Timezone)
	return renderSheet(v.buildSheet(from, f), from, f)
}

// RenderCreditNote writes a credit note of an invoice as a PDF, like RenderInvoice.
func RenderCreditNote(n *CreditNote, v *Invoice, from *business.Letterhead) ([]byte, error) {
	f := locale.New(from.Locale, from.Timezone)
	return renderSheet(n.buildSheet(v, f), from, f)
}

// renderSheet draws a document, usually twice: the footer of each page shows the number of pages,
// which only the first drawing tells.
func renderSheet(s *sheet, from *business.Letterhead, f *locale.Format) ([]byte, error) {
	pages := 0
	for {
		d := &document{sheet: s, from: from, locale: f, pages: pages}
		d.drawDocument()
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

// paperSize is the paper size that printers in the business's country use.
func (d *document) paperSize() string {
	switch d.locale.RegionCode() {
	case "US", "CA", "MX", "PH", "CO", "CL", "VE", "GT", "CR", "DO", "PR":
		return "Letter"
	}
	return "A4"
}

// drawDocument places all parts, from top to bottom. The dates of the file are those of the invoice,
// so that the bytes do not depend on when it is drawn.
func (d *document) drawDocument() {
	p := fpdf.New("P", "mm", d.paperSize(), "")
	d.pdf = p
	p.AddUTF8FontFromBytes("sans", "", dejavu.Sans())
	p.AddUTF8FontFromBytes("sans", "B", dejavu.SansBold())
	p.SetCatalogSort(true)
	p.SetCreationDate(d.date.Std())
	p.SetModificationDate(d.date.Std())
	p.SetProducer("Frontdesk", true)
	p.SetTitle(d.title, true)
	p.SetAuthor(toPrintable(d.from.Name), true)
	p.SetMargins(margin, margin, margin)
	p.SetCellMargin(0)
	p.SetAutoPageBreak(false, 0)
	w, h := p.GetPageSize()
	d.width, d.bottom = w-2*margin, h-footerHeight-4
	p.SetHeaderFunc(d.drawWatermark)
	p.SetFooterFunc(d.drawFooter)
	p.AddPage()
	d.drawLetterhead()
	d.drawParties()
	d.drawTables()
	for _, p := range d.paragraphs {
		d.drawParagraph(p)
	}
}

func (d *document) setFont(style string, size float64) { d.pdf.SetFont("sans", style, size) }

// setInk sets the color of text: dark for content, gray for labels.
func (d *document) setInk(dark bool) {
	if dark {
		d.pdf.SetTextColor(28, 32, 38)
	} else {
		d.pdf.SetTextColor(104, 112, 122)
	}
}

// drawWatermark is called at the start of each page. It draws the mark of a draft or void invoice
// across it, below everything else.
func (d *document) drawWatermark() {
	word := d.watermark
	if word == "" {
		return
	}
	w, h := d.pdf.GetPageSize()
	d.setFont("B", 110)
	d.pdf.SetTextColor(238, 238, 241)
	d.pdf.TransformBegin()
	d.pdf.TransformRotate(45, w/2, h/2)
	d.pdf.Text(w/2-d.pdf.GetStringWidth(word)/2, h/2+14, word)
	d.pdf.TransformEnd()
}

// drawFooter is called at the end of each page: title, business, and the page number.
func (d *document) drawFooter() {
	_, h := d.pdf.GetPageSize()
	d.setFont("", 7.5)
	d.setInk(false)
	d.pdf.SetDrawColor(214, 218, 224)
	d.pdf.Line(margin, h-footerHeight, margin+d.width, h-footerHeight)
	d.pdf.SetXY(margin, h-footerHeight+2)
	d.pdf.CellFormat(d.width*0.75, 5, d.fitToWidth(d.title+" · "+d.from.Name, d.width*0.75), "", 0, "L", false, 0, "")
	d.pdf.CellFormat(d.width*0.25, 5, fmt.Sprintf("Page %d of %d", d.pdf.PageNo(), d.pages), "", 0, "R", false, 0, "")
}

// fitToWidth cuts text that is too wide for its place, and ends it with an ellipsis.
func (d *document) fitToWidth(text string, width float64) string {
	text = strings.ReplaceAll(toPrintable(text), "\n", " ")
	if d.pdf.GetStringWidth(text) <= width-2 {
		return toVisualOrder(text)
	}
	runes := []rune(text)
	for len(runes) > 0 && d.pdf.GetStringWidth(string(runes)+"…") > width-2 {
		runes = runes[:len(runes)-1]
	}
	return toVisualOrder(strings.TrimSpace(string(runes)) + "…")
}

// wrapText breaks text into lines of the given width, splitting words that are too
// long.
func (d *document) wrapText(text string, width float64) []string {
	var out []string
	for _, paragraph := range strings.Split(strings.TrimSpace(toPrintable(text)), "\n") {
		line := ""
		for _, word := range strings.FieldsFunc(paragraph, func(r rune) bool { return r == ' ' }) {
			joined := strings.TrimPrefix(line+" "+word, " ")
			if d.pdf.GetStringWidth(joined) <= width {
				line = joined
				continue
			}
			if line != "" {
				out = append(out, toVisualOrder(line))
			}
			parts := d.splitWord(word, width)
			for _, part := range parts[:len(parts)-1] {
				out = append(out, toVisualOrder(part))
			}
			line = parts[len(parts)-1]
		}
		out = append(out, toVisualOrder(line))
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

// drawLines writes lines of text one below the other.
func (d *document) drawLines(x, width, height float64, align string, lines []string) {
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
	size, style := d.currentFont()
	r, g, b := d.pdf.GetTextColor()
	d.pdf.AddPage()
	d.pdf.SetY(margin)
	if d.inTable {
		d.drawTableHead()
	}
	d.setFont(style, size)
	d.pdf.SetTextColor(r, g, b)
}

// currentFont is the current font size in points, and the style.
func (d *document) currentFont() (float64, string) {
	points, _ := d.pdf.GetFontSize()
	return points, d.pdf.GetFontStyle()
}
