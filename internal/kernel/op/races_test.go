package op_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/apptest/probe"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/jackc/pgx/v5/pgconn"
)

var at = apptest.RunAtOnce

func races(t *testing.T, fn func(t *testing.T, a *apptest.App, scale int)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		scale := 1
		if testing.Short() {
			scale = 4 // under the race detector
		}
		fn(t, apptest.Start(t, e, probe.NewExtra(&probe.Provider{})), scale)
	})
}

// A child never appears under a parent that is deleted at the same time.
func TestChildAgainstParentsDeletion(t *testing.T) {
	races(t, func(t *testing.T, a *apptest.App, scale int) {
		keep := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes", `{"name": "keep"}`).OK(t, 201)
		_ = keep
		for range 40 / scale {
			contact := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", `{"firstName": "A"}`).OK(t, 201).Text("id")
			box := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes", `{"name": "b"}`).OK(t, 201).Text("id")
			at(8, func(i int) {
				switch i {
				case 3:
					a.SendREST(t, a.Key, http.MethodDelete, "/v1/contacts/"+contact, "").OK(t, 204)
				case 4:
					a.SendREST(t, a.Key, http.MethodDelete, "/v1/probe-boxes/"+box, "").OK(t, 204)
				default:
					for _, r := range []apptest.Result{
						a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts/"+contact+"/phone-numbers",
							`{"phoneNumber": "+14155550100"}`),
						a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes/"+box+"/items", `{"amount": 1}`),
					} {
						if r.Status != 201 && r.Status != 404 {
							t.Errorf("%d %s", r.Status, r.Body)
						}
					}
				}
			})
		}
		orphans := originQuery(t, a, `
			SELECT count(*) FROM contact_phone_numbers p JOIN contacts c ON c.id = p.contact_id
			WHERE p.organization_id = $1 AND c.deleted_at IS NOT NULL
				AND (p.deleted_at IS NULL OR p.created_at > c.deleted_at AND p.deleted_at <> c.deleted_at)`)
		if orphans != 0 {
			t.Errorf("%d phone numbers live under deleted contacts", orphans)
		}
	})
}

// 100 numbers given at once are 1 to 100.
func TestGaplessNumbers(t *testing.T) {
	races(t, func(t *testing.T, a *apptest.App, scale int) {
		box := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes", `{"name": "b"}`).OK(t, 201).Text("id")
		n := 100 / scale
		at(n, func(int) {
			a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes/"+box+"/items", `{"amount": 1}`).OK(t, 201)
		})
		if distinct, most := originQuery(t, a,
			"SELECT count(DISTINCT number) FROM probe_items WHERE organization_id = $1"),
			originQuery(t, a, "SELECT max(number) FROM probe_items WHERE organization_id = $1"); distinct != n ||
			most != n {
			t.Errorf("%d distinct numbers up to %d", distinct, most)
		}
	})
}

