package transfer_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// table reads an export into its headings and rows.
func table(t testing.TB, r apptest.Result) ([]string, [][]string) {
	t.Helper()
	if kind := r.Header.Get("Content-Type"); r.Status != 200 || !strings.HasPrefix(kind, "text/csv") {
		t.Fatalf("%d %s: %s", r.Status, kind, r.Body)
	}
	all, err := csv.NewReader(strings.NewReader(string(r.Body))).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("%v in %s", err, r.Body)
	}
	return all[0], all[1:]
}

// An export has a row for each record of the list, whatever the number of pages,
// obeys the list's filters, and holds nothing that a spreadsheet would calculate.
func TestExport(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		const n = 450 // more than two pages
		rows := make([]string, n)
		for i := range rows {
			tag := []string{"odd", "even"}[i%2]
			rows[i] = fmt.Sprintf(`{"firstName": "F%d", "lastName": "Row", "tags": [%q]}`, i, tag)
		}
		a.SendREST(t, a.Key, "POST", "/v1/contacts/batch", `{"rows": [`+strings.Join(rows, ",")+`]}`).OK(t, 200)
		evil := `=HYPERLINK("https://evil.example")`
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "=HYPERLINK(\"https://evil.example\")",
			"lastName": "a \"quoted\",\nname", "emails": [{"email": "ada@example.com"}]}`).OK(t, 201)
		other := a.NewTenant(t, "starter")
		a.SendREST(t, other.Key, "POST", "/v1/contacts", `{"firstName": "Somebody else's"}`).OK(t, 201)

		head, all := table(t, a.SendREST(t, a.Key, "GET", "/v1/exports/contacts.csv?sortOrder=asc", ""))
		first := slices.Index(head, "firstName")
		if len(all) != n+1 || first < 0 || slices.Contains(head, "organizationId") {
			t.Fatalf("%d rows with %v", len(all), head)
		}
		for i, r := range all[:n] {
			if r[first] != fmt.Sprint("F", i) {
				t.Fatalf("row %d is %v", i, r)
			}
		}
		last := all[n]
		if last[first] != "'"+evil || last[slices.Index(head, "lastName")] != "a \"quoted\",\nname" ||
			!slices.ContainsFunc(last, func(s string) bool { return strings.Contains(s, "ada@example.com") }) {
			t.Errorf("the last row is %q", last)
		}
		if _, odd := table(t, a.SendREST(t, a.Key, "GET", "/v1/exports/contacts.csv?tag=odd", "")); len(odd) != n/2 {
			t.Errorf("%d odd rows", len(odd))
		}
		for _, noun := range []string{"customers", "tasks", "invoices", "email-opt-ins"} {
			if head, none := table(t, a.SendREST(t, a.Key, "GET", "/v1/exports/"+noun+".csv", "")); len(none) != 0 ||
				!slices.Contains(head, "id") {
				t.Errorf("%s: %v, %d rows", noun, head, len(none))
			}
		}
		tasks, _ := a.NewKey(t, a.Tenant, "tasks:read")
		a.SendREST(t, tasks, "GET", "/v1/exports/contacts.csv", "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		a.SendREST(t, a.Key, "GET", "/v1/exports/contacts.csv?createdAfter=soon", "").Refused(t, 400, "INVALID_INPUT")
		a.SendREST(t, a.Key, "GET", "/v1/exports/secrets.csv", "").Refused(t, 404, "NOT_FOUND")
	})
}

// A request that asks for an export and does not read it keeps nobody from exporting once it has ended.
func TestExportNotRead(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	all, err := op.ParseGrants([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	caller := &op.Caller{Kind: op.UserActor, ID: a.OwnerID, Organization: a.Org, Permissions: all, Role: "owner"}
	ask := func(ctx context.Context) error {
		_, err := a.Runner.Do(ctx, a.Catalog.Named("contacts.export"), op.Request{Caller: caller, Door: op.ConsoleDoor,
			Stream: &op.Stream{Reader: strings.NewReader("")}})
		return err
	}
	ctx, end := context.WithCancel(t.Context())
	for range 2 {
		if err := ask(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(t.Context()); !fault.IsKind(err, fault.RateLimited) {
		t.Fatalf("two exports are under way, and a third gives %v", err)
	}
	end()
	for range 200 {
		if err = ask(t.Context()); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(err)
}
