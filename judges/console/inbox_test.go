package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// begin sets an organization up and returns a browser in which a member is signed
// in, who sees no settings, and a key for programs. prepare is what the owner does
// before that.
func begin(t *testing.T, service *service, prepare ...func(*screen)) (s *screen, key string) {
	t.Helper()
	s = open(t)
	s.visit(service.Setup)
	s.fill("name", "Ada Lovelace", "email", "ada@example.com", "password", password, "organizationName", "Engines")
	s.press("form button")
	s.visit(service.URL + "/agreements")
	s.do(chromedp.Click(chromedp.CSS(`form[action="/agreements"] input[name="read"]`)))
	s.press(`form[action="/agreements"] button`)
	s.visit(service.URL + "/settings/keys/new?preset=all")
	s.fill("name", "Program")
	s.press(".save button")
	key = eval[string](s, `document.getElementById("secret").textContent.trim()`)
	for _, do := range prepare {
		do(s)
	}
	s.visit(service.URL + "/settings/members/invite")
	s.fill("email", "grace@example.com")
	s.press("form.form button")
	link := eval[string](s, `document.getElementById("secret").textContent.trim()`)
	s.visit(service.URL + "/")
	s.press(`form[action="/sign-out"] button`)
	s.visit(link)
	s.fill("name", "Grace Hopper", "password", password)
	s.press("form.form button")
	s.until("Today", `location.pathname === "/"`)
	return s, key
}

// data is the data of an answer to a program.
func data(t *testing.T, method, address, key, body string) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(text, &out); err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s", method, address, res.StatusCode, text)
	}
	return out.Data
}

var replyAddress = regexp.MustCompile(`Reply-To: <([^>]+)>`)