// A balance is used up exactly, and never exceeded.
func TestBalance(t *testing.T) {
	races(t, func(t *testing.T, a *apptest.App, scale int) {
		box := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes",
			`{"name": "b", "capacity": 1000}`).OK(t, 201).Text("id")
		var ok, full atomic.Int64
		at(50/scale+10, func(int) {
			switch r := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes/"+box+"/items",
				`{"amount": 100}`); r.Status {
			case 201:
				ok.Add(1)
			case 422:
				full.Add(1)
			default:
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if sum := originQuery(t, a, "SELECT sum(amount) FROM probe_items WHERE organization_id = $1"); sum != 1000 ||
			ok.Load() != 10 {
			t.Errorf("%d of 1000 used by %d", sum, ok.Load())
		}
	})
}

// Of a set that must not become empty, one stays.
func TestLastOfItsKind(t *testing.T) {
	races(t, func(t *testing.T, a *apptest.App, scale int) {
		for range 20 / scale {
			var boxes [4]string
			for i := range boxes {
				boxes[i] = a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes", `{"name": "b"}`).OK(t,
					201).Text("id")
			}
			var refused atomic.Int64
			at(len(boxes), func(i int) {
				r := a.SendREST(t, a.Key, http.MethodDelete, "/v1/probe-boxes/"+boxes[i], "")
				if r.Status == 409 {
					refused.Add(1)
				} else if r.Status != 204 {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
			if left := originQuery(t, a,
				"SELECT count(*) FROM probe_boxes WHERE organization_id = $1 AND deleted_at IS NULL"); left != 1 {
				t.Fatalf("%d boxes left", left)
			}
		}
	})
}

// Of many who want the same unique name, one gets it, again after it is free.
func TestOneLiveRowPerKey(t *testing.T) {
	races(t, func(t *testing.T, a *apptest.App, scale int) {
		box := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes", `{"name": "b"}`).OK(t, 201).Text("id")
		other := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes", `{"name": "c"}`).OK(t, 201).Text("id")
		for round := range 10 / scale {
			var made atomic.Int64
			at(16, func(i int) {
				root := box
				if i%2 == 1 {
					root = other // another root, so that only the index decides
				}
				r := a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-boxes/"+root+"/items",
					fmt.Sprintf(`{"amount": 1, "tag": "t%d"}`, round))
				if r.Status == 201 {
					made.Add(1)
				} else if r.Status != 409 {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
			if made.Load() != 1 {
				t.Errorf("round %d: %d got the tag", round, made.Load())
			}
		}
	})
}

// A contact has one primary email, whatever happens at once.
func TestOnePrimaryEmail(t *testing.T) {
	races(t, func(t *testing.T, a *apptest.App, scale int) {
		contact := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", `{"firstName": "A"}`).OK(t, 201).Text("id")
		at(40/scale, func(i int) {
			r := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts/"+contact+"/emails",
				fmt.Sprintf(`{"email": "e%d@example.com", "isPrimary": %t}`, i, i%2 == 0))
			r.OK(t, 201)
			if i%3 == 0 {
				a.SendREST(t, a.Key, http.MethodDelete, "/v1/contacts/"+contact+"/emails/"+r.OK(t, 201).Text("id"),
					"").OK(t, 204)
			}
		})
		v := a.SendREST(t, a.Key, http.MethodGet, "/v1/contacts/"+contact, "").OK(t, 200)
		primaries := originQuery(t, a, `
			SELECT count(*)
			FROM contact_emails
			WHERE organization_id = $1 AND is_primary AND deleted_at IS NULL`)
		children := originQuery(t, a, "SELECT children FROM contacts WHERE organization_id = $1")
		if primaries != 1 || v.At("emails").Len() != children {
			t.Errorf("%d primaries, %d emails, %d children counted", primaries, v.At("emails").Len(), children)
		}
	})
}

// A write that PostgreSQL asks to run again begins where it began: what it did
// to its call the first time is undone too.
func TestRunAgain(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		runs, other := 0, id.New()
		move := op.Write(op.Spec{
			Name:     "probe.moves.create",
			Route:    "POST /v1/probe-moves",
			Summary:  "Move.",
			Resource: "contacts",
			Doors:    op.RESTDoor,
			Example:  `{}`,
		},
			func(_ context.Context, c *op.Call, _ struct{}) (*probe.Secret, error) {
				runs++
				from := c.Org
				c.Org, c.Caller = other, &op.Caller{}
				if runs == 1 && e == db.Postgres {
					return nil, &pgconn.PgError{Code: "40001"}
				}
				return &probe.Secret{Secret: string(from)}, nil
			})
		a := apptest.Start(t, e, app.Extra{Operations: []*op.Op{move}})
		a.SendREST(t, a.Key, http.MethodPost, "/v1/probe-moves", `{}`).OK(t, 201).Same("secret", a.Org)
	})
}
