// Package pdftext reads the text of a PDF, as far as it has any: scanned pages have
// none. It is made for files of strangers. Whatever a file says about itself is
// not believed, and reading one takes a bounded amount of work and memory, which
// is counted (budget); no file makes it wait or panic.
//
// Start reading at Read. It looks for all objects of the file from the beginning
// to the end (document.go), because tables of contents are often wrong and
// sometimes malicious. Then it walks through the pages and carries out what their
// contents say about text (content.go), with the fonts that tell which characters
// the codes stand for (font.go, charmap.go). parser.go reads the syntax of PDF (ISO 32000-1,
// section 7).
//
// Nothing is drawn, and no other program is started.
package pdftext

import (
	"errors"
	"fmt"
	"strings"
)

// Why a file could not be read.
var (
	ErrProtected = errors.New("the PDF is encrypted")
	ErrTooMuch   = errors.New("the PDF takes too much work to read")
	ErrNoText    = errors.New("the PDF has no text that can be read; it may be a scan, a picture of text")
	ErrDamaged   = errors.New("the file is not a PDF, or is damaged")
)

// Bounds of what one file may cost. A contract of a thousand pages stays far below all of them.
const (
	maxWork     = 192 << 20 // bytes that are inflated or parsed, all together
	maxInflated = 32 << 20  // bytes of one stream
	maxValues   = 2_000_000 // values of all objects together, which stay in memory
	maxOperands = 200_000   // values of one statement in the content of a page
	maxText     = 5_000_000 // bytes of text
	maxDepth    = 24        // of arrays, dictionaries, pages and forms in each other
	maxPages    = 10_000

	tokenWork = 12    // what a value costs besides its length
	formWork  = 5_000 // what a form costs besides its content
)

// budget counts what reading a file costs.
type budget struct{ work, values int }

// errBudget is the panic that ends the reading of a file once the budget is spent; Read recovers it.
type errBudget struct{}

func (b *budget) spend(work int) {
	if b.work -= work; b.work < 0 {
		panic(errBudget{})
	}
}

func (b *budget) keep(values int) {
	if b.values -= values; b.values < 0 {
		panic(errBudget{})
	}
}

// Read returns the text of a PDF: the pages one after another, with an empty line
// between them, in the order in which the file writes them.
func Read(data []byte) (text string, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case errBudget:
			text, err = "", ErrTooMuch
		default: // a mistake here must not cost more than this one file
			text, err = "", fmt.Errorf("%w: %v", ErrDamaged, v)
		}
	}()
	d := &document{data: data, objects: map[int]any{}, fonts: map[int]*font{},
		budget: budget{work: maxWork, values: maxValues}}
	d.findObjects()
	if d.encrypted {
		return "", ErrProtected
	}
	pages := d.listPages()
	if len(pages) == 0 {
		return "", ErrDamaged
	}
	var out strings.Builder
	for _, p := range pages {
		w := &textWriter{}
		d.runContent(w, d.pageContent(p), p.resources, 0)
		if s := w.finish(); s != "" {
			if out.Len() > 0 {
				out.WriteString("\n\n")
			}
			out.WriteString(s)
		}
		if out.Len() > maxText {
			return "", ErrTooMuch
		}
	}
	if out.Len() == 0 {
		return "", ErrNoText
	}
	return out.String(), nil
}
