package invoice

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"frontdesk/third_party/dejavu"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// boldFont is the bold font, parsed once.
var boldFont = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(dejavu.SansBold()) })

// toPrintable turns text into what the fonts can show: letters composed, tabs and control
// characters as spaces, and a box where there is no glyph. It checks the bold font, because
// every glyph of the bold font is also in the regular one.
func toPrintable(s string) string {
	f, err := boldFont()
	if err != nil {
		panic(err) // the font is part of the program
	}
	var b sfnt.Buffer
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\u202f': // x/text groups digits with this
			return '\u00a0'
		case r == '\ufeff', r == '\u00ad', unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		}
		// The PDF library supports only the first Unicode plane.
		if glyph, err := f.GlyphIndex(&b, r); r > 0xffff || err != nil || glyph == 0 {
			return '□'
		}
		return r
	}, norm.NFC.String(strings.ReplaceAll(s, "\r\n", "\n")))
}

// toVisualOrder puts the letters of one line into drawing order, because the PDF library draws from
// left to right: Hebrew and Arabic are reversed. Arabic letters are not joined.
func toVisualOrder(line string) string {
	if strings.IndexFunc(line, isRightToLeft) < 0 {
		return line
	}
	var p bidi.Paragraph
	if _, err := p.SetString(line); err != nil {
		return line
	}
	order, err := p.Order()
	if err != nil {
		return line
	}
	var runs []string // in reading order
	for i := range order.NumRuns() {
		run := order.Run(i)
		text := run.String()
		if run.Direction() == bidi.RightToLeft {
			text = bidi.ReverseString(text)
		}
		runs = append(runs, text)
	}
	if first := strings.IndexFunc(line, hasDirection); isRightToLeft([]rune(line[first:])[0]) {
		slices.Reverse(runs)
	}
	return strings.Join(runs, "")
}

// hasDirection reports whether a letter has a direction of its own, unlike digits and punctuation.
// The first such letter decides about the line.
func hasDirection(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.L || isRightToLeft(r)
}

func isRightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}
