package desk_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// An API key is shown once, works once the agreement is accepted on the page
// that its refusal names, and stops when it is revoked.
func TestKeyAndAgreement(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		second := a.SendREST(t, a.Key, "POST", "/v1/businesses", `{"name": "Second <Business>"}`).OK(t, 201).ID("id")
		b := owner(t, a)
		b.get("/settings/keys").at("/settings/keys", "Test", "Everything", "Create key")
		p := b.post("/settings/keys/new", "name", "", "business_id", string(second)).refused(400, "Fill this in",
			"Choose at least one")
		if p.find(`<option value="([^"]*)" selected`) != string(second) {
			t.Error("the choice is gone")
		}
		// A screen reader finds the issue of a choice, as of any field.
		b.post("/settings/keys/new", "name", "Web shop", "business_id", "nonsense", "permissions", "*").refused(400).
			find(`(<select class="in" id="business_id" name="business_id" autofocus aria-invalid="true" ` +
				`aria-describedby="business_id-wrong business_id-help">)`)
		p = b.post("/settings/keys/new", "name", "Web shop", "business_id", string(second), "permissions",
			"contacts:read",
			"permissions", "contacts:write", "expires", "90").
			at("/settings/keys/new", "It will not be shown again", "has not accepted the business agreement")
		key := p.find(`<output id="secret">(fd_[0-9A-Za-z]{40})</output>`)
		list := b.get("/settings/keys").at("/settings/keys", "Web shop", "Reads 1 resource, writes 1 resource", "never",
			"expires", "Second <Business>")
		list.hasNot(key)
		refused := a.SendREST(t, key, "GET", "/v1/contacts", "").Refused(t, 403, "BUSINESS_AGREEMENT_REQUIRED")
		page, _ := strings.CutPrefix(refused.At("details").Text("url"), a.Settings.BaseURL)
		b.get(page).at("/agreements", "Business agreement version 1", "Second <Business> : not accepted", "Your data")

		b.post(page, "business_id", string(second), "kind", "business").refused(400, "Tick the box")
		// Nobody accepts a version that they have not seen.
		b.get(page).find(`(<input type="hidden" name="version" value="1">)`)
		b.post(page, "business_id", string(second), "kind", "business", "version", "0", "read", "yes").refused(400,
			"The current version is now 1", "Second <Business> : not accepted")
		a.SendREST(t, key, "GET", "/v1/contacts", "").Refused(t, 403, "BUSINESS_AGREEMENT_REQUIRED")
		b.post(page, "business_id", string(second), "kind", "business", "read", "yes").at("/agreements?done=accepted",
			"Accepted.", "Second <Business> : accepted", "by Owner")
		a.SendREST(t, key, "GET", "/v1/contacts", "").OK(t, 200)
		a.SendREST(t, key, "GET", "/v1/customers", "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		if !strings.Contains(events(t, a.DB), "agreement.accepted:user:console") {
			t.Error("the acceptance is not logged as the user's")
		}

		revoke := list.find(`href="(/settings/keys/[^"]*/revoke)"[^>]*>Revoke<span class="hide"> Web shop`)
		b.get(revoke).at(revoke, "Revoke the key Web shop", "stops working with its next request", "Cancel")
		a.SendREST(t, key, "GET", "/v1/contacts", "").OK(t, 200)
		b.post(revoke).at("/settings/keys?done=revoked", "Revoked.", "revoked")
		a.SendREST(t, key, "GET", "/v1/contacts", "").Refused(t, 401, "UNAUTHORIZED")
		if strings.Contains(a.Logs.String(), key) {
			t.Error("the logs have the key")
		}
	})
}

