package console_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// setUp creates the first organization and accepts its agreement.
func setUp(s *screen, service *service) {
	s.t.Helper()
	s.visit(service.Setup)
	s.fill("name", "Ada Lovelace", "email", "ada@example.com", "password", password, "organizationName",
		"Analytical Engines")
	s.press("form button")
	s.has("Welcome. You are signed in.")
	s.visit(service.URL + "/agreements")
	s.do(chromedp.Click(chromedp.CSS(`form[action="/agreements"] input[name="read"]`)))
	s.press(`form[action="/agreements"] button`)
	s.has("Accepted.")
}

// choose sets a select by its name.
func (s *screen) choose(name, value string) {
	s.t.Helper()
	if got := eval[string](s,
		fmt.Sprintf(`(e => (e.value = %q, e.value))(document.querySelector('[name=%q]'))`, value, name)); got != value {
		s.t.Fatalf("%s has no %s", name, value)
	}
}

// again reloads the page until it has a text.
func (s *screen) again(text string) {
	s.t.Helper()
	for range 600 {
		if strings.Contains(s.text(), text) {
			return
		}
		time.Sleep(100 * time.Millisecond)
		s.do(chromedp.Reload())
	}
	s.has(text)
}

// Webhooks: created with an error on the way, tested, and every page
// inspected.
func TestWebhooks(t *testing.T) {
	service := serve(t)
	s := open(t)
	setUp(s, service)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/hook" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		io.WriteString(w, `{"thanks": "a lot", "text": "`+strings.Repeat("long", 200)+`"}`)
	}))
	t.Cleanup(endpoint.Close)
	s.visit(service.URL + "/webhooks")
	s.inspect("empty-webhooks")
	s.press(".empty .btn")
	s.inspect("webhook-new")
	s.fill("url", "http://example.com", "description", "The CRM")
	s.press(".save button")
	s.has("Choose at least one")
	s.inspect("webhook-error")
	s.fill("url", endpoint.URL+"/hook")
	s.do(chromedp.Evaluate[chromedp.Void](`for (const type of ["contact.created", "contact.updated"]) {
		const box = document.querySelector('input[value="' + type + '"]')
		box.closest("details").open = true
		box.click()
	}`))
	s.press(".save button")
	s.has("It will not be shown again", "Contact created and Contact updated")
	s.inspect("webhook-made")
	s.do(chromedp.Reload())
	if text := s.text(); strings.Contains(text, "whsec_") || !strings.Contains(text, "Send test event") {
		t.Errorf("reloading shows %s", text)
	}
	s.press(`form[action$="/test"] button`)
	s.has("The test event was sent", "200 OK")
	s.inspect("delivery")
	s.press(".crumb:nth-of-type(2) a")
	s.inspect("webhook")
	for _, verb := range []string{"edit", "rotate", "disable", "delete"} {
		at := eval[string](s, `location.href`)
		s.press(`a[href$="/` + verb + `"]`)
		s.inspect("webhook-" + verb)
		s.visit(at)
	}
	s.visit(service.URL + "/webhooks/new")
	s.fill("url", endpoint.URL+"/"+strings.Repeat("a-very-long-path/", 12), "description", rtl)
	s.do(chromedp.Click(chromedp.CSS(`input[value="*"]`)))
	s.press(".save button")
	s.press(`form[action$="/test"] button`)
	s.has("500 Internal Server Error")
	s.inspect("delivery-failed")
	s.press(".crumb:nth-of-type(2) a")
	s.inspect("webhook-long")
	s.visit(service.URL + "/webhooks")
	s.inspect("webhooks")
}