// correspond sends a mail to somebody and returns the address that answers go to.
func (s *screen) correspond(service *service, key, to string) string {
	s.t.Helper()
	m := data(s.t, "POST", service.URL+"/v1/messages", key,
		fmt.Sprintf(`{"to": %q, "subject": "Your engine", "text": "How does it run?"}`, to))
	address := service.URL + "/outbox/" + m["id"].(string) + "?as=source"
	for range 1200 {
		s.visit(address)
		if found := replyAddress.FindStringSubmatch(strings.ReplaceAll(s.text(), "\n ", " ")); found != nil {
			return found[1]
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("no address to answer to: %s", s.text())
	return ""
}

// A member works through mail that comes in by SMTP, with keys alone: assigns it,
// answers with a template, closes it.
func TestInbox(t *testing.T) {
	smtpAddress := freePort(t)
	service := serve(t, "--smtp-listen", smtpAddress)
	s, key := begin(t, service)
	if eval[bool](s, `!!document.querySelector('.rail a[href="/agents"]')`) {
		t.Error("a member sees what managers see")
	}
	for _, path := range []string{"inbox", "outbox", "imports", "suggestions", "inbox/new", "imports/new"} {
		s.visit(service.URL + "/" + path)
		s.inspect("mail-empty-" + strings.ReplaceAll(path, "/", "-"))
	}
	data(t, "POST", service.URL+"/v1/contacts", key,
		`{"firstName": "Charles", "lastName": "Babbage", "jobTitle": "Inventor",
			"emails": [{"email": "charles@example.org"}]}`)
	data(t, "POST", service.URL+"/v1/email-templates", key, `{"name": "Thanks", "subject": "Thank you", "body": `+
		`"Dear {{ contact.firstName }},\n\nthank you for your message."}`)
	to := s.correspond(service, key, "charles@example.org")
	s.visit(service.URL + "/")
	s.keys("gi")
	s.until("the inbox", `location.pathname === "/inbox"`)
	s.shows("Your engine")
	mail := func(body string) {
		t.Helper()
		err := smtp.SendMail(smtpAddress, nil, "charles@example.org", []string{to}, []byte("From: Charles Babbage "+
			"<charles@example.org>\r\nTo: "+to+"\r\nSubject: Re: Your engine\r\nMIME-Version: 1.0\r\n"+
			strings.ReplaceAll(body, "\n", "\r\n")))
		if err != nil {
			t.Fatal(err)
		}
	}
	mail("Content-Type: text/plain\n\nIt runs well, but it squeaks.\n\nOn Monday you wrote:\n> How does it run?\n")
	s.shows("It runs well, but it squeaks.") // by itself
	s.inspect("mail-inbox")
	s.keys("j")
	s.keys(kb.Enter)
	s.until("the thread", `location.pathname.startsWith("/inbox/")`)
	s.shows("What it quotes")
	s.has("Charles Babbage", "Not verified", "Inventor")
	s.inspect("mail-thread")
	s.keys("a")
	s.until("the menu", `document.activeElement.classList.contains("item")`)
	s.keys(kb.Enter)
	s.shows("Assigned.")
	s.keys("n")
	s.focused("text")
	s.keys("He means the third wheel.")
	s.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	s.shows("Only your team")
	s.inspect("mail-note")
	s.keys(kb.Escape)
	s.keys("r")
	s.focused("text")
	s.keys(kb.Escape)
	s.keys("t")
	s.until("the templates", `document.activeElement.dataset.insert === "reply"`)
	s.keys(kb.Enter)
	s.until("the template", `document.getElementById("reply").value.includes("Dear Charles,")`)
	s.inspect("mail-answer")
	s.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("reply").focus()`))
	s.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	s.shows("Sent.")
	s.until("an empty box", `document.getElementById("reply").value === ""`)
	s.shows("Waiting")
	s.keys(kb.Escape)
	s.keys("e")
	s.shows("Closed.")
	s.until("the list", `location.pathname === "/inbox"`)
	s.keys("z")
	s.shows("Undone.")

	// Designed mail, whose author is up to no good.
	s.do(chromedp.Evaluate[chromedp.Void](`window.ran = 0`))
	mail(`Content-Type: text/html

<table><tr><td><h1>News</h1><img src="x" onerror="parent.ran=1"><svg onload="parent.ran=1"></svg>` +
		`<script>parent.ran=1</script><a href="javascript:parent.ran=1">a</a></td></tr></table>
`)
	s.visit(service.URL + "/inbox")
	s.shows("News")
	s.press(".threads a")
	s.until("the frame", `!!document.querySelector("iframe.mailpage")`)
	s.inspect("mail-designed")

	// A draft shows all that is sent.
	data(t, "POST", service.URL+"/v1/messages", key, fmt.Sprintf(`{"to": "charles@example.org", "bcc": "x@example.org",
		"replyTo": "y@example.org", "subject": "Your engine", "text": "Dear Charles, thanks.", "inReplyToId": %q,
		"html": "<p>Dear <b>Charles</b>, thanks.</p><img src=\"https://example.org/x.png\">", "draft": true}`,
		eval[string](s, `document.querySelector("[name=inReplyToId]").value`)))
	s.until("the draft", `!!document.querySelector(".write iframe.mailpage")`)
	s.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".write").scrollIntoView()`))
	s.inspect("mail-draft")
	for _, evil := range []string{`<img src=x onerror="parent.ran=1;ran=1">`, `"><svg onload="ran=1">`,
		`</textarea><script>ran=1</script>`, `' onfocus='ran=1' autofocus='`, long, rtl} {
		m := data(t, "POST", service.URL+"/v1/messages", key,
			fmt.Sprintf(`{"to": "x@example.org", "subject": %q, "text": %q, "draft": true}`, evil, evil))
		thread := m["threadId"].(string)
		data(t, "POST", service.URL+"/v1/threads/"+thread+"/notes", key, fmt.Sprintf(`{"body": %q}`, evil))
		for _, path := range []string{"/inbox", "/inbox/" + thread, "/outbox", "/outbox/" + m["id"].(string)} {
			s.visit(service.URL + path)
			if eval[bool](s, `!!window.ran`) {
				t.Errorf("%s ran something", path)
			}
		}
	}
	s.visit(service.URL + "/inbox")
	s.inspect("mail-inbox-odd")
	s.press(".threads a")
	s.inspect("mail-thread-odd")
}

