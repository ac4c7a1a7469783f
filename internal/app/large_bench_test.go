package app_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// BenchmarkLarge sends 100 of each of the twelve commonest requests to an empty
// database, and again after it has 10,000 contacts (or FRONTDESK_BENCH_CONTACTS), ten
// times as many events and 1,000 organizations, of which one has half of everything.
// That one asks, and one of the small ones. One round is enough:
//
//	FRONTDESK_BENCH_CONTACTS=1000000 scripts/with-postgres go test -run ^$ -bench Large -benchtime 1x ./internal/app
func BenchmarkLarge(b *testing.B) {
	contacts := 10_000
	if s := os.Getenv("FRONTDESK_BENCH_CONTACTS"); s != "" {
		var err error
		if contacts, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	for _, e := range []db.Engine{db.SQLite, db.Postgres} {
		b.Run(string(e), func(b *testing.B) {
			for b.Loop() {
				a := apptest.Start(b, e)
				go a.MaintainGrownTables(b.Context())
				small := a.NewTenant(b, "enterprise")
				half, other := &growing{t: b, a: a, key: a.Key}, &growing{t: b, a: a, key: small.Key}
				half.begin()
				other.begin()
				empty := half.measure()
				seedLarge(b, a, contacts)
				large, few := half.measure(), other.measure()
				fmt.Printf("%-28s %20s %20s %20s\n", "p50, p99", "empty", "half of "+fmt.Sprint(contacts), "one of 999")
				at := func(took []time.Duration) string {
					return fmt.Sprintf("%.2f, %.2f ms", took[50].Seconds()*1000, took[99].Seconds()*1000)
				}
				for i, kind := range commonest {
					fmt.Printf("%-28s %20s %20s %20s\n", kind.name, at(empty[i]), at(large[i]), at(few[i]))
					allowed := 2 * max(empty[i][50], time.Millisecond)
					if large[i][50] > allowed || few[i][50] > allowed {
						b.Errorf("%s: more than twice of what it takes with an empty database", kind.name)
					}
				}
				other.send("POST", "/v1/contacts", `{"lastName": "Neighbour"}`)
				began := time.Now()
				for range 100 {
					other.send("GET", "/v1/contacts?query=Neighbour", "")
				}
				fmt.Printf("a word that only a neighbour has often: %s\n", time.Since(began)/100)
			}
		})
	}
}

const seedRows = 400 // in a statement

// seedLarge writes rows as the service would, without its API.
func seedLarge(b *testing.B, a *apptest.App, contacts int) {
	b.Helper()
	// One contact shows how its search text is written.
	a.SendREST(b, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "lastName": "Name 424242",
		"organizationName": "Neighbour 424242"}`).OK(b, 201)
	write := func(fn db.Func) {
		b.Helper()
		if err := a.DB.Write(b.Context(), fn); err != nil {
			b.Fatal(err)
		}
	}
	var search string
	orgs := []id.ID{}
	now := clock.FromStd(time.Now())
	write(func(ctx context.Context, tx *db.Tx) (err error) {
		search, err = db.QueryOne[string](ctx, tx, "SELECT search FROM contacts WHERE last_name = 'Name 424242'")
		if err != nil {
			return err
		}
		orgs = orgs[:0]
		var rows [][]any
		for range 999 {
			o := id.New()
			orgs = append(orgs, o)
			rows = append(rows, []any{o, now, now, "Small", "free", "active"})
		}
		return insertRows(ctx, tx, "organizations", "id, created_at, updated_at, name, plan, status", rows)
	})
	for n := 0; n < contacts; n += seedRows {
		write(func(ctx context.Context, tx *db.Tx) error {
			var people, events [][]any
			for k := n; k < min(n+seedRows, contacts); k++ {
				org, row, at := a.Org, id.New(), now.Add(-time.Duration(contacts-k)*time.Second)
				if k%2 == 1 {
					org = orgs[k/2%len(orgs)]
				}
				name := fmt.Sprintf("Name %d", k)
				people = append(people, []any{row, org, at, at, "Ada", name, fmt.Sprintf("Neighbour %d", k),
					strings.ReplaceAll(search, "424242", fmt.Sprint(k))})
				for i := range 10 {
					kind := "contact.updated"
					if i == 0 {
						kind = "contact.created"
					}
					moment := at.Add(time.Duration(i) * time.Millisecond)
					events = append(events, []any{id.New(), org, moment, kind, "contact", row, "system", "system",
						string(id.NewRequestID()),
						db.JSON(fmt.Sprintf(`{"id": %q, "firstName": "Ada", "lastName": %q}`, row, name))})
				}
			}
			err := insertRows(ctx, tx, "contacts", "id, organization_id, created_at, updated_at, first_name, "+
				"last_name, organization_name, search", people)
			if err != nil {
				return err
			}
			return insertRows(ctx, tx, "events", "id, organization_id, created_at, type, resource_type, resource_id, "+
				"actor_kind, door, request_id, data", events)
		})
	}
	// SQLite's search index notices the rows with the next one that is created.
	a.SendREST(b, a.Key, "POST", "/v1/contacts", `{"lastName": "Last"}`).OK(b, 201)
	for behind := a.DB.Engine() == db.SQLite; behind; time.Sleep(50 * time.Millisecond) {
		write(func(ctx context.Context, tx *db.Tx) (err error) {
			behind, err = db.QueryOne[bool](ctx, tx, `SELECT (SELECT max(seq) FROM contacts) >
				(SELECT rowid FROM contacts_search ORDER BY rowid DESC LIMIT 1)`)
			return err
		})
	}
}

// insertRows adds rows to a table.
func insertRows(ctx context.Context, tx *db.Tx, table, columns string, rows [][]any) error {
	for len(rows) > 0 {
		some := rows[:min(seedRows, len(rows))]
		rows = rows[len(some):]
		var values []string
		var args []any
		for _, row := range some {
			var places []string
			for _, v := range row {
				args = append(args, v)
				places = append(places, "$"+strconv.Itoa(len(args)))
			}
			values = append(values, "("+strings.Join(places, ", ")+")")
		}
		if _, err := db.Exec(ctx, tx, "INSERT INTO "+table+" ("+columns+") VALUES "+strings.Join(values, ", "),
			args...); err != nil {
			return err
		}
	}
	return nil
}
