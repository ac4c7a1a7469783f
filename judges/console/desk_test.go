package console_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// until waits for a condition on the page.
func (s *screen) until(what, condition string) {
	s.t.Helper()
	for range 1200 {
		if ok, err := chromedp.Run(s.ctx, chromedp.Evaluate[bool](condition)); err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	at, _ := chromedp.Run(s.ctx, chromedp.Location())
	s.t.Fatalf("%s: not at %s: %s", what, at, s.text())
}

// shows waits until the page shows a text.
func (s *screen) shows(text string) {
	s.t.Helper()
	s.until(text, fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

func (s *screen) keys(keys string) { s.t.Helper(); s.do(chromedp.KeyEvent(keys)) }

// A person works at the desk: with the pointer, with keys alone, and while others
// change things.
func TestDesk(t *testing.T) {
	service := serve(t)
	s := open(t)
	s.visit(service.Setup)
	s.fill("name", "Ada Lovelace", "email", "ada@example.com", "password", password, "organizationName", "Engines")
	s.press("form button")
	s.visit(service.URL + "/agreements")
	s.do(chromedp.Click(chromedp.CSS(`form[action="/agreements"] input[name="read"]`)))
	s.press(`form[action="/agreements"] button`)
	s.visit(service.URL + "/settings/keys/new?preset=all")
	s.fill("name", "Program")
	s.press(".save button")
	key := eval[string](s, `document.getElementById("secret").textContent.trim()`)

	nouns := []string{"contacts", "customers", "tasks", "invoices", "files", "domains", "templates", "opt-ins",
		"properties", "activity"}
	for _, noun := range nouns {
		s.visit(service.URL + "/" + noun)
		s.inspect("desk-empty-" + noun)
	}

	// A contact by keys alone: create, edit in place, tag, find with Ctrl-K.
	s.visit(service.URL + "/")
	s.keys("gc")
	s.shows("No contacts yet")
	s.keys("c")
	s.focused("firstName")
	s.keys("Grace" + kb.Tab + "Hopper" + kb.Tab + "grace@example.com" + kb.Enter)
	s.shows("Grace Hopper")
	s.inspect("desk-contact")
	s.do(chromedp.Click(chromedp.CSS(`a[href$="edit=jobTitle"]`)))
	s.focused("jobTitle")
	s.keys("Rear admiral" + kb.Enter)
	s.shows("Saved.")
	s.shows("Rear admiral")
	s.keys("z")
	s.shows("Undone.")
	s.until("the old value",
		`![...document.querySelectorAll(".facts")].some(f => f.innerText.includes("Rear admiral"))`)
	s.do(chromedp.Click(chromedp.CSS(`a[href$="edit=tags"]`)))
	s.focused("tags")
	s.inspect("desk-contact-editing")
	s.keys(kb.Escape)
	s.until("the form goes", `!document.querySelector("[name=tags]")`)
	s.do(chromedp.Click(chromedp.CSS(`a[href$="edit=tags"]`)))
	s.focused("tags")
	s.keys("navy, vip" + kb.Enter)
	s.shows("navy")
	s.visit(service.URL + "/")
	s.do(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true}))`))
	s.until("the palette", `document.activeElement.id === "palette-input"`)
	s.keys("hopp")
	s.until("a hit", `document.querySelector(".palette .hit")?.innerText.includes("Grace Hopper")`)
	s.inspect("desk-palette")
	s.keys(kb.Enter)
	s.until("the contact", `location.pathname.startsWith("/contacts/") && document.querySelector("h1").innerText ===
		"Grace Hopper"`)

	// Live: what a program adds appears by itself, what it renames changes.
	s.visit(service.URL + "/contacts")
	s.shows("Live")
	for range 50 { // the stream may begin a moment after the page
		data(t, "POST", service.URL+"/v1/contacts", key, `{"firstName": "From", "lastName": "Outside"}`)
		if ok, err := chromedp.Run(s.ctx, chromedp.Evaluate[bool](`new Promise(done => {
				let n = 0;
				const t = setInterval(() => {
					const seen = document.body.innerText.includes("From Outside");
					if (seen || n++ > 20) { clearInterval(t); done(seen); }
				}, 100);
			})`, chromedp.EvalAwaitPromise)); err == nil && ok {
			break
		}
	}
	s.has("From Outside")

	// Many rows at once, and back again.
	s.do(chromedp.Click(chromedp.CSS(`[data-all]`)))
	s.shows(" selected")
	s.inspect("desk-chosen")
	s.do(chromedp.Click(chromedp.CSS(`.sel button[value="delete"]`)))
	s.shows("No contacts yet")
	s.do(chromedp.Click(chromedp.CSS(`.toast button`)))
	s.shows("Grace Hopper")

	// An invoice: written, issued, seen.
	data(t, "POST", service.URL+"/v1/customers", key, `{"name": "Compilers United", "email": "grace@example.com"}`)
	s.visit(service.URL + "/invoices/new")
	s.fill("customerId", "Compilers United")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("Draft for Compilers United")
	s.fill("description", "Nanoseconds", "price", "250")
	s.keys(kb.Tab)
	s.shows("$250.00")
	s.inspect("desk-invoice")
	s.do(chromedp.Click(chromedp.CSS(`.head a.main`)))
	s.shows("gets the next number")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("INV-")
	s.inspect("desk-invoice-issued")
	s.visit(service.URL + "/")
	s.has("$250.00")
	s.inspect("desk-today")

	// Names that are too long, and that read from right to left.
	contacts := service.URL + "/v1/contacts"
	data(t, "POST", contacts, key, fmt.Sprintf(`{"firstName": %q, "organizationName": %q, "tags": [%q]}`, long, long,
		long[:60]))
	data(t, "POST", contacts, key, fmt.Sprintf(`{"firstName": %q, "organizationName": %q}`, rtl, rtl))
	data(t, "POST", service.URL+"/v1/tasks", key, fmt.Sprintf(`{"title": %q, "dueAt": "2026-01-01T00:00:00Z"}`, long))
	for _, noun := range append(nouns, "tasks/board", "businesses", "search?query=don", "keys", "contacts/new") {
		s.visit(service.URL + "/" + noun)
		s.inspect("desk-full-" + strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(noun))
	}
	s.visit(service.URL + "/contacts?query=donau")
	s.do(chromedp.Click(chromedp.CSS(`tbody a`)))
	s.until("the contact", `location.pathname.startsWith("/contacts/")`)
	s.inspect("desk-contact-long")

	// A second business: one is chosen in the frame, and lists are its own.
	bakery := data(t, "POST", service.URL+"/v1/businesses", key, `{"name": "Bakery"}`)["id"].(string)
	data(t, "POST", service.URL+"/v1/customers", key, fmt.Sprintf(`{"name": "Loaves", "businessId": %q}`, bakery))
	s.visit(service.URL + "/customers")
	s.has("All businesses", "Loaves", "Compilers United")
	s.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#rail details.menu").open = true`))
	s.inspect("desk-businesses")
	s.do(chromedp.Click(chromedp.CSS(`.firms button[value="` + bakery + `"]`)))
	s.until("its own list", `!document.body.innerText.includes("Compilers United")`)
	s.has("Bakery", "Loaves")
	s.inspect("desk-business")

	// The reference and the guide.
	for name, path := range map[string]string{"start": "", "noun": "/api/tasks", "guide": "/guide/mail",
		"search": "?query=merge"} {
		s.visit(service.URL + "/docs" + path)
		s.inspect("docs-" + name)
	}

	// Whatever text a program writes, nothing of it runs.
	s.do(chromedp.Evaluate[chromedp.Void](`window.ran = 0`))
	for _, evil := range []string{`<img src=x onerror="parent.ran=1;ran=1">`, `"><svg onload="ran=1">`,
		`<script>ran=1</script>`, `javascript:ran=1`, `' onfocus='ran=1' autofocus='`} {
		data(t, "POST", contacts, key, fmt.Sprintf(`{"firstName": %q, "jobTitle": %q, "notes": %q}`, evil, evil, evil))
	}
	for _, path := range []string{"/contacts", "/search?query=ran", "/activity"} {
		s.visit(service.URL + path)
		if eval[bool](s, `!!window.ran`) {
			t.Errorf("%s ran something", path)
		}
	}
	s.keys("gc")
	s.until("contacts", `location.pathname === "/contacts"`)
	if eval[bool](s, `!!window.ran`) {
		t.Error("a page without a load ran something")
	}
}