// A member imports a file with errors, looks at it and undoes it.
func TestImport(t *testing.T) {
	service := serve(t)
	s, key := begin(t, service)
	data(t, "POST", service.URL+"/v1/contacts", key,
		`{"firstName": "Charles", "emails": [{"email": "charles@example.org"}]}`)
	file := filepath.Join(t.TempDir(), "people.csv")
	text := "First name,Email,Shoe size\nEmmy,emmy@example.org,38\nNobody,no address,40\n" +
		"Charles B.,charles@example.org,42\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.visit(service.URL + "/contacts")
	s.press(`a[href^="/imports/new"]`)
	s.do(chromedp.SetUploadFiles(chromedp.CSS(`input[type="file"]`), []string{file}))
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("nothing imported yet")
	s.has("Shoe size", "left out", "Import 2 contacts", "refused", "Invalid email address")
	s.inspect("import-check")
	// Another choice for a column is looked at by itself, and a count filters the lines.
	s.do(chromedp.SetValue(chromedp.CSS(`select[aria-label="Shoe size goes to"]`), "jobTitle"),
		chromedp.Evaluate[chromedp.Void](`document.querySelector('select[aria-label="Shoe size goes to"]').
			dispatchEvent(new Event("change", {bubbles: true}))`))
	s.until("the column fits", `document.querySelectorAll(".map .pill.good").length === 2`)
	s.press(`.counts a[href*="lines=update"]`)
	s.until("one line", `document.querySelectorAll(".lines-check tbody tr").length === 1`)
	s.inspect("import-changed")
	s.do(chromedp.Click(chromedp.CSS(`.head form button.main`)))
	s.shows("done, with errors") // by itself
	s.inspect("import-done")
	s.visit(service.URL + "/contacts")
	s.has("Emmy", "Charles B.")
	s.visit(service.URL + "/imports")
	s.inspect("imports")
	s.press("tbody a")
	s.do(chromedp.Click(chromedp.CSS(`form[action$="/undo"] button`)))
	s.shows("Undone.")
	s.visit(service.URL + "/contacts")
	s.has("Charles")
	if shown := s.text(); strings.Contains(shown, "Emmy") || strings.Contains(shown, "Charles B.") {
		t.Errorf("not undone: %s", shown)
	}

	// Ten suggestions are accepted with keys, and undone.
	definition := data(t, "POST", service.URL+"/v1/property-definitions", key,
		`{"objectType": "contact", "key": "city", "name": "City", "valueType": "text"}`)["id"].(string)
	for i := range 10 {
		c := data(t, "POST", service.URL+"/v1/contacts", key,
			fmt.Sprintf(`{"firstName": "Person %d"}`, i))["id"].(string)
		data(t, "POST", service.URL+"/v1/contacts/"+c+"/properties", key, fmt.Sprintf(`{"definitionId": %q, "value": `+
			`"London %d", "status": "suggested", "sources": [{"url": "https://example.com/%d"}]}`, definition, i, i))
	}
	s.visit(service.URL + "/review")
	s.has("London 9")
	s.inspect("review-values")
	s.keys("a") // the current one alone
	s.shows("Approved.")
	s.keys("z")
	s.shows("Undone.")
	s.shows("London 9")
	s.do(chromedp.Evaluate[chromedp.Void](
		`document.querySelectorAll(".fact input[type=checkbox]").forEach((b) => b.click())`))
	s.shows("10 selected")
	s.keys("y")
	s.shows("Approved: 10.")
	s.shows("Nothing waits for you")
	s.keys("z")
	s.shows("Undone.")
	s.shows("London 9")
	s.keys("j")
	s.shows("2 of 10")
	s.keys("k")
	s.shows("1 of 10")
	s.keys("n")
	s.shows("Rejected.")
	s.shows("London 8")
}

// A member writes an invoice, issues and sends it, sees it as the customer does,
// and records the payment.
func TestInvoiceSeen(t *testing.T) {
	service := serve(t)
	s, key := begin(t, service)
	data(t, "POST", service.URL+"/v1/customers", key, `{"name": "Compilers United", "email": "grace@example.org"}`)
	s.visit(service.URL + "/invoices/new")
	s.fill("customerId", "Compilers United")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("Draft for Compilers United")
	s.fill("description", "Nanoseconds", "price", "250")
	s.keys(kb.Tab)
	s.shows("$250.00")
	s.do(chromedp.Click(chromedp.CSS(`.head a.main`)))
	s.shows("gets the next number")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.until("the invoice", `/^\/invoices\/[0-9a-f-]+$/.test(location.pathname)`)
	s.shows("The mail leaves in ten seconds")
	for range 1200 {
		s.visit(service.URL + "/outbox?status=sent")
		if strings.Contains(s.text(), "Invoice INV-") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.inspect("outbox")
	s.press("tbody a")
	s.has("As designed", "Source", ".pdf")
	s.inspect("outbox-mail")
	paper := eval[string](s, `fetch(document.querySelector("iframe").src).then(r => r.text())`)
	if !strings.Contains(paper, "See the invoice") {
		t.Errorf("the mail: %s", paper)
	}
	kind := eval[string](s, `fetch(document.querySelector("a.att").href).then(r => r.text().then(t => `+
		`r.headers.get("Content-Type") + " " + t.slice(0, 5)))`)
	if kind != "application/pdf %PDF-" {
		t.Errorf("the invoice: %s", kind)
	}
	s.visit(service.URL + "/invoices")
	s.press("tbody a")
	s.do(chromedp.Click(chromedp.CSS(`.head a.main`)))
	s.shows("is left to pay")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("Payment recorded.")
}
