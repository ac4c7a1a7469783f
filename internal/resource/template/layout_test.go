package template_test

import (
	"strings"
	"testing"

	"frontdesk/internal/kernel/placeholder"
	"frontdesk/internal/resource/template"
)

func TestLayout(t *testing.T) {
	values, err := placeholder.LookupInJSON([]byte(`{"invoice": {"number": "INV-1", "total": "10 €"},
		"business": {"name": "B"}}`))
	if err != nil {
		t.Fatal(err)
	}
	made, err := template.DefaultContent(template.Invoice).Render(values)
	if err != nil || made.Own {
		t.Fatal(made, err)
	}
	l := &template.Layout{
		Business: `Ada & "Sons" <x>`,
		Address:  "12 St James's Square\nLondon",
		Locale:   "en-GB",
		Logo:     "logo",
		Accent:   "#006e5a",
		Button:   &template.Button{Label: "See <it>", URL: "https://example.com/i?a=1&b=2"},
	}
	got, err := l.HTML("Invoice <1>", made.HTML)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`src="cid:logo"`, `Ada &amp; &#34;Sons&#34; &lt;x&gt;`, `Square<br>London`,
		`See &lt;it&gt;`, `href="https://example.com/i?a=1&amp;b=2"`, `<title>Invoice &lt;1&gt;</title>`, `width="600"`,
		`max-width:600px`, `prefers-color-scheme: dark`, `<strong>INV-1</strong>`, `<td style="padding`,
		`lang="en-GB"`, `bgcolor="#006e5a"`, `background-color:#006e5a`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, never := range []string{"<script", "<link", "@import", "url(", "http://", "ZgotmplZ", "Unsubscribe", "{{"} {
		if strings.Contains(got, never) {
			t.Errorf("it has %s", never)
		}
	}
	if strings.Count(got, "https://") != 1 {
		t.Error("something but the button leads outside")
	}
	text := l.Text(made.Text)
	if !strings.HasSuffix(text, "\n\nSee <it>: https://example.com/i?a=1&b=2\n\n-- \n"+
		"Ada & \"Sons\" <x>\n12 St James's Square\nLondon\n") || !strings.HasPrefix(text, "Hello there,") {
		t.Errorf("text %q", text)
	}
	plain := &template.Layout{Business: "B", Unsubscribe: "https://example.com/u"}
	if got, err = plain.HTML("x", `<p style="color:red">x</p><b>y`); err != nil ||
		!strings.Contains(got, `<p style="color:red">x</p>`) || !strings.Contains(got, ">Unsubscribe</a>") ||
		strings.Contains(got, "cid:") {
		t.Errorf("%s, %v", got, err)
	}
	if got := plain.Text("x"); got != "x\n\n-- \nB\n\nUnsubscribe: https://example.com/u\n" {
		t.Errorf("text %q", got)
	}
	bad := &template.Layout{Business: "B", Button: &template.Button{Label: "x", URL: "javascript:x()"}}
	if got, _ := bad.HTML("x", "x"); bad.Button.IsValid() || strings.Contains(got, "javascript:") {
		t.Error("a button runs a script")
	}
}
