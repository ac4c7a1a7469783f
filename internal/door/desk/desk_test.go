package desk_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"

	"golang.org/x/net/html"
)

// member is a browser in which a member, who is no admin, is signed in.
func member(t testing.TB, a *apptest.App) *browser {
	t.Helper()
	link := owner(t, a).post("/settings/members/invite", "email", "grace@example.com", "role", "member").
		find(`<output id="secret">([^<]*)</output>`)
	m := visit(t, a.URL)
	m.post(strings.TrimPrefix(link, a.Settings.BaseURL), "name", "Grace Hopper", "password", "a long password").at("/")
	return m
}

// at is the path that a page is shown at, without what was just done.
func (p page) where() string {
	path, _, _ := strings.Cut(p.Path, "?")
	return path
}

// A member makes a contact, edits it in place, tags it, finds it, deletes it and
// takes that back, without a script.
func TestContactStory(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		b.get("/contacts").at("/contacts", "No contacts yet", "New contact")
		b.get("/contacts/new").at("/contacts/new", "First name", "Create contact")
		b.post("/contacts/new", "firstName", "Ada", "email", "no address").refused(400, "email")
		p := b.post("/contacts/new", "firstName", "Ada", "lastName", "Lovelace", "email", "ada@example.com", "phone",
			"+442079460011", "tags", "vip, london").
			at("/contacts/", "Created.", "Ada Lovelace", "ada@example.com", "+44 20 7946 0011", "vip",
				"You added this contact")
		at := p.where()
		b.get(at + "?edit=jobTitle").at(at).find(`(<input class="in" id="jobTitle" name="jobTitle")`)
		p = b.post(at+"/edit", "field", "jobTitle", "jobTitle", "Countess", "back", at).at(at, "Saved.", "Countess",
			"Undo")
		undo := p.find(`name="event" value="([^"]+)"`)
		b.post(at+"/edit", "field", "birthday", "birthday", "yesterday").refused(400, "Birthday")
		b.post(at+"/edit", "field", "organizationId", "organizationId", "x").refused(404)
		b.post("/undo", "event", undo, "back", at).at(at, "Undone.").hasNot("<span>Countess")
		b.post(at+"/emails", "email", "countess@example.org", "label", "home").at(at, "Added.", "countess@example.org")
		b.post(at+"/emails", "email", "nothing").refused(400, "nothing")
		b.post(at+"/compose", "write", "note", "text", "Likes <b>poetry</b>").at(at, "Note saved.",
			"Likes <b>poetry</b>",
			"left a note")
		b.post(at+"/compose", "write", "task", "text", "Send the drawings").at(at, "Created.", "Send the drawings")
		list := b.get("/contacts?tag=vip").at("/contacts", "Ada Lovelace", "Tag", "vip")
		list.find(`(href="/contacts" aria-label="Remove the filter Tag")`)
		b.get("/contacts?tag=nobody").at("/contacts", "No contacts like that", "Show all")
		b.get("/contacts?createdAfter=nonsense").at("/contacts", "Created after: ")
		id := strings.TrimPrefix(at, "/contacts/")
		b.post("/contacts/bulk", "do", "tag", "text-tag", "friend", "id", id, "back", "/contacts").
			at("/contacts", "Tagged.", "friend", "vip")
		csv := b.get(list.find(`href="(/contacts/export[^"]*)" download`))
		if !strings.HasPrefix(csv.Header.Get("Content-Disposition"), "attachment") || strings.Count(csv.Body,
			"\n") != 2 ||
			!strings.Contains(csv.Body, "Lovelace") {
			t.Errorf("%v %s", csv.Header, csv.Body)
		}
		b.get("/search?query=lovel").at("/search", "Ada Lovelace", "ada@example.com")
		b.get("/search?query=new+inv").at("/search", "New invoice")
		deleted := b.post(at+"/delete").at("/contacts", "Deleted.", "Undo", "No contacts yet")
		b.get(at).refused(404)
		b.post("/undo", "event", deleted.find(`name="event" value="([^"]+)"`), "back", "/contacts").at("/contacts",
			"Undone.", "Ada Lovelace")
		b.get("/activity").at("/activity", "You", "brought back the contact Ada Lovelace")
		b.get("/settings/members").refused(403, "Only owners and admins")
		// Nobody sees another's.
		other := visit(t, a.URL)
		other.signIn(a.NewTenant(t, "free").Owner, "a long password").at("/")
		other.get(at).refused(404)
		other.get("/contacts").at("/contacts", "No contacts yet")
		other.post(at+"/edit", "field", "jobTitle", "jobTitle", "Mine").refused(404)
		other.post("/undo", "event", undo, "back", "/contacts").refused(404)
	})
}

