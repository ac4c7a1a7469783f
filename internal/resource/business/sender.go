package business

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/cut"
)

// MaxSenderName bounds the name of a sender, in characters.
const MaxSenderName = 100

// IsHiddenRune reports whether a character is not visible, or changes the direction of others:
// with these a name could be made to look like another one. The joiners U+200C and U+200D are
// part of how some languages are written.
func IsHiddenRune(r rune) bool {
	return r != '\u200c' && r != '\u200d' && !unicode.IsPrint(r)
}

// SenderName is a business's name as it may stand beside a sender's address; nil if nothing is
// left of it. Characters that could make it look like an address are replaced.
func SenderName(s string) *string {
	s = strings.ReplaceAll(s, "@", " at ")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '<' || r == '>':
			return ' '
		case IsHiddenRune(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(cut.Runes(strings.Join(strings.Fields(s), " "), MaxSenderName))
	if s == "" {
		return nil
	}
	return &s
}
