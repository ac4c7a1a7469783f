package desk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// newest is the newest message of the organization.
func newest(t testing.TB, a *apptest.App) apptest.Value {
	t.Helper()
	return a.SendREST(t, a.Key, "GET", "/v1/messages?limit=1", "").OK(t, 200).At("0")
}

// What is written with marks is sent with them and formatted; what has none is sent as it is.
func TestMarksInMail(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		send := func(do, text string, more ...string) page {
			return b.post("/inbox/new", append([]string{"do", do, "to", "ada@example.org", "subject", "Hello", "text",
				text}, more...)...)
		}
		const written = "Dear **Ada**,\n\n- one\n- [two](https://example.org)\n\n[no](javascript:alert(1)) <b>x</b> " +
			"![p](https://example.org/p.png)"
		send("send", strings.ReplaceAll(written, "\n", "\r\n")).at("/inbox/", "Sent.")
		m := newest(t, a)
		m.Same("text", written)
		html := m.Text("html")
		for _, want := range []string{"<strong>Ada</strong>", "<li>one</li>", `<a href="https://example.org">two</a>`,
			"&lt;b&gt;x&lt;/b&gt;", `<a href="https://example.org/p.png">p</a>`} {
			if !strings.Contains(html, want) {
				t.Errorf("no %s in %s", want, html)
			}
		}
		if strings.Contains(html, "javascript") || strings.Contains(html, "<img") {
			t.Error(html)
		}
		send("send", "Dear Ada,\n\nthank you.").at("/inbox/", "Sent.")
		newest(t, a).Same("html", nil)
		send("send", strings.Repeat("*", 1<<20)).refused(400) // longer than a mail may be
		send("send", strings.Repeat("*a **a ", 70_000)).at("/inbox/", "Sent.")
		newest(t, a).Same("html", nil) // too intricate, so it is a text
		send("send", strings.Repeat("> ", 5000)+"x").at("/inbox/", "Sent.")

		// A draft keeps all of it, and its text alone decides.
		p := send("save", "Dear **Ada**", "bcc", "eve@example.org").at("/inbox/", "Draft saved.")
		p.hasNot("This is how most people will see it")
		thread := p.where()
		again := visit(t, a.URL)
		again.signIn("grace@example.com", "a long password").at("/")
		p = again.get(thread).at(thread, "Dear **Ada**")
		p.find(`(name="bcc" value="eve@example.org")`)
		again.post(thread+"/reply", p.answer("do", "save", "text", "Dear _Ada_")...).at(thread, "Draft saved.")
		newest(t, a).Same("html", "<p>Dear <em>Ada</em></p>")
		again.post(thread+"/reply", p.answer("do", "send", "text", "Dear Ada")...).at(thread, "Sent.")
		m = newest(t, a)
		m.Same("html", nil)
		m.Same("bcc.0", "eve@example.org")
	})
}

// The preview is what would be sent, and sends nothing.
func TestPreview(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Ada", "emails": [{"email": "ada@example.org"}]}`).OK(t, 201)
		look := func(pairs ...string) page {
			t.Helper()
			p := b.post("/inbox/preview", append([]string{"do", "preview", "to", "ada@example.org"}, pairs...)...)
			if policy := p.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox") {
				t.Error(policy)
			}
			return p
		}
		if p := look("text", "Dear **Ada** <script>x</script>"); !strings.Contains(p.Body, "<strong>Ada</strong>") ||
			strings.Contains(p.Body, "<script>") {
			t.Error(p.Body)
		}
		look("text", "Dear <Ada>").at("/inbox/preview", "Dear <Ada>")
		look("text", "").at("/inbox/preview")
		ref := a.SendREST(t, a.Key, "POST", "/v1/email-templates", `{"name": "Thanks", "subject": "Thank you",
			"body": "Dear {{ contact.firstName }}, thank you for **{{ thing }}**."}`).OK(t, 201).Text("id")
		p := look("template", ref, "text", "Dear [contact.firstName], thank you for _tea_.")
		p.at("/inbox/preview", "Dear Ada, thank you for tea .", "Test") // in the letterhead of the business
		if !strings.Contains(p.Body, "<em>tea</em>") {
			t.Error(p.Body)
		}
		look("text", strings.Repeat("x", 600_000)).refused(400)
		if n := count(t, a, "SELECT count(*) FROM messages"); n != 0 {
			t.Errorf("%d messages", n)
		}
		visit(t, a.URL).post("/inbox/preview", "text", "x").refused(401)
	})
}

