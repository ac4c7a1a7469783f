package message_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/migrations"
)

// lastTimes is what a contact shows of its last messages.
func lastTimes(t testing.TB, a *apptest.App, contact string) (message, inbound, outbound string) {
	t.Helper()
	v := a.SendREST(t, a.Key, "GET", "/v1/contacts/"+contact, "").OK(t, 200)
	text := func(name string) string {
		if v.At(name).Null() {
			return ""
		}
		return v.Text(name)
	}
	return text("lastMessageAt"), text("lastInboundAt"), text("lastOutboundAt")
}

func newContact(t testing.TB, a *apptest.App, name string) string {
	t.Helper()
	return a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(
		`{"firstName": %q, "emails": [{"email": "%s@example.com"}]}`, name, strings.ToLower(name))).
		OK(t, 201).Text("id")
}

// A contact knows when it was last written to and last wrote; drafts, scheduled and canceled messages do not count.
func TestLastMessages(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		ada, bob := newContact(t, a, "Ada"), newContact(t, a, "Bob")
		post := func(path, body string) apptest.Value {
			t.Helper()
			r := a.SendREST(t, a.Key, "POST", path, body)
			if r.Status != 200 {
				return r.OK(t, 201)
			}
			return r.OK(t, 200)
		}
		nothing := func(when string) {
			t.Helper()
			if m, in, out := lastTimes(t, a, ada); m+in+out != "" {
				t.Errorf("%s: %q %q %q", when, m, in, out)
			}
		}
		nothing("at first")
		d := post("/v1/messages", `{"to": "ada@example.com", "subject": "x", "draft": true}`)
		later := a.Clock.Now().Add(time.Hour).String()
		s := post("/v1/messages", fmt.Sprintf(`{"to": "ada@example.com", "subject": "x", "scheduledAt": %q}`, later))
		nothing("after a draft and a scheduled message")
		sent := post("/v1/messages/"+d.Text("id")+"/send", "")
		m, in, out := lastTimes(t, a, ada)
		if out != sent.Text("updatedAt") || m != out || in != "" {
			t.Errorf("sent at %s: %q %q %q", sent.Text("updatedAt"), m, in, out)
		}
		post("/v1/messages/"+d.Text("id")+"/cancel", "")
		post("/v1/messages/"+s.Text("id")+"/cancel", "")
		nothing("after both were canceled")

		a.DeliverMail(t, "Ada <ada@example.com>", "hello", "Cc: bob@example.com\r\n\r\nHello")
		m, in, out = lastTimes(t, a, ada)
		if in == "" || m != in || out != "" {
			t.Errorf("after a mail: %q %q %q", m, in, out)
		}
		if m, _, _ := lastTimes(t, a, bob); m != "" {
			t.Error("who only got a copy of a stranger's mail did not write it")
		}
		// By contactId and by address, with others in copy.
		second := post("/v1/messages", fmt.Sprintf(`{"contactId": %q, "to": "ada@example.com",
			"cc": ["bob@example.com"], "subject": "y"}`, ada))
		for _, who := range []string{ada, bob} {
			if m, _, out := lastTimes(t, a, who); out != second.Text("createdAt") || m != out {
				t.Errorf("after an answer: %q %q", m, out)
			}
		}
		// Whom somebody links by hand counts, and no longer counts once the link is gone.
		eve := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Eve"}`).OK(t, 201).Text("id")
		path := "/v1/messages/" + second.Text("id") + "/contacts"
		mentioned := post(path, fmt.Sprintf(`{"contactId": %q}`, eve))
		if m, _, _ := lastTimes(t, a, eve); m != "" {
			t.Error("a mention counts")
		}
		link := post(path, fmt.Sprintf(`{"contactId": %q, "role": "to"}`, eve))
		if _, _, out := lastTimes(t, a, eve); out == "" {
			t.Error("a link does not count")
		}
		for _, l := range []apptest.Value{mentioned, link} {
			a.SendREST(t, a.Key, "DELETE", path+"/"+l.Text("id"), "").OK(t, 204)
		}
		if m, _, _ := lastTimes(t, a, eve); m != "" {
			t.Error("a link that is gone counts")
		}
		checkMerge(t, a, ada, eve)
		checkFilled(t, a, ada, bob)
		checkFilters(t, a)
	})
}

// checkMerge merges a contact into another without messages, and takes that back.
func checkMerge(t *testing.T, a *apptest.App, from, into string) {
	t.Helper()
	want, _, _ := lastTimes(t, a, from)
	a.SendREST(t, a.Key, "POST", "/v1/contacts/"+into+"/merge", fmt.Sprintf(`{"contactId": %q}`, from)).OK(t, 200)
	if m, _, _ := lastTimes(t, a, into); m != want {
		t.Errorf("merged %q, want %q", m, want)
	}
	a.SendREST(t, a.Key, "POST", "/v1/contacts/"+into+"/unmerge", fmt.Sprintf(`{"contactId": %q}`, from)).OK(t, 200)
	if m, _, _ := lastTimes(t, a, into); m != "" {
		t.Errorf("unmerged %q", m)
	}
	if m, _, _ := lastTimes(t, a, from); m != want {
		t.Errorf("unmerged %q, want %q", m, want)
	}
}

