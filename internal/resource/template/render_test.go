package template_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/placeholder"
	"frontdesk/internal/resource/template"
)

func render(t testing.TB, format, body, value string) *template.Rendered {
	t.Helper()
	out, err := template.Content{Subject: "s", Body: body,
		BodyFormat: format}.Render(placeholder.LookupIn(map[string]any{"v": value}))
	if err != nil {
		t.Fatalf("%.60q: %v", body, err)
	}
	return out
}

// Whatever a value says, wherever it appears, it is text: it makes no element,
// attribute, script or Markdown.
func TestValuesAreInert(t *testing.T) {
	values := []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><script>alert(1)</script>`,
		`' onmouseover='alert(1)`,
		`x onmouseover=alert(1) y=`,
		`javascript:alert(1)`, `JaVaScRiPt:alert(1)`, "java\tscript:alert(1)", "\x01javascript:alert(1)",
		`data:text/html,<script>alert(1)</script>`, `vbscript:x`,
		`&lt;script&gt;alert(1)&lt;/script&gt;`, `&#106;avascript:alert(1)`, `--><script>alert(1)</script>`,
		`</p></td></table><form action=https://evil.example>`,
		`**bold** [x](javascript:alert(1)) <https://evil.example>`, "# heading\n\n- item\n\n> quote\n\n```\ncode",
		`![x](https://evil.example/pixel)`, `[v]: https://evil.example`,
		`{{ v }}`, `url(javascript:alert(1))`, `expression(alert(1))`, "\u2028<script>", `<!--`, `<![CDATA[`,
		`</textarea><script>`,
	}
	places := map[string][]string{
		"markdown": {"{{ v }}", "**{{ v }}**", "[text]({{ v }})", "[{{ v }}](https://example.com)",
			"[text](https://example.com/{{ v }})", "![{{ v }}]({{ v }})", "<{{ v }}>", "`{{ v }}`",
			"# {{ v }}", "- {{ v }}", "> {{ v }}", "| a |\n|---|\n| {{ v }} |", "    {{ v }}", "```\n{{ v }}\n```",
			"[x][y]\n\n[y]: {{ v }}", "<b>{{ v }}</b>", `<a href="{{ v }}">x</a>`, "&{{ v }};", `\{{ v }}`},
		"html": {"<p>{{ v }}</p>", `<a href="{{ v }}">x</a>`, `<a href='{{ v }}'>x</a>`, `<a href={{ v }}>x</a>`,
			`<a {{ v }}>x</a>`, `<a {{ v }}="x">x</a>`, `<{{ v }}>x</{{ v }}>`,
			`<img src="{{ v }}" alt="{{ v }}">`, `<p style="color: {{ v }}">x</p>`, `<p style="{{ v }}">x</p>`,
			`<p onclick="{{ v }}">x</p>`, `<script>{{ v }}</script>`, `<style>{{ v }}</style>`,
			`<!-- {{ v }} -->`, `<textarea>{{ v }}</textarea>`, `<title>{{ v }}</title>`,
			`<iframe srcdoc="{{ v }}"></iframe>`,
			`<svg><a xlink:href="{{ v }}">x</a></svg>`, `<form action="{{ v }}"><input value="{{ v }}"></form>`,
			`<a href="java{{ v }}">x</a>`, `<b title="{{ v }}">x</b>`, `<p>{{ v }}`, `<a href="{{ v }}`},
	}
	for format, bodies := range places {
		for _, body := range bodies {
			neutral := elements(render(t, format, body, "https://example.com/x").HTML)
			for _, v := range values {
				out := render(t, format, body, v)
				low := strings.ToLower(out.HTML)
				for _, tag := range elements(low) {
					name := strings.Trim(strings.Fields(tag + " ")[0], "</>")
					if !strings.Contains(strings.ToLower(strings.Join(neutral, " ")), "<"+name) && name != "a" &&
						name != "img" ||
						strings.Contains(tag, `="javascript:`) || strings.Contains(tag, `="vbscript:`) ||
						strings.Contains(tag, `="data:`) || strings.Contains(tag, " on") &&
						!strings.Contains(tag, `="`) {
						t.Errorf("%s %q with %q: %s in %s", format, body, v, tag, out.HTML)
					}
				}
				for _, bad := range []string{"<script", "<form", "<iframe", "<svg", "<style", "<textarea", "onerror=\"",
					"onmouseover=\"", "onclick=\"", "href=\"javascript", "src=\"javascript"} {
					if strings.Contains(low, bad) {
						t.Errorf("%s %q with %q: %s in %s", format, body, v, bad, out.HTML)
					}
				}
				if n, m := len(elements(out.HTML)), len(neutral); n > m {
					t.Errorf("%s %q with %q: %d tags, and %d with a harmless value: %s", format, body, v, n, m,
						out.HTML)
				}
			}
		}
	}
}