// An invoice is written, issued, paid, and seen as a PDF.
func TestInvoiceStory(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		b.post("/customers/new", "name", "Jacquard & Sons", "type", "business", "email", "orders@example.net").
			at("/customers/", "Created.", "Jacquard & Sons", "New invoice")
		b.post("/invoices/new", "customerId", "Nobody").refused(400, "No customer is called that")
		p := b.post("/invoices/new", "customerId", "jacquard", "currency", "usd", "dueAt", "2030-01-01T12:00").
			at("/invoices/", "Created.", "Draft for Jacquard & Sons", "Issue")
		at := p.where()
		b.post(at+"/lines", "description", "Service", "quantity", "2", "price", "1,250.50", "tax", "20", "description",
			"", "quantity", "", "price", "", "tax", "").at(at, "Saved.", "$2,501.00", "$3,001.20")
		b.post(at+"/lines", "description", "Service", "price", "a lot").refused(400, "Write an amount")
		pdf := b.get(at + "/pdf")
		if pdf.Status != 200 || !strings.HasPrefix(pdf.Body, "%PDF") ||
			!strings.HasPrefix(pdf.Header.Get("Content-Disposition"), "inline") {
			t.Errorf("%d %v", pdf.Status, pdf.Header)
		}
		b.get(at+"/issue").at(at, "gets the next number", "$3,001.20")
		b.post(at+"/issue").at(at, "INV-", "issued", "Send")
		b.get(at + "/send").at(at).find(`value="(orders@example.net)"`)
		b.post(at+"/send", "to", "orders@example.net").at(at, "Sent.")
		b.get("/invoices?unpaid=true").at("/invoices", "INV-", "$3,001.20")
		pay := b.get(at+"/pay").at(at, "is left to pay")
		key, sum := pay.find(`name="key" value="([^"]+)"`), pay.find(`name="amountCents" value="([^"]+)"`)
		if sum != "3001.20" {
			t.Errorf("the form begins with %s", sum)
		}
		b.post(at+"/pay", "key", key, "amountCents", sum, "method", "cash").at(at, "Payment recorded.", "paid", "cash")
		// Sent twice by mistake, it counts once.
		b.post(at+"/pay", "key", key, "amountCents", sum, "method", "cash").at(at)
		if n := strings.Count(b.get(at).text(), "Void this payment"); n != 1 {
			t.Errorf("%d payments", n)
		}
		b.get("/").at("/", "Owed to you $0.00", "$3,001.20", "by week, eight weeks")
		paid := a.SendREST(t, a.Key, "GET", "/v1/invoices/"+strings.TrimPrefix(at, "/invoices/"), "").OK(t, 200)
		void := a.SendREST(t, a.Key, "POST", "/v1/invoices",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description":
			"A mistake", "unitAmountCents": 99500000}]}`, paid.Text("customerId"))).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/invoices/"+void+"/issue", "").OK(t, 200)
		a.SendREST(t, a.Key, "POST", "/v1/invoices/"+void+"/void", "").OK(t, 200)
		b.get("/invoices").at("/invoices", "$995,000.00", "$3,001.20 in all")

		// Euros are not dollars, and what was given back did not come in.
		euros := a.SendREST(t, a.Key, "POST", "/v1/invoices", fmt.Sprintf(`{"customerId": %q, "currency": "eur",
			"lineItems": [{"description": "Abroad", "unitAmountCents": 8000}]}`, paid.Text("customerId"))).OK(t, 201)
		abroad := "/v1/invoices/" + euros.Text("id")
		a.SendREST(t, a.Key, "POST", abroad+"/issue", "").OK(t, 200)
		a.SendREST(t, a.Key, "POST", abroad+"/payments", `{"amountCents": 8000, "method": "card"}`, "Idempotency-Key",
			"e").
			OK(t, 201)
		home := "/v1" + at + "/payments"
		first := a.SendREST(t, a.Key, "GET", home, "").OK(t, 200).Text("0.id")
		a.SendREST(t, a.Key, "POST", home+"/"+first+"/refund", `{"amountCents": 120}`).OK(t, 200)
		b.get("/").at("/", "$3,000.00 €80.00", "by week, eight weeks")
	})
}

// What people type is shown as they typed it, and never becomes part of a page.
func TestDeskShowsTextAsText(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		for i, evil := range payloads {
			c := a.SendREST(t, a.Key, "POST", "/v1/contacts",
				fmt.Sprintf(`{"firstName": %q, "lastName": %q, "jobTitle": %q, `+
					`"organizationName": %q, "notes": %q, "tags": [%q], `+
					`"emails": [{"email": "x%d@example.com", "label": %q}]}`,
					evil, evil, evil, evil, evil, strings.ReplaceAll(cut(evil, 60), ",", ";"), i, evil)).
				OK(t, 201).ID("id")
			u := a.SendREST(t, a.Key, "POST", "/v1/customers", fmt.Sprintf(`{"name": %q, "notes": %q, "contactId": %q}`,
				evil,
				evil, c)).OK(t, 201).ID("id")
			a.SendREST(t, a.Key, "POST", "/v1/tasks",
				fmt.Sprintf(`{"title": %q, "description": %q, "contactId": %q}`, evil, evil, c)).OK(t, 201)
			a.SendREST(t, a.Key, "POST", "/v1/contacts/"+string(c)+"/notes", fmt.Sprintf(`{"body": %q}`, evil)).OK(t,
				201)
			a.SendREST(t, a.Key, "POST", "/v1/invoices", fmt.Sprintf(`{"customerId": %q, "notes": %q, "lineItems": `+
				`[{"description": %q, "unitAmountCents": 100}]}`, u, evil, evil)).OK(t, 201)
			a.SendREST(t, a.Key, "POST", "/v1/email-templates", fmt.Sprintf(`{"name": %q, "subject": "s", "body": "b"}`,
				evil)).OK(t, 201)
			a.SendREST(t, a.Key, "POST", "/v1/folders", fmt.Sprintf(`{"name": %q}`, strings.ReplaceAll(evil, "/",
				""))).OK(t, 201)
			for _, path := range []string{"/contacts/" + string(c), "/contacts/" + string(c) + "?edit=jobTitle",
				"/customers/" + string(u), "/contacts?query=" + url.QueryEscape(evil),
				"/contacts?tag=" + url.QueryEscape(evil), "/search?query=" + url.QueryEscape(cut(evil, 100)),
				"/contacts/new?firstName=" + url.QueryEscape(evil), "/contacts?done=" + url.QueryEscape(evil),
				"/tasks/new?back=" + url.QueryEscape(evil)} {
				quiet(t, b.get(path))
			}
			quiet(t, b.post("/contacts/new", "email", evil, "firstName", evil))
		}
		for _, path := range []string{"/", "/contacts", "/customers", "/tasks", "/tasks/board", "/invoices", "/money",
			"/files",
			"/templates", "/activity", "/contacts?sortBy=name&sortOrder=asc"} {
			quiet(t, b.get(path))
		}
	})
}

// So it is with the lines and names of imported files, with values that programs
// suggest, with automations and with the businesses in the frame.
func TestMorePagesShowTextAsText(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := owner(t, a)
	send := func(path, body string, values ...any) string {
		return a.SendREST(t, a.Key, "POST", "/v1/"+path, fmt.Sprintf(body, values...)).OK(t, 201).Text("id")
	}
	head, lines := []string{"First name"}, []string{}
	for i, evil := range payloads {
		quoted := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
		head = append(head, quoted(evil)) // a column that nothing takes
		lines = append(lines, quoted(evil), quoted(evil)+strings.Repeat(",x", i))
		contact := send("contacts", `{"firstName": %q}`, evil)
		definition := send("property-definitions", `{"objectType": "contact", "key": "k%d", "name": %q,
			"valueType": "text"}`, i, cut(evil, 60))
		send("contacts/"+contact+"/properties", `{"definitionId": %q, "value": %q, "status": "suggested",
			"sources": [{"url": "https://example.com/?%d", "title": %q}]}`, definition, evil, i, evil)
		automation := send("automations", `{"name": %q, "description": %q, "trigger": {"kind": "event", "event":
			"contact.created"}, "condition": %q, "steps": [{"operation": "tasks.create", "saveAs": "task",
			"input": {"title": %q}}]}`, evil, evil, "event.data.firstName == "+strconv.Quote(`x`+strings.ToValidUTF8(
			strings.Map(plainRune, evil), "")), strings.ReplaceAll(evil, "{{", "{"))
		for _, path := range []string{"", "/edit", "/test", "/delete"} {
			quiet(t, b.get("/automations/"+automation+path))
		}
		quiet(t, b.post("/automations/new", "name", evil, "trigger.kind", "event", "trigger.event", evil, "trigger.at",
			evil, "condition", evil, "steps.0.operation", evil, "steps.0.input", evil))
		quiet(t, b.post("/automations/new", "name", evil, "trigger.kind", "event", "trigger.event", "contact.created",
			"check.0.field", "firstName", "check.0.is", "is", "check.0.value", evil, "steps.0.operation",
			"tasks.create", "steps.0.saveAs", evil, "steps.0.input.title", evil, "do", "look"))
		quiet(t, b.get("/review?at="+url.QueryEscape(evil)+"&undo=contacts."+url.QueryEscape(evil)+"&done=undone"))
		if i < 20 {
			send("businesses", `{"name": %q}`, evil)
		}
	}
	check := b.upload("/imports/new", map[string]string{"objectType": "contacts"}, payloads[0]+".csv",
		strings.Join(head, ",")+"\n"+strings.Join(lines, "\n")+"\n")
	quiet(t, check)
	p := b.post("/imports/check", "do", "import", "file", check.find(`name="file" value="([^"]+)"`), "objectType",
		"contacts")
	quiet(t, p)
	for _, path := range []string{"/imports", "/review", "/automations", "/executions", "/customers",
		"/imports/new?objectType=" + url.QueryEscape(payloads[1])} {
		quiet(t, b.get(path))
	}
}

