package message_test

import (
	"testing"

	"frontdesk/internal/apptest"
)

// An answer need not say to whom it goes and what about, and over MCP it marks its thread.
func TestAnswerFillsIn(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		rest, agent := a.Door("rest", a.Tenant), a.Door("agent", a.Tenant)
		first := rest(t, "messages.create", `{"to": ["ada@example.org", "grace@example.org"], "subject": "Engines",
			"text": "Hello."}`).OK(t, 201)
		thread := `{"id": "` + first.Text("threadId") + `"}`
		with := func(more string) string {
			return `{"inReplyToId": "` + first.Text("id") + `", "text": "Again."` + more + `}`
		}

		second := rest(t, "messages.create", with("")).OK(t, 201)
		second.Same("subject", "Re: Engines")
		second.Same("to.1", "grace@example.org")
		second.Same("threadId", first.Text("threadId"))
		rest(t, "threads.get", thread).OK(t, 200).Same("status", "open")
		rest(t, "messages.create", with(`, "to": "mary@example.org"`)).OK(t, 201).Same("to.0", "mary@example.org")
		rest(t, "messages.create", with(`, "subject": "Other"`)).OK(t, 201).Same("to.0", "ada@example.org")

		// An agent's answer marks the thread, a draft does not, and neither does one that says so.
		agent(t, "messages.create", with(`, "draft": true`)).OK(t, 201)
		agent(t, "messages.create", with(`, "answer": false`)).OK(t, 201)
		rest(t, "threads.get", thread).OK(t, 200).Same("status", "open")
		agent(t, "messages.create", with("")).OK(t, 201)
		rest(t, "threads.get", thread).OK(t, 200).Same("status", "waiting")
		rest(t, "threads.update", `{"id": "`+first.Text("threadId")+`", "status": "closed"}`).OK(t, 200)
		rest(t, "messages.create", with(`, "answer": true`)).OK(t, 201)
		rest(t, "threads.get", thread).OK(t, 200).Same("status", "waiting")

		// Without a message that it answers, it says both.
		for _, in := range []string{`{"subject": "x", "text": "y"}`, `{"to": "ada@example.org", "text": "y"}`,
			`{"inReplyToId": "3b0f6a52-77a4-4d4f-9c7b-0c5a1d2e3f40", "text": "y"}`} {
			rest(t, "messages.create", in).Refused(t, 400, "VALIDATION_ERROR")
		}
	})
}