// elements lists the tags of a text in which < always starts one.
func elements(text string) (tags []string) {
	for {
		_, rest, ok := strings.Cut(text, "<")
		if !ok {
			return tags
		}
		tag, after, _ := strings.Cut(rest, ">")
		tags, text = append(tags, "<"+tag+">"), after
	}
}

func TestRenderedHTML(t *testing.T) {
	for _, c := range []struct{ format, body, value, html string }{
		{"markdown", "Hello *{{ v }}*", "a*b_c", "<p>Hello <em>a*b_c</em></p>"},
		{"markdown", "[pay]({{ v }})", "https://example.com/?a=1&b=2",
			`<p><a href="https://example.com/?a=1&amp;b=2">pay</a></p>`},
		{"markdown", "[pay]({{ v }})", "javascript:alert(1)", "<p>pay</p>"},
		{"markdown", "[call](tel:+1) [mail](mailto:a@example.com)", "",
			`<p><a href="tel:+1">call</a> <a href="mailto:a@example.com">mail</a></p>`},
		{"markdown", "{{ v }}", "<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"},
		{"html", `<p style="color: red; position: fixed">{{ v }}</p><script>x</script>`, "x",
			`<p style="color: red">x</p>`},
		{"html", `<a href="/relative">{{ v }}</a>`, "x", "x"},
	} {
		if got := render(t, c.format, c.body, c.value).HTML; got != c.html {
			t.Errorf("%s %q with %q:\n%s\nwant\n%s", c.format, c.body, c.value, got, c.html)
		}
	}
}

func TestSubjectIsOneLine(t *testing.T) {
	out, err := template.Content{Subject: "A {{ v }} b", Body: "x",
		BodyFormat: "html"}.Render(placeholder.LookupIn(map[string]any{"v": "x\r\n\tBcc: " +
		"eve@example.com\x00\u2028y\x7f"}))
	if err != nil || out.Subject != "A x Bcc: eve@example.com y b" {
		t.Errorf("%q, %v", out.Subject, err)
	}
	if out, err := (template.Content{Subject: "A\u2028\u0085B", Body: "x",
		BodyFormat: "html"}).Render(placeholder.LookupIn(nil)); err != nil || out.Subject != "A B" {
		t.Errorf("%q, %v", out.Subject, err)
	}
	if _, err := (template.Content{Subject: "{{ v }}", Body: "x",
		BodyFormat: "html"}).Render(placeholder.LookupIn(map[string]any{"v": strings.Repeat("x", 1001)})); err == nil {
		t.Error("a subject of any length")
	}
}

