package template_test

import (
	"strings"
	"testing"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/resource/template"
)

// What people write by hand becomes HTML only where it has marks, and never more than they wrote.
func TestMarkdownToHTML(t *testing.T) {
	for text, want := range map[string]string{
		"Dear **Ada**, _thank_ you.":      "<p>Dear <strong>Ada</strong>, <em>thank</em> you.</p>",
		"**One**\ntwo\n\nthree":           "<p><strong>One</strong><br>\ntwo</p>\n<p>three</p>",
		"We need\n- tea\n- milk":          "<p>We need</p>\n<ul>\n<li>tea</li>\n<li>milk</li>\n</ul>",
		"> You wrote\n\nYes.":             "<blockquote>\n<p>You wrote</p>\n</blockquote>\n<p>Yes.</p>",
		"[us](https://example.org/a?b=1)": `<p><a href="https://example.org/a?b=1">us</a></p>`,
		"**a** <b>b</b> <script>c</script>": "<p><strong>a</strong> &lt;b&gt;b&lt;/b&gt; " +
			"&lt;script&gt;c&lt;/script&gt;</p>",
		"[x](javascript:alert(1)) **b**":      `<p>x <strong>b</strong></p>`,
		"[x](data:text/html,a) **b**":         `<p>x <strong>b</strong></p>`,
		"[x](vbscript:a) **b**":               `<p>x <strong>b</strong></p>`,
		"[x](/relative) **b**":                `<p>x <strong>b</strong></p>`,
		"![me](https://example.org/p.png)":    `<p><a href="https://example.org/p.png">me</a></p>`,
		"![x](javascript:alert(1))":           `<p>x</p>`,
		"**b**\n\nAda\n--\nEngines":           "<p><strong>b</strong></p>\n<p>Ada<br>\n--<br>\nEngines</p>",
		"**b**\n\n    indented":               "<p><strong>b</strong></p>\n<pre><code>indented\n</code></pre>",
		"[a]: https://x.example\n\n[a] **b**": "<p>[a]: https://x.example</p>\n<p>[a] <strong>b</strong></p>",
	} {
		got, formatted := template.MarkdownToHTML(text)
		if got != want || !formatted {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"", "Dear Ada,\n\nthank you.\n\nGrace", "2 * 3 * 4 = 24", "snake_case_name",
		"Grace <grace@example.com>", "Ada\n-- \nEngines", "<b>not bold</b>", "[thing]",
		"a  b\n    c", "See https://x.example",
		strings.Repeat("*a **a ", 70_000), strings.Repeat("> ", 1000) + "x"} {
		if got, formatted := template.MarkdownToHTML(text); formatted {
			t.Errorf("%.60q is formatted: %.200q", text, got)
		}
	}
}

func TestAttackWrittenMarkdown(t *testing.T) {
	cputest.CheckShapes(t, markdownShapes, func(t testing.TB, text string) {
		if got, _ := template.MarkdownToHTML(text[:min(len(text), 500_000)]); strings.Contains(got, "<script") ||
			strings.Contains(got, "<img") {
			t.Errorf("%.200s", got)
		}
	})
}
