package desk_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

// inviteLink creates an invitation in a browser and returns its path.
func inviteLink(t testing.TB, a *apptest.App, b *browser, email, role string) string {
	t.Helper()
	p := b.post("/settings/members/invite", "email", email, "role", role).at("/settings/members/invite")
	return strings.TrimPrefix(p.find(`<output id="secret">([^<]*)</output>`), a.Settings.BaseURL)
}

// ownerOf is a browser in which the owner of a tenant is signed in.
func ownerOf(t testing.TB, a *apptest.App, v apptest.Tenant) *browser {
	t.Helper()
	b := visit(t, a.URL)
	b.signIn(v.Owner, "a long password").at("/")
	return b
}

// An admin invites somebody else's address, opens the link himself, and waits
// until another organization adds that person.
func TestAttackUnprovenAddress(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		const victim, known = "ceo@other.test", "the attacker knows it"
		mallory := owner(t, a)
		squatter := visit(t, a.URL)
		squatter.post(inviteLink(t, a, mallory, victim, "member"), "name", "Not the CEO", "password", known).
			at("/", "Welcome")

		// The operator's command prints a link and adds nobody.
		other := a.NewTenant(t, "free")
		answer, err := a.Admin.Do(t.Context(), admin.Request{
			Operation: "users.create", Noun: "organization", Ref: string(other.Org),
			Input: []byte(`{"email": "` + victim + `", "name": "CEO", "role": "owner"}`)})
		if err != nil {
			t.Fatal(err)
		}
		into := func() string {
			t.Helper()
			p := squatter.post("/settings/organizations", "organization_id", string(other.Org))
			squatter.get("/settings/organizations").at("/settings/organizations").hasNot(string(other.Org))
			return p.text()
		}
		if got := into(); !strings.Contains(got, "There is no such page") {
			t.Fatalf("the old session switches: %s", got)
		}
		_, link, ok := strings.Cut(string(answer), `"url":"`+a.Settings.BaseURL)
		if !ok {
			t.Fatalf("no link: %s", answer)
		}
		link, _, _ = strings.Cut(link, `"`)

		// Even with a link from the other organization, an address that nobody
		// has proven cannot join it: the person may use a password that the
		// attacker gave them, and the attacker would get in too.
		console := inviteLink(t, a, ownerOf(t, a, other), victim, "admin")
		for _, join := range []string{link, console} {
			visit(t, a.URL).post(join, "name", "CEO", "password", known).
				refused(409, "frontdesk admin user password-link")
			squatter.post(join).refused(409)
		}
		into()

		// The operator's password link proves the address, ends every session,
		// and forgets every browser. What the attacker still has opens nothing.
		reset := a.AsOperator(t, "users.link_password", "", "", `{"email": "`+victim+`"}`).Text("url")
		ceo := visit(t, a.URL)
		ceo.post(strings.TrimPrefix(reset, a.Settings.BaseURL), "password", "only the CEO knows").at("/sign-in")
		squatter.get("/").at("/sign-in")
		ceo.post(console, "name", "CEO", "password", known).refused(401)
		ceo.post(console, "name", "CEO", "password", "only the CEO knows").at("/", "Welcome")
		squatter.signIn(victim, known).refused(401)

		// The reverse holds too: an invitation takes over nobody's user.
		alice := visit(t, a.URL)
		alice.post(inviteLink(t, a, ownerOf(t, a, other), "alice@other.test", "owner"), "name", "Alice", "password",
			"only Alice knows").
			at("/", "Welcome")
		visit(t, a.URL).post(inviteLink(t, a, mallory, "alice@other.test", "member"), "name", "A", "password",
			"chosen by Mallory").
			refused(401)
		alice.post(inviteLink(t, a, mallory, "alice@other.test", "member")).refused(409, "has not been proven")
	})
}

// from sends a sign-in from an address, as a proxy reports it.
func (b *browser) from(address, email, password string) page {
	b.t.Helper()
	form := url.Values{"email": {email}, "password": {password}}
	return b.do(http.MethodPost, "/sign-in", form, "X-Forwarded-For", address)
}

