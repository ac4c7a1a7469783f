package desk_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// proposing connects an agent that must ask for everything but reading, and returns how it
// calls a tool.
func proposing(t *testing.T, a *apptest.App) func(tool, arguments string) apptest.Value {
	t.Helper()
	agent := a.NewAgent(t, a.Tenant, "all")
	cells := []string{}
	for _, r := range []string{"contacts", "tasks", "messages", "invoices", "customers", "businesses"} {
		for _, what := range []string{"create", "update", "delete"} {
			cells = append(cells, fmt.Sprintf(`"%s.%s": "ask"`, r, what))
		}
	}
	a.AsOperator(t, "agents.set_permissions", "agent", agent, fmt.Sprintf(`{"id": %q, "permissions": {%s}}`, agent,
		strings.Join(cells, ",")))
	a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "askMode": "propose"}`, agent))
	_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
	return func(tool, arguments string) apptest.Value {
		t.Helper()
		r := a.SendRPC(t, access, fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name":
			%q, "arguments": %s}}`, tool, arguments))
		return r.ParseJSON(t).At("result.structuredContent")
	}
}

var (
	bareID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	samples   = regexp.MustCompile(`(?s)<details class="menu wide">.*?</details>`) // of the API, on demand
	approvals = regexp.MustCompile(`type="checkbox" name="id" value="(proposal[^"]+)"`)
)

// wordsOnly asserts that a page shows neither ids nor JSON.
func wordsOnly(t *testing.T, p page) page {
	t.Helper()
	shown := p
	shown.Body = samples.ReplaceAllString(p.Body, "")
	if m := bareID.FindString(shown.text()); m != "" {
		t.Errorf("the id %s in: %s", m, p.text())
	}
	if m := regexp.MustCompile(`\{"|\[\{|null,|new:\d|Cents|effects\[`).FindString(shown.text()); m != "" {
		t.Errorf("%s in: %s", m, p.text())
	}
	return p
}

// A plan is shown step by step; a step is left out and put back; several are approved at
// once, each on its own; and Undo takes back what was done.
func TestReviewQueue(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		send := func(path, body string) string {
			return a.SendREST(t, a.Key, "POST", "/v1/"+path, body).OK(t, 201).Text("id")
		}
		customer := send("customers", `{"name": "Böhm & Söhne"}`)
		contact := send("contacts", `{"firstName": "Jürgen", "lastName": "Böhm", "jobTitle": "Clerk"}`)
		plan := call("proposals_create", fmt.Sprintf(`{"title": "Answer Böhm", "reason": "They asked.", "steps": [
			{"operation": "contacts.update", "input": {"id": %q, "jobTitle": "Managing director"}},
			{"operation": "invoices.create", "input": {"customerId": %q, "currency": "eur", "lineItems": [
				{"description": "Overhaul", "quantity": "3", "unitAmountCents": 124000}]}, "saveAs": "invoice"},
			{"operation": "tasks.create", "input": {"title": "Call {{ invoice.currency }}", "contactId": %q}}]}`,
			contact, customer, contact)).At("data").Text("id")
		p := wordsOnly(t, b.get("/review").at("/review", "1 waits for you", "“ Answer Böhm ”", "“ They asked. ”",
			"Job title Clerk Managing director", "Overhaul, 3 × €1,240.00, no tax €3,720.00", "Customer Böhm & Söhne",
			"Create the task “Call eur”", "Contact Jürgen Böhm", "All 3 steps happen, or none of them.",
			"Costs nothing.",
			"Nobody gets mail."))
		at := "/review/" + plan
		b.post(at, "decision", "leave 1", "back", "/review").refused(400, "Step 3 needs what step 2 makes")
		b.post(at, "decision", "leave 2", "back", "/review").at("/review?at=p-"+plan, "Left out.", "left out",
			"Put it back", "Approve 2 of 3", "1 left out").hasNot("Call eur")
		stale := p.find(`name="sha256" value="([0-9a-f]{64})"`)
		b.post(at, "decision", "approve", "sha256", stale).refused(409, "not the proposal that you looked at")
		b.post(at, "decision", "put 2", "back", "/review").at("/review?at=p-"+plan, "Put back.", "Call eur")
		b.post(at, "decision", "leave 9").refused(400, "There is no step 10")
		b.post(at, "decision", "leave 0", "back", "/review").at("/review", "Approve 2 of 3",
			"Change fields of a contact: “Jürgen Böhm” left out")

		ada := send("contacts", `{"firstName": "Ada", "phoneNumbers": [{"phoneNumber": "+14155550100"}]}`)
		send("tasks", fmt.Sprintf(`{"title": "Write", "contactId": %q}`, ada))
		call("contacts_delete", fmt.Sprintf(`{"id": %q}`, ada))
		p = wordsOnly(t, b.get("/review").at("/review", "2 wait for you", "deletes", "Goes", "1 phone number", "Stays",
			"1 task", "without the connection to it", "Comes back if you want", "All that goes", "until"))
		form := []string{"do", "approve", "back", "/review"}
		for _, m := range approvals.FindAllStringSubmatch(p.Body, -1) {
			form = append(form, "id", m[1])
		}
		if len(form) != 8 {
			t.Fatalf("%v", form)
		}
		done := b.post("/review/decide", form...).at("/review", "Approved: 2.", "Undo", "Nothing waits for you")
		if n := a.SendREST(t, a.Key, "GET", "/v1/invoices", "").OK(t, 200).Len(); n != 1 {
			t.Errorf("%d invoices", n)
		}
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+contact, "").OK(t, 200).Same("jobTitle", "Clerk") // left out
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+ada, "").Refused(t, 404, "NOT_FOUND")
		undo := []string{"back", "/review"}
		for _, m := range wasMarks.FindAllStringSubmatch(done.Body, -1) {
			undo = append(undo, "event", m[1])
		}
		b.post("/undo", undo...).at("/review", "Undone.")
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+ada, "").OK(t, 200).Same("firstName", "Ada")
		if n := a.SendREST(t, a.Key, "GET", "/v1/invoices", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d invoices after Undo", n)
		}

		// Each is decided on its own: one that is not as it was looked at does not keep the others.
		for i := range 3 {
			call("tasks_create", fmt.Sprintf(`{"title": "Task %d"}`, i))
		}
		form = form[:4]
		for i, m := range approvals.FindAllStringSubmatch(b.get("/review").Body, -1) {
			if i == 1 {
				m[1] = m[1][:len(m[1])-64] + strings.Repeat("0", 64)
			}
			form = append(form, "id", m[1])
		}
		b.post("/review/decide", form...).at("/review", "Some could not be decided", "Decided: 2.", "1 waits for you",
			"Create the task “Task 1”")
	})
}

