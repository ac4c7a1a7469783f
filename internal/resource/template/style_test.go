package template_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/placeholder"
	"frontdesk/internal/resource/template"
)

// Styles that mail uses stay, and nothing else does.
func TestStyles(t *testing.T) {
	for style, want := range map[string]string{
		"color: red": "color: red", "COLOR:#FF0000;": "color: #FF0000", "color: rgb(1, 2, 3)": "color: rgb(1, 2, 3)",
		"background-color: rgba(0,0,0,.5)":           "background-color: rgba(0,0,0,.5)",
		"font-family: 'Segoe UI', Arial, sans-serif": `font-family: &#39;Segoe UI&#39;, Arial, sans-serif`,
		"font-family: \u5b8b\u4f53, serif":           "font-family: \u5b8b\u4f53, serif",
		"font-size:12px;line-height:1.5":             "font-size: 12px; line-height: 1.5",
		"border:1px solid #ccc":                      "border: 1px solid #ccc", "border-top: none": "border-top: none",
		"border: 0":                      "border: 0",
		"margin:0 auto;padding: 1em  2%": "margin: 0 auto; padding: 1em 2%", "margin-left: -4px": "margin-left: -4px",
		"text-decoration: underline dotted red": "text-decoration: underline dotted red",
		"width:100% !important":                 "width: 100%",
		"display:inline-block":                  "display: inline-block",

		"position: fixed":                        "",
		"color: red; position: fixed":            "color: red",
		"color: expression(alert(1))":            "",
		"color: url(https://example.com/x)":      "",
		"background-color: url(javascript:x)":    "",
		`color: r\65 d`:                          "",
		"color: red /* x */":                     "",
		"font-family: 'a;color:red'":             "",
		"font-family: x\"":                       "",
		"border: " + strings.Repeat("solid ", 4): "",
		"width: 1e9px":                           "",
		"width: calc(1px)":                       "",
		"@import 'x'":                            "",
		"color":                                  "",
		"color: red</p><script>":                 "",
		strings.Repeat("color: red; ", 400):      "",
	} {
		want = strings.TrimSuffix(`<p style="`+want+`">x</p>`, "")
		if strings.HasPrefix(want, `<p style="">`) {
			want = "<p>x</p>"
		}
		escaped := strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(style)
		if got := clean(t, `<p style="`+escaped+`">x</p>`).HTML; got != want {
			t.Errorf("%.60q: %s, want %s", style, got, want)
		}
	}
}

// The style cleaner and the policy behind it see the same tags.
func TestStylesBetweenTags(t *testing.T) {
	for text, want := range map[string]string{
		`<<!-- -->p style="position: fixed">x`:                 `&lt;p style=&#34;position: fixed&#34;&gt;x`,
		`<p style="color: red" style="position: fixed">x`:      `<p style="color: red">x`,
		`<p a="<p style='position: fixed'>">x`:                 `<p>x`,
		`<textarea><p style="position: fixed"></textarea><p>x`: `<p>x`,
		`<p/style="position: fixed">x`:                         `<p>x`,
		`<p STYLE='position: fixed'>x`:                         `<p>x`,
		"<p style=\"color: red\x00; position: fixed\">x":       `<p>x`,
		`<p style="color: &#114;ed; &#112;osition: fixed">x`:   `<p style="color: red">x`,
		`<p ` + names(200) + `style="color:red">x`:             `<p>x`,
	} {
		if got := clean(t, text).HTML; got != want {
			t.Errorf("%.60s: %s, want %s", text, got, want)
		}
	}
}

// names are attributes with distinct names.
func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d ", i)
	}
	return b.String()
}

// check asserts what holds for everything that was cleaned.
func check(t *testing.T, out *template.Rendered) {
	low := strings.ToLower(out.HTML)
	for _, tag := range elements(low) {
		for _, bad := range []string{"<script", "<style", "<form", "<iframe", "<svg", "<textarea", ` onclick="`,
			` onerror="`,
			`="javascript:`, "position: ", "url("} {
			if strings.HasPrefix(bad, "<") && strings.HasPrefix(tag, bad) || strings.HasPrefix(bad, " on") &&
				strings.Contains(tag, bad) ||
				strings.Contains(tag, ` style="`) && strings.Contains(tag[strings.Index(tag, ` style="`):], bad) &&
					bad != "position: " {
				t.Errorf("%s in %q", bad, out.HTML)
			}
		}
	}
}

func seeds(f *testing.F, shapes []cputest.Shape) {
	for _, s := range shapes {
		f.Add(s.Text(200))
	}
}

func FuzzClean(f *testing.F) {
	seeds(f, htmlShapes)
	f.Fuzz(func(t *testing.T, text string) {
		cputest.CheckWithin(t, len(text), func() {
			if out, err := template.CleanHTML(text); err == nil {
				check(t, out)
				if again, err := template.CleanHTML(out.HTML); err == nil && again.HTML != out.HTML &&
					!strings.Contains(text, "\x00") {
					check(t, again)
				}
			}
		})
	})
}

func FuzzStyle(f *testing.F) {
	for _, s := range []string{"border: inherit inherit inherit inherit x", "color: red; position: fixed",
		`font-family: 'a;b', "c"`, "color: r\\65 d", "/*;*/color:red", "margin: 1px 2px 3px 4px", "color: rgb(1,2,3)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, style string) {
		text := `<p style="` + strings.ReplaceAll(style, `"`, "&quot;") + `">x</p>`
		cputest.CheckWithin(t, len(text), func() {
			out := clean(t, text)
			check(t, out)
			if again := clean(t, out.HTML); again.HTML != out.HTML {
				t.Errorf("%q, then %q", out.HTML, again.HTML)
			}
		})
	})
}

func FuzzMarkdown(f *testing.F) {
	seeds(f, markdownShapes)
	f.Fuzz(func(t *testing.T, text string) {
		c := template.Content{Subject: "s", Body: text, BodyFormat: "markdown"}
		cputest.CheckWithin(t, len(text), func() {
			if template.Taken(c) != nil {
				return
			}
			if out, err := c.Render(placeholder.LookupIn(map[string]any{"v": "<b onclick=x>*"})); err == nil {
				check(t, out)
			}
		})
	})
}