func TestPlainText(t *testing.T) {
	for body, want := range map[string]string{
		"One\nline\n\nTwo  **bold**":                                "One line\n\nTwo bold",
		"# Title\n\ntext":                                           "Title\n\ntext",
		"- a\n- b\n  - c\n- d\n\nend":                               "- a\n- b\n  - c\n- d\n\nend",
		"3. a\n4. b":                                                "3. a\n4. b",
		"> quoted\n> more\n\nx":                                     "> quoted more\n\nx",
		"See [the page](https://example.com/a?b=1&c=2).":            "See the page (https://example.com/a?b=1&c=2).",
		"<https://example.com/a>":                                   "https://example.com/a",
		"[a@example.com](mailto:a@example.com)":                     "a@example.com",
		"![A picture](https://example.com/a.png)":                   "A picture",
		"a\n\n---\n\nb":                                             "a\n\n---\n\nb",
		"a  \nb":                                                    "a\nb",
		"```\nx  y\n  z\n```":                                       "x  y\n  z",
		"| a | b |\n|---|---|\n| 1 | 2 |":                           "a | b\n1 | 2",
		"5 &lt; 6 &amp; 7":                                          "5 < 6 & 7",
		"<div>a</div><div>b</div>":                                  "a\nb",
		strings.Repeat("> ", 20) + "deep":                           strings.Repeat("> ", 8) + "deep",
		"[![Logo](https://example.com/l.png)](https://example.com)": "Logo (https://example.com)",
	} {
		if got := render(t, "markdown", body, "").Text; got != want {
			t.Errorf("%q:\n%s\nwant\n%s", body, got, want)
		}
	}
}

// The longest accepted body renders in a moment, whatever it contains.
func TestRenderingIsQuick(t *testing.T) {
	long := func(unit string) string {
		paragraph := strings.Repeat(unit, 9_900/len(unit)) + "\n\n"
		return strings.Repeat(paragraph, 480_000/len(paragraph))
	}
	for _, c := range []struct{ format, body string }{
		{"markdown", long("word ")}, {"markdown", long("*a **a ")}, {"markdown", long("[")}, {"markdown", long("<b")},
		{"markdown", long("`")}, {"markdown", long("~")}, {"markdown", long("a@")},
		{"markdown", long("- a\n")}, {"markdown", long("|a|b|\n")}, {"markdown", long("<!--")},
		{"markdown", long("&#")},
		{"markdown", long("![a]")},
		// Plain text may be one paragraph.
		{"markdown", strings.Repeat("x", 500_000)}, {"markdown", strings.Repeat("- a\n", 125_000)},
		{"markdown", strings.Repeat("a\n-- ", 100_000)},
		{"markdown", strings.Repeat("[x]("+strings.Repeat("x", 5_000), 24)},
		{"html", strings.Repeat("<div>", 100_000)}, {"html", strings.Repeat("<ul><li>", 60_000)},
		{"html", strings.Repeat("<blockquote>a", 30_000)}, {"html", strings.Repeat("<", 500_000)},
		{"html", strings.Repeat("<a href=https://example.com>", 17_000)}, {"html", strings.Repeat("&", 500_000)},
		{"html", "<p " + strings.Repeat(`a="b" `, 80_000) + ">"},
		{"html", strings.Repeat("<p style='color:red'>", 20_000)},
	} {
		took := cputest.CPUTimeOf(t, func() { render(t, c.format, c.body, "") })
		if took > 5*time.Second {
			t.Errorf("%s %.30q took %s of CPU", c.format, c.body, took)
		} else if took > time.Second {
			t.Logf("%s %.30q took %s", c.format, c.body, took)
		}
	}
}

// Nested links, which nobody writes but somebody may send, are read once each.
func TestLinksInLinks(t *testing.T) {
	nested := strings.Repeat(`<a href="https://example.com">x`, 40_000) + strings.Repeat("</a>", 40_000)
	var out *template.Rendered
	if took := cputest.CPUTimeOf(t, func() { out = clean(t, nested) }); took > 5*time.Second {
		t.Errorf("it took %s of CPU", took)
	}
	if n := strings.Count(out.Text, "(https://example.com)"); n != 40_000 {
		t.Errorf("%d links are told", n)
	}
}

func ExampleContent_Render() {
	c := template.Content{Subject: "Hello {{ name }}", Body: "**{{ name }}**, [look]({{ url }})",
		BodyFormat: "markdown"}
	out, err := c.Render(placeholder.LookupIn(map[string]any{"name": "Ada <3", "url": "https://example.com"}))
	if err != nil {
		panic(err)
	}
	fmt.Println(out.Subject)
	fmt.Println(out.HTML)
	fmt.Println(out.Text)
	// Output:
	// Hello Ada <3
	// <p><strong>Ada &lt;3</strong>, <a href="https://example.com">look</a></p>
	// Ada <3, look (https://example.com)
}