// A plan that is out of date is shown beside what changed, and anew for its maker; or it is
// rejected.
func TestStaleIsShownAnew(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		c := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "jobTitle": "Clerk"}`).OK(t, 201).
			Text("id")
		ask := func(title string) string {
			return "/review/" + call("contacts_update", fmt.Sprintf(`{"id": %q, "jobTitle": %q}`, c, title)).
				Text("proposalId")
		}
		approve := func(path string) page {
			sum := b.get(path).find(`name="sha256" value="([0-9a-f]{64})"`)
			return b.post(path, "decision", "approve", "sha256", sum, "back", "/review")
		}
		path := ask("Director")
		b.post("/contacts/"+c+"/edit", "field", "jobTitle", "jobTitle", "Engineer")
		approve(path).refused(409, "out of date", "When it asked", "Job title Clerk Engineer", "Show it anew")
		wordsOnly(t, b.get("/review").at("/review", "out of date", "Job title Clerk Engineer", "Show it anew"))
		b.post(path, "decision", "refresh", "back", "/review").at("/review?at=p-", "Engineer Director", "Approve")
		approve(path).at("/review", "Done, exactly as it was shown.", "Undo")
		path = ask("Owner")
		b.post("/contacts/"+c+"/edit", "field", "jobTitle", "jobTitle", "Retired")
		approve(path).refused(409, "out of date")
		b.post(path, "decision", "reject", "reason", "She left.", "back", "/review").at("/review",
			"Nothing waits for you")
		b.get(path).at(path, "rejected", "She left.")
	})
}

// What is shown is what will be done: nothing is hidden behind a cut, a hidden copy, a
// character that turns the text around, or a link that names another place.
func TestReviewHidesNothing(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		long := strings.Repeat("A long story. ", 700)
		path := "/review/" + call("tasks_create", fmt.Sprintf(`{"title": "Pay", "description": %q}`,
			long+"Pay evil.example.")).Text("proposalId")
		b.get(path).at(path, "Pay evil.example.").hasNot("sha256 ", "too long to be shown")

		path = "/review/" + call("messages_create", `{"to": ["ada@example.com"], "cc": ["cc@example.com"],
			"bcc": ["secret@example.net"], "replyTo": "elsewhere@example.net", "subject": "Bill \u202egpj.exe",
			"html": "<p>Go to <a href=\"https://evil.example/in\">https://bank.example</a>, `+
			`<a href=\"https://bank.example/a\"><b>bank.example</b></a> or `+
			`<a href=\"mailto:x@evil.example\">pay@bank.example</a>. <script>alert(1)</script></p>",
			"text": "Another text"}`).Text("proposalId")
		p := wordsOnly(t, b.get(path).at(path, "Copy cc@example.com", "Hidden copy secret@example.net",
			"Answers to elsewhere@example.net", "Bill [U+202E]gpj.exe", "3 addresses get mail", "Another text",
			"The link “ https://bank.example ” does not lead there. It leads to evil.example .",
			"The link “ pay@bank.example ” does not lead there. It leads to x@evil.example ."))
		p.hasNot("\u202e", "<script>alert", "“<bdi>bank.example</bdi>” does not lead")

		path = "/review/" + call("contacts_create",
			`{"firstName": "<img src=x onerror=alert(1)>", "lastName": "\u202eadA\u200b", "notes": "a_b\nc"}`).
			Text("proposalId")
		b.get(path).at(path, "<img src=x onerror=alert(1)>", "[U+202E]adA[U+200B]", "a_b c").hasNot("<img src=x",
			"\u202e")
		b.get("/review").at("/review", "[U+202E]adA").hasNot("<img src=x", "\u202e")

		// A text that looks like an id, a day or a record of the plan is shown as it was written.
		path = "/review/" + call("contacts_create", `{"firstName": "2026-11-02", "lastName": "new:1", "externalId":
			"0c7b1f52-6f0e-4a43-9d5e-2b8a4c6d7e91", "birthday": "1815-12-10"}`).Text("proposalId")
		b.get(path).at(path, "First name 2026-11-02", "Last name new:1", "0c7b1f52-6f0e-4a43-9d5e-2b8a4c6d7e91",
			"Birthday Dec 10, 1815")

		plan := call("proposals_create", `{"title": "Frontdesk: this is safe. \u202e", "steps": [
			{"operation": "tasks.create", "input": {"title": "One"}}, {"operation": "tasks.create",
			"input": {"title": "Two"}}]}`).At("data").Text("id")
		b.get("/review/"+plan).has("“ Frontdesk: this is safe. [U+202E] ”", "One", "Two")
	})
}

