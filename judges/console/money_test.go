package console_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The owner of a small shop writes an invoice with the pointer and the keyboard:
// what was typed is what is charged, and a line without a price is told about.
func TestAttackInvoiceEditor(t *testing.T) {
	service := serve(t)
	s := open(t)
	setUp(s, service)
	key := allKey(s, service)
	data(t, "POST", service.URL+"/v1/customers", key, `{"name": "Loom", "email": "loom@example.com"}`)
	s.visit(service.URL + "/invoices/new")
	s.fill("customerId", "Loom")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("Draft for Loom")
	price := func(n int) string { return fmt.Sprintf(`[...document.querySelectorAll("[name=price]")][%d].value`, n) }
	click := func(name string, n int) {
		t.Helper()
		s.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`.lines tr[data-key="line-%d"] [name=%s]`, n, name))))
	}

	// What, then a click into the price, and typing: 80 is 80.00.
	click("description", 1)
	s.keys("Weaving")
	click("price", 1)
	time.Sleep(700 * time.Millisecond) // whatever leaving "What" sends is answered by now
	if got := eval[string](s, price(0)); got != "" {
		t.Fatalf("leaving What wrote %q into the price", got)
	}
	s.keys("80")
	click("tax", 1)
	s.until("80.00", price(0)+` === "80.00"`)
	s.shows("$80.00")

	// A second line by keys alone, typed fast.
	click("description", 2)
	s.keys("Dyeing" + kb.Tab + "2" + kb.Tab + "12.5" + kb.Tab + "20" + kb.Tab)
	s.until("12.50", price(1)+` === "12.50"`)
	s.shows("$110.00")

	// A click selects a price, so that typing replaces it.
	click("price", 1)
	s.keys("90")
	click("quantity", 2)
	s.until("90.00", price(0)+` === "90.00"`)
	s.shows("$120.00")

	// A sum with two readings is refused at its field, and nothing else is lost.
	click("price", 1)
	s.keys("1.250")
	click("tax", 2)
	s.shows("Write 1250 or 1.25")
	if got := eval[string](s, price(0)); got != "1.250" {
		t.Errorf("the price became %q", got)
	}
	s.inspect("money-two-readings")
	click("price", 1)
	s.keys("1250")
	click("tax", 2)
	s.until("1250.00", price(0)+` === "1250.00"`)
	s.shows("$1,280.00")

	// A line without a price is not lost on the way to Issue: it is told about.
	click("description", 3)
	s.keys("Carding")
	s.do(chromedp.Click(chromedp.CSS(`.head a.main`)))
	s.shows("Write a price; 0 if it costs nothing")
	s.until("the line stays", `[...document.querySelectorAll("[name=description]")][2].value === "Carding"`)
	if got := eval[string](s, price(2)); got != "" {
		t.Errorf("the empty price became %q", got)
	}
	s.inspect("money-no-price")
	click("price", 3)
	s.keys("5" + kb.Tab)
	s.shows("$1,285.00")
	s.do(chromedp.Click(chromedp.CSS(`.head a.main`)))
	s.shows("The invoice for $1,285.00")
	// The mail stands beside it, with the words that are typed.
	s.fill("message", "With many thanks")
	s.do(chromedp.Click(chromedp.CSS(`button[value="look"]`)))
	s.until("the mail", `document.querySelector("iframe.mailpage")?.src.includes("message=With+many+thanks")`)
	s.inspect("money-issue-and-send")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("Undo keeps it back")
	s.has("INV-", "sent")

	// A part was paid; the form of a credit note begins with what is open.
	s.do(chromedp.Evaluate[chromedp.Void](`location.assign(location.pathname + "/pay")`))
	s.shows("is left to pay")
	s.fill("amountCents", "285")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("Left to pay")
	s.do(chromedp.Evaluate[chromedp.Void](`location.assign(location.pathname + "/credit")`))
	s.shows("What you credit beyond that is to be paid back")
	if got := eval[string](s, `document.querySelector("[name=amountCents]").value`); got != "1000.00" {
		t.Errorf("the credit begins with %q", got)
	}
	s.inspect("money-credit")
	s.fill("amountCents", "1285")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("To pay back")
	s.shows("I paid back $285.00")
	s.inspect("money-to-pay-back")
	s.visit(service.URL + "/invoices")
	s.has("$285.00 back", "$285.00 to pay back")
	s.inspect("money-list")
	s.visit(service.URL + "/")
	s.has("Owed to you")
	s.inspect("money-today")
}

