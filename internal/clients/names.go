package clients

import (
	"strings"
	"unicode"
)

// splitWords splits a name of the API: phoneNumbers, phone_numbers and phone-numbers become phone,
// numbers.
func splitWords(name string) (out []string) {
	word := ""
	flush := func() {
		if word != "" {
			out = append(out, strings.ToLower(word))
		}
		word = ""
	}
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			flush()
			continue
		case unicode.IsUpper(r):
			flush()
		}
		word += string(r)
	}
	flush()
	return out
}

func snakeCase(name string) string { return strings.Join(splitWords(name), "_") }

// KebabCase is how the shell spells a name: phone-numbers.
func KebabCase(name string) string { return strings.Join(splitWords(name), "-") }

func camelCase(name string) string {
	p := []rune(pascalCase(name))
	p[0] = unicode.ToLower(p[0])
	return string(p)
}

func pascalCase(name string) (out string) {
	for _, w := range splitWords(name) {
		out += strings.ToUpper(w[:1]) + w[1:]
	}
	return out
}

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]string{"id": "ID", "ids": "IDs", "url": "URL", "dns": "DNS", "pdf": "PDF", "html": "HTML",
	"sha256": "SHA256", "spf": "SPF", "dkim": "DKIM", "dmarc": "DMARC", "ttl": "TTL", "iban": "IBAN", "bic": "BIC",
	"api": "API", "csv": "CSV"}

// goExportedName is an exported Go name: ContactID.
func goExportedName(name string) (out string) {
	for _, w := range splitWords(name) {
		if s := initialisms[w]; s != "" {
			out += s
			continue
		}
		out += strings.ToUpper(w[:1]) + w[1:]
	}
	return out
}

// goParameterName is a Go parameter: contactID.
func goParameterName(name string) string {
	w := splitWords(name)
	return w[0] + goExportedName(strings.Join(w[1:], "_"))
}

// pythonKeywords are the keywords of Python that occur as names in the API.
var pythonKeywords = map[string]bool{"from": true, "import": true, "class": true, "global": true, "in": true,
	"is":  true,
	"not": true, "or": true, "and": true, "pass": true, "return": true, "def": true, "with": true, "as": true}

// pythonName is a name in snake_case. The runtime turns it back into the API's name, so a name
// for which that fails panics here.
func pythonName(name string) string {
	s := snakeCase(name)
	if camelCase(s) != name && s != name {
		panic("clients: " + name + " does not come back from " + s)
	}
	if pythonKeywords[s] {
		return s + "_"
	}
	return s
}

// toSentence makes a sentence of the remark about a field.
func toSentence(doc string) string {
	if doc == "" {
		return ""
	}
	doc = strings.ToUpper(doc[:1]) + doc[1:]
	if !strings.HasSuffix(doc, ".") {
		doc += "."
	}
	return doc
}

// wrapText breaks text into lines of at most width characters.
func wrapText(text string, width int) (lines []string) {
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && len(line)+1+len(w) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
