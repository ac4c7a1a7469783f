package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// rows is every row of the database as text, by table, without those that tell of
// the proposals themselves.
func rows(t *testing.T, a *apptest.App) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for _, table := range db.DeclaredTables() {
			// Allowances count requests, and processes tell that they live, whatever happens.
			if slices.Contains([]string{"proposals", "jobs", "allowances", "processes"}, table) ||
				strings.HasPrefix(table, "probe_") {
				continue
			}
			where := ""
			switch table {
			case "events":
				where = " WHERE x.type NOT LIKE 'proposal.%'"
			case "idempotency":
				where = " WHERE x.operation NOT LIKE 'proposals.%'"
			}
			text := "SELECT CAST(x AS text) FROM " + table + " x" + where
			if tx.Engine() == db.SQLite {
				columns, err := db.QueryAll[string](ctx, tx, "SELECT name FROM pragma_table_info($1)", table)
				if err != nil {
					return err
				}
				for i, c := range columns {
					columns[i] = "quote(" + c + ")"
				}
				text = "SELECT " + strings.Join(columns, " || ',' || ") + " FROM " + table + " x" + where
			}
			found, err := db.QueryAll[string](ctx, tx, text)
			if err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
			slices.Sort(found)
			out[table] = found
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameRows names the tables that differ.
func sameRows(t *testing.T, what string, was, is map[string][]string) {
	t.Helper()
	for table := range was {
		if !slices.Equal(was[table], is[table]) {
			t.Errorf("%s left a trace in %s: %d rows before, %d after", what, table, len(was[table]), len(is[table]))
		}
	}
}

// stepFor is a step that calls an operation with its example, on the fixtures.
func (f fixtures) stepFor(t *testing.T, a *apptest.App, v apptest.Tenant, o *op.Op) string {
	t.Helper()
	input := map[string]any{}
	if o.Method != "DELETE" {
		if err := json.Unmarshal([]byte(f.refer(t, a, v, o)), &input); err != nil {
			t.Fatal(err)
		}
	}
	segments := strings.Split(o.Path, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, "{"); ok {
			row := f[strings.Join(segments[:i], "/")]
			switch name = strings.TrimSuffix(name, "}"); name {
			case "address":
				input[name] = "rehearsed@example.com"
			case "externalId":
				input[name] = "rehearsed"
			default:
				input[name] = row
			}
		}
	}
	text, err := json.Marshal(map[string]any{"operation": o.Name, "input": input})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A rehearsal of any operation leaves no trace, and what it shows is what the
// operation then does. The test is made from the list of operations.
func TestEveryRehearsal(t *testing.T) {
	later, wait := waitingClock()
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		a.AsOperator(t, "payment_methods.create_test", "organization", a.Org, `{"test": "visa"}`)
		a.AsOperator(t, "agreements.accept", "business", a.Business,
			fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, a.Business, a.Owner))
		mine := build(t, a, a.Tenant)
		tried, executed, blind := 0, 0, []string{}
		list := slices.Clone(a.Catalog.All())
		// What deletes comes last, what only changes first, so that every fixture is there.
		slices.SortStableFunc(list, func(x, y *op.Op) int {
			if x.Action == op.ActionDelete && y.Action == op.ActionDelete { // children before their parents
				return strings.Count(y.Path, "/") - strings.Count(x.Path, "/")
			}
			return int(x.Action) - int(y.Action)
		})
		for _, o := range list {
			if o.Doors&op.AgentDoor == 0 || o.ReadOnly() || o.TakesStream() || o.Method == "GET" ||
				o.Resource == "proposals" {
				continue
			}
			step := mine.stepFor(t, a, a.Tenant, o)
			before := rows(t, a)
			r := a.SendREST(t, a.Key, "POST", "/v1/proposals", `{"title": "x", "steps": [`+step+`]}`)
			sameRows(t, o.Name, before, rows(t, a))
			tried++
			if r.Status != 201 {
				if r.Status >= 500 {
					t.Errorf("%s: %s", o.Name, r.Body)
				}
				t.Logf("%s is refused: %s", o.Name, r.Body)
				continue
			}
			p := r.OK(t, 201)
			if strings.Contains(p.String(), `"rehearsed":false`) {
				blind = append(blind, o.Name)
				continue
			}
			if !o.CanJoinSeries() {
				continue
			}
			wait()
			done := a.SendREST(t, a.Key, "POST", "/v1/proposals/"+p.Text("id")+"/execute", "")
			if done.Status != 200 {
				t.Errorf("%s is not as it was shown: %s\n%s", o.Name, done.Body, p)
				continue
			}
			executed++
			if got, want := happened(t, a, p.ID("id")), shown(p); got != want {
				t.Errorf("%s showed %s and did %s", o.Name, want, got)
			}
		}
		t.Logf("%d rehearsed, %d executed, blind: %v", tried, executed, blind)
		if tried < 100 || executed < 60 {
			t.Errorf("only %d were rehearsed and %d executed", tried, executed)
		}
	}, later)
}

// happened lists the resource types that events of a proposal tell of.
func happened(t *testing.T, a *apptest.App, proposal id.ID) string {
	t.Helper()
	var types []string
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		types, err = db.QueryAll[string](ctx, tx, `SELECT resource_type FROM events
			WHERE organization_id = $1 AND proposal_id = $2 AND type NOT LIKE 'proposal.%' ORDER BY seq`, a.Org,
			proposal)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(types, " ")
}

func shown(p apptest.Value) string {
	var types []string
	for i := range p.At("effects").Len() {
		types = append(types, p.Text(fmt.Sprintf("effects.%d.resourceType", i)))
	}
	return strings.Join(types, " ")
}
