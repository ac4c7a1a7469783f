package notification

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// mentioned finds the members whom a text names with @: by their whole name or the first word of it, whatever the case.
// The longest name that fits is meant, so that @Anna is not Ann. A first name that two members share means both:
// telling one too many is better than telling the wrong one. An @ within a word, as in a mail address, names nobody.
func mentioned(text string, members []account.Colleague) []id.ID {
	text = db.FoldText(text)
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = db.FoldText(strings.TrimSpace(m.Name))
	}
	found := make([]bool, len(members))
	for i, most := 0, maxMentions; i < len(text) && most > 0; i++ {
		if text[i] == '@' && !continuesWord(text[:i]) {
			most--
			markMeant(text[i+1:], names, found)
		}
	}
	var out []id.ID
	for i, m := range members {
		if found[i] {
			out = append(out, m.ID)
		}
	}
	return out
}

// maxMentions bounds how often a text is compared with all names.
const maxMentions = 100

// markMeant marks those whose name is at the beginning of a text.
func markMeant(text string, names []string, found []bool) {
	longest := 0
	var meant []int
	for i, name := range names {
		n := fitsName(text, name)
		if n > longest {
			longest, meant = n, nil
		}
		if n > 0 && n == longest {
			meant = append(meant, i)
		}
	}
	for _, i := range meant {
		found[i] = true
	}
}

// fitsName is how many bytes at the beginning of a text are the name or its first word; 0 for none.
func fitsName(text, name string) int {
	first, _, _ := strings.Cut(name, " ")
	for _, s := range []string{name, first} {
		if s != "" && strings.HasPrefix(text, s) && endsName(s, text[len(s):]) {
			return len(s)
		}
	}
	return 0
}

// continuesWord reports whether a text ends in a word, so that an @ behind it is part of an address.
func continuesWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return isWordRune(r) || strings.ContainsRune("._%+-@", r)
}

// endsName reports whether a name ends where the rest of a text begins: not within a longer word, an address or a
// hyphenated name. Scripts without spaces have no such end.
func endsName(name, rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(name)
	if unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar) {
		return true
	}
	r, size := utf8.DecodeRuneInString(rest)
	if isWordRune(r) || r == '@' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[size:])
	return !strings.ContainsRune(".-", r) || !isWordRune(next)
}

// isWordRune reports whether a rune is part of a word. The error of decoding an empty text is not.
func isWordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}
