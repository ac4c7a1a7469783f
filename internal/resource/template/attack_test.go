package template_test

import (
	"errors"
	"strings"
	"testing"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/placeholder"
	"frontdesk/internal/resource/template"
)

func clean(t testing.TB, text string) *template.Rendered {
	t.Helper()
	out, err := template.CleanHTML(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A mail of 265 bytes once kept a processor busy for good: the words of a
// border were tried in every order.
func TestAttackStyles(t *testing.T) {
	for _, property := range []string{"border", "border-top", "border-color", "text-decoration", "font-family",
		"margin",
		"padding", "border-radius", "color", "display"} {
		for _, words := range []int{8, 60} {
			text := `<p style="` + property + `: ` + strings.Repeat("inherit ", words) + `x,">hello</p>`
			cputest.CheckWithin(t, len(text), func() {
				if out := clean(t, text); out.HTML != "<p>hello</p>" {
					t.Errorf("%s: %s", property, out.HTML)
				}
			})
		}
	}
}

// Shapes of HTML that make parsers slow.
var htmlShapes = []cputest.Shape{
	{Name: "words in a border", Before: `<p style="border: `, Open: "inherit ", After: `x">`},
	{Name: "words in decorations", Open: `<p style="text-decoration: ` + strings.Repeat("inherit ", 12) + `x">`},
	{Name: "declarations", Before: `<p style="`, Open: "color:red;", After: `">`},
	{Name: "styles", Open: `<p style="color:red">`},
	{Name: "long styles", Open: `<p style="font-family: ` + strings.Repeat("a,", 1900) + `">`},
	{Name: "escapes in a style", Before: `<p style="color: `, Open: `\72 `, After: `">`},
	{Name: "quotes in a style", Before: `<p style='`, Open: `"`, After: `'>`},
	{Name: "comments in a style", Before: `<p style="`, Open: "/*", After: `">`},
	{Name: "nested tags", Open: "<div>", Close: "</div>"},
	{Name: "open tags", Open: "<b>"},
	{Name: "nested lists", Open: "<ul><li>", Close: "</ul>"},
	{Name: "nested quotes", Open: "<blockquote>a", Close: "</blockquote>"},
	{Name: "nested tables", Open: "<table><tr><td>", Close: "</table>"},
	{Name: "nested links", Open: `<a href="https://example.com">x`, Close: "</a>"},
	{Name: "unknown tags", Open: "<x>", Close: "</x>"},
	{Name: "tags without attributes", Open: "<a>", Close: "</a>"},
	{Name: "spans", Open: "<span>", Close: "</span>"},
	{Name: "skipped elements", Open: "<title>", Close: "</title>"},
	{Name: "skipped selects", Open: "<select>", Close: "</select>"},
	{Name: "attributes", Before: "<p ", Open: `a="b" `, After: ">"},
	{Name: "bare attributes", Before: "<p", Open: ` a`, After: ">"},
	{Name: "styles in one tag", Before: "<p", Open: ` style="color:red"`, After: ">"},
	{Name: "links in one tag", Before: "<a", Open: ` href="https://example.com"`, After: ">x"},
	{Name: "a long attribute", Before: `<p title="`, Open: "x ", After: `">`},
	{Name: "a long address", Before: `<a href="https://example.com/`, Open: "%41", After: `">x</a>`},
	{Name: "a long scheme", Before: `<a href="`, Open: "a", After: `:x">x</a>`},
	{Name: "a long tag", Before: "<", Open: "p", After: ">"},
	{Name: "a long name of an attribute", Before: "<p data-", Open: "data-", After: ">"},
	{Name: "angles", Open: "<"},
	{Name: "tags that never end", Open: "<p "},
	{Name: "quotes that never end", Open: `<p a="`},
	{Name: "ends of tags", Open: "</"},
	{Name: "comments", Open: "<!--"},
	{Name: "ends of comments", Before: "<!--", Open: "--!"},
	{Name: "declarations of types", Open: "<!"},
	{Name: "instructions", Open: "<?"},
	{Name: "sections", Open: "<![CDATA["},
	{Name: "scripts", Before: "<script>", Open: "<!--<script>"},
	{Name: "raw text", Before: "<textarea>", Open: "</textarea"},
	{Name: "raw script", Before: "<script>", Open: "</scrip"},
	{Name: "plain text", Before: "<plaintext>", Open: "<b>"},
	{Name: "entities", Open: "&amp;"},
	{Name: "half entities", Open: "&"},
	{Name: "numbers of characters", Open: "&#x"},
	{Name: "long entities", Open: "&CounterClockwiseContourIntegra"},
	{Name: "zeros", Open: "\x00"},
	{Name: "spaces", Open: " \n"},
	{Name: "words", Open: "word "},
	{Name: "breaks", Open: "<br>"},
	{Name: "rules", Open: "<hr>"},
	{Name: "cells", Before: "<table><tr>", Open: "<td>"},
	{Name: "pictures", Open: `<img alt="x y" src="https://example.com/x">`},
	{Name: "lines of code", Before: "<pre>", Open: "\n"},
	{Name: "code in code", Open: "<pre>\n", Close: "</pre>"},
	{Name: "spaces in an address", Before: `<a href="`, Open: " ", After: `x">x</a>`},
	{Name: "numbers of a list", Before: `<ol start="`, Open: "9", After: `"><li>x`},
}

func TestAttackHTML(t *testing.T) {
	cputest.CheckShapes(t, htmlShapes, func(t testing.TB, text string) {
		if _, err := template.CleanHTML(text); err != nil && !errors.Is(err, template.ErrIntricate) {
			t.Error(err)
		}
	})
}

// Shapes of Markdown that make parsers slow.
var markdownShapes = []cputest.Shape{
	{Name: "quotes", Open: "> "},
	{Name: "quotes in lines", Open: "> > > > > > > > > > x\n"},
	{Name: "lists", Open: "- "},
	{Name: "nested lists", Open: "- a\n  - b\n    - c\n      - d\n"},
	{Name: "brackets", Open: "["},
	{Name: "closed brackets", Open: "[", Close: "]"},
	{Name: "links", Open: "[a](b"},
	{Name: "links in angles", Open: "[a](<b"},
	{Name: "links with titles", Open: `[a](b "c`},
	{Name: "pictures", Open: "![["},
	{Name: "stars", Open: "*"},
	{Name: "emphasis", Open: "*a **a "},
	{Name: "closed emphasis", Open: "*a_", Close: "_a*"},
	{Name: "underlines", Open: "_a __a "},
	{Name: "ticks", Open: "`"},
	{Name: "growing ticks", Before: "`a``a```a````a`````a``````a", Open: "`a``a```a"},
	{Name: "fences", Open: "```\n"},
	{Name: "tildes", Open: "~"},
	{Name: "definitions", Open: "[a]: b\n"},
	{Name: "definitions apart", Open: "[a]: b\n\n"},
	{Name: "uses of a definition", Before: "[a]: /" + strings.Repeat("x", 300) + "\n\n", Open: "[a]\n\n"},
	{Name: "uses of a long definition", Before: "[a]: /" + strings.Repeat("x", 9_000) + "\n\n", Open: "[a]\n\n"},
	{Name: "uses of a long title", Before: "[a]: / '" + strings.Repeat("x", 400_000) + "'\n\n", Open: "[a]\n\n"},
	{Name: "a growing definition", Before: "[a]: /" + strings.Repeat("x", 200) + "\n\n", Open: "[a]"},
	{Name: "tables", Before: strings.Repeat("|a", 100) + "\n" + strings.Repeat("|-", 100) + "\n",
		Open: "|\n"},
	{Name: "wide tables", Before: strings.Repeat("|a", 1200) + "\n" + strings.Repeat("|-", 1200) + "\n",
		Open: "a\n"},
	{Name: "many wide tables",
		Open: strings.Repeat("|a", 700) + "\n" + strings.Repeat("|-", 700) + "\n" + strings.Repeat("a\n", 1000) + "\n"},
	{Name: "columns", Open: "|a|b|\n|-|-|\n"},
	{Name: "backslashes", Open: `\`},
	{Name: "tags", Open: "<a"},
	{Name: "open tags", Open: "<b "},
	{Name: "comments", Open: "<!-- "},
	{Name: "instructions", Open: "<?"},
	{Name: "sections", Open: "<![CDATA["},
	{Name: "declarations", Open: "<!A "},
	{Name: "addresses", Open: "<a:"},
	{Name: "mail", Open: "<a@"},
	{Name: "entities", Open: "&"},
	{Name: "numbers", Open: "1. "},
	{Name: "numbered", Open: "1) a\n"},
	{Name: "headings", Open: "# "},
	{Name: "underlined", Open: "a\n-\n"},
	{Name: "underlined twice", Open: "a\n=\n"},
	{Name: "spaces", Open: "a     \n"},
	{Name: "tabs", Open: "\t"},
	{Name: "indents", Open: "    a\n\n"},
	{Name: "blank", Open: "\n"},
	{Name: "returns", Open: "\r"},
	{Name: "zeros", Open: "\x00"},
	{Name: "brackets in paragraphs", Open: "[a\n"},
	{Name: "quotes in lists", Open: "- > "},
	{Name: "lists apart", Open: "- a\n\n"},
	{Name: "lists in quotes", Open: ">- a\n"},
	{Name: "HTML blocks", Open: "<div>\n\n"},
	{Name: "placeholders", Open: "{{ v }}"},
	{Name: "parens", Before: "[a](", Open: "(", Close: ")", After: ")"},
	{Name: "emphasis of words", Open: "a*b_c"},
	{Name: "long indents", Before: "- a\n", Open: "  "},
}

// An accepted template renders within its bound; everything else is refused
// when it is written.
func TestAttackMarkdown(t *testing.T) {
	cputest.CheckShapes(t, markdownShapes, func(t testing.TB, text string) { renderTaken(t, "markdown", text) })
}

func TestAttackTemplateHTML(t *testing.T) {
	cputest.CheckShapes(t, htmlShapes, func(t testing.TB, text string) { renderTaken(t, "html", text) })
}

func renderTaken(t testing.TB, format, text string) {
	c := template.Content{Subject: "s", Body: text[:min(len(text), 500_000)], BodyFormat: format}
	if template.Taken(c) != nil {
		return
	}
	if out, err := c.Render(placeholder.LookupIn(map[string]any{"v": strings.Repeat("<b>*x*", 100)})); err == nil &&
		len(out.HTML) > 20<<20 {
		t.Errorf("%d bytes of HTML", len(out.HTML))
	}
}

// Attributes that all differ, in one tag and in many.
func TestAttackAttributes(t *testing.T) {
	for _, n := range cputest.Sizes {
		one := "<p " + names(n/7) + ">x"
		cputest.CheckWithin(t, n, func() { template.CleanHTML(one) }) //nolint:errcheck // refused or not
		after := "<p " + names(n/14) + ">" + strings.Repeat("<b a>", n/10)
		cputest.CheckWithin(t, n, func() { template.CleanHTML(after) }) //nolint:errcheck // as above
		many := strings.Repeat("<p "+names(min(90, n/7))+">", max(n/400, 1))
		cputest.CheckWithin(t, n, func() { template.CleanHTML(many) }) //nolint:errcheck // as above
	}
}

// What the tag budget refuses leaves nothing half clean.
func TestAttackTags(t *testing.T) {
	text := strings.Repeat("<i>", 500_001) + "<script>alert(1)</script>"
	cputest.CheckWithin(t, 1<<20, func() {
		if out, err := template.CleanHTML(text); !errors.Is(err, template.ErrIntricate) || out != nil {
			t.Errorf("%v, %v", out, err)
		}
	})
}
