package desk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// An agent proposes; a person looks at it, approves, rejects, changes it or always
// allows it.
func TestReview(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "helper")
		a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, "askMode": "propose"}`, agent))
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		n := 0
		propose := func() string {
			n++
			r := a.SendRPC(t, access,
				fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name":
				"messages_create", "arguments": {"to": "ada@example.com", "subject": "<b>No %d</b>", "text":
				"Approved by Frontdesk. %s"}}}`, n, strings.Repeat("x", 5000)))
			return r.ParseJSON(t).Text("result.structuredContent.approvalUrl")[len(a.Settings.BaseURL):]
		}
		path := propose()
		b := visit(t, a.URL)
		b.get(path).at("/sign-in?next=" + strings.ReplaceAll(path, "/", "%2F"))
		b.post("/sign-in", "email", a.Owner, "password", "a long password", "next", path)
		p := b.get(path).at(path, "waits for you", "Send a mail to ada@example.com", "<b>No 1</b>", "1 address",
			"Approve", "Reject", "Always allow this", "The agent may do this only after asking a person")
		if strings.Contains(p.Body, "<b>No") {
			t.Error("the agent's text is markup")
		}
		if p.Header.Get("X-Frame-Options") != "DENY" || !strings.Contains(p.Header.Get("Content-Security-Policy"),
			"frame-ancestors 'none'") {
			t.Errorf("%v", p.Header)
		}
		paper := b.get(p.find(`src="(/review/[0-9a-f-]{36}/mails/0)"`))
		if !strings.Contains(paper.Body, strings.Repeat("x", 5000)) ||
			!strings.Contains(paper.Header.Get("Content-Security-Policy"), "sandbox allow-popups") {
			t.Errorf("%v %.300s", paper.Header, paper.Body)
		}
		b.get(path + "/mails/1").refused(404)
		b.get("/").at("/", "To decide", "1 proposal waits for you")
		sum := p.find(`name="sha256" value="([0-9a-f]{64})"`)
		b.post(path, "decision", "nothing").refused(400)
		b.post(path, "decision", "approve", "sha256", sum).at(path+"?done=executed", "Done, exactly as it was shown")
		b.get("/review").at("/review", "Nothing waits for you", "Pause all agents")
		b.get("/review?status=all").at("/review", "Send a mail to ada@example.com", "done")
		if r := a.SendREST(t, a.Key, "GET", "/v1/messages", "").OK(t, 200); r.Len() != 1 {
			t.Errorf("%d messages", r.Len())
		}

		path = propose()
		b.post(path, "decision", "reject", "reason", "Not today.").at(path+"?done=rejected", "Not today.")

		// One that is out of date can be shown as it is now.
		path = propose()
		if err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE proposals SET status = 'stale' WHERE id = $1", path[len("/review/"):])
			return err
		}); err != nil {
			t.Fatal(err)
		}
		b.get(path).at(path, "out of date", "Show it anew")
		b.post(path, "decision", "refresh").at(path+"?done=refreshed", "waits for you", "Approve")

		path = propose()
		b.get(path+"/change").at(path+"/change", "Approve with changes")
		b.get(path+"/change").has("Subject", "Text").hasNot("JSON")
		b.post(path+"/change", "0.to", "").refused(400, "To:")
		b.post(path+"/change", "0.to", "eve@example.com", "0.subject", "Mine", "0.text", "x")
		list := b.get("/review?status=all")
		list.has("Send a mail to eve@example.com", "You", "rejected")
		mine := list.find(`href="(/review/[0-9a-f-]{36})"><bdi>Send a mail to eve`)
		b.get(mine).at(mine, "Carry it out")
		b.post(mine, "decision", "execute").at(mine+"?done=executed", "Done, exactly as it was shown")

		path = propose()
		b.get(path+"/allow").at(path+"/allow", "Always allow this", "Write a message")
		b.post(path+"/allow").at(path+"?done=allowed", "without asking")
		r := a.SendRPC(t, access,
			`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "messages_create",
			"arguments": {"to": "ada@example.com", "subject": "Alone", "text": "x"}}}`)
		r.ParseJSON(t).Same("result.structuredContent.data.subject", "Alone")

		b.post("/review/pause").at("/review?done=stopped", "All agents are paused")
		b.post("/review/resume").at("/review?done=going", "Agents may act again")
		b.post("/review/mail", "wanted", "yes").at("/review?done=mail", "You will get a mail when something waits",
			"No more mail when something waits")
		b.post("/agents/"+string(agent)+"/asking", "askMode", "propose", "messages", "5").at("/agents/"+string(agent)+
			"?done=saved", "It may propose what is set to ask")

		// The guard is on whether or not it may propose, and off only when an owner unticks it.
		other := "/agents/" + string(a.NewAgent(t, a.Tenant, "none"))
		for i, want := range []bool{true, true, false, false, true} {
			form := []string{"askMode", "propose"}
			if i < 2 || i == 4 {
				form = append(form, "guard", "on")
			}
			p := b.post(other+"/asking", form...).at(other + "?done=saved")
			if got := strings.Contains(p.Body, `name="guard" value="on" checked`); got != want {
				t.Errorf("form %d: the guard is %t, want %t", i, got, want)
			}
		}
	})
}