// The permission table is saved as the form has it, and applies at once.
func TestAgent(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		b.get("/agents").at("/agents", "No agents yet", "Create agent", a.Settings.MCPURL+"/mcp")
		b.post("/agents/new", "name", "", "business_id", string(a.Business), "preset",
			"read").refused(400, "Fill this in")
		p := b.post("/agents/new", "name", "Assistant", "business_id", string(a.Business), "preset",
			"helper").at("/agents/",
			"Created.", "Assistant")
		path, _, _ := strings.Cut(p.Path, "?")
		level := func(cell string) string {
			t.Helper()
			return b.get(path).find(`name="` + regexp.QuoteMeta(cell) + `" value="(\w+)" data-tools="\d+" checked`)
		}
		if level("contacts.create") != "allow" || level("messages.create") != "ask" ||
			level("contacts.delete") != "ask" ||
			level("domains.read") != "allow" {
			t.Error("the helper preset is not what it should be")
		}
		tools := func() (n int) {
			t.Helper()
			fmt.Sscanf(b.get(path).find(`<output aria-live="polite">(\d+ tool)`), "%d", &n) //nolint:errcheck // 0 tells
			return n
		}
		helper := tools()
		// A preset fills in the table; only submitting the form saves it.
		b.get(path+"?preset=none").at(path, "“Nothing” is filled in below and not saved yet",
			"3 tools ") // me_get, notifications_list and reports_get, which show only what else it may read
		if tools() != helper || helper < 10 {
			t.Errorf("%d tools, then %d", helper, tools())
		}
		form := []string{}
		for _, r := range strings.Fields("automations businesses contacts customers domains email_opt_ins " +
			"email_templates files invoices messages properties tasks webhooks") {
			for _, verb := range []string{"read", "create", "update", "delete"} {
				value := "deny"
				if r == "contacts" && verb == "read" {
					value = "allow"
				}
				form = append(form, r+"."+verb, value)
			}
		}
		b.post(path, form...).at(path+"?done=saved", "Saved.")
		if level("contacts.read") != "allow" || level("contacts.create") != "deny" || tools() >= helper {
			t.Errorf("saved as %s %s with %d tools", level("contacts.read"), level("contacts.create"), tools())
		}
		b.post(path, "contacts.read", "perhaps").refused(400, "Invalid option: expected one of allow, ask, deny")
		b.post(path, "account.read", "allow", "nonsense", "allow").at(path) // not cells of the table
		b.post(path+"/name", "name", " אבג Assistant ").at(path+"?done=renamed", "אבג Assistant")
		b.post(path+"/name", "name", "").refused(400, "Fill this in")

		b.get(path+"/deactivate").at(path, "Deactivate אבג Assistant")
		b.post(path+"/deactivate").at(path, "inactive", "Activate agent")
		b.post(path+"/activate").at(path, "Activated")
		b.get(path+"/delete").at(path, "cannot be undone")
		b.post(path + "/delete").at("/agents?done=deleted").hasNot("Assistant</bdi>")
		b.get(path).refused(404)
		b.get("/agents/nonsense").refused(404)
		log := events(t, a.DB)
		for _, e := range []string{"agent.created", "agent.updated", "agent.deactivated", "agent.activated",
			"agent.deleted"} {
			if !strings.Contains(log, e+":user:console") {
				t.Errorf("no %s in %s", e, log)
			}
		}
	})
}

// Another organization's rows are not found.
func TestForeign(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	other := a.NewTenant(t, "free")
	agent := string(a.AsOperator(t, "agents.create", "business", other.Business,
		fmt.Sprintf(`{"businessId": %q, "name": "Theirs"}`, other.Business)).ID("id"))
	a.AsOperator(t, "payment_methods.create_test", "organization", other.Org, `{"test": "visa"}`)
	b := owner(t, a)
	for _, path := range []string{"/agents/" + agent, "/agents/" + agent + "/delete",
		"/settings/keys/" + string(other.KeyID) + "/revoke", "/settings/members/" + string(other.OwnerID)} {
		b.get(path).refused(404).hasNot("Theirs")
		b.post(path, "role", "member", "contacts.read", "allow").refused(404)
	}
	b.post("/settings/keys/new", "name", "X", "business_id", string(other.Business), "permissions", "*").refused(404)
	b.post("/agents/new", "name", "X", "business_id", string(other.Business), "preset", "all").refused(404)
	b.post("/agreements", "business_id", string(other.Business), "kind", "domain", "read", "yes").refused(404)
	b.post("/settings/organizations", "organization_id", string(other.Org)).refused(404)
}