func behindProxy(t *testing.T) *apptest.App {
	t.Helper()
	s := apptest.Settings(t, db.SQLite)
	s.TrustedProxies = []string{"127.0.0.0/8"}
	return apptest.StartWith(t, s)
}

// triesInBrowser is how many wrong passwords a known browser may try.
const triesInBrowser = 10

// Many addresses guess passwords of one account. Its owner, in a browser that
// signed in before, is not locked out.
func TestAttackLockOut(t *testing.T) {
	a := behindProxy(t)
	b := visit(t, a.URL)
	b.from("198.51.100.1", a.Owner, "a long password").at("/")
	b.post("/sign-out")
	hammer, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	var refused, tries sync.Map
	for i := range 12 {
		wg.Go(func() {
			for n := 0; hammer.Err() == nil && n < 200; n++ {
				p := visit(t, a.URL).from(fmt.Sprintf("203.0.113.%d", (i*200+n)%250), a.Owner, "a wrong password")
				tries.Store([2]int{i, n}, true)
				if p.Status == 429 || p.Status == 503 {
					refused.Store([2]int{i, n}, true)
				}
			}
		})
	}
	count := func(m *sync.Map) (n int) { m.Range(func(any, any) bool { n++; return true }); return n }
	for count(&tries) < 300 { // more than ten times what an account allows
		time.Sleep(10 * time.Millisecond)
	}
	for i := range 3 {
		began := time.Now()
		if p := b.from(fmt.Sprintf("198.51.100.%d", i), a.Owner, "a long password"); p.Status != 200 {
			t.Errorf("the owner's right password in his own browser: %d %s", p.Status, p.text())
		}
		if took := time.Since(began); took > 30*time.Second { // of milliseconds, and some for a busy machine
			t.Errorf("the owner waited %s", took)
		}
		b.post("/sign-out")
	}
	stop()
	wg.Wait()
	t.Logf("%d of %d attempts were refused without a check", count(&refused), count(&tries))
	if 2*count(&refused) < count(&tries) {
		t.Error("most attempts are let through")
	}
	// A known browser has a limit too.
	last := 0
	for range triesInBrowser + 1 {
		last = b.from("198.51.100.1", a.Owner, "a wrong password").Status
	}
	if last != 429 {
		t.Errorf("a known browser may keep guessing: %d", last)
	}
}

// An address that keeps guessing is soon refused outright, and locks out nobody
// at another address, known or not.
func TestAttackLockOutFromOneAddress(t *testing.T) {
	a := behindProxy(t)
	outright := 0
	for range 40 {
		if visit(t, a.URL).from("203.0.113.7", a.Owner, "a wrong password").Status == 429 {
			outright++
		}
	}
	if outright < 30 {
		t.Errorf("only %d of 40 were refused outright", outright)
	}
	visit(t, a.URL).from("198.51.100.1", a.Owner, "a long password").at("/")
	// Somebody else behind the same address signs in as well.
	visit(t, a.URL).from("203.0.113.7", a.NewTenant(t, "free").Owner, "a long password").at("/")
}

// listener records what reaches an endpoint.
type listener struct {
	*httptest.Server
	mu    sync.Mutex
	texts []string
}