// plainRune leaves what a text in a condition can have without escapes.
func plainRune(r rune) rune {
	if r == '\\' || r == '"' || r < ' ' || r > '~' {
		return -1
	}
	return r
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// plainTags are the elements that pages are made of. A script, a frame and a
// picture must be one of ours.
var plainTags = strings.Fields(`
	html head meta title link body a div nav main header footer section aside article form label input button select
	option textarea ul ol li dl dt dd table caption thead tbody tr th td span p h1 h2 h3 h4 ins b br bdi code pre kbd
	svg use
	symbol path circle rect img time details summary del progress small script iframe output fieldset legend strong
	datalist optgroup figure figcaption g`)

// quiet asserts that a browser would find nothing in a page but its own markup,
// and that it is told to run nothing else.
func quiet(t testing.TB, p page) {
	t.Helper()
	if p.Status >= 500 {
		t.Errorf("%s: %d", p.Path, p.Status)
	}
	root, err := html.Parse(strings.NewReader(p.Body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(plainTags, n.Data) {
			t.Errorf("%s: <%s>", p.Path, n.Data)
		}
		src := ""
		for _, a := range n.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc":
				t.Errorf("%s: <%s %s=%q>", p.Path, n.Data, a.Key, a.Val)
			case slices.Contains([]string{"href", "src", "action", "formaction", "data"}, a.Key):
				if a.Key == "src" {
					src = a.Val
				}
				if n.Data == "a" && strings.HasPrefix(value, "https://example.com/?") {
					continue // the source of a suggestion
				}
				if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "?") &&
					value != "" || strings.HasPrefix(value, "//") {
					t.Errorf("%s: <%s %s=%q>", p.Path, n.Data, a.Key, a.Val)
				}
			}
		}
		if n.Data == "script" && (!strings.HasPrefix(src, "/assets/") || n.FirstChild != nil) {
			t.Errorf("%s: a script of %q", p.Path, src)
		}
	}
	policy := p.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("%s: %s", p.Path, policy)
	}
}

