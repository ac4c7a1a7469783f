// Package cut shortens text, and never inside a character. Whoever limits what is stored counts
// characters or bytes, as the column does; whoever shows it to people lets them see that there is more.
package cut

import (
	"unicode"
	"unicode/utf8"
)

// Runes is the first n characters of a text.
func Runes(s string, n int) string {
	if len(s) <= n { // then it cannot have more characters
		return s
	}
	for at := range s {
		if n == 0 {
			return s[:at]
		}
		n--
	}
	return s
}

// Ellipsis is the first n characters of a text, and an ellipsis if it has more.
func Ellipsis(s string, n int) string {
	if short := Runes(s, n); len(short) < len(s) {
		return short + "…"
	}
	return s
}

// maxMarks bounds how many marks after a letter Graphemes looks at.
const maxMarks = 16

// Graphemes is the first n characters of a text, or a few fewer where a letter with its accents, or an emoji that is
// made of several characters, would be torn apart.
func Graphemes(s string, n int) string {
	short := Runes(s, n)
	for end, tries := len(short), maxMarks; end > 0 && end < len(s) && tries > 0; tries-- {
		before, size := utf8.DecodeLastRuneInString(s[:end])
		after, _ := utf8.DecodeRuneInString(s[end:])
		if before != joiner && !continues(after) {
			return s[:end]
		}
		end -= size
	}
	return short
}

const joiner = '\u200d' // makes one emoji of two

// continues reports whether a character belongs to the one before it.
func continues(r rune) bool {
	return r == joiner || unicode.Is(unicode.M, r) || r >= 0x1f3fb && r <= 0x1f3ff // the colours of skin
}

// Bytes is as much of a text as fits into n bytes.
func Bytes[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
