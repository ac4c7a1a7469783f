package desk_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// joined invites somebody with a role, and is their browser and the path of their page.
func joined(t testing.TB, a *apptest.App, by *browser, email, name, role string) (*browser, string) {
	t.Helper()
	m := visit(t, a.URL)
	m.post(inviteLink(t, a, by, email, role), "name", name, "password", "a long password").at("/")
	return m, by.get("/settings/members").find(`href="(/settings/members/[^"]*)"><bdi>` + name)
}

// An admin makes themself an owner, and removes the founder.
func TestAttackAdminTakesOver(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		eve, hers := joined(t, a, b, "eve@example.com", "Eve", "admin")
		founder := eve.get("/settings/members").find(`href="(/settings/members/[^"]*)"><bdi>Owner`)
		const only = "Only an owner can make, change or remove an owner."
		eve.post(hers, "role", "owner").refused(403, only)
		eve.post(founder, "role", "member").refused(403, only)
		eve.post(founder+"/remove").refused(403, only)
		eve.post("/settings/members/invite", "email", "friend@example.com", "role", "owner").refused(403, only)
		// None of it is offered.
		eve.get(founder).at(founder).hasNot("Change role", "/remove")
		eve.get(hers).at(hers, "Change role").hasNot(`value="owner"`)
		eve.get("/settings/members/invite").at("/settings/members/invite").hasNot(`value="owner"`)
		b.get(founder).at(founder, "Change role", "Remove")

		// An owner's invitation for an owner ends with their own ownership.
		link := inviteLink(t, a, b, "third@example.com", "owner")
		b.post(hers, "role", "owner").at(hers)
		eve.post(founder, "role", "admin").at(founder)
		visit(t, a.URL).get(link).refused(404, "was used or revoked")
		// An owner removes an owner.
		eve.post(founder, "role", "owner").at(founder)
		b.post(hers+"/remove").at("/settings/members", "Removed.")
	})
}

// proposed has an agent propose a mail, and is the page of the proposal.
func proposed(t testing.TB, a *apptest.App) string {
	t.Helper()
	agent := a.NewAgent(t, a.Tenant, "helper")
	a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "askMode": "propose"}`, agent))
	_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
	r := a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "messages_create",
		"arguments": {"to": "ada@example.com", "subject": "Hello", "text": "Hello Ada"}}}`)
	return r.ParseJSON(t).Text("result.structuredContent.approvalUrl")[len(a.Settings.BaseURL):]
}

// A plain member approves an agent's mail.
func TestAttackMemberApproves(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b, path := owner(t, a), proposed(t, a)
		eve, hers := joined(t, a, b, "eve@example.com", "Eve", "member")
		p := eve.get(path).at(path, "Send a mail to ada@example.com")
		sum := b.get(path).find(`name="sha256" value="([0-9a-f]{64})"`)
		const not = "Deciding what agents propose was not allowed"
		eve.post(path, "decision", "approve", "sha256", sum).refused(403, not)
		eve.post(path, "decision", "reject").refused(403, not)
		eve.post(path, "decision", "leave 0").refused(403, not)
		eve.post(path, "decision", "refresh").refused(403, not)
		eve.post(path, "decision", "cancel").refused(403, "Only the one who made a proposal")
		eve.get(path+"/change").refused(403, not)
		eve.post(path+"/change", "0.subject", "x").refused(403, not)
		eve.post(path + "/allow").refused(403)
		eve.get("/review").at("/review", "waits for somebody who may").hasNot(`value="approve"`, `value="reject"`)
		eve.post("/review/decide", "do", "approve", "id", "proposal."+path[len("/review/"):]+"."+sum).refused(403, not)
		p.hasNot(`value="approve"`, `value="reject"`, "/change", "/allow")
		p.has("waits for somebody who may decide")
		if n := a.SendREST(t, a.Key, http.MethodGet, "/v1/messages", "").OK(t, 200).Len(); n != 0 {
			t.Fatalf("%d mails", n)
		}
		b.post(hers+"/rights", "mayApprove", "yes", "permissions", "*").at(hers, "Saved.")
		eve.get(path).at(path, "Approve", "Reject")
		eve.post(path, "decision", "approve", "sha256", sum).at(path, "Done, exactly as it was shown")
		// Her own plans are hers, whatever she may decide.
		b.post(hers+"/rights", "permissions", "*").at(hers, "Saved.")
	})
}

// A plain member buys a domain on the default card, and has it renew itself.
func TestAttackMemberBuys(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		b.post("/agreements", "business_id", string(a.Business), "kind", "domain", "read", "yes", "version", "1")
		a.AsOperator(t, "payment_methods.create_test", "organization", a.Org, `{"test": "visa"}`)
		eve, hers := joined(t, a, b, "eve@example.com", "Eve", "member")
		contact := a.SendREST(t, a.Key, http.MethodPost, "/v1/domain-contacts", `{"firstName": "Ada", "lastName": "L",
			"email": "ada@example.com", "phone": "+14155550100", "address1": "1 Main St", "city": "Paris",
			"stateProvince": "IDF", "postalCode": "75001", "country": "FR"}`).OK(t, 201).Text("id")
		buy := func(who *browser, name string) page {
			return who.post("/domains/buy", "domain", name, "amount", "$100.00", "contactId", contact, "autoRenew",
				"yes",
				"key", string(id.New()))
		}
		buy(eve, "eves-own-shop.com").refused(403, "Buying a domain was not allowed")
		eve.get("/domains/buy?domain=eves-own-shop.com").refused(403)
		eve.get("/domains/search?query=eves-own-shop").at("/domains/search", "You may look, and not buy").
			hasNot("/domains/buy")
		if n := a.SendREST(t, a.Key, http.MethodGet, "/v1/operations", "").OK(t, 200).Len(); n != 0 {
			t.Fatalf("%d orders", n)
		}
		b.post(hers+"/rights", "maySpend", "yes", "permissions", "*").at(hers, "Saved.")
		eve.get("/domains/search?query=eves-own-shop").at("/domains/search").has("Buy")
		buy(eve, "eves-own-shop.com").at("/domains", "We are registering it")
		b.post(hers+"/rights", "permissions", "*").at(hers, "Saved.")
	})
}