// A template that was chosen before anybody was named goes out with their name.
func TestAttackTemplateStory(t *testing.T) {
	service := serve(t)
	s := open(t)
	setUp(s, service)
	key := allKey(s, service)
	data(t, "POST", service.URL+"/v1/contacts", key,
		`{"firstName": "Grace", "emails": [{"email": "grace@example.com"}]}`)
	data(t, "POST", service.URL+"/v1/email-templates", key,
		`{"name": "Hello", "subject": "Hello {{ contact.firstName }}",
		"body": "Hello {{ contact.firstName }},\n\nyour {{ plan | default: \"usual\" }} order."}`)
	s.visit(service.URL + "/inbox/new")
	s.fill("to", "grace@example.com")
	s.do(chromedp.Click(chromedp.CSS(`details.menu.up summary`)))
	s.do(chromedp.Click(chromedp.CSS(`a[data-insert]`)))
	s.until("the text", `document.getElementById("reply").value.includes("Hello Grace,\n\nyour usual order.")`)
	// Somebody else, whom nobody knows.
	s.visit(service.URL + "/inbox/new")
	s.fill("to", "stranger@example.com")
	s.do(chromedp.Click(chromedp.CSS(`details.menu.up summary`)))
	s.do(chromedp.Click(chromedp.CSS(`a[data-insert]`)))
	s.until("the gap", `document.getElementById("reply").value.includes("Hello [contact.firstName]")`)
	s.do(chromedp.Click(chromedp.CSS(`button[value="send"]`)))
	s.shows("Write what belongs in place of [contact.firstName]")
	s.inspect("mail-gap")
	if eval[bool](s, `location.pathname.startsWith("/inbox/") && location.pathname !== "/inbox/new"`) {
		t.Error("it was sent")
	}
}

// Two contacts become one with the better name, and two again.
func TestAttackMergeStory(t *testing.T) {
	service := serve(t)
	s := open(t)
	setUp(s, service)
	key := allKey(s, service)
	poor := data(t, "POST", service.URL+"/v1/contacts", key,
		`{"firstName": "G.", "lastName": "H.", "emails": [{"email": "grace@example.com"}]}`)["id"].(string)
	data(t, "POST", service.URL+"/v1/contacts", key,
		`{"firstName": "Grace", "lastName": "Hopper", "emails": [{"email": "grace@example.com"}]}`)
	s.visit(service.URL + "/contacts/" + poor)
	s.shows("Same person?")
	s.do(chromedp.Click(chromedp.CSS(`a.btn[href*="/merge"]`)))
	s.shows("becomes part of")
	s.inspect("merge")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.until("the better name", `document.querySelector("h1").innerText === "Grace Hopper"`)
	s.shows("Undo the merge")
	s.inspect("merged")
	s.visit(service.URL + "/contacts/" + poor)
	s.do(chromedp.Click(chromedp.CSS(`form.box button`)))
	s.shows("Undone.")
	s.until("the old name", `document.querySelector("h1").innerText === "G. H."`)
}

// A file of 202 lines: the 51 that change something are found.
func TestAttackImportStory(t *testing.T) {
	service := serve(t)
	s := open(t)
	setUp(s, service)
	key := allKey(s, service)
	text := "First name,Email\\n"
	for i := range 151 {
		text += fmt.Sprintf("New,new%d@example.com\\n", i)
	}
	for i := range 51 {
		data(t, "POST", service.URL+"/v1/contacts", key, fmt.Sprintf(
			`{"firstName": "Known", "lastName": "No%d", "emails": [{"email": "known%d@example.com"}]}`, i, i))
		text += fmt.Sprintf("Changed,known%d@example.com\\n", i)
	}
	s.visit(service.URL + "/imports/new")
	s.do(chromedp.Evaluate[chromedp.Void](`(() => {
		const list = new DataTransfer();
		list.items.add(new File(["` + text + `"], "people.csv", {type: "text/csv"}));
		document.querySelector("input[type=file]").files = list.files;
	})()`))
	s.do(chromedp.Click(chromedp.CSS(`main form button.main, main form p.send button`)))
	s.shows("1–100 of 202 lines")
	s.inspect("import-check")
	s.do(chromedp.Click(chromedp.CSS(`.counts a[href*="lines=update"]`)))
	s.until("51 lines", `document.querySelectorAll(".lines-check tbody tr").length === 51`)
	s.inspect("import-changed")
}

// allKey makes a key for programs that may do everything.
func allKey(s *screen, service *service) string {
	s.t.Helper()
	s.visit(service.URL + "/settings/keys/new?preset=all")
	s.fill("name", "Program")
	s.press(".save button")
	return eval[string](s, `document.getElementById("secret").textContent.trim()`)
}
