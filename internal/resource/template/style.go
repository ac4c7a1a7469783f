package template

import (
	"regexp"
	"strings"
	"sync"
)

// The bounds of one style attribute. Real programs write a few hundred bytes.
const (
	maxStyle        = 4000 // bytes
	maxDeclarations = 100
)

// Patterns for the parts of values. Go's regular expressions take linear time,
// so no value can keep them busy.
const (
	numberPattern       = `(?:[0-9]{1,6}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})`
	lengthPattern       = numberPattern + `(?:px|em|rem|ex|ch|pt|pc|in|cm|mm|vh|vw|%)?`
	signedLengthPattern = `[-+]?` + lengthPattern
	colorPattern        = `(?:#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([0-9., %]{1,40}\)|[a-z]{3,20})`
	borderPattern       = `(?:` + lengthPattern +
		`|thin|medium|thick|none|hidden|dotted|dashed|solid|double|groove|ridge|inset|outset|` +
		colorPattern + `)`
	fontNamePattern = `(?:[\p{L}_-][\p{L}\p{N} _-]*|"[\p{L}\p{N} ._-]+"|'[\p{L}\p{N} ._-]+')`
	globalKeywords  = `inherit|initial|unset`
)

// allowedStyles are the properties that a mail may set, with a pattern for their values.
var allowedStyles = sync.OnceValue(func() map[string]*regexp.Regexp {
	upTo := func(n, word string) string { return word + `(?: ` + word + `){0,` + n + `}` }
	out := map[string]*regexp.Regexp{}
	for names, values := range map[string]string{
		"color background-color": colorPattern,
		"border-color":           upTo("3", colorPattern),
		"font-family":            fontNamePattern + `(?: ?, ?` + fontNamePattern + `)*`,
		"font-size":              lengthPattern + `|(?:xx-|x-)?(?:small|large)|medium|smaller|larger`,
		"font-style":             `normal|italic|oblique`,
		"font-weight":            `normal|bold|bolder|lighter|[1-9][0-9]{0,3}`,
		"line-height":            `normal|` + lengthPattern,
		"letter-spacing":         `normal|` + signedLengthPattern,
		"text-align":             `left|right|center|justify|start|end`,
		"text-decoration": upTo("3", `(?:none|underline|overline|line-through|solid|double|dotted|dashed|wavy|`+
			colorPattern+`)`),
		"text-transform": `none|capitalize|uppercase|lowercase`,
		"vertical-align": `baseline|sub|super|top|text-top|middle|bottom|text-bottom|` + signedLengthPattern,
		"margin":         upTo("3", `(?:auto|`+signedLengthPattern+`)`),
		"padding":        upTo("3", lengthPattern),
		"margin-top margin-right margin-bottom margin-left":        `auto|` + signedLengthPattern,
		"padding-top padding-right padding-bottom padding-left":    lengthPattern,
		"border border-top border-right border-bottom border-left": upTo("2", borderPattern),
		"border-radius":   upTo("3", lengthPattern),
		"border-collapse": `collapse|separate`,
		"width height":    `auto|` + lengthPattern,
		"max-width":       `none|` + lengthPattern,
		"display": `none|block|inline|inline-block|list-item|table|inline-table|` +
			`table-(?:row|cell|caption|column|row-group|header-group|footer-group|column-group)`,
	} {
		match := regexp.MustCompile(`^(?i:` + globalKeywords + `|` + values + `)$`)
		for property := range strings.FieldsSeq(names) {
			out[property] = match
		}
	}
	return out
})

// cleanStyleAttribute keeps the declarations of a style attribute that a mail may
// contain, and none if it is too long. It splits at every semicolon, even inside
// quotes; both halves of such a value are then invalid and dropped.
func cleanStyleAttribute(text string) string {
	if len(text) > maxStyle {
		return ""
	}
	var kept []string
	for declaration := range strings.SplitSeq(text, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		property = strings.ToLower(strings.TrimSpace(property))
		value = strings.Join(strings.Fields(value), " ")
		if before, important := strings.CutSuffix(strings.ToLower(value), "!important"); important {
			value = strings.TrimSpace(value[:len(before)])
		}
		if match := allowedStyles()[property]; match != nil && match.MatchString(value) && len(kept) < maxDeclarations {
			kept = append(kept, property+": "+value)
		}
	}
	return strings.Join(kept, "; ")
}

// cleanStylePattern matches what cleanStyleAttribute returns. The policy drops anything else.
const cleanStylePattern = `^(?i:[\p{L}\p{N} #%.,:;'"+_-]|(?:rgb|hsl)a?\([0-9., %]*\))*$`