// Each person has a signature of their own, in each browser of theirs.
func TestSignature(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		b.get("/inbox/new").hasNot("Hopper\nCompilers")
		b.post("/settings/mail", "text", "Grace Hopper\r\nCompilers <&>").at("/settings/mail", "Saved.",
			"Grace Hopper Compilers <&>")
		again := visit(t, a.URL)
		again.signIn("grace@example.com", "a long password").at("/")
		text := again.get("/inbox/new").find(`(?s)<textarea id="reply"[^>]*>\n(.*?)</textarea>`)
		if text != "\n\nGrace Hopper\nCompilers <&>" {
			t.Errorf("%q", text)
		}
		owner(t, a).get("/inbox/new").hasNot("Grace Hopper\n")
		ref := answered(t, a, "ada@example.org", "Re: How are you?", plainBody)
		b.get("/inbox/" + string(ref)).has("Grace Hopper Compilers")
		b.get("/inbox/" + string(ref) + "?write=note").hasNot("Compilers")
		b.post("/inbox/new", "do", "send", "to", "ada@example.org", "subject", "Hello", "text", text).
			refused(400, "Write something first")
		b.post("/inbox/new", "do", "send", "to", "ada@example.org", "subject", "Hello", "text", "Hello."+text).
			at("/inbox/", "Sent.")
		b.post("/settings/mail", "text", strings.Repeat("x", 2001)).refused(400, "Too long")
		b.post("/settings/mail", "text", "").at("/settings/mail", "Saved.")
		b.get("/inbox/new").hasNot("Compilers")
	})
}

// ownDomain gives the organization a domain that it can send from.
func ownDomain(t testing.TB, a *apptest.App, name string) {
	t.Helper()
	ref := a.SendREST(t, a.Key, "POST", "/v1/domains", fmt.Sprintf(`{"name": %q}`, name)).OK(t, 201).ID("id")
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if _, err := db.Exec(ctx, tx, "DELETE FROM domain_holds WHERE domain_id = $1", ref); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, `
			INSERT INTO domain_holds (organization_id, created_at, name, domain_id, zone_ready)
			VALUES ($1, $2, $3, $4, TRUE)`, a.Org, a.Clock.Now(), name, ref); err != nil {
			return err
		}
		_, err := db.Exec(ctx, tx, "UPDATE domains SET status = 'active' WHERE id = $1", ref)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A mail is from an address that the business has, and the writer chooses which.
func TestSenders(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		shared := a.MailHosts.DefaultAddress()
		b.get("/inbox/new").find(`(<option value="` + shared + `" selected>Test via)`)
		ownDomain(t, a, "engines.example")
		a.SendREST(t, a.Key, "PATCH", "/v1/businesses/"+string(a.Business)+"/profile",
			`{"email": "desk@engines.example"}`).OK(t, 200)
		p := b.get("/inbox/new")
		p.find(`(<option value="desk@engines.example" selected>Test )`)
		p.find(`(<option value="` + shared + `">)`)
		p.hasNot("grace@example.com") // not an address of the house
		b.post("/inbox/new", "do", "save", "to", "ada@example.org", "subject", "Hello", "text", "Hello.", "from",
			shared).at("/inbox/", "Draft saved.").find(`(<option value="` + shared + `" selected>)`)
		newest(t, a).Same("from", shared)
		sent := b.post("/inbox/new", "do", "send", "to", "ada@example.org", "subject", "Hello", "text", "Hello.",
			"from", "sales@engines.example").at("/inbox/", "Sent.", "You", "as Test")
		newest(t, a).Same("from", "sales@engines.example")
		b.get(sent.where()).find(`(<option value="sales@engines.example" selected>)`) // as before in this conversation
		b.get("/inbox/new").find(`(<option value="sales@engines.example">)`)          // used lately
		b.post("/inbox/new", "do", "send", "to", "ada@example.org", "subject", "Hello", "text", "Hello.", "from",
			"boss@bank.example").refused(400, "cannot send from this address", "boss@bank.example")
	})
}

// What a template leaves open is marked, and sent only when somebody says so.
func TestGaps(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		ref := a.SendREST(t, a.Key, "POST", "/v1/email-templates", `{"name": "Thanks", "subject": "Thank you",
			"body": "Thank you for {{ thing }}."}`).OK(t, 201).Text("id")
		b.get("/inbox/new?template="+ref).at("/inbox/new", "Still to fill in: [thing]").
			hasNot("Send it with these as they are")
		form := []string{"do", "send", "to", "ada@example.org", "subject", "Hello", "text", "Thank you for [thing]."}
		b.post("/inbox/new", form...).refused(400, "Write what belongs in place of [thing]",
			"Still to fill in: [thing]", "Send it with these as they are")
		b.post("/inbox/new", append(form, "gaps", "yes")...).at("/inbox/", "Sent.")
		newest(t, a).Same("text", "Thank you for [thing].")
	})
}

