package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// Killed again and again while it takes an import back, the service deletes every
// contact of it once, and nothing else.
func TestUndoSIGKILL(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	const rows = 3000
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		s.start()
		var answer struct {
			Data struct {
				ID, Status string
				Steps      []struct {
					Result struct{ Events, Done, Kept int }
				}
			}
		}
		ask := func(method, path, kind, body string) {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader([]byte(body)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+v.Key)
			if body != "" {
				req.Header.Set("Content-Type", kind)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer drain(res)
			answer.Data.Steps = nil
			if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode > 299 {
				t.Fatalf("%s: %d %v", path, res.StatusCode, err)
			}
		}
		const text = "application/json"
		ask("POST", "/v1/contacts", text, `{"firstName": "Stays"}`)
		var file strings.Builder
		file.WriteString("firstName,email\n")
		for i := range rows {
			fmt.Fprintf(&file, "Ada,ada%d@example.com\n", i)
		}
		body, kind := apptest.BuildForm(t, apptest.Part{Name: "objectType", Text: "contacts"},
			apptest.Part{Name: "file", FileName: "x.csv", Text: file.String()})
		ask("POST", "/v1/imports", kind, body)
		imported := answer.Data.ID
		wait := func(path, status string) {
			t.Helper()
			for end := time.Now().Add(5 * time.Minute); answer.Data.Status != status; {
				time.Sleep(20 * time.Millisecond)
				if ask("GET", path, "", ""); time.Now().After(end) || answer.Data.Status == "failed" {
					t.Fatalf("%+v", answer.Data)
				}
			}
		}
		wait("/v1/imports/"+imported, "succeeded")
		ask("POST", "/v1/undo", text, fmt.Sprintf(`{"importId": %q}`, imported))
		undo := "/v1/proposals/" + answer.Data.ID
		ask("POST", undo+"/execute", text, "")
		killed := 0
		for range crashes(t) {
			done := answer.Data.Steps[0].Result.Done
			for answer.Data.Status == "executing" && answer.Data.Steps[0].Result.Done == done {
				time.Sleep(5 * time.Millisecond)
				ask("GET", undo, "", "")
			}
			if answer.Data.Status != "executing" {
				break
			}
			s.kill()
			killed++
			expireLeases(t, s)
			s.start()
			ask("GET", undo, "", "")
		}
		if killed == 0 {
			t.Error("it was never killed while it took the import back")
		}
		wait(undo, "executed")
		s.kill()
		if r := answer.Data.Steps[0].Result; r.Events != rows || r.Done != rows || r.Kept != 0 {
			t.Errorf("%+v", r)
		}
		for query, want := range map[string]int{
			"SELECT id FROM contacts WHERE deleted_at IS NULL":                       1,
			"SELECT id FROM events WHERE type = 'contact.deleted'":                   rows,
			"SELECT DISTINCT resource_id FROM events WHERE type = 'contact.deleted'": rows,
		} {
			if n := len(rowsOf(t, s, query)); n != want {
				t.Errorf("%d rows, want %d: %s", n, want, query)
			}
		}
		t.Logf("killed %d times", killed)
	})
}
