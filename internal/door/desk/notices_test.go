package desk_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// toldWithin asks for a page until it has the text: notifications are made right after what they tell.
func toldWithin(t *testing.T, b *browser, path, text string) page {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		p := b.get(path)
		if strings.Contains(p.text(), text) || strings.Contains(p.Body, text) || time.Now().After(end) {
			return p.at(path, text)
		}
	}
}

// Grace names the owner and gives her work. The owner reads it behind the bell, without a script.
func TestNotices(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		grace, b := member(t, a), owner(t, a)
		b.get("/").at("/").find(`(aria-label="Notices" title="Notices" data-unread="0")`)
		b.get("/notifications").at("/notifications", "Nothing here.").hasNot("Mark all read")
		ada := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "<b>Ada"}`).OK(t, 201).Text("id")
		grace.post("/contacts/"+ada+"/compose", "write", "note", "text", "@Owner is <i>she</i> a customer?")
		task := a.SendREST(t, a.Key, "POST", "/v1/tasks", `{"title": "Call her"}`).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/tasks/"+task+"/assignees", fmt.Sprintf(`{"userId": %q}`, a.OwnerID)).
			OK(t, 201)
		p := toldWithin(t, b, "/notifications", "All 2")
		p.has("Grace Hopper named you in <b>Ada", "@Owner is <i>she</i> a customer?", "gave you Call her", "For me 2",
			"2 unread")
		if strings.Contains(p.Body, "<i>she") || strings.Contains(p.Body, "<bdi><b>Ada") {
			t.Error("what people write is markup")
		}
		b.get("/contacts").find(`(data-unread="2")`)
		grace.get("/notifications").at("/notifications", "Nothing here.")
		b.get("/notifications?tab=problems").at("/notifications?tab=problems", "Nothing here.")
		b.get("/notifications?tab=me").has("Call her")

		// A click reads it and leads on; so does the mark, which stays in the list.
		one := p.find(`href="(/notifications/[0-9a-f-]{36})"><b><bdi>Grace`)
		b.get(one).at("/contacts/"+ada, "is <i>she</i>")
		p = b.get("/notifications").has("All 1")
		b.post("/notifications/read", "id", p.find(`name="id" value="([^"]+)"`), "back", "/notifications?tab=me").
			at("/notifications?tab=me", "Call her").hasNot("Mark as read", "Mark all read")
		b.get("/").find(`(data-unread="0")`)
		// Nobody opens another's.
		grace.get(one).refused(404)
		b.get("/notifications/" + string(id.New())).refused(404)
		b.post("/notifications/read", "back", "https://evil.example/").at("/notifications")
	})
}

func TestNoticeChoices(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		p := b.get("/settings/notices").at("/settings/notices", "Somebody names you", "always", a.Owner,
			"no browser yet",
			"every 15 minutes")
		p.find(`(name="mentioned.mail" value="yes" aria-label="Somebody names you: mail" data-submit checked)`)
		p.find(`(name="assigned.mail" value="yes" aria-label="Something is given to you: mail" data-submit>)`)
		b.post("/settings/notices", "assigned.mail", "yes", "proposal.mail", "yes").at("/settings/notices", "Saved.")
		p = b.get("/settings/notices")
		p.find(`(name="assigned.mail" value="yes" aria-label="Something is given to you: mail" data-submit checked)`)
		p.find(`(name="mentioned.mail" value="yes" aria-label="Somebody names you: mail" data-submit>)`)
		b.get("/review").has("No more mail when something waits")
		b.post("/settings/notices/test").at("/settings/notices", "A test is on its way.")
		b.get("/notifications").has("This is how notices reach you.")

		// A browser that the script subscribed, here by hand.
		key := p.find(`data-push="([A-Za-z0-9_-]+)"`)
		if raw, err := base64.RawURLEncoding.DecodeString(key); err != nil || len(raw) != 65 || raw[0] != 4 {
			t.Errorf("%q is no public key", key)
		}
		if again := b.get("/settings/notices").find(`data-push="([A-Za-z0-9_-]+)"`); again != key {
			t.Error("the key changes")
		}
		b.post("/settings/notices/push", "endpoint", "https://push.example/1", "key", key, "auth",
			base64.RawURLEncoding.EncodeToString(make([]byte, 16))).at("/settings/notices",
			"This browser gets notices now.")
		remove := b.get("/settings/notices").find(`action="(/settings/notices/push/[0-9a-f-]{36})"`)
		b.post(remove).at("/settings/notices", "gets no more notices", "no browser yet")
		b.post("/settings/notices/push", "endpoint", "http://192.168.0.1/", "key", key, "auth", "x").refused(400)
		worker := b.get("/push-worker.js")
		if !strings.HasPrefix(worker.Header.Get("Content-Type"), "text/javascript") ||
			!strings.Contains(worker.Body, "showNotification") {
			t.Errorf("%v", worker.Header)
		}
	})
}

// An open page hears how much is unread, without asking.
func TestBellRings(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		b := owner(t, a)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL+"/live", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(b.cookie())
		res, err := http.DefaultClient.Do(req) //nolint:bodyclose // closed below, when the test ends
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		lines := make(chan string, 100)
		go func() {
			for s := bufio.NewScanner(res.Body); s.Scan(); {
				lines <- s.Text()
			}
		}()
		heard := func(want string) {
			t.Helper()
			after := ""
			for end := time.After(20 * time.Second); ; {
				select {
				case line := <-lines:
					if after == "event: unread" && line == "data: "+want {
						return
					}
					after = line
				case <-end:
					t.Fatalf("never heard that %s are unread", want)
				}
			}
		}
		heard("0")
		task := a.SendREST(t, a.Key, "POST", "/v1/tasks", `{"title": "Call her"}`).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/tasks/"+task+"/assignees", fmt.Sprintf(`{"userId": %q}`, a.OwnerID)).
			OK(t, 201)
		heard("1")
	})
}

// A browser that somebody subscribed who had the password hears nothing more once it is another.
func TestNewPasswordEndsPush(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		b := owner(t, a)
		key := b.get("/settings/notices").find(`data-push="([A-Za-z0-9_-]+)"`)
		b.post("/settings/notices/push", "endpoint", "https://push.example/1", "key", key, "auth",
			base64.RawURLEncoding.EncodeToString(make([]byte, 16))).at("/settings/notices",
			"This browser gets notices now.")
		b.post("/settings/password", "current", "a long password", "password", "another password").
			at("/settings/password", "Password changed")
		for range 200 {
			if strings.Contains(b.get("/settings/notices").text(), "no browser yet") {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Error("the browser is still subscribed")
	})
}