var linked = regexp.MustCompile(`(?:href|src)="(/[^"]*)"`)

// Every page offers only what its reader may do: no link that a restricted member can
// find leads to a refusal.
func TestAttackPagesOfferNothingRefused(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		proposed(t, a)
		for _, x := range []struct{ path, body string }{
			{"/v1/contacts", `{"firstName": "Ada", "emails": [{"email": "ada@example.com"}]}`},
			{"/v1/tasks", `{"title": "Call Ada"}`},
			{"/v1/webhooks", `{"url": "https://example.com/hook", "events": ["*"]}`},
			{"/v1/automations", `{"name": "Greet", "trigger": {"kind": "manual"}, "steps": [{"operation":
				"tasks.create", "input": {"title": "x"}}]}`},
			{"/v1/domains", `{"name": "example.com"}`},
			{"/v1/messages", `{"to": "ada@example.com", "subject": "Hello", "text": "Hello"}`},
		} {
			a.SendREST(t, a.Key, http.MethodPost, x.path, x.body).OK(t, 201)
		}
		eve, hers := joined(t, a, b, "eve@example.com", "Eve", "member")
		for _, rights := range [][]string{
			{"*"}, {"contacts:read", "contacts:write"}, {"contacts:read", "tasks:read", "automations:read"},
			{"invoices:read", "domains:read", "messages:read", "proposals:read", "webhooks:read"}, {},
		} {
			form := []string{}
			for _, r := range rights {
				form = append(form, "permissions", r)
			}
			b.post(hers+"/rights", form...).at(hers, "Saved.")
			seen, queue := map[string]string{"/": "/"}, []string{"/"}
			for len(queue) > 0 && len(seen) < 400 {
				at := queue[0]
				queue = queue[1:]
				p := eve.get(at)
				if p.Status == http.StatusForbidden || p.Status >= 500 {
					t.Errorf("with %v, %s is offered on %s and answers %d: %.200s", rights, at, seen[at], p.Status,
						p.text())
				}
				if p.Status != http.StatusOK || !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
					continue
				}
				for _, m := range linked.FindAllStringSubmatch(p.Body, -1) {
					to, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
					if strings.HasPrefix(to, "/assets/") || strings.HasPrefix(to, "/docs") || seen[to] != "" ||
						len(seen) >= 400 {
						continue
					}
					seen[to] = at
					queue = append(queue, to)
				}
			}
			if len(seen) < 5 {
				t.Errorf("with %v only %d pages were seen", rights, len(seen))
			}
		}
	})
}

// What a member may raises neither by themself nor through a key.
func TestAttackRightsRaised(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		eve, hers := joined(t, a, b, "eve@example.com", "Eve", "member")
		ref := hers[strings.LastIndexByte(hers, '/')+1:]
		eve.post(hers+"/rights", "maySpend", "yes", "permissions", "*").refused(403)
		eve.get(hers).refused(403)
		patch := func(key, body string) apptest.Result {
			return a.SendREST(t, key, http.MethodPatch, "/v1/members/"+ref, body)
		}
		narrow, _ := a.NewKey(t, a.Tenant, "contacts:read", "tasks:read", "tasks:write")
		patch(narrow, `{"maySpend": true}`).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		v := patch(a.Key, `{"mayApprove": true, "permissions": ["contacts:read", "tasks:read"]}`).OK(t, 200)
		v.Same("maySpend", false)
		v.Same("mayApprove", true)
		v.Same("permissions.0", "contacts:read")
		patch(a.Key, `{"permissions": ["account:write"]}`).Issues(t, "permissions")
		// It holds at once, at the desk.
		eve.get("/contacts").at("/contacts").hasNot("New contact")
		eve.post("/contacts/new", "firstName", "Ada").refused(403)
		eve.get("/invoices").refused(403, "needs the permission invoices:read")
		eve.get("/money").refused(403, "needs the permission invoices:read")
		eve.get("/money/revenue.csv").refused(403, "needs the permission invoices:read")
		for _, row := range []string{"0", "1"} {
			list := a.SendREST(t, a.Key, http.MethodGet, "/v1/members", "").OK(t, 200)
			if list.Text(row+".role") == "owner" {
				list.Same(row+".maySpend", true)
				list.Same(row+".permissions.0", "*")
			} else {
				list.Same(row+".maySpend", false)
				list.Same(row+".mayApprove", true)
			}
		}
		a.SendREST(t, a.Key, http.MethodPatch, "/v1/members/"+string(a.OwnerID), `{"maySpend": false}`).Issues(t,
			"maySpend")

		// The key of an admin who became a member manages nobody, and does no more than they may.
		b.post(hers, "role", "admin").at(hers)
		made := eve.post("/settings/keys/new", "name", "Hers", "business_id", string(a.Business), "permissions", "*").
			find(`<output id="secret">([^<]*)</output>`)
		patch(made, `{}`).OK(t, 200)
		b.post(hers, "role", "member").at(hers)
		patch(made, `{"maySpend": true}`).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		a.SendREST(t, made, http.MethodPost, "/v1/contacts", `{"firstName": "Ada"}`).Refused(t, 403,
			"INSUFFICIENT_PERMISSIONS")
		a.SendREST(t, made, http.MethodGet, "/v1/contacts", "").OK(t, 200)
	})
}