func newListener(t testing.TB) *listener {
	h := &listener{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.texts = append(h.texts, string(body))
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *listener) heard(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Contains(strings.Join(h.texts, "\n"), text)
}

func (h *listener) wait(t testing.TB, text string) {
	t.Helper()
	for range 1200 {
		if h.heard(text) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s never arrived", text)
}

// A removed admin had a key, a connected client, webhooks, an automation and an
// invitation. All of them stop, and stay stopped after a new invitation as a
// member.
func TestAttackLeavingMember(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		if err := a.Jobs.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Jobs.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		b := owner(t, a)
		eve := visit(t, a.URL)
		eve.post(inviteLink(t, a, b, "eve@example.com", "admin"), "name", "Eve", "password", "eve's password").
			at("/", "Welcome")
		page := eve.post("/settings/keys/new", "name", "Eve's", "business_id", string(a.Business), "permissions", "*")
		key := page.find(`(fd_[0-9A-Za-z]{40})`)
		mine, kept, moved := newListener(t), newListener(t), newListener(t)
		hook := func(key, url string) id.ID {
			t.Helper()
			return a.SendREST(t, key, "POST", "/v1/webhooks", `{"url": "`+url+`", "events": ["*"]}`).OK(t, 201).ID("id")
		}
		hook(key, mine.URL)
		eve.post("/webhooks/new", "url", mine.URL+"/console", "events", "*")
		stays := hook(key, kept.URL)
		// Whoever changes an endpoint's URL becomes its maker.
		turned := hook(a.Key, kept.URL+"/before")
		a.SendREST(t, key, "PATCH", "/v1/webhooks/"+string(turned), `{"url": "`+moved.URL+`"}`).OK(t, 200)
		robot := a.SendREST(t, key, "POST", "/v1/automations", `{"name": "Eve's robot",
			"trigger": {"kind": "event", "event": "contact.created"}, "steps": [{"operation": "tasks.create",
				"input": {"title": "for Eve"}}]}`).OK(t, 201).ID("id")
		agent := a.NewAgent(t, a.Tenant, "all")
		eveID := a.AsOperator(t, "users.list", "organization", a.Org, `{}`).At("0").ID("id")
		client := a.NewClient(t)
		tokens := a.RedeemToken(t, client, "authorization_code", a.Code(t, client, eveID, agent)).ParseJSON(t)
		access, refresh := tokens.Text("access_token"), tokens.Text("refresh_token")
		back := inviteLink(t, a, eve, "eve2@example.com", "admin")
		contact := func(name string) {
			t.Helper()
			a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "`+name+`"}`).OK(t, 201)
		}
		contact("Before")
		for _, h := range []*listener{mine, kept, moved} {
			h.wait(t, "Before")
		}

		// The page lists what would stop, and the owner keeps one of them.
		at := "/settings/members/" + string(eveID) + "/remove"
		b.get(at).at(at, mine.URL, kept.URL, moved.URL, "Eve's robot", "Take over")
		b.post(at, "take_over", string(stays)).at("/settings/members", "Removed.")

		gone := func(when string) {
			t.Helper()
			if r := a.SendREST(t, key, "GET", "/v1/contacts", ""); r.Status != 401 {
				t.Errorf("%s her key: %d %s", when, r.Status, r.Body)
			}
			if r := a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`); r.Status != 401 {
				t.Errorf("%s her client: %d %s", when, r.Status, r.Body)
			}
			if r := a.RedeemToken(t, client, "refresh_token", refresh); r.Status != 400 {
				t.Errorf("%s her refresh token: %d %s", when, r.Status, r.Body)
			}
			contact(when)
			kept.wait(t, when)
			time.Sleep(300 * time.Millisecond)
			if mine.heard(when) || moved.heard(when) {
				t.Errorf("%s her webhook still works", when)
			}
			a.SendREST(t, a.Key, "GET", "/v1/automations/"+string(robot), "").OK(t, 200).Same("status", "paused")
			if p := visit(t, a.URL).post(back, "name", "Eve", "password", "another password"); p.Status != 404 {
				t.Errorf("%s she returns by her own invitation: %d", when, p.Status)
			}
		}
		gone("Removed")
		eve.post(inviteLink(t, a, b, "eve@example.com", "member"), "name", "Eve", "password", "eve's password").
			at("/", "Welcome")
		gone("Returned")
		got := a.Events(t, "api_key.revoked", "agent.disconnected", "webhook.updated", "automation.updated")
		if strings.Count(got, "api_key.revoked") != 1 || !strings.Contains(got, "agent.disconnected") ||
			!strings.Contains(got, "automation.updated") {
			t.Errorf("events: %s", got)
		}
	})
}

