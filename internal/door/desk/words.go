package desk

import (
	"fmt"
	"mime"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Capital starts a text with a capital letter.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Count is a number of things: "1 contact", "3 contacts".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// JoinAnd joins words: "a, b and c".
func JoinAnd(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// WithArticle is a noun with its article.
func WithArticle(noun string) string {
	if noun != "" && strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// choiceWords are values of enums that read badly with spaces for underscores.
var choiceWords = map[string]string{"partially_paid": "partly paid", "opted_in": "yes", "opted_out": "no",
	"bank_transfer": "bank transfer", "check": "check", "multi_select": "several choices", "select": "one choice",
	"url": "web address", "boolean": "yes or no", "pending_verification": "not verified",
	"google_business": "Google Business", "facebook": "Facebook", "instagram": "Instagram", "linkedin": "LinkedIn",
	"youtube": "YouTube", "tiktok": "TikTok", "x": "X", "html": "HTML", "markdown": "Markdown"}

// choice is the word of an enum's value.
func choice(value string, own map[string]string) string {
	if w := own[value]; w != "" {
		return w
	}
	if w := choiceWords[value]; w != "" {
		return w
	}
	return strings.ReplaceAll(value, "_", " ")
}

// Size is a number of bytes as people say it.
func Size(bytes int64) string {
	switch {
	case bytes < 1000:
		return Count(int(bytes), "byte", "bytes")
	case bytes < 1000_000:
		return fmt.Sprintf("%d KB", (bytes+500)/1000)
	case bytes < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// disposition is a Content-Disposition with a file name in any script.
func disposition(kind, name string) string {
	return mime.FormatMediaType(kind, map[string]string{"filename": name})
}

// spaced writes a field's name as words: "jobTitle" is "job title".
func spaced(field string) string {
	var b strings.Builder
	for _, r := range field {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.TrimSuffix(strings.ReplaceAll(strings.TrimSpace(b.String()), "_", " "), " id")
}

// OptionText is the text of the option with a value.
func OptionText(options []Option, value string) string {
	for _, o := range options {
		if o.Value == value {
			return o.Text
		}
	}
	return value
}

// IndentJSON indents JSON. Any other text stays as it is.
func IndentJSON(text string) string {
	value := jsontext.Value(text)
	if err := value.Indent(jsontext.WithIndent("  ")); err != nil {
		return text
	}
	return string(value)
}

// TextOrNull is a text as an operation takes it: empty means none.
func TextOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
