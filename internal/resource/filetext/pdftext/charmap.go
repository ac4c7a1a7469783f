package pdftext

import (
	"sort"
	"strings"
	"unicode/utf16"
)

// charMap says which characters the codes of a font stand for (9.10.3), and how many bytes a code has.
type charMap struct {
	single map[code]string
	ranges []codeRange // sorted by from
	wide   bool        // codes have two bytes; otherwise one
}

// code is a code of a font with its length in bytes.
type code struct {
	value  uint32
	length int
}

// codeRange maps codes from one to another to characters that follow each other.
type codeRange struct {
	from, to uint32
	length   int
	first    []uint16 // the characters of from, in UTF-16
}

func codeOf(s text) code {
	c := code{length: len(s)}
	for i := range min(len(s), 4) {
		c.value = c.value<<8 | uint32(s[i])
	}
	return c
}

func unitsOf(s text) []uint16 {
	var out []uint16
	for i := 0; i+1 < len(s) && len(out) < 32; i += 2 {
		out = append(out, uint16(s[i])<<8|uint16(s[i+1]))
	}
	if len(s) == 1 {
		out = append(out, uint16(s[0]))
	}
	return out
}

// readCharMap reads the program that a font's ToUnicode is. Only its tables matter.
func (d *document) readCharMap(s *stream) *charMap {
	m := &charMap{single: map[code]string{}}
	p := d.parse(d.decode(s))
	var operands array
	for {
		p.values = 0
		v, ok := p.next(0)
		if !ok {
			break
		}
		op, isWord := v.(word)
		if !isWord {
			if len(operands) < maxOperands {
				operands = append(operands, v)
			}
			continue
		}
		switch op {
		case "endcodespacerange":
			for _, v := range operands {
				if t, ok := v.(text); ok && len(t) >= 2 {
					m.wide = true
				}
			}
		case "endbfchar":
			for i := 0; i+1 < len(operands); i += 2 {
				from, ok1 := operands[i].(text)
				to, ok2 := operands[i+1].(text)
				if ok1 && ok2 {
					d.budget.keep(1)
					m.single[codeOf(from)] = string(utf16.Decode(unitsOf(to)))
				}
			}
		case "endbfrange":
			m.addRanges(d, operands)
		}
		operands = operands[:0]
	}
	sort.SliceStable(m.ranges, func(i, j int) bool { return m.ranges[i].from < m.ranges[j].from })
	return m
}

func (m *charMap) addRanges(d *document, operands array) {
	for i := 0; i+2 < len(operands); i += 3 {
		from, ok1 := operands[i].(text)
		to, ok2 := operands[i+1].(text)
		if !ok1 || !ok2 {
			continue
		}
		first, last := codeOf(from), codeOf(to)
		switch target := operands[i+2].(type) {
		case text:
			if units := unitsOf(target); len(units) > 0 {
				d.budget.keep(1)
				m.ranges = append(m.ranges, codeRange{first.value, last.value, first.length, units})
			}
		case array:
			for n, v := range target {
				if t, ok := v.(text); ok {
					d.budget.keep(1)
					m.single[code{first.value + uint32(n), first.length}] = string(utf16.Decode(unitsOf(t)))
				}
			}
		}
	}
}

// lookUp is what a code stands for. Ranges do not overlap in files that were made properly; in others any of them
// counts.
func (m *charMap) lookUp(c code) (string, bool) {
	if s, ok := m.single[c]; ok {
		return s, true
	}
	at := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].from > c.value }) - 1
	if at < 0 {
		return "", false
	}
	r := m.ranges[at]
	if c.value > r.to || c.length != r.length {
		return "", false
	}
	units := append([]uint16{}, r.first...)
	units[len(units)-1] += uint16(c.value - r.from)
	return string(utf16.Decode(units)), true
}

// glyphNames are the names of the characters above 127 in the encoding of Windows, in its order; most fonts name their
// glyphs like this. A point stands for a code without a character.
var glyphNames = strings.Fields(`Euro . quotesinglbase florin quotedblbase ellipsis dagger daggerdbl circumflex
perthousand Scaron guilsinglleft OE . Zcaron . . quoteleft quoteright quotedblleft quotedblright bullet endash emdash
tilde trademark scaron guilsinglright oe . zcaron Ydieresis nbspace exclamdown cent sterling currency yen brokenbar
section dieresis copyright ordfeminine guillemotleft logicalnot hyphen registered macron degree plusminus twosuperior
threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine guillemotright onequarter onehalf
threequarters questiondown Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex
Edieresis Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash
Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls agrave aacute acircumflex atilde adieresis aring ae
ccedilla egrave eacute ecircumflex edieresis igrave iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex
otilde odieresis divide oslash ugrave uacute ucircumflex udieresis yacute thorn ydieresis`)

// asciiNames are the names of the characters from 32 on that are neither letters nor written as themselves.
var asciiNames = strings.Fields(`space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft
parenright asterisk plus comma hyphen period slash zero one two three four five six seven eight nine colon semicolon
less equal greater question at`)

// otherNames are names beyond the two lists.
var otherNames = map[string]string{"bracketleft": "[", "backslash": `\`, "bracketright": "]", "asciicircum": "^",
	"underscore": "_", "grave": "`", "braceleft": "{", "bar": "|", "braceright": "}", "asciitilde": "~", "fi": "fi",
	"fl": "fl", "ff": "ff", "ffi": "ffi", "ffl": "ffl", "minus": "−", "dotlessi": "ı", "fraction": "⁄",
	"Lslash": "Ł", "lslash": "ł", "aogonek": "ą", "eogonek": "ę", "cacute": "ć", "nacute": "ń", "sacute": "ś",
	"zacute": "ź", "zdotaccent": "ż", "ccaron": "č", "rcaron": "ř", "ecaron": "ě"}
