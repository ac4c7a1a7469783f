package business

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSender is how many characters of a name mail programs have room for.
const MaxSender = 100

// IsHidden reports whether a character shows nothing, or turns the direction of
// others. The joiners are part of how some languages are written.
func IsHidden(r rune) bool {
	return r != '\u200c' && r != '\u200d' && !unicode.IsPrint(r)
}

// SenderName is a business's name as the name of a sender, or nil.
func SenderName(s string) *string {
	s = strings.ReplaceAll(s, "@", " at ")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '<' || r == '>':
			return ' '
		case IsHidden(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > MaxSender {
		s = strings.TrimSpace(string(runes[:MaxSender]))
	}
	if s == "" {
		return nil
	}
	return &s
}
