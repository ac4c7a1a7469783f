package proposal_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// maxWait is how long a neighbour may wait for anybody else's work on SQLite.
const maxWait = 400 * time.Millisecond

// On SQLite all writes take turns: none, however large, holds the others up for long.
// What counts is how long one transaction held the writer; the neighbour's own time is
// printed, which also has the noise of the machine. Noise only ever makes it longer, so
// the best of some tries counts.
func TestAttackNeighbourWaits(t *testing.T) {
	a := apptest.Start(t, db.SQLite, strictHold)
	if err := a.Jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	neighbour := a.NewTenant(t, "enterprise")
	var slowest atomic.Int64
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			began := time.Now()
			r := a.SendREST(t, neighbour.Key, "POST", "/v1/tasks", `{"title": "T"}`)
			if took := int64(time.Since(began)); r.Status == 201 && took > slowest.Load() {
				slowest.Store(took)
			}
		}
	}()
	rows := func(n int, row string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strings.ReplaceAll(row, "#", fmt.Sprint(time.Now().UnixNano(), "-", i)))
		}
		return b.String()
	}
	contact := `{"firstName": "Ada", "lastName": "#", "notes": "` + strings.Repeat("n", 500) +
		`", "emails": [{"email": "a#@example.com"}], "phoneNumbers": [{"phoneNumber": "+442079460018"}]}`
	contact = strings.ReplaceAll(contact, " ", "")
	step := func(operation, input string) string {
		return fmt.Sprintf(`{"operation": %q, "input": %s}`, operation, input)
	}
	regex := strings.Repeat("(a|a)*", 20)
	var plan, undone string
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"a batch of 500", func() {
			a.SendREST(t, a.Key, "POST", "/v1/contacts/batch", `{"rows": [`+rows(500, contact)+`]}`)
		}},
		{"a plan of two batches of 500", func() {
			batch := step("contacts.batch", `{"rows": [`+rows(500, `{"firstName":"Ada","notes":"nnnn"}`)+`]}`)
			r := a.SendREST(t, a.Key, "POST", "/v1/proposals", `{"title": "x", "steps": [`+batch+`,`+batch+`]}`)
			if r.Status != 201 {
				r.Refused(t, 409, "PROPOSAL_TOO_SLOW")
			}
		}},
		{"a plan of 50 steps", func() {
			steps := make([]string, 50)
			for i := range steps {
				steps[i] = step("contacts.create", rows(1, contact))
			}
			r := a.SendREST(t, a.Key, "POST", "/v1/proposals",
				`{"title": "x", "steps": [`+strings.Join(steps, ",")+`]}`)
			plan = r.ParseJSON(t).Text("data.id")
		}},
		{"carrying it out", func() { a.SendREST(t, a.Key, "POST", "/v1/proposals/"+plan+"/execute", "") }},
		{"a plan of 50 automations with conditions", func() {
			steps := make([]string, 50)
			for i := range steps {
				steps[i] = step("automations.create", rows(1, fmt.Sprintf(`{"name": "#", "status": "paused", "trigger":
					{"kind": "event", "event": "contact.created"},
						"condition": "event.data.notes.matches('%s') && '#' != ''",
					"steps": [{"operation": "tasks.create", "input": {"title": "T"}}]}`, regex)))
			}
			a.SendREST(t, a.Key, "POST", "/v1/proposals", `{"title": "x", "steps": [`+strings.Join(steps, ",")+`]}`)
		}},
		{"an import of 1500 rows", func() {
			v := a.UploadForm(t, a.Key, "/v1/imports", apptest.Part{Name: "objectType", Text: "contacts"},
				apptest.Part{Name: "file", FileName: "x.csv", Text: "First Name,Last Name,Email\n" +
					strings.ReplaceAll(rows(1500, "Ada,Nr#,p#@example.com"), "com,", "com\n")})
			undone = v.OK(t, 202).Text("id")
			await(t, a, "/v1/imports/"+undone)
		}},
		{"its undo", func() { carryOutUndo(t, a, fmt.Sprintf(`{"importId": %q}`, undone)) }},
		{"automations that hear of a batch of 100", func() {
			v := a.SendREST(t, a.Key, "POST", "/v1/automations", fmt.Sprintf(`{"name": "R", "trigger": {"kind": "event",
				"event": "contact.created"},
					"condition": "event.data.notes.matches('%s') && event.data.firstName == 'Ada'",
				"steps": [{"operation": "tasks.create", "input": {"title": "T"}}]}`, regex)).OK(t, 201).Text("id")
			a.SendREST(t, a.Key, "POST", "/v1/contacts/batch", `{"rows": [`+rows(100, contact)+`]}`)
			time.Sleep(time.Second)
			a.SendREST(t, a.Key, "DELETE", "/v1/automations/"+v, "")
		}},
	} {
		best := time.Hour
		for try := 0; try < 4 && best > maxWait; try++ {
			a.DB.TakeLongestHold()
			slowest.Store(0)
			c.run()
			held := a.DB.TakeLongestHold()
			t.Logf("%-45s held the writer for %v; the neighbour waited %v", c.name, held.Round(time.Millisecond),
				time.Duration(slowest.Load()).Round(time.Millisecond))
			best = min(best, held)
		}
		if best > maxWait {
			t.Errorf("%s holds the writer for %v", c.name, best)
		}
	}
}
