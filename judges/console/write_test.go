package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A member writes a mail with keys alone: marks, what "/" puts in, and a look at how its reader will see it.
func TestWriting(t *testing.T) {
	service := serve(t)
	s, key := begin(t, service)
	business := data(t, "GET", service.URL+"/v1/me", key, "")["business"].(map[string]any)["id"].(string)
	data(t, "POST", service.URL+"/v1/businesses/"+business+"/offerings", key,
		`{"name": "Maintenance", "priceCents": 9000, "unit": "hour"}`)
	data(t, "POST", service.URL+"/v1/email-templates", key,
		`{"name": "Thanks", "subject": "Thank you", "body": "Thank you for {{ thing }}."}`)
	text := func() string { return eval[string](s, `document.getElementById("reply").value`) }
	ctrl := func(letter string) {
		s.do(chromedp.KeyEvent(letter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	}

	s.visit(service.URL + "/settings/mail")
	s.inspect("mail-signature")
	s.fill("text", "Grace Hopper")
	s.press("form.form button")
	s.visit(service.URL + "/inbox/new?to=ada@example.org")
	s.fill("subject", "Hello")
	s.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("reply").focus()`),
		chromedp.Evaluate[chromedp.Void](`document.getElementById("reply").setSelectionRange(0, 0)`))
	s.keys("Dear Ada")
	s.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("reply").setSelectionRange(5, 8)`))
	ctrl("b")
	s.until("bold", `document.getElementById("reply").value.startsWith("Dear **Ada**")`)
	ctrl("b") // and back
	s.until("not bold", `document.getElementById("reply").value.startsWith("Dear Ada")`)
	ctrl("i")
	s.until("italic", `document.getElementById("reply").value.startsWith("Dear _Ada_")`)
	ctrl("k") // not the search
	s.until("a link", `document.getElementById("reply").value.startsWith("Dear _[Ada](https://)_")`)
	s.keys("https://example.org")
	if got := text(); !strings.HasPrefix(got, "Dear _[Ada](https://example.org)_") ||
		!strings.HasSuffix(got, "\n\nGrace Hopper") {
		t.Errorf("%q", got)
	}

	// What "/" puts in: not inside a word, not after Escape.
	s.do(chromedp.Evaluate[chromedp.Void](`{ const b = document.getElementById("reply");
		b.selectionStart = b.selectionEnd = b.value.indexOf("\n\nGrace") }`))
	s.keys("\nand/or /main")
	s.until("an offering", `document.querySelector("#puts [aria-selected=true]")?.textContent.includes("Maintenance")`)
	s.inspect("mail-insert")
	s.until("who reads aloud is told", `document.getElementById("reply").getAttribute("aria-activedescendant") ===
		document.querySelector("#puts [aria-selected=true]").id`)
	s.keys(kb.Escape)
	s.until("closed", `!document.getElementById("puts") && document.activeElement.id === "reply"`)
	s.keys(kb.Backspace)
	s.keys(kb.Backspace + kb.Backspace + kb.Backspace + kb.Backspace + "/main")
	s.until("again", `!!document.getElementById("puts")`)
	s.keys(kb.Enter)
	s.until("its price", `document.getElementById("reply").value.includes("and/or Maintenance: $90.00 per hour")`)
	s.keys(" /thanks")
	s.until("a template", `document.querySelector("#puts [aria-selected=true]")?.textContent.includes("Thanks")`)
	s.keys(kb.Enter)
	s.until("its text", `document.getElementById("reply").value.includes("Thank you for [thing].")`)
	s.shows("Still to fill in:")
	s.keys("tea") // the mark is selected
	s.until("filled in", `document.getElementById("reply").value.includes("Thank you for tea.")`)

	// The buttons do the same, and the preview shows it.
	s.do(chromedp.Click(chromedp.CSS(`[data-mark="list"]`)))
	s.until("a list", `/^- .*Thank you for tea/m.test(document.getElementById("reply").value)`)
	s.do(chromedp.Click(chromedp.CSS("[data-preview]")))
	s.until("the preview", `document.querySelector("iframe[name=preview]").contentWindow !== null`)
	s.inspect("mail-preview")
	s.fill("bcc", "eve@example.org")
	before := text()
	s.visit(service.URL + "/inbox/new?to=ada@example.org") // and back: nothing is lost
	s.until("the text", `document.getElementById("reply").value !== ""`)
	s.shows("is back.")
	if got := text(); got != before {
		t.Errorf("%q, before %q", got, before)
	}
	s.until("the hidden copy", `document.querySelector("[name=bcc]").value === "eve@example.org"`)
	s.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("reply").focus()`),
		chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	s.shows("Sent.")
}
