package file

import (
	"net/http"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/fault"
)

const maxName = 255 // characters

// unnamed is what a file is called that came without a usable name.
const unnamed = "unnamed"

// CleanName is a name that a caller chose, without its path. Characters that
// cannot be seen are refused.
func CleanName(field, name string) (string, error) {
	if strings.ContainsFunc(name, unseen) {
		return "", fault.Field(field, "Control characters are not allowed in a file name")
	}
	name = base(name)
	if name == "" {
		return "", fault.Field(field, "Not a file name; write it like letter.pdf")
	}
	return name, nil
}

// SafeName makes a name out of whatever a program sent as one: without its
// path and what cannot be seen, and not too long.
func SafeName(name string) string {
	name = base(strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "")))
	if name == "" {
		return unnamed
	}
	if n := utf8.RuneCountInString(name); n > maxName {
		ending := []rune(path.Ext(name))
		if len(ending) > 20 {
			ending = nil
		}
		name = string([]rune(name)[:maxName-len(ending)]) + string(ending)
	}
	return name
}

// base is what follows the last slash of either kind.
func base(name string) string {
	name = strings.TrimSpace(name[strings.LastIndexAny(name, `/\`)+1:])
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// unseen reports control characters, and those that turn the direction of a
// text, which make one ending look like another.
func unseen(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// alike are types that look alike to a sniffer, by the name's ending. None of
// them is one that a browser runs.
var alike = map[string]map[string]string{
	"text/plain; charset=utf-8": {".csv": "text/csv; charset=utf-8", ".ics": "text/calendar; charset=utf-8", ".vcf": "text/vcard; charset=utf-8",
		".md": "text/markdown; charset=utf-8", ".json": "application/json"},
	"application/zip": {
		".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
		".odt":  "application/vnd.oasis.opendocument.text",
		".ods":  "application/vnd.oasis.opendocument.spreadsheet",
	},
}

// contentType tells what bytes are by their beginning; what a client says
// about them is not asked.
func contentType(head []byte, name string) string {
	return finer(http.DetectContentType(head), name)
}

func finer(t, name string) string {
	if f := alike[t][strings.ToLower(path.Ext(name))]; f != "" {
		return f
	}
	return t
}
