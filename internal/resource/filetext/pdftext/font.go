package pdftext

import (
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
)

// font turns the codes of a string into characters, and knows how wide they are.
type font struct {
	chars  *charMap // nil if there is none
	wide   bool     // codes have two bytes
	utf16  bool     // codes are UTF-16
	simple [256]string
	widths map[uint32]float64 // in thousandths of the font's size
	width  float64            // of all others
}

// loadFont reads the font that a resource names.
func (d *document) loadFont(v any) *font {
	r, isRef := v.(ref)
	if f := d.fonts[int(r)]; isRef && f != nil {
		return f
	}
	f := &font{widths: map[uint32]float64{}, width: 500}
	if isRef {
		d.fonts[int(r)] = f
	}
	meta := d.dict(v)
	if s, ok := d.get(meta["ToUnicode"]).(*stream); ok {
		f.chars = d.readCharMap(s)
	}
	if meta["Subtype"] == name("Type0") {
		f.readComposite(d, meta)
		return f
	}
	f.readEncoding(d, meta)
	first := d.number(meta["FirstChar"], 0)
	for i, w := range d.array(meta["Widths"]) {
		if code := first + float64(i); code >= 0 && code < 256 {
			f.widths[uint32(code)] = d.number(w, 500)
		}
	}
	return f
}

// readComposite reads a font whose codes have two bytes (9.7).
func (f *font) readComposite(d *document, meta dict) {
	f.wide = true
	if n, ok := d.get(meta["Encoding"]).(name); ok {
		f.utf16 = strings.Contains(string(n), "UCS2") || strings.Contains(string(n), "UTF16")
	}
	if f.chars != nil && !f.chars.wide && len(f.chars.single)+len(f.chars.ranges) > 0 &&
		d.get(meta["Encoding"]) != name("Identity-H") {
		f.wide = false
	}
	below := d.array(meta["DescendantFonts"])
	if len(below) == 0 {
		return
	}
	descendant := d.dict(below[0])
	f.width = d.number(descendant["DW"], 1000)
	w := d.array(descendant["W"])
	for i := 0; i+1 < len(w); {
		first := d.number(w[i], -1)
		if list := d.array(w[i+1]); list != nil {
			for n, width := range list {
				d.setWidth(f, first+float64(n), d.number(width, f.width))
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		for c, last := first, d.number(w[i+1], -1); c <= last && c < 1<<16; c++ {
			d.setWidth(f, c, d.number(w[i+2], f.width))
		}
		i += 3
	}
}

func (d *document) setWidth(f *font, code, width float64) {
	if code >= 0 && code < 1<<16 {
		d.budget.keep(1)
		f.widths[uint32(code)] = width
	}
}

// readEncoding fills in which character each byte is: the encoding of Windows unless the font says Mac, and what the
// font changes of it.
func (f *font) readEncoding(d *document, meta dict) {
	table := charmap.Windows1252
	encoding := d.get(meta["Encoding"])
	changes := d.dict(encoding)
	if encoding == name("MacRomanEncoding") || changes["BaseEncoding"] == name("MacRomanEncoding") {
		table = charmap.Macintosh
	}
	for i := range f.simple {
		if r := table.DecodeByte(byte(i)); i >= ' ' && r != '\uFFFD' {
			f.simple[i] = string(r)
		}
	}
	at := 0
	for _, v := range d.array(changes["Differences"]) {
		switch v := d.get(v).(type) {
		case float64:
			at = int(min(max(v, 0), 256))
		case name:
			if at < 256 {
				f.simple[at] = glyph(string(v))
			}
			at++
		}
	}
}

// glyphs are the characters by the names of their glyphs.
var glyphs = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for i, n := range asciiNames {
		out[n] = string(rune(' ' + i))
	}
	for i, n := range glyphNames {
		if _, known := out[n]; !known && n != "." {
			out[n] = string(charmap.Windows1252.DecodeByte(byte(128 + i)))
		}
	}
	for n, s := range otherNames {
		out[n] = s
	}
	return out
})

// glyph is the character of a glyph: by its name, by a number in it (uni20AC, u1F600), or a letter that is its own
// name. Other names, such as g12, say nothing.
func glyph(n string) string {
	n, _, _ = strings.Cut(n, ".")
	if s, ok := glyphs()[n]; ok {
		return s
	}
	if len(n) == 1 {
		return n
	}
	digits, ok := strings.CutPrefix(n, "uni")
	if !ok || len(digits) != 4 {
		if digits, ok = strings.CutPrefix(n, "u"); !ok || len(digits) < 4 || len(digits) > 6 {
			return ""
		}
	}
	if c, err := strconv.ParseUint(digits, 16, 32); err == nil {
		return string(rune(c))
	}
	return ""
}

// each calls show for each character of a string, with its width.
func (f *font) each(s text, show func(chars string, width float64, space bool)) {
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i+step <= len(s); i += step {
		c := codeOf(s[i : i+step])
		width, ok := f.widths[c.value]
		if !ok {
			width = f.width
		}
		show(f.chars1(c), width, step == 1 && c.value == ' ')
	}
}

// chars1 is what one code stands for, or empty if the font does not say.
func (f *font) chars1(c code) string {
	if f.chars != nil {
		if s, ok := f.chars.lookUp(c); ok {
			return s
		}
	}
	switch {
	case f.utf16:
		return string(rune(c.value))
	case f.wide:
		return ""
	}
	return f.simple[c.value&0xff]
}