// payloads are the usual ones, and some for templates, addresses and attributes.
var payloads = []string{
	`<script>alert(1)</script>`, `"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`,
	`<img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `<svg/onload=alert(1)>`, `"><svg onload=alert(1)>`,
	`<body onload=alert(1)>`, `<iframe src="javascript:alert(1)">`, `<iframe srcdoc="<script>alert(1)</script>">`,
	`javascript:alert(1)`, `JaVaScRiPt:alert(1)`, `java&#x09;script:alert(1)`,
	`data:text/html,<script>alert(1)</script>`,
	`" onmouseover="alert(1)`, `' onfocus='alert(1)' autofocus='`, `" autofocus onfocus="alert(1)`,
	`</title><script>alert(1)</script>`,
	`</textarea><script>alert(1)</script>`, `</style><script>alert(1)</script>`, `--><script>alert(1)</script>`,
	`]]><script>alert(1)</script>`, `<math><mi//xlink:href="data:x,<script>alert(1)</script>">`,
	`<details open ontoggle=alert(1)>`, `<video><source onerror=alert(1)>`, `<audio src=x onerror=alert(1)>`,
	`<object data="javascript:alert(1)">`, `<embed src="javascript:alert(1)">`, `<a href="javascript:alert(1)">x</a>`,
	`<form action="javascript:alert(1)"><button>x</button></form>`, `<base href="https://evil.example/">`,
	`<style>@import "https://evil.example/x.css";</style>`,
	`<meta http-equiv="refresh" content="0;url=https://evil.example">`,
	`{{.Session.Email}}`, `{{template "layout" .}}`, `${alert(1)}`, `<x onclick=alert(1)>x</x>`,
	`<input onfocus=alert(1) autofocus>`, `<marquee onstart=alert(1)>`, `&lt;script&gt;alert(1)&lt;/script&gt;`,
	"\u202e<script>alert(1)</script>", `<scr<script>ipt>alert(1)</scr</script>ipt>`,
}