// Automations: built without scripts, saved with the keyboard, tested and run.
func TestAutomations(t *testing.T) {
	service := serve(t)
	s := open(t)
	setUp(s, service)
	for _, path := range []string{"automations", "executions"} {
		s.visit(service.URL + "/" + path)
		s.inspect("empty-" + path)
	}
	s.visit(service.URL + "/automations/new")
	s.inspect("automation-recipes")
	s.press(`a[href$="recipe=thank-for-payment"]`)
	s.has("1. Write a message", "Values to insert")
	s.inspect("automation-recipe")
	s.visit(service.URL + "/automations/new?recipe=none")
	s.inspect("automation-new")
	s.scripts(false) // axe-core needs them: no page is inspected meanwhile
	s.visit(service.URL + "/automations/new?recipe=none")
	s.fill("name", "Greet new contacts")
	s.choose("trigger.event", "contact.created")
	s.press(`button[value="look"]`)
	s.choose("check.0.field", "firstName")
	s.choose("check.0.is", "set")
	s.choose("add", "tasks.create")
	s.press(`button[value="add"]`)
	s.has("1. Create a task", "Values to insert")
	s.press(`button[value="json.0"]`)
	s.fill("steps.0.input", `{"title": 5}`)
	s.choose("add", "tasks.activity.create")
	s.press(`button[value="add"]`)
	s.has("1. Create a task", "2. Comment on a task")
	s.press(`button[value="up.1"]`)
	s.has("1. Comment on a task", "2. Create a task")
	s.press(`button[value="down.0"]`)
	s.has("1. Create a task", "2. Comment on a task")
	s.fill("steps.1.input.id", "[New task]", "steps.1.input.body", "Hello {{ nobody.name }}")
	s.press(".save button")
	s.has("title: Invalid input", `"nobody" is not known here`)
	s.fill("steps.0.input", `{"title": "Call {{ event.data.firstName }}", "contactId": "{{ event.resourceId }}"}`,
		"steps.1.input.body", "Hello")
	s.press(`button[value="form.0"]`)
	if title := eval[string](s, `document.querySelector('[name="steps.0.input.title"]').value`); title !=
		"Call [First name]" {
		t.Errorf("the form has %q", title)
	}
	s.press(`button[value="try"]`)
	s.has("no such event happened")
	// Enter saves; it must not move or remove a step.
	s.do(chromedp.Focus(chromedp.CSS(`[name="name"]`)), chromedp.KeyEvent(kb.Enter))
	s.wait("Created.")
	s.scripts(true)
	s.do(chromedp.Reload())
	s.inspect("automation")
	automation := strings.Split(eval[string](s, `location.href`), "?")[0]
	s.visit(automation + "/edit")
	s.inspect("automation-edit")
	s.press(`button[value="cel"]`)
	s.fill("condition", "1 +", "name", rtl)
	s.press(".save button")
	s.has("Line 1, column")
	s.inspect("automation-error")

	person := visitor(t, service)
	key := person.key(t)
	request(t, service.URL+"/v1/contacts", key, `{"firstName": "Ada"}`)
	request(t, service.URL+"/v1/contacts", key, `{"lastName": "Nameless"}`)
	s.visit(automation)
	s.again("succeeded")
	s.again("skipped")
	s.inspect("automation-ran")
	s.visit(automation + "/test")
	s.has("would run", "there were 2 such events. It would have run for 1 of these.")
	s.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("main details").forEach(d => d.open = true)`))
	s.has("event.data.firstName is null")
	s.inspect("automation-test")

	// With scripts, what the form asks follows what is chosen, and nothing typed is lost.
	s.visit(service.URL + "/automations/new?recipe=none")
	s.fill("name", "Typed")
	s.do(chromedp.Evaluate[chromedp.Void](`(e => { e.value = "task.created"; e.dispatchEvent(new Event("change",
		{bubbles: true})) })(document.querySelector('[name="trigger.event"]'))`))
	s.until("the fields", `!!document.querySelector('[name="check.0.field"] option[value="dueAt"]')`)
	s.choose("add", "contacts.notes.create")
	s.do(chromedp.Click(chromedp.CSS(`button[value="add"]`)))
	s.until("the step", `!!document.querySelector('[name="steps.0.input.body"]')`)
	if left := eval[string](s, `document.querySelector('[name="add"]').value +
		document.querySelector('[name="name"]').value`); left != "Typed" {
		t.Errorf("the form has %q", left)
	}
	s.fill("steps.0.input.body", "About ")
	s.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".inserts").open = true`),
		chromedp.Click(chromedp.CSS(`[data-put="[Title]"]`)))
	s.until("the value",
		`document.querySelector('[name="steps.0.input.body"]').value === "About [Title]"`)
	s.inspect("automation-form")
	s.visit(automation + "?status=succeeded")
	s.press("td a")
	s.has("Create a task", "Comment on a task")
	s.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
	s.inspect("execution")
	s.visit(automation + "/pause")
	s.inspect("automation-pause")

	// One that fails, with names too long for any page.
	s.visit(service.URL + "/automations/new?recipe=none")
	s.press(`input[value="schedule"]`)
	s.fill("name", long, "description", rtl)
	s.choose("trigger.every", "weekdays")
	s.choose("add", "contacts.get")
	s.press(`button[value="add"]`)
	s.fill("steps.0.input.id", "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88")
	s.inspect("automation-schedule")
	s.press(".save button")
	s.has("Created.", "Weekdays at 09:00")
	s.inspect("automation-long")
	s.press(`form[action$="/run"] button`)
	s.again("There is no such contact")
	s.inspect("execution-failed")
	s.visit(service.URL + "/automations/new?recipe=none")
	s.press(`input[value="manual"]`)
	s.fill("name", rtl)
	s.choose("add", "contacts.list")
	s.press(`button[value="add"]`)
	s.press(".save button")
	s.visit(service.URL + "/automations")
	s.inspect("automations")
	s.visit(service.URL + "/executions")
	s.inspect("executions")
	s.press(`main nav.tabs a[href*="failed"]`)
	s.inspect("executions-failed")

	// A list with a thousand rows.
	began := time.Now()
	person.agents(t, 1000)
	t.Logf("1000 agents in %v", time.Since(began).Round(time.Millisecond))
	s.visit(service.URL + "/agents")
	s.has("Agent 0999", "Older")
	s.inspect("agents-thousand")
	s.visit(service.URL + "/agents?page=20")
	s.has("Agent 0000", "Newer")
	s.inspect("agents-thousand-last")
}

