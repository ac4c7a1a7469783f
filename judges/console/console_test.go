// Package console_test is a person with a browser: it sets up a new server,
// signs in, accepts the agreement, creates a key and an agent, connects a
// client, and inspects every page on the way. It knows only the address of the
// service. scripts/judge-console runs it.
package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const password = "a sentence that nobody guesses"

// long is a name too long for any page, and rtl one that reads right to left.
const (
	long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft and its many friends " +
		"and neighbours"
	rtl = "מזכירה של המשרד"
)

func TestConsole(t *testing.T) {
	service := serve(t)
	s := open(t)

	// Set-up, with an error on the way.
	s.visit(service.Setup)
	s.inspect("setup")
	s.fill("name", "Ada Lovelace", "email", "ada@example.com", "password", "short", "organizationName",
		"Analytical Engines")
	s.press("form button")
	s.has("Too short: expected at least 8 characters")
	s.inspect("setup-error")
	s.fill("password", password)
	s.press("form button")
	s.has("Welcome. You are signed in.", "Finish setting up")
	s.inspect("today-first")

	// Empty pages say what belongs there.
	for _, path := range []string{"agents", "settings/keys", "settings/cards", "settings/members", "settings/plan",
		"settings/password", "settings/organizations"} {
		s.visit(service.URL + "/" + path)
		s.inspect("empty-" + strings.ReplaceAll(path, "/", "-"))
	}

	// The agreement.
	s.visit(service.URL + "/setup")
	s.inspect("set-up")
	s.do(chromedp.Click(chromedp.CSS(`#s-agreement summary`)))
	s.press(`#s-agreement a.btn`)
	s.has("Business agreement")
	s.inspect("agreements")
	s.do(chromedp.Click(chromedp.CSS(`form[action="/agreements"] input[name="read"]`)))
	s.press(`form[action="/agreements"] button`)
	s.has("Accepted.", "by Ada Lovelace")
	s.inspect("agreements-accepted")

	// A key: refused, then shown once; it works at once.
	s.visit(service.URL + "/settings/keys/new?preset=read")
	s.inspect("key-new")
	s.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("input[type=checkbox]").forEach(b => b.checked ` +
		`= ` +
		`false)`))
	s.fill("name", "Web shop")
	s.press(".save button")
	s.has("Choose at least one")
	s.inspect("key-error")
	s.do(chromedp.Click(chromedp.CSS(`input[value="contacts:read"]`)))
	s.press(".save button")
	s.has("It will not be shown again")
	s.inspect("key-made")
	key := eval[string](s, `document.getElementById("secret").textContent.trim()`)
	if answer := get(t, service.URL+"/v1/me", key); !strings.Contains(answer, `"contacts:read"`) {
		t.Errorf("the key: %s", answer)
	}
	s.do(chromedp.Reload())
	if strings.Contains(s.text(), key) || !strings.Contains(eval[string](s, `location.pathname`), "/settings/keys") {
		t.Error("reloading shows the key again, or makes another")
	}
	s.inspect("keys")
	s.press(`a[href$="/revoke"]`)
	s.has("Revoke the key Web shop")
	s.inspect("key-revoke")

	// An agent and its permission table.
	s.visit(service.URL + "/agents/new")
	s.inspect("agent-new")
	s.fill("name", "Assistant")
	s.press("main form button")
	s.has("Created.", "What it may do")
	before := eval[string](s, `document.querySelector(".save output").textContent`)
	s.do(chromedp.Click(chromedp.CSS(`input[name="contacts.create"][value="allow"]`)))
	if after := eval[string](s, `document.querySelector(".save output").textContent`); after == before {
		t.Errorf("%s before and after one more permission", before)
	}
	s.press(".save button")
	s.has("Saved.")
	s.inspect("agent")
	s.press(`.presets a[href*="helper"]`)
	s.has("not saved yet")
	s.inspect("agent-preset")
	s.visit(service.URL + "/agents/new")
	s.fill("name", rtl)
	s.do(chromedp.Click(chromedp.CSS(`input[value="all"]`)))
	s.press("main form button")
	s.inspect("agent-rtl")
	s.visit(service.URL + "/agents/new")
	s.fill("name", long)
	s.press("main form button")
	s.inspect("agent-long")
	s.visit(service.URL + "/agents")
	s.inspect("agents")

	// A card, a member by invitation, the plan.
	s.visit(service.URL + "/settings/cards")
	s.press(`form[action="/settings/cards"] button`)
	s.visit(service.URL + "/settings/cards")
	s.press(`form[action="/settings/cards"] button`)
	s.has("Visa ending in 4242")
	s.inspect("cards")
	s.press(`a[href$="/delete"]`)
	s.inspect("card-delete")
	s.visit(service.URL + "/settings/members/invite")
	s.inspect("invite")
	s.fill("email", "grace@example.com")
	s.press("main form button")
	s.inspect("invite-made")
	link := eval[string](s, `document.getElementById("secret").textContent.trim()`)
	s.visit(service.URL + "/settings/members")
	s.inspect("members")
	s.press("td a")
	s.inspect("member")
	s.press(".away-btn")
	s.inspect("member-remove")
	for range 600 { // of 6000 in a minute, so that they are back in six seconds
		get(t, service.URL+"/v1/me", key)
	}
	s.visit(service.URL + "/settings/plan")
	s.has("of 6000", "all back in")
	s.inspect("plan")
	s.visit(service.URL + "/nowhere")
	s.inspect("nowhere")

	connect(t, s, service)
	s.visit(service.URL + "/setup")
	s.has("Accepted", "Go on with the logo")
	s.inspect("setup-later")
	s.visit(service.URL + "/")
	s.inspect("today")

	// Out, and in again with the keyboard alone.
	s.press(`form[action="/sign-out"] button`)
	s.inspect("sign-in")
	s.press(`a[href="/forgotten"]`)
	s.has("whoever runs this server")
	s.inspect("forgotten")
	s.press(`a[href="/sign-in"]`)
	s.focused("email")
	s.do(chromedp.KeyEvent("ada@example.com"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("not the password"),
		chromedp.KeyEvent(kb.Enter))
	s.wait("is wrong")
	s.inspect("sign-in-error")
	s.focused("email")
	s.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(password), chromedp.KeyEvent(kb.Enter))
	s.wait("Today")
	s.press(`form[action="/sign-out"] button`)

	// A link that was cut off shows help, without signing in.
	s.visit(service.URL + "/unsubscribe/cut-off")
	s.has("This link does not work", "reply to the message")
	s.inspect("unsubscribe-lost")

	// Grace joins and sees what a member sees.
	s.visit(link)
	s.inspect("join")
	s.fill("name", "Grace Hopper", "password", password)
	s.press("main form button")
	s.inspect("today-member")
	s.visit(service.URL + "/agents")
	s.has("Owners and admins only")
	s.inspect("refused")
	s.visit(service.URL + "/agreements")
	s.inspect("agreements-member")
	t.Logf("%d pages, each at 1280 and 390 px, light and dark: %s", len(s.seen), strings.Join(s.seen, ", "))
}

// wait waits for a text: after a key press, nothing says that a page follows.
func (s *screen) wait(text string) {
	s.t.Helper()
	s.do(chromedp.WaitVisible(chromedp.Search(`//body[contains(., "` + text + `")]`)))
}

func get(t *testing.T, address, key string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	return send(t, req)
}
