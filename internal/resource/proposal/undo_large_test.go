package proposal_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// await waits until something that a job works on has ended.
func await(t testing.TB, a *apptest.App, path string) apptest.Value {
	t.Helper()
	for end := time.Now().Add(20 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		v := a.SendREST(t, a.Key, "GET", path, "").OK(t, 200)
		switch v.Text("status") {
		case "succeeded", "executed":
			return v
		case "failed", "stale":
			t.Fatalf("it ended as %s", v)
		}
	}
	t.Fatalf("%s does not end", path)
	return apptest.Value{}
}

// carryOutUndo plans an undo, carries it out and returns it as it ended.
func carryOutUndo(t testing.TB, a *apptest.App, of string) apptest.Value {
	t.Helper()
	p := a.SendREST(t, a.Key, "POST", "/v1/undo", of).OK(t, 201)
	a.SendREST(t, a.Key, "POST", "/v1/proposals/"+p.Text("id")+"/execute", "").OK(t, 200)
	return await(t, a, "/v1/proposals/"+p.Text("id"))
}

// An import is undone whatever its size: what it created goes, what it changed is
// as before. Edits made since are kept and named. The undo can itself be undone.
// ROWS sets how many rows there are.
func TestUndoImport(t *testing.T) {
	rows, err := strconv.Atoi(os.Getenv("ROWS"))
	if err != nil {
		rows = 1500
	}
	apptest.EachEngineParallel(t, func(t *testing.T, a *apptest.App) {
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Old", "emails": [{"email": "p7@example.com"}]}`).OK(t, 201).Text("id")
		var text strings.Builder
		text.WriteString("First Name,Last Name,Email\n")
		for i := range rows {
			fmt.Fprintf(&text, "Ada,Nr%d,p%d@example.com\n", i, i)
		}
		imported := a.UploadForm(t, a.Key, "/v1/imports", apptest.Part{Name: "objectType", Text: "contacts"},
			apptest.Part{Name: "file", FileName: "x.csv", Text: text.String()}).OK(t, 202).Text("id")
		await(t, a, "/v1/imports/"+imported)
		find := func(i int) apptest.Value {
			t.Helper()
			return a.SendREST(t, a.Key, "GET", fmt.Sprintf("/v1/contacts?email=p%d@example.com", i), "").OK(t,
				200).At("0")
		}
		// One was renamed, one got a number, one a task; the one that was there got a job.
		edited, called, tasked := find(1).Text("id"), find(2).Text("id"), find(3).Text("id")
		a.SendREST(t, a.Key, "PATCH", "/v1/contacts/"+edited, `{"firstName": "Augusta"}`).OK(t, 200)
		a.SendREST(t, a.Key, "POST", "/v1/contacts/"+called+"/phone-numbers", `{"phoneNumber": "+442079460018"}`).OK(t,
			201)
		a.SendREST(t, a.Key, "POST", "/v1/tasks", fmt.Sprintf(`{"title": "Call", "contactId": %q}`, tasked)).OK(t, 201)
		a.SendREST(t, a.Key, "PATCH", "/v1/contacts/"+before, `{"jobTitle": "Poet"}`).OK(t, 200)

		begin := time.Now()
		undone := carryOutUndo(t, a, fmt.Sprintf(`{"importId": %q}`, imported))
		t.Logf("undone in %v", time.Since(begin))
		undone.Same("totals.deletions", rows-1)
		undone.Same("steps.0.result.events", rows)
		undone.Same("steps.0.result.done", rows)
		undone.Same("steps.0.result.kept", 3)
		if n := undone.At("skipped").Len(); n != 3 {
			t.Errorf("%d are named: %s", n, undone.At("skipped"))
		}
		for i, want := range []string{tasked, called, edited} { // newest first
			undone.Same(fmt.Sprintf("skipped.%d.resourceId", i), want)
		}
		left := func() int { return count(t, a, "contacts", "deleted_at IS NULL") }
		if n := left(); n != 4 {
			t.Errorf("%d contacts are left", n)
		}
		was := find(7)
		was.Same("firstName", "Old")
		was.Same("lastName", nil)
		was.Same("jobTitle", "Poet")
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+edited, "").OK(t, 200).Same("firstName", "Augusta")

		again := carryOutUndo(t, a, fmt.Sprintf(`{"proposalId": %q}`, undone.Text("id")))
		again.Same("steps.0.result.kept", 0)
		if n := left(); n != rows {
			t.Errorf("%d contacts after undoing the undo", n)
		}
		find(7).Same("firstName", "Ada")
		if n := find(rows - 1).At("emails").Len(); n != 1 {
			t.Errorf("%d emails of a restored contact", n)
		}
	})
}

