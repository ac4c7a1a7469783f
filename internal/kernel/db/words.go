package db

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// FoldText makes text comparable regardless of case and of how its letters are
// composed. Accents stay, because it decides whether two texts, such as email
// addresses, are the same. ASCII, which most text is, needs no tables.
func FoldText(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
		}
	}
	return strings.ToLower(s)
}

// Search texts and queries are folded further than FoldText goes, which compares
// addresses: accents do not count, nor do kinds of quotes and dashes.

// SearchText joins the words of a row, folded, one space before each, so that
// " ad" finds the beginning of a word. A nil part is left out.
func SearchText(parts ...*string) string {
	n := 0
	for _, p := range parts {
		if p != nil {
			n += len(*p) + 1
		}
	}
	b := make([]byte, 0, n)
	for _, p := range parts {
		if p != nil {
			b = appendWords(b, *p)
		}
	}
	return string(b)
}

// appendWords appends the folded words of s, one space before each. Folding text
// that is folded already changes nothing.
func appendWords(b []byte, s string) []byte {
	begin, between := len(b), true
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			// Not ASCII after all: begin again.
			return appendUnicodeWords(b[:begin], s)
		case isSeparator(rune(c)):
			between = true
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		if between {
			b = append(b, ' ')
			between = false
		}
		b = append(b, c)
	}
	return b
}

// appendUnicodeWords is appendWords for text beyond ASCII. NFKD takes letters and
// accents apart, so that the accents can be left out; NFC composes again what is
// more than a letter with an accent, like the syllables of Korean.
func appendUnicodeWords(b []byte, s string) []byte {
	s = norm.NFKD.String(cases.Fold().String(norm.NFKD.String(s)))
	var plain strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			plain.WriteRune(r)
		case !isIgnored(r):
			if as, ok := plainLetters[r]; ok {
				plain.WriteString(as)
			} else {
				plain.WriteRune(r)
			}
		}
	}
	between, marked := true, false
	for _, r := range norm.NFC.String(plain.String()) {
		if isSeparator(r) {
			between = true
			continue
		}
		if between {
			b = append(b, ' ')
			between, marked = false, false
		}
		cjk := isCJK(r)
		if cjk && !marked {
			b = utf8.AppendRune(b, cjkMark)
		}
		b = utf8.AppendRune(b, r)
		if marked = cjk; cjk {
			b = utf8.AppendRune(b, cjkMark)
		}
	}
	return b
}

// cjkMark stands before and after every Chinese, Japanese and Korean letter, where
// words have no spaces between them and two letters are a word. The search indexes
// know sequences of three characters: with the mark they find one letter (mark,
// letter, mark) and two (letter, mark, letter), anywhere. The character is a letter
// of Roman inscriptions, because PostgreSQL indexes only letters and digits. In
// what people write it is ignored.
const cjkMark = 'ꟷ'

// isCJK reports whether a character is written without spaces between words. The
// last one, the long-vowel mark of Japanese, belongs to no single script.
func isCJK(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo) || r == 'ー')
}

// isSeparator reports whether a character ends a word. Quotes do, so that a query
// may have them.
func isSeparator(r rune) bool { return r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) }

// isIgnored reports whether a character of decomposed text does not count: accents,
// the vowel points of Hebrew and Arabic, and what is invisible. The vowels of other
// scripts are marks too, as is the sound mark of a Japanese syllable; without these
// it would be another word, so they count.
func isIgnored(r rune) bool {
	if r == cjkMark || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
		return true
	}
	if !unicode.Is(unicode.Mn, r) {
		return false
	}
	// Unicode's combining classes: 10 to 36 are the points of Hebrew, Arabic and
	// Syriac, 200 and more the accents, by where they stand. Other marks change a word.
	class := norm.NFD.PropertiesString(string(r)).CCC()
	return class >= 10 && class <= 36 || class >= 200
}

// plainLetters are letters that do not decompose, as people without them on their
// keyboards write them, and the kinds of quotes and dashes.
var plainLetters = map[rune]string{
	'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ĸ': "k", 'ŋ': "n",
	'ŧ': "t", 'ƀ': "b", 'ɓ': "b", 'ƈ': "c", 'ȼ': "c", 'ɖ': "d", 'ɗ': "d", 'ɇ': "e", 'ƒ': "f", 'ǥ': "g", 'ɠ': "g",
	'ɨ': "i", 'ɉ': "j", 'ƙ': "k", 'ƚ': "l", 'ɲ': "n", 'ƞ': "n", 'ɵ': "o", 'ƥ': "p", 'ɍ': "r", 'ƭ': "t", 'ʉ': "u",
	'ʋ': "v", 'ƴ': "y", 'ɏ': "y", 'ƶ': "z", 'ȥ': "z",
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '′': "'", 'ʼ': "'", 'ʻ': "'",
	'“': `"`, '”': `"`, '„': `"`, '‟': `"`, '«': `"`, '»': `"`,
	'‹': `"`, '›': `"`, '「': `"`, '」': `"`, '『': `"`, '』': `"`,
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-",
}
