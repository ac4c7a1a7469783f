package app_test

import (
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

// Killed again and again while it imports, the service creates every contact of the
// file once.
func TestImportSIGKILL(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	const rows = 6000
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		s.start()
		var file strings.Builder
		file.WriteString("firstName,email\n")
		for i := range rows {
			fmt.Fprintf(&file, "Ada,ada%d@example.com\n", i)
		}
		body, kind := apptest.BuildForm(t, apptest.Part{Name: "objectType", Text: "contacts"},
			apptest.Part{Name: "file", FileName: "x.csv", Text: file.String()})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/imports",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+v.Key)
		req.Header.Set("Content-Type", kind)
		var answer struct {
			Data struct {
				ID, Status string
				Counts     struct{ Processed, Created, Failed int }
			}
		}
		ask := func(req *http.Request) {
			t.Helper()
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer drain(res)
			if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode > 299 {
				t.Fatalf("%d %v", res.StatusCode, err)
			}
		}
		ask(req)
		look := func() { t.Helper(); ask(get(t, s.url+"/v1/imports/"+answer.Data.ID, v.Key)) }
		killed := 0
		for range crashes(t) {
			before := answer.Data.Counts.Processed
			for answer.Data.Status != "succeeded" && answer.Data.Counts.Processed == before {
				time.Sleep(5 * time.Millisecond)
				look()
			}
			if answer.Data.Status == "succeeded" {
				break
			}
			s.kill()
			killed++
			expireLeases(t, s)
			s.start()
			look()
		}
		if killed == 0 {
			t.Error("it was never killed while it imported")
		}
		for end := time.Now().Add(2 * time.Minute); answer.Data.Status != "succeeded"; look() {
			if time.Now().After(end) || answer.Data.Status == "failed" {
				t.Fatalf("%+v", answer.Data)
			}
			time.Sleep(20 * time.Millisecond)
		}
		s.kill()
		if c := answer.Data.Counts; c.Created != rows || c.Failed != 0 {
			t.Errorf("%+v", c)
		}
		for _, text := range []string{
			"SELECT id FROM contacts", "SELECT id FROM events WHERE type = 'contact.created'",
			"SELECT DISTINCT email_folded FROM contact_emails",
		} {
			if n := len(rowsOf(t, s, text)); n != rows {
				t.Errorf("%d rows, want %d: %s", n, rows, text)
			}
		}
		t.Logf("killed %d times", killed)
	})
}