// A merge is undone, alone and among other changes, and so is its undo.
func TestUndoMerge(t *testing.T) {
	apptest.EachEngineParallel(t, func(t *testing.T, a *apptest.App) {
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		create := func(name, email string) string {
			return a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(
				`{"firstName": %q, "notes": %q, "emails": [{"email": %q}]}`, name, name, email)).OK(t, 201).Text("id")
		}
		name := func(contact, want string) {
			t.Helper()
			r := a.SendREST(t, a.Key, "GET", "/v1/contacts/"+contact, "")
			if got := r.ParseJSON(t).Text("data.firstName"); got != want {
				t.Errorf("%d %s, want %q", r.Status, r.Body, want)
			}
		}
		ada, eve := create("Ada", "ada@example.com"), create("Eve", "eve@example.com")
		task := a.SendREST(t, a.Key, "POST", "/v1/tasks", fmt.Sprintf(`{"title": "x", "contactId": %q}`, eve)).OK(t,
			201).Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/contacts/"+ada+"/merge", fmt.Sprintf(`{"contactId": %q}`, eve)).OK(t, 200)
		request := a.SendREST(t, a.Key, "GET", "/v1/events?type=contact.merged", "").OK(t, 200).Text("0.requestId")
		a.SendREST(t, a.Key, "PATCH", "/v1/contacts/"+ada, `{"notes": "mine"}`).OK(t, 200)
		undone := carryOutUndo(t, a, fmt.Sprintf(`{"requestId": %q}`, request))
		undone.Same("steps.0.operation", "contacts.unmerge")
		undone.Same("skipped.0.field", "notes")
		name(eve, "Eve")
		a.SendREST(t, a.Key, "GET", "/v1/tasks/"+task, "").OK(t, 200).Same("contactId", eve)
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+ada, "").OK(t, 200).Same("notes", "mine")
		carryOutUndo(t, a, fmt.Sprintf(`{"proposalId": %q}`, undone.Text("id")))
		name(eve, "")
		a.SendREST(t, a.Key, "GET", "/v1/tasks/"+task, "").OK(t, 200).Same("contactId", ada)

		// An agent that changes both, merges them and changes what became of them.
		bob, rob := create("Bob", "bob@example.com"), create("Rob", "rob@example.com")
		agent, call := limited(t, a, `{}`)
		call("contacts_update", fmt.Sprintf(`{"id": %q, "firstName": "Bobby"}`, bob))
		call("contacts_update", fmt.Sprintf(`{"id": %q, "firstName": "Robert"}`, rob))
		call("contacts_merge", fmt.Sprintf(`{"id": %q, "contactId": %q}`, bob, rob))
		call("contacts_update", fmt.Sprintf(`{"id": %q, "notes": "one person"}`, bob))
		name(bob, "Bobby")
		undone = carryOutUndo(t, a, fmt.Sprintf(`{"agentId": %q}`, agent))
		undone.Same("steps.0.result.done", undone.Number("steps.0.result.events"))
		undone.Same("skipped", "[]")
		name(bob, "Bob")
		name(rob, "Rob")
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+bob, "").OK(t, 200).Same("notes", "Bob")
		carryOutUndo(t, a, fmt.Sprintf(`{"proposalId": %q}`, undone.Text("id")))
		name(bob, "Bobby")
		name(rob, "")
		a.SendREST(t, a.Key, "GET", "/v1/contacts/"+bob, "").OK(t, 200).Same("notes", "one person")
	})
}
