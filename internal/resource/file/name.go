package file

import (
	"net/http"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/fault"
)

const maxNameRunes = 255 // characters

// unnamed is the name of a file that came without a usable one.
const unnamed = "unnamed"

// CleanName is a name that a caller chose, without its path. It refuses
// invisible characters.
func CleanName(field, name string) (string, error) {
	if strings.ContainsFunc(name, isInvisible) {
		return "", fault.Field(field, "Control characters are not allowed in a file name")
	}
	name = baseName(name)
	if name == "" {
		return "", fault.Field(field, "Not a file name; write it like letter.pdf")
	}
	return name, nil
}

// SafeName turns whatever a program sent into a name: without its path or
// invisible characters, and not too long.
func SafeName(name string) string {
	name = baseName(strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "")))
	if name == "" {
		return unnamed
	}
	if n := utf8.RuneCountInString(name); n > maxNameRunes {
		ending := []rune(path.Ext(name))
		if len(ending) > 20 {
			ending = nil
		}
		name = string([]rune(name)[:maxNameRunes-len(ending)]) + string(ending)
	}
	return name
}

// baseName is the part after the last slash of either kind.
func baseName(name string) string {
	name = strings.TrimSpace(name[strings.LastIndexAny(name, `/\`)+1:])
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// isInvisible reports control characters, and those that change text direction,
// by which a name that ends in .exe can look as if it ended in .pdf.
func isInvisible(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// lookAlikes are types that cannot be told apart by their bytes. The extension
// decides between them, which is safe because browsers execute none of them.
var lookAlikes = map[string]map[string]string{
	"text/plain; charset=utf-8": {".csv": "text/csv; charset=utf-8", ".ics": "text/calendar; charset=utf-8",
		".vcf": "text/vcard; charset=utf-8",
		".md":  "text/markdown; charset=utf-8", ".json": "application/json"},
	"application/zip": {
		".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
		".odt":  "application/vnd.oasis.opendocument.text",
		".ods":  "application/vnd.oasis.opendocument.spreadsheet",
	},
}

// detectContentType detects the type from the first bytes. What a client says about
// it is ignored.
func detectContentType(head []byte, name string) string {
	return refineContentType(http.DetectContentType(head), name)
}

func refineContentType(t, name string) string {
	if f := lookAlikes[t][strings.ToLower(path.Ext(name))]; f != "" {
		return f
	}
	return t
}