// What happens through the API is told to an open page at once, to those who may
// know it, and to nobody else.
func TestLive(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		listen := func(b *browser) <-chan string {
			ctx, cancel := context.WithCancel(context.Background())
			t.Cleanup(cancel)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+"/live", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := b.http.Do(req) //nolint:bodyclose // the reader below closes it
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("%d %v", res.StatusCode, res.Header)
			}
			lines := make(chan string, 100)
			go func() {
				defer res.Body.Close()
				for s := bufio.NewScanner(res.Body); s.Scan(); {
					if text, ok := strings.CutPrefix(s.Text(), "data: "); ok {
						lines <- text
					} else if s.Text() == ": hello" {
						lines <- "hello"
					}
				}
			}()
			return lines
		}
		next := func(lines <-chan string) string {
			t.Helper()
			select {
			case text := <-lines:
				return text
			case <-time.After(time.Minute):
				t.Fatal("nothing came")
				return ""
			}
		}
		other := visit(t, a.URL)
		tenant := a.NewTenant(t, "free")
		other.signIn(tenant.Owner, "a long password").at("/")
		mine, theirs := listen(owner(t, a)), listen(other)
		if next(mine) != "hello" || next(theirs) != "hello" {
			t.Error("no greeting")
		}
		// The follower begins with what comes after it looked for the first time; what
		// is written until then is not news. So contacts are made until one is told.
		told := make(chan string, 1)
		go func() {
			for text := range mine {
				if strings.HasPrefix(text, "contact.created ") {
					told <- strings.TrimPrefix(text, "contact.created ")
					return
				}
			}
		}()
		made := map[string]bool{}
		for deadline := time.Now().Add(time.Minute); ; {
			made[string(a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).OK(t,
				201).ID("id"))] = true
			select {
			case id := <-told:
				if !made[id] {
					t.Errorf("%s is not one of %d", id, len(made))
				}
			case <-time.After(300 * time.Millisecond):
				if time.Now().After(deadline) {
					t.Fatal("nothing came")
				}
				continue
			}
			break
		}
		a.SendREST(t, tenant.Key, "POST", "/v1/contacts", `{"firstName": "Grace"}`).OK(t, 201)
		for {
			text := next(theirs)
			if strings.HasPrefix(text, "contact.created ") {
				if made[strings.TrimPrefix(text, "contact.created ")] {
					t.Error("they heard of ours")
				}
				break
			}
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL+"/live", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusSeeOther {
			t.Errorf("a stranger gets %d", res.StatusCode)
		}
	})
}

