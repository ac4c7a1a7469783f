package desk_test

import (
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

// What is sent can be taken back for ten seconds: it is a draft again, with every word. Whoever
// does not want that says so once.
func TestMailThatIsTakenBack(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b := member(t, a)
		write := func(pairs ...string) page {
			return b.post("/inbox/new", append([]string{"do", "send", "to", "ada@example.org", "subject", "Hello",
				"text",
				"Every word of it.", "holdable", "yes"}, pairs...)...)
		}
		status := func(ref string) string {
			return a.SendREST(t, a.Key, "GET", "/v1/messages/"+ref, "").OK(t, 200).Text("status")
		}
		p := write("hold", "yes").at("/inbox/", "Sent. It leaves in ten seconds.", "Undo")
		ref := p.find(`name="event" value="mail.([^"]+)"`)
		if got := status(ref); got != "scheduled" {
			t.Fatalf("it is %s", got)
		}
		thread := p.where()
		b.post("/undo", "event", "mail."+ref).at(thread, "Not sent. It is a draft again.", "Every word of it.")
		if got := status(ref); got != "draft" {
			t.Errorf("it is %s", got)
		}
		b.post("/undo", "event", "mail."+ref).at(thread, "It has already left.") // pressed twice
		b.post("/undo", "event", "mail."+string(id.New())).refused(404)
		// Sent again, and this time at once.
		p = write().at("/inbox/", "Sent.").hasNot("It leaves in")
		b.get("/inbox/new").hasNot(`name="hold" value="yes" checked`)
		sent := a.SendREST(t, a.Key, "GET", "/v1/messages?direction=outbound&limit=1", "").OK(t, 200).Text("0.id")
		for range 200 {
			if status(sent) == "sent" {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if got := status(sent); got != "sent" || sent == ref {
			t.Errorf("it is %s", got)
		}
		b.post("/undo", "event", "mail."+sent).at(p.where(), "It has already left.")
	})
}