// checkFilled has the migration fill the columns of rows that are there already, and expects what there was.
func checkFilled(t *testing.T, a *apptest.App, contacts ...string) {
	t.Helper()
	shown := func() (out string) {
		for _, ref := range contacts {
			m, in, o := lastTimes(t, a, ref)
			out += m + " " + in + " " + o + "\n"
		}
		return out
	}
	before := shown()
	text, err := migrations.FS.ReadFile("0061_last_messages.sql")
	if err != nil {
		t.Fatal(err)
	}
	err = a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		clear := "UPDATE contacts SET last_message_at = NULL, last_inbound_at = NULL, last_outbound_at = NULL"
		filled := 0
		for _, statement := range append([]string{clear}, strings.Split(string(text), ";")...) {
			if statement = strings.TrimSpace(statement); !strings.HasPrefix(statement, "UPDATE") {
				continue
			}
			if _, err := db.Exec(ctx, tx, statement); err != nil {
				return err
			}
			filled++
		}
		if filled != 3 {
			t.Errorf("%d statements", filled)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := shown(); after != before {
		t.Errorf("filled\n%swant\n%s", after, before)
	}
}

func checkFilters(t *testing.T, a *apptest.App) {
	t.Helper()
	soon, long := a.Clock.Now().Add(time.Hour).String(), a.Clock.Now().Add(-time.Hour).String()
	for query, want := range map[string]string{
		"lastOutboundBefore=" + soon:                                        "Ada Bob",
		"lastOutboundBefore=" + long:                                        "",
		"lastOutboundAfter=" + long:                                         "Ada Bob",
		"lastInboundAfter=" + long:                                          "Ada",
		"lastInboundBefore=never":                                           "Bob Eve",
		"lastOutboundBefore=never":                                          "Eve",
		"lastMessageAfter=" + long + "&lastMessageBefore=" + soon:           "Ada Bob",
		"lastMessageBefore=never&query=eve":                                 "Eve",
		"lastInboundBefore=never&lastOutboundAfter=" + long + "&limit=1":    "Bob",
		"lastInboundBefore=never&sortBy=name&sortOrder=desc&cursor=first":   "Eve Bob",
		"lastOutboundAfter=" + soon + "&lastInboundBefore=never&tag=nobody": "",
	} {
		v := a.SendREST(t, a.Key, "GET", "/v1/contacts?sortOrder=asc&"+query, "")
		if strings.Contains(query, "sortOrder") {
			v = a.SendREST(t, a.Key, "GET", "/v1/contacts?"+query, "")
		}
		list := v.OK(t, 200)
		var names []string
		for i := range list.Len() {
			names = append(names, list.Text(fmt.Sprintf("%d.firstName", i)))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	a.SendREST(t, a.Key, "GET", "/v1/contacts?lastInboundBefore=yesterday", "").Refused(t, 400, "INVALID_INPUT")
}

// Many messages to the same people at once, some of which name a contact, all arrive, and nobody waits for a deadlock
// to be noticed.
func TestLastMessagesRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		ada, bob := newContact(t, a, "Ada"), newContact(t, a, "Bob")
		deadlocks := func() (n int) {
			if a.DB.Engine() != db.Postgres {
				return 0
			}
			err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = db.QueryOne[int](ctx, tx,
					"SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
				return err
			})
			if err != nil {
				t.Error(err)
			}
			return n
		}
		before := deadlocks()
		apptest.RunAtOnce(12, func(i int) {
			for range 5 {
				body := fmt.Sprintf(`{"contactId": %q, "to": "ada@example.com", "cc": ["bob@example.com"],
					"subject": "x"}`, ada)
				if i%3 == 1 {
					body = fmt.Sprintf(`{"contactId": %q, "to": "bob@example.com", "cc": ["ada@example.com"],
						"subject": "x"}`, bob)
				}
				if i%3 == 2 {
					a.DeliverMail(t, "ada@example.com", "x", "\r\nx")
					continue
				}
				a.SendREST(t, a.Key, "POST", "/v1/messages", body).OK(t, 201)
			}
		})
		if n := deadlocks() - before; n > 0 {
			t.Errorf("%d deadlocks", n)
		}
		for _, who := range []string{ada, bob} {
			newest := a.SendREST(t, a.Key, "GET", "/v1/messages?direction=outbound&limit=1", "").OK(t, 200)
			if _, _, out := lastTimes(t, a, who); out < newest.Text("0.createdAt") {
				t.Errorf("last written to at %s, the newest message is of %s", out, newest.Text("0.createdAt"))
			}
		}
	})
}