// Files are uploaded, found, shown in a frame that runs nothing, and shared.
func TestFileStory(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		b.post("/folders/new-here", "name", "Papers").at("/files", "Created.", "Papers")
		folder := b.get("/files").find(`href="/files\?folderId=([^"]+)"`)
		p := b.upload("/files/upload", map[string]string{"folderId": folder}, "page.html", "<script>alert(1)</script>").
			at("/files?", "Uploaded.", "page.html")
		at := p.find(`href="(/files/[0-9a-f-]+)"`)
		b.get("/files").hasNot("page.html")
		b.get("/files?query=page").at("/files", "page.html")
		b.get(at).at(at, "page.html", "Shared links")
		content := b.get(at + "/content")
		if !strings.HasPrefix(content.Header.Get("Content-Disposition"), "attachment") ||
			!strings.Contains(content.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%v", content.Header)
		}
		link := b.post(at+"/link", "days", "7").at(at+"/link",
			"It is shown only once").find(`<code id="made-link">([^<]+)<`)
		if got := visit(t, a.URL).get(strings.TrimPrefix(link,
			a.Settings.BaseURL)); got.Body != "<script>alert(1)</script>" {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		b.get(at).at(at, "1 download")
	})
}

// Two people change one fact: the second sees what the first has written, and chooses.
func TestChangedMeanwhile(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b, other := owner(t, a), member(t, a)
		at := b.post("/contacts/new", "firstName", "Ada", "jobTitle", "Poet").at("/contacts/").where()
		before := b.get(at + "?edit=jobTitle").find(`name="was" value="([^"]*)"`)
		other.post(at+"/edit", "field", "jobTitle", "was", before, "jobTitle", "Countess").at(at, "Saved.")
		// another field does not matter
		b.post(at+"/edit", "field", "lastName", "was", "", "lastName", "Lovelace").at(at, "Saved.")
		p := b.post(at+"/edit", "field", "jobTitle", "was", before, "jobTitle", "Analyst").refused(409,
			"changed this to “Countess” while you were writing")
		if p.find(`name="jobTitle" type="text" value="([^"]*)"`) != "Analyst" {
			t.Error("what was typed is gone")
		}
		b.post(at+"/edit", "field", "jobTitle", "was", p.find(`name="was" value="([^"]*)"`), "jobTitle",
			"Analyst").at(at, "Saved.", "Analyst")
		// both wrote the same
		other.post(at+"/edit", "field", "jobTitle", "was", before, "jobTitle", "Analyst").at(at, "Saved.")
		var wait sync.WaitGroup
		var saved atomic.Int32
		for i := range 6 {
			wait.Go(func() {
				p := b.post(at+"/edit", "field", "jobTitle", "was", "Analyst", "jobTitle", "Role "+strconv.Itoa(i))
				if p.Status == 200 {
					saved.Add(1)
				}
			})
		}
		wait.Wait()
		if saved.Load() != 1 {
			t.Errorf("%d of six were saved", saved.Load())
		}
	})
}
