// Package cut shortens text, and never inside a character. Whoever limits what is stored counts
// characters or bytes, as the column does; whoever shows it to people lets them see that there is more.
package cut

import "unicode/utf8"

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
