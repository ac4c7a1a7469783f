package proposal_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
)

// A file that an agent may only write after asking is shown, and written once a person approves.
func TestFileAfterAsking(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		agent, call := asking(t, a, "all")
		configure(t, a, agent, `"files.create": "ask"`)
		s := call("files_create", `{"name": "prices.csv", "content": "a,b\n"}`).At("structuredContent")
		s.Same("status", "pending_approval")
		s.Same("effects.0.kind", "create")
		s.Same("effects.0.resourceType", "file")
		if n := count(t, a, "files", "TRUE"); n != 0 {
			t.Errorf("%d files before anybody decided", n)
		}
		ref := s.Text("proposalId")
		p := person(t, a, "proposals.get", fmt.Sprintf(`{"id": %q}`, ref)).OK(t, 200)
		person(t, a, "proposals.approve", fmt.Sprintf(`{"id": %q, "sha256": %q}`, ref, p.Text("sha256"))).OK(t, 200)
		person(t, a, "proposals.get", fmt.Sprintf(`{"id": %q, "waitSeconds": 45}`, ref)).OK(t, 200).
			Same("status", "executed")
		list := a.SendREST(t, a.Key, "GET", "/v1/files", "").OK(t, 200)
		list.Same("0.name", "prices.csv")
		a.SendREST(t, a.Key, "GET", "/v1/files/"+list.Text("0.id")+"/text", "").OK(t, 200).Same("text", "a,b\n")
		// The same call again answers with what it did, and writes no second file.
		call("files_create", `{"name": "prices.csv", "content": "a,b\n"}`).
			Same("structuredContent.data.name", "prices.csv")
		if n := count(t, a, "files", "TRUE"); n != 1 {
			t.Errorf("%d files", n)
		}
	})
}