// While a user is disabled, nothing that they made works.
func TestAttackDisabledMember(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		if err := a.Jobs.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Jobs.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		b := owner(t, a)
		eve := visit(t, a.URL)
		eve.post(inviteLink(t, a, b, "eve@example.com", "admin"), "name", "Eve", "password", "eve's password").
			at("/", "Welcome")
		key := eve.post("/settings/keys/new", "name", "Eve's", "business_id", string(a.Business), "permissions", "*").
			find(`(fd_[0-9A-Za-z]{40})`)
		mine, ours := newListener(t), newListener(t)
		for k, h := range map[string]*listener{key: mine, a.Key: ours} {
			a.SendREST(t, k, "POST", "/v1/webhooks", `{"url": "`+h.URL+`", "events": ["contact.created"]}`).OK(t, 201)
		}
		back := inviteLink(t, a, eve, "eve2@example.com", "admin")
		contact := func(name string) {
			t.Helper()
			a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "`+name+`"}`).OK(t, 201)
			ours.wait(t, name)
		}
		a.AsOperator(t, "users.disable", "", "", `{"email": "eve@example.com"}`)
		contact("Secret")
		visit(t, a.URL).post(back, "name", "Eve", "password", "another password").refused(404)
		a.AsOperator(t, "users.enable", "", "", `{"email": "eve@example.com"}`)
		contact("Open")
		mine.wait(t, "Open")
		if mine.heard("Secret") {
			t.Error("a disabled user's webhook got an event")
		}
		// An invitation ends when its maker may no longer invite.
		list := b.get("/settings/members")
		b.post(list.find(`href="(/settings/members/[^"]*)"><bdi>Eve`), "role", "member").
			at("/settings/members", "Role changed.")
		visit(t, a.URL).post(back, "name", "Eve", "password", "another password").refused(404)
	})
}

// Somebody else's client acts as an agent. The user who connected it changes
// the password, or sets a new one by a link, and that disconnects it.
func TestAttackTokenOutlivesPassword(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		b := owner(t, a)
		works := func(access string) bool {
			_, err := a.Grants.LoginByToken(t.Context(), access)
			return err == nil
		}
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		b.get("/settings/password").at("/settings/password", "Also disconnect")
		b.post("/settings/password", "current", "a long password", "password", "another password").
			at("/settings/password", "Password changed")
		if !works(access) {
			t.Error("the connection ended, and nobody asked for it")
		}
		b.post("/settings/password", "current", "another password", "password", "a long password", "disconnect", "yes").
			at("/settings/password", "Password changed")
		if works(access) {
			t.Error("the connection outlives the password")
		}
		_, access, _ = a.ConnectAgent(t, a.Tenant, agent)
		link := a.AsOperator(t, "users.link_password", "", "", `{"email": "`+a.Owner+`"}`).Text("url")
		visit(t, a.URL).post(strings.TrimPrefix(link, a.Settings.BaseURL), "password", "a third password", "disconnect",
			"yes").
			at("/sign-in")
		if works(access) {
			t.Error("the connection outlives a password that was set by a link")
		}
	})
}

// Whoever holds an old session accepts an invitation at the very moment when its
// user sets a new password, which ends all sessions.
func TestAttackJoinWhileSessionsEnd(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		other := a.NewTenant(t, "free")
		thief := owner(t, a)
		link := inviteLink(t, a, ownerOf(t, a, other), a.Owner, "admin")
		joined := make(chan page, 1)
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			for _, text := range []string{"UPDATE users SET updated_at = updated_at WHERE id = $1",
				"DELETE FROM sessions WHERE user_id = $1"} {
				if _, err := db.Exec(ctx, tx, text, a.OwnerID); err != nil {
					return err
				}
			}
			go func() { joined <- thief.post(link) }()
			time.Sleep(time.Second) // the join waits for this transaction, or comes too early
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-joined
		thief.get("/").at("/sign-in")
	})
}