// A mail says who of the house wrote it, and who sent what an agent had drafted.
func TestAuthors(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		ref := answered(t, a, "ada@example.org", "Re: How are you?", plainBody)
		thread := "/inbox/" + string(ref)
		p := b.get(thread)
		in := p.find(`name="inReplyToId" value="([^"]+)"`)
		b.post(thread+"/reply", p.answer("do", "send", "text", "From Grace.")...).at(thread, "Sent.", "You as Test")
		boss := owner(t, a)
		boss.get(thread).at(thread, "Grace Hopper as Test", "From Grace.")
		agent := a.NewAgent(t, a.Tenant, "all")
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		a.SendRPC(t, access, fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name":
			"messages_create", "arguments": {"to": "ada@example.org", "subject": "Re: How are you?", "text":
			"From the machine.", "inReplyToId": %q, "draft": true}}}`, in), a.InitializeSession(t, access)...)
		p = boss.get(thread).at(thread, "Draft by", "From the machine.")
		boss.post(thread+"/reply", p.answer("do", "send")...).at(thread, "Sent.", "You written by")
	})
}

// "/" offers invoices, offerings and files, to those who may know them.
func TestInsertions(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		ada := a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Ada", "emails": [{"email": "ada@example.org"}]}`).OK(t, 201).Text("id")
		bill := func(who, name string) string {
			customer := a.SendREST(t, a.Key, "POST", "/v1/customers",
				fmt.Sprintf(`{"name": %q, "contactId": %s}`, name, who)).OK(t, 201).Text("id")
			ref := a.SendREST(t, a.Key, "POST", "/v1/invoices", fmt.Sprintf(`{"customerId": %q, "lineItems":
				[{"description": "Cards", "unitAmountCents": 41200}]}`, customer)).OK(t, 201).Text("id")
			a.SendREST(t, a.Key, "POST", "/v1/invoices", fmt.Sprintf(`{"customerId": %q}`, customer)).OK(t, 201)
			return a.SendREST(t, a.Key, "POST", "/v1/invoices/"+ref+"/issue", "").OK(t, 200).Text("invoiceNumber")
		}
		hers, other := bill(`"`+ada+`"`, "Ada"), bill("null", "Others")
		a.SendREST(t, a.Key, "POST", "/v1/businesses/"+string(a.Business)+"/offerings",
			`{"name": "Maintenance", "priceCents": 9000, "unit": "hour"}`).OK(t, 201)
		b.upload("/files/upload", map[string]string{}, "price <list>.txt", "Prices.")
		p := b.get("/inbox/insert?query=&to=ada@example.org").at("/inbox/insert", hers+" Ada, $412.00", other,
			"Maintenance $90.00 per hour", "price <list>.txt")
		if strings.Index(p.Body, hers) > strings.Index(p.Body, other) {
			t.Error("hers come first")
		}
		put := p.find(`data-text="(\[` + hers + `\]\([^"]*)"`)
		if !strings.HasSuffix(put, "), $412.00") || !strings.Contains(put, "/invoice/") {
			t.Error(put)
		}
		p.find(`(data-text="Maintenance: \$90.00 per hour")`)
		kept := p.find(`name="file-kept" value="([^"]+)"`)
		b.get("/inbox/insert?query=maint").has("Maintenance").hasNot(hers)
		b.get("/inbox/insert?query=" + other).has(other).hasNot(hers)
		b.get("/inbox/insert?query=" + strings.Repeat("x", 3000)).at("/inbox/insert")

		// A file stays with the form, also when that is refused, and is sent.
		p = b.post("/inbox/new", "do", "send", "to", "ada@example.org", "subject", "Hello", "text", "", "file-kept",
			kept).refused(400, "Leave out price <list>.txt")
		b.get("/inbox/kept?file-kept=" + kept + "&file-kept=" + string(id.New())).has("Leave out price <list>.txt")
		b.post("/inbox/new", "do", "send", "to", "ada@example.org", "subject", "Hello", "text", "Here.", "file-kept",
			p.find(`name="file-kept" value="([^"]+)"`)).at("/inbox/", "Sent.", "price <list>.txt")
		p = b.upload("/inbox/new", map[string]string{"do": "send", "to": "nobody at all", "subject": "Hello",
			"text": "Hello"}, "plan.txt", "A plan.").refused(400, "Leave out plan.txt")

		// Nobody else's.
		stranger := visit(t, a.URL)
		stranger.signIn(a.NewTenant(t, "free").Owner, "a long password").at("/")
		stranger.get("/inbox/insert?query=").hasNot(hers)
		stranger.get("/inbox/kept?file-kept=" + kept).hasNot("price")
		stranger.post("/inbox/new", "do", "send", "to", "ada@example.org", "subject", "Hello", "text", "Here.",
			"file-kept", kept).refused(400)
	})
}
