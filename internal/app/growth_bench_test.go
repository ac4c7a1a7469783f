package app_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// growth is how far a request may grow dearer while the database grows.
const growth = 3

// BenchmarkGrowth fills an empty database through the API and sends 100 of each of
// the twelve commonest requests at every size, one after another. Nobody waits until
// the database has looked at its tables again. One round is enough:
//
//	scripts/with-postgres go test -run ^$ -bench Growth -benchtime 1x ./internal/app
func BenchmarkGrowth(b *testing.B) {
	sizes := []int{10, 1_000, 20_000, 100_000}
	for _, e := range []db.Engine{db.SQLite, db.Postgres} {
		b.Run(string(e), func(b *testing.B) {
			for b.Loop() {
				a := apptest.Start(b, e)
				g := &growing{t: b, a: a, key: a.Key}
				go a.MaintainGrownTables(b.Context())
				var rows [][]time.Duration
				for _, n := range sizes {
					g.fill(n)
					var costs []time.Duration
					for _, took := range g.measure() { // other programs have the least part in the fastest
						costs = append(costs, took[len(took)/10])
					}
					rows = append(rows, costs)
				}
				report(b, sizes, rows)
			}
		})
	}
}

// report prints what each kind of request cost at each size.
func report(b *testing.B, sizes []int, rows [][]time.Duration) {
	b.Helper()
	for i, kind := range commonest {
		line := fmt.Sprintf("%-28s", kind.name)
		// Below a millisecond the machine's own noise is larger than what is measured.
		allowed := growth * max(rows[0][i], time.Millisecond)
		for n, row := range rows {
			line += fmt.Sprintf("%10.2f ms", float64(row[i].Microseconds())/1000)
			if row[i] > allowed {
				b.Errorf("%s: %s with %d records, %s with %d", kind.name, rows[0][i], sizes[0], row[i], sizes[n])
			}
		}
		fmt.Println(line)
	}
}

// commonest are the requests that people and programs make most. CONTACT and TASK
// stand for records that there are, # for a number that no other request has.
var commonest = []struct{ name, method, path, body string }{
	{"get a contact", "GET", "/v1/contacts/CONTACT", ""},
	{"list contacts", "GET", "/v1/contacts?limit=20", ""},
	{"contacts by name", "GET", "/v1/contacts?sortBy=name&limit=20", ""},
	{"search for a rare word", "GET", "/v1/contacts?query=Zyxel", ""},
	{"search for a common word", "GET", "/v1/contacts?query=Example", ""},
	{"create a contact", "POST", "/v1/contacts", `{"lastName": "New #", "emails": [{"email": "new#@example.com"}]}`},
	{"change a contact", "PATCH", "/v1/contacts/CONTACT", `{"notes": "#"}`},
	{"list open tasks", "GET", "/v1/tasks?status=open&limit=20", ""},
	{"create a task", "POST", "/v1/tasks", `{"title": "Call #", "contactId": "CONTACT"}`},
	{"change a task", "PATCH", "/v1/tasks/TASK", `{"description": "#"}`},
	{"list messages", "GET", "/v1/messages?limit=20", ""},
	{"list events", "GET", "/v1/events?limit=20", ""},
}

// growing is a service whose database grows.
type growing struct {
	t             testing.TB
	a             *apptest.App
	key           string // of who asks
	filled, asked int
	contact, task string
}

func (g *growing) send(method, path, body string) []byte {
	g.t.Helper()
	r, err := http.NewRequestWithContext(g.t.Context(), method, g.a.URL+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+g.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		g.t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
	}
	return text
}

// fill adds contacts, and a task for every second and a message for every tenth of
// them, until so many records were created.
func (g *growing) fill(upTo int) {
	g.t.Helper()
	for g.filled < upTo {
		n := min(500, max(5, (upTo-g.filled)*10/16))
		var contacts, tasks []string
		for i := range n {
			k := g.filled + i
			contacts = append(contacts, fmt.Sprintf(`{"firstName": "Ada", "lastName": "Name %d",
				"organizationName": "Example %d", "emails": [{"email": "a%d@example.com"}]}`, k, k%97, k))
			if i%2 == 0 {
				tasks = append(tasks, fmt.Sprintf(`{"title": "Call %d"}`, k))
			}
			if i%10 == 0 {
				g.send("POST", "/v1/messages", fmt.Sprintf(`{"to": "a%d@example.com", "subject": "Hello %d",
					"text": "x", "draft": true}`, k, k))
			}
		}
		g.send("POST", "/v1/contacts/batch", `{"rows": [`+strings.Join(contacts, ",")+`]}`)
		g.send("POST", "/v1/tasks/batch", `{"rows": [`+strings.Join(tasks, ",")+`]}`)
		g.filled += n * 16 / 10
	}
	g.begin()
}

// begin makes the records that the requests are about.
func (g *growing) begin() {
	g.t.Helper()
	id := func(answer []byte) string {
		return regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(string(answer))[1]
	}
	if g.contact == "" {
		g.contact = id(g.send("POST", "/v1/contacts", `{"lastName": "Zyxel"}`))
		g.task = id(g.send("POST", "/v1/tasks", `{"title": "Call"}`))
	}
}

// measure is how long 100 requests of each kind took, the fastest first.
func (g *growing) measure() (all [][]time.Duration) {
	g.t.Helper()
	for _, kind := range commonest {
		var took []time.Duration
		for range 100 {
			g.asked++
			put := strings.NewReplacer("CONTACT", g.contact, "TASK", g.task, "#", fmt.Sprint(g.asked)).Replace
			path, body := put(kind.path), put(kind.body)
			began := time.Now()
			g.send(kind.method, path, body)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		all = append(all, took)
	}
	return all
}