// Cards: saved, made the default, deleted after confirmation.
func TestCards(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := owner(t, a)
	b.get("/settings/cards").at("/settings/cards", "No card yet")
	b.post("/settings/cards", "test", "gold").refused(400, "Invalid option")
	b.post("/settings/cards", "test", "visa").at("/settings/cards", "Visa ending in 4242", "default")
	p := b.post("/settings/cards", "test", "declined").at("/settings/cards", "Visa ending in 0002")
	b.post(p.find(`action="(/settings/cards/[^"]*/default)"`)).at("/settings/cards", "Default card changed.")
	p = b.get("/settings/cards")
	if strings.Count(p.Body, `pill good">default`) != 1 {
		t.Error("not one default card")
	}
	remove := p.find(`href="(/settings/cards/[^"]*/delete)">Delete<span class="hide"> the card ending in 4242`)
	b.get(remove).at(remove, "It is the default card")
	p = b.post(remove).at("/settings/cards", "Deleted.").hasNot("4242 <", "No card is the default")
	if strings.Count(p.Body, `pill good">default`) != 1 {
		t.Error("no other card became the default")
	}
}

// A long list is shown in pages.
func TestPages(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	for i := range 60 {
		newAgent(t, a, a.Business, fmt.Sprintf("Agent %02d", i), "none")
	}
	b := owner(t, a)
	p := b.get("/agents").at("/agents", "Agent 59", "Agent 10", "Older").hasNot("Agent 09", "Newer")
	b.get(p.find(`href="([^"]*)" rel="next"`)).at("/agents?page=2", "Agent 09", "Agent 00",
		"Newer").hasNot("Agent 10", "Older")
	b.get("/agents?page=nonsense").at("/agents", "Agent 59")
	b.get("/agents?page=-1").at("/agents", "Agent 59")
}

// Every link that a page shows leads to a page, for an owner and for a member.
func TestLinks(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := owner(t, a)
	b.post("/agents/new", "name", "Assistant", "business_id", string(a.Business), "preset", "read")
	b.post("/settings/cards", "test", "visa")
	b.post("/settings/cards", "test", "slow")
	b.post("/webhooks/new", "url", "https://127.0.0.1:1/", "events", "*").at("/webhooks/new")
	b.post(b.get("/webhooks").find(`href="(/webhooks/[0-9a-f-]{36})"`)+"/test").at("/webhooks/", "failed")
	p := b.post("/automations/new", "name", "Look", "trigger.kind", "manual", "steps.0.operation",
		"contacts.list").at("/automations/")
	b.post(strings.Split(p.Path, "?")[0]+"/run", "input", "").at("/executions/")
	link := b.post("/settings/members/invite", "email", "grace@example.com", "role",
		"member").find(`<output id="secret">([^<]*)</output>`)
	b.post("/settings/members/invite", "email", "emmy@example.com", "role", "admin").at("/settings/members/invite")
	m := visit(t, a.URL)
	m.post(strings.TrimPrefix(link, a.Settings.BaseURL), "name", "Grace", "password",
		"a long password").at("/", "Today")
	href := regexp.MustCompile(`(?:href|src)="(/[^"#]*)`)
	for who, b := range map[string]*browser{"owner": b, "member": m} {
		queue, seen := []string{"/"}, []string{"/"}
		for len(queue) > 0 {
			path := queue[0]
			queue = queue[1:]
			p := b.get(path)
			if p.Status != 200 {
				t.Errorf("%s: %s answers %d", who, path, p.Status)
			}
			for _, m := range href.FindAllStringSubmatch(p.Body, -1) {
				next := strings.ReplaceAll(m[1], "&amp;", "&")
				if who == "member" && strings.HasPrefix(path, "/docs") && !strings.HasPrefix(next, "/docs") {
					continue // the documentation is the same for all, and leads owners to their settings
				}
				if !slices.Contains(seen, next) {
					seen = append(seen, next)
					queue = append(queue, next)
				}
			}
		}
		t.Logf("%s: %d pages and files", who, len(seen))
		if who == "owner" && len(seen) < 60 {
			t.Errorf("only %d pages", len(seen))
		}
	}
}