// person sends forms without a browser, which is faster.
type person struct {
	site string
	http *http.Client
}

func visitor(t *testing.T, service *service) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{service.URL,
		&http.Client{Jar: jar,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	p.post(t, "/sign-in", http.StatusSeeOther, "email", "ada@example.com", "password", password)
	return p
}

func (p *person) post(t *testing.T, path string, status int, pairs ...string) string {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.site+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := p.http.Do(req)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		t.Errorf("%s: %d %v", path, res.StatusCode, err)
	}
	return string(text)
}

// business is the id of the one that a form offers.
func (p *person) business(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.site+"/agents/new", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `<option value="`)
	business, _, _ := strings.Cut(rest, `"`)
	return business
}

// key creates an API key.
func (p *person) key(t *testing.T) string {
	t.Helper()
	text := p.post(t, "/settings/keys/new", http.StatusOK, "name", "Judge", "business_id", p.business(t), "permissions",
		"*")
	_, rest, _ := strings.Cut(text, `<output id="secret">`)
	key, _, ok := strings.Cut(rest, "<")
	if !ok {
		t.Fatalf("no key in %s", text)
	}
	return key
}

// agents creates many agents: the first number first, the last number last.
func (p *person) agents(t *testing.T, n int) {
	t.Helper()
	business := p.business(t)
	one := func(i int) {
		p.post(t, "/agents/new", http.StatusSeeOther, "name", fmt.Sprintf("Agent %04d", i), "business_id", business,
			"preset",
			"read")
	}
	one(0)
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := 1 + part; i < n-1; i += 4 {
				one(i)
			}
		})
	}
	wg.Wait()
	one(n - 1)
}

// request posts JSON to the API.
func request(t *testing.T, address, key, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	if text := send(t, req); !strings.Contains(text, `"data"`) {
		t.Fatalf("%s: %s", address, text)
	}
}
