package contact_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// found counts the values in all tables that contain a text, ignoring case.
func found(t testing.TB, a *apptest.App, text string) (n int, where []string) {
	t.Helper()
	want := []byte(strings.ToLower(text))
	err := a.DB.Snapshot(t.Context(), func(s *db.Snapshot) error {
		for i := range s.Tables {
			r := &s.Tables[i]
			err := s.EachRow(t.Context(), r, "", nil, func(cells []db.Cell) error {
				for j, c := range cells {
					if bytes.Contains(bytes.ToLower(c.Text), want) {
						n++
						where = append(where, r.Name+"."+r.Columns[j].Name)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, where
}

// person creates a contact with marker in every part, and everything that can
// mention it. other is somebody who stays.
func person(t testing.TB, a *apptest.App, marker, other string) id.ID {
	t.Helper()
	post := func(path, body string) apptest.Value {
		t.Helper()
		return a.SendREST(t, a.Key, "POST", path, strings.ReplaceAll(body, "MARKER", marker), "Idempotency-Key",
			path+body+marker).OK(t, 201)
	}
	body := `{"firstName": "MARKER", "lastName": "von MARKER", "notes": "MARKER", "emails": [{"email": ` +
		`"MARKER@example.com"}], "addresses": [{"line1": "MARKER Street"}]}`
	contact := post("/v1/contacts", body).ID("id")
	at := "/v1/contacts/" + string(contact)
	email := post(at+"/emails", `{"email": "second.MARKER@example.com"}`).Text("id")
	post(at+"/phone-numbers", `{"phoneNumber": "+442079460018", "label": "MARKER"}`)
	a.SendREST(t, a.Key, "PATCH", at, `{"jobTitle": "Chief `+marker+`"}`).OK(t, 200)
	a.SendREST(t, a.Key, "DELETE", at+"/emails/"+email, "").OK(t, 204)
	definition := a.SendREST(t, a.Key, "POST", "/v1/property-definitions",
		fmt.Sprintf(`{"objectType": "contact", "key": "k_%s", "name": "Nickname", "valueType": "text"}`,
			strings.ReplaceAll(string(contact), "-", ""))).OK(t, 201).Text("id")
	post(at+"/properties", `{"definitionId": "`+definition+
		`", "value": "MARKER", "sources": [{"url": "https://example.com/MARKER", "title": "MARKER"}]}`)
	// found by the address
	post("/v1/email-opt-ins", `{"email": "MARKER@example.com", "status": "opted_in", "source": "MARKER"}`)
	named := post("/v1/email-opt-ins",
		`{"email": "old.MARKER@example.com", "contactId": "`+string(contact)+`"}`).Text("id")
	a.SendREST(t, a.Key, "DELETE", "/v1/email-opt-ins/"+named, "").OK(t, 204)
	post("/v1/customers", fmt.Sprintf(`{"contactId": %q, "type": "individual", "name": %q}`, contact, other))
	tasks(t, a, contact, post)
	hook := a.SendREST(t, a.Key, "POST", "/v1/webhooks",
		`{"url": "https://example.com/", "events": ["*"]}`).OK(t, 201).ID("id")
	delivery := id.New()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if _,
			err := db.Exec(ctx, tx,
			`
				INSERT INTO webhook_deliveries (id, organization_id, created_at, updated_at, webhook_id, epoch,
					event_seq,
					event_id, event_type, status, attempts, failures, response_body)
				SELECT $3, organization_id, 0, 0, $4, 0, seq, id, type, 'succeeded', 1, 0, $5
				FROM events
				WHERE organization_id = $1 AND resource_id = $2 AND type = 'contact.created'`,
			a.Org, contact, delivery, hook, "thanks for "+marker); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, `
			INSERT INTO webhook_attempts (organization_id, delivery_id, attempted_at, response_body)
			VALUES ($1, $2, 0, $3)`, a.Org, delivery, "not yet, "+marker); err != nil {
			return err
		}
		for _, args := range []string{fmt.Sprintf(`{"contact": %q, "name": %q}`, contact, marker),
			fmt.Sprintf(`{"name": %q}`, other)} {
			if _,
				err := db.Exec(ctx, tx,
				`
					INSERT INTO jobs (organization_id, lane, kind, args, state, run_at, attempt, max_attempts, fence,
						created_at)
					VALUES ($1, 'x', 'x', $2, 'ready', 0, 0, 1, 0, 0)`, a.Org, db.JSON(args)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return contact
}

// tasks creates one task about the contact, one that is deleted, and one that
// was about the contact and is now about somebody else.
func tasks(t testing.TB, a *apptest.App, contact id.ID, post func(path, body string) apptest.Value) {
	t.Helper()
	body := fmt.Sprintf(`{"contactId": %q, "title": "Call MARKER", "description": "MARKER called"}`, contact)
	about := "/v1/tasks/" + post("/v1/tasks", body).Text("id")
	post(about+"/activity", `{"body": "MARKER was out"}`)
	marker := strings.TrimPrefix(a.SendREST(t, a.Key, "GET", about, "").OK(t, 200).Text("title"), "Call ")
	a.SendREST(t, a.Key, "PATCH", about, `{"title": "Call `+marker+` again", "status": "in_progress"}`).OK(t, 200)
	another := func() string {
		return "/v1/tasks/" + a.SendREST(t, a.Key, "POST", "/v1/tasks",
			strings.ReplaceAll(body, "MARKER", marker)).OK(t, 201).Text("id")
	}
	deleted := another()
	a.SendREST(t, a.Key, "POST", deleted+"/activity", `{"body": "Ask `+marker+`"}`).OK(t, 201)
	a.SendREST(t, a.Key, "DELETE", deleted, "").OK(t, 204)
	a.SendREST(t, a.Key, "PATCH", another(),
		`{"contactId": null, "title": "Call somebody", "description": null}`).OK(t, 200)
}

// After an erasure, nothing that can be queried mentions the person. The audit
// rows and everybody else stay.
func TestErase(t *testing.T) {
	for _, how := range []string{"live", "deleted", "purged"} {
		t.Run(how, func(t *testing.T) {
			apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
				contact := person(t, a, "Xantippe", "Somebody Else")
				person(t, a, "Diotima", "Somebody Else")
				events := count(t, a, "events")
				at := "/v1/contacts/" + string(contact)
				wantRows, wantTasks := 1, 2
				if how == "purged" { // an opt-in without a contact is found only by the contact's address
					err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
						_, err := db.Exec(ctx, tx, `
							UPDATE email_opt_ins
							SET contact_id = $1
							WHERE email_folded = 'xantippe@example.com'`,
							contact)
						return err
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if how != "live" {
					a.SendREST(t, a.Key, "DELETE", at, "").OK(t, 204)
					events++
				}
				if how == "purged" { // only the log, stored answers and rows that named the contact remember
					wantRows, wantTasks = 0, 1
					err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
						for more := true; more; {
							var err error
							if more, err = life.NewPurge(a.DB).RemoveBatch(ctx, tx, a.Clock.Now(), 500); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if n, where := found(t, a, "Xantippe"); n < 10 {
					t.Fatalf("the story left only %d traces: %v", n, where)
				}
				others, _ := found(t, a, "Diotima")

				out := a.AsOperator(t, "contacts.erase", "contact", contact, fmt.Sprintf(`{"id": %q}`, contact))
				if got := out.At("rows").Has("contacts"); got != (wantRows == 1) {
					t.Errorf("the contact's row: %v in %s", got, out)
				}
				out.Same("rows.jobs", 1)
				// the contact, an email, a phone number, a property, two opt-ins, the customer, a task, a comment
				out.Same("rows.idempotency", 9)
				out.Same("rows.webhook_deliveries", 1)
				out.Same("rows.webhook_attempts", 1)
				out.Same("rows.tasks", wantTasks)
				out.Same("rows.task_activity", wantTasks+2) // a comment on each, and a new title for two
				if how == "live" {
					out.Same("rows.customers", 1)
					out.Same("rows.contact_emails", 2) // including the deleted one
					out.Same("rows.property_values", 1)
					out.Same("rows.email_opt_ins", 2)
					out.Same("rows.events", 9+3+3+2) // about the person and the three tasks
				}
				if n, where := found(t, a, "Xantippe"); n > 0 {
					t.Errorf("still in %v", where)
				}
				if n, _ := found(t, a, "Diotima"); n != others {
					t.Errorf("somebody else lost %d of %d values", others-n, others)
				}
				if got := count(t, a, "events"); got != events+1 {
					t.Errorf("%d events of %d", got, events+1)
				}
				a.SendREST(t, a.Key, "GET", at, "").Refused(t, 404, "NOT_FOUND")
				if list := a.SendREST(t, a.Key, "GET", "/v1/contacts?query=xantippe", "").OK(t, 200); list.Len() != 0 {
					t.Errorf("found: %v", list)
				}
				if list := a.SendREST(t, a.Key, "GET", "/v1/contacts?query=diotima", "").OK(t, 200); list.Len() != 1 {
					t.Errorf("somebody else is not found: %v", list)
				}
				if a.DB.Engine() == db.SQLite {
					err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
						for _, index := range []string{"contacts_search", "tasks_search"} {
							rows,
								err := db.QueryAll[int64](ctx, tx,
								"SELECT rowid FROM "+index+" WHERE "+index+` MATCH '"xantippe"'`)
							if err != nil || len(rows) > 0 {
								t.Errorf("%s still has %v: %v", index, rows, err)
							}
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				work := a.SendREST(t, a.Key, "GET", "/v1/tasks?query=erased", "").OK(t, 200)
				if work.Len() != 1 || work.Text("0.status") != "in_progress" || !work.At("0.contactId").Null() {
					t.Errorf("the task: %v", work)
				}
				if list := a.SendREST(t, a.Key, "GET", "/v1/tasks?query=xantippe", "").OK(t, 200); list.Len() != 0 {
					t.Errorf("found: %v", list)
				}
				if list := a.SendREST(t, a.Key, "GET", "/v1/tasks?query=diotima", "").OK(t, 200); list.Len() != 1 {
					t.Errorf("somebody else's task is not found: %v", list)
				}
				customers := a.SendREST(t, a.Key, "GET", "/v1/customers", "").OK(t, 200)
				if customers.Len() != 2 || customers.Text("0.name") != "Somebody Else" {
					t.Errorf("customers: %v", customers)
				}
				_, err := a.Admin.Do(t.Context(),
					admin.Request{Operation: "contacts.erase", Noun: "contact", Ref: string(contact),
						Input: []byte(fmt.Sprintf(`{"id": %q}`, contact))})
				if !fault.IsKind(err, fault.NotFound) {
					t.Errorf("a second time: %v", err)
				}
				if strings.Contains(strings.ToLower(a.Logs.String()), "xantippe") {
					t.Errorf("the log tells of the person")
				}
			})
		})
	}
}

func count(t testing.TB, a *apptest.App, table string) (n int) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table+" WHERE organization_id = $1", a.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
