package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Whoever names a thing in a request must be allowed to read it, or a right to
// write messages would mail out files. Made from the list of operations.
func TestAttackReferencesCarryNoRights(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	tried := 0
	for _, o := range a.Catalog.All() {
		if o.Doors&op.RESTDoor == 0 || o.TakesStream() {
			continue
		}
		for _, r := range o.ReferenceFields() {
			var input map[string]any
			if err := json.Unmarshal([]byte(o.Example), &input); err != nil {
				t.Fatal(err)
			}
			input[r.Field] = id.New()
			if r.Many {
				input[r.Field] = []id.ID{id.New()}
			}
			text, err := json.Marshal(input)
			if err != nil {
				t.Fatal(err)
			}
			caller := a.Tenant
			caller.Key, _ = a.NewKey(t, a.Tenant, allBut(r.Resource+":read")...)
			got := a.Door("rest", caller)(t, o.Name, string(text))
			if got.Status != 403 || got.ParseJSON(t).Text("error.details.permission") != r.Resource+":read" {
				t.Errorf("%s with %s: %d %s", o.Name, r.Field, got.Status, got.Body)
			}
			tried++
		}
	}
	if tried < 25 {
		t.Errorf("only %d references were tried", tried)
	}
	t.Logf("%d references", tried)
}

// allBut lists every permission of a key but one.
func allBut(missing string) (list []string) {
	for _, r := range op.Resources() {
		list = append(list, r+":read", r+":write")
	}
	return slices.DeleteFunc(list, func(p string) bool { return p == missing })
}

// The form of an upload is held to the same rule, and a form that is refused
// leaves no file.
func TestAttackUploadIntoUnreadableFolder(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	folder := a.SendREST(t, a.Key, "POST", "/v1/folders", `{"name": "Board"}`).OK(t, 201).Text("id")
	key, _ := a.NewKey(t, a.Tenant, "files:write")
	res := a.UploadForm(t, key, "/v1/files", apptest.Part{Name: "folderId", Text: folder},
		apptest.Part{Name: "file", FileName: "a.txt", Text: "hello"})
	res.Refused(t, 403, "INSUFFICIENT_PERMISSIONS").Same("details.permission", "files:read")
	if list := a.SendREST(t, a.Key, "GET", "/v1/files", "").OK(t, 200); list.Len() != 0 ||
		strings.Contains(list.String(), "a.txt") {
		t.Errorf("a refused upload left %s", list)
	}
}

// A draft takes its files along, so it is not sent to others by somebody who
// may not read them.
func TestAttackReaddressedDraft(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	file := a.UploadForm(t, a.Key, "/v1/files",
		apptest.Part{Name: "file", FileName: "a.txt", Text: "hello"}).OK(t, 201).Text("id")
	draft := a.SendREST(t, a.Key, "POST", "/v1/messages",
		`{"to": "cfo@example.com", "subject": "Figures", "text": "Here", "draft": true, "fileIds": ["`+file+
			`"]}`).OK(t, 201).Text("id")
	key, _ := a.NewKey(t, a.Tenant, "messages:read", "messages:write")
	for _, body := range []string{`{"to": "thief@example.net"}`, `{"cc": ["thief@example.net"]}`,
		`{"bcc": "thief@example.net"}`} {
		a.SendREST(t, key, "PATCH", "/v1/messages/"+draft, body).Refused(t, 403, "INSUFFICIENT_PERMISSIONS").
			Same("details.permission", "files:read")
	}
	a.SendREST(t, key, "PATCH", "/v1/messages/"+draft, `{"subject": "The figures"}`).OK(t, 200)
}

// A link hands a file to whoever has it, so who makes one may read the file.
func TestAttackLinkToUnreadableFile(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	file := a.UploadForm(t, a.Key, "/v1/files",
		apptest.Part{Name: "file", FileName: "a.txt", Text: "hello"}).OK(t, 201).Text("id")
	key, _ := a.NewKey(t, a.Tenant, "files:write")
	a.SendREST(t, key, "POST", "/v1/files/"+file+"/access-links", "{}").Refused(t, 403, "INSUFFICIENT_PERMISSIONS").
		Same("details.permission", "files:read")
}

// The rows of the permission table come from the operations. A new noun adds
// its own here; one that is misspelt would add another.
func TestResources(t *testing.T) {
	app.Describe()
	want := "automations businesses contacts customers domains email_opt_ins email_templates files invoices messages " +
		"properties proposals tasks webhooks"
	if got := strings.Join(op.Resources(), " "); got != want {
		t.Errorf("resources %s, want %s; a new one belongs in the list above", got, want)
	}
}