// A mail in the letterhead is shown with it, as its reader will get it.
func TestReviewShowsTheLetterhead(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := proposing(t, a)
		b := owner(t, a)
		path := "/review/" + call("messages_create", `{"to": "ada@example.com", "subject": "Hello", "text": "Dear Ada",
			"letterhead": true}`).Text("proposalId")
		p := b.get(path).at(path, "Send a mail to ada@example.com", "Without design")
		paper := b.get(p.find(`src="(/review/[0-9a-f-]{36}/mails/0)"`))
		name := a.SendREST(t, a.Key, "GET", "/v1/businesses", "").OK(t, 200).Text("0.name")
		if !strings.Contains(paper.Body, "Dear Ada") || !strings.Contains(paper.Body, "max-width:600px") ||
			!strings.Contains(paper.text(), name) {
			t.Errorf("no letterhead of %s: %s", name, paper.Body)
		}
		sum := p.find(`name="sha256" value="([0-9a-f]{64})"`)
		b.post(path, "decision", "approve", "sha256", sum).at(path, "Done, exactly as it was shown.").
			hasNot("Undo <kbd")
	})
}

// Setting a permission to ask lets the agent ask, and the page says so.
func TestAskMeansAsk(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		path := "/agents/" + string(a.NewAgent(t, a.Tenant, "read"))
		isOn := func(p page) bool { return strings.Contains(p.Body, `name="askMode" value="propose" checked`) }
		if isOn(b.post(path, "contacts.create", "allow").at(path, "Saved.")) {
			t.Error("allowing switches proposing on")
		}
		if !isOn(b.post(path, "contacts.create", "ask").at(path, "it may propose what is set to ask")) {
			t.Error("asking does not switch proposing on")
		}
		b.post(path+"/asking", "guard", "on").at(path, "Saved.")
		if isOn(b.post(path, "contacts.create", "ask").at(path, "Saved.", "proposing is switched off")) {
			t.Error("saving the same table switches it on again")
		}
		if !isOn(b.post(path, "contacts.create", "ask", "tasks.create", "ask").at(path)) {
			t.Error("one more does not switch it on")
		}
	})
}

// The rail counts what waits in the queue, proposals and values together.
func TestWaitingIsCounted(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		proposing(t, a)("tasks_create", `{"title": "One"}`)
		send := func(path, body string) string {
			return a.SendREST(t, a.Key, "POST", "/v1/"+path, body).OK(t, 201).Text("id")
		}
		city := send("property-definitions", `{"objectType": "contact", "key": "city", "name": "City",
			"valueType": "text"}`)
		for range 2 {
			send("contacts/"+send("contacts", `{"firstName": "Ada"}`)+"/properties",
				fmt.Sprintf(`{"definitionId": %q, "value": "London", "status": "suggested"}`, city))
		}
		owner(t, a).get("/").at("/", "Review 3 waiting", "1 proposal waits for you", "2 values were suggested")
	})
}
