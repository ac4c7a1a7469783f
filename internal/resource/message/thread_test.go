package message_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/migrations"
)

func inThread(v apptest.Value, fields string) string {
	return fmt.Sprintf(`{"id": %q%s}`, v.Text("threadId"), fields)
}

func TestThreads(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		ada := call(t, "contacts.create", `{"firstName": "Ada",
			"emails": [{"email": "Ada@example.com"}]}`).OK(t, 201).Text("id")
		v := draft(t, call, `"to": "ada@example.com", "subject": "Drawings"`)
		th := call(t, "threads.get", inThread(v, "")).OK(t, 200)
		th.Same("subject", "Drawings")
		th.Same("status", "open")
		th.Same("contactId", ada)
		th.Same("messageCount", 1)
		th.Same("unread", false)
		th.Same("lastMessageAt", v.Text("createdAt"))
		for _, field := range []string{"assigneeId", "snoozedUntil", "customerId", "deletedAt"} {
			if !th.Has(field) || !th.At(field).Null() {
				t.Errorf("%s is not null but %v", field, th.At(field))
			}
		}
		if th.Has("search") || th.Has("seq") {
			t.Errorf("too much: %s", th)
		}
		// A draft alone in its thread names it; an answer does not.
		call(t, "messages.update", with(v, `"subject": "Plans"`)).OK(t, 200)
		answer := draft(t, call, `"to": "charles@example.com", "subject": "Re: Plans", "inReplyToId": "`+
			v.Text("id")+`"`)
		call(t, "messages.update", with(answer, `"subject": "Another"`)).OK(t, 200)
		th = call(t, "threads.get", inThread(v, "")).OK(t, 200)
		th.Same("subject", "Plans")
		th.Same("messageCount", 2)

		changed := call(t, "threads.update", inThread(v, fmt.Sprintf(`, "status": "closed", "unread": true,
			"subject": "The plans", "assigneeId": %q, "snoozedUntil": %q, "contactId": null`,
			a.OwnerID, a.Clock.Now().Add(1e9*3600).String()))).OK(t, 200)
		changed.Same("status", "closed")
		changed.Same("unread", true)
		changed.Same("assigneeId", a.OwnerID)
		changed.Same("contactId", nil)
		call(t, "threads.update", inThread(v, `, "status": "closed"`)).OK(t, 200) // nothing changes
		if events := a.Events(t, "thread."); events != "thread.updated" {
			t.Errorf("events %q", events)
		}
		other := draft(t, call, `"to": "grace@example.com", "subject": "Compilers"`)
		for filter, want := range map[string]string{
			`"status": "closed"`:                           "The plans",
			`"status": "open"`:                             "Compilers",
			`"assigneeId": "none"`:                         "Compilers",
			fmt.Sprintf(`"assigneeId": %q`, a.OwnerID):     "The plans",
			fmt.Sprintf(`"assigneeId": %q`, id.New()):      "",
			fmt.Sprintf(`"contactId": %q`, ada):            "",
			`"query": "grace@"`:                            "Compilers",
			`"query": "charles"`:                           "The plans",
			`"query": "the plans"`:                         "The plans",
			`"query": "drawings"`:                          "",
			`"status": "closed", "assigneeId": "none"`:     "",
			`"status": "open", "query": "com", "limit": 1`: "Compilers",
		} {
			list := call(t, "threads.list", `{`+filter+`}`).OK(t, 200)
			if got := list.Text("0.subject"); got != want || list.Len() > 1 {
				t.Errorf("%s: %s", filter, list)
			}
		}
		// Moved into another thread, and out of the first.
		call(t, "messages.update", with(answer, `"inReplyToId": "`+other.Text("id")+`"`)).OK(t, 200)
		call(t, "threads.get", inThread(v, "")).OK(t, 200).Same("messageCount", 1)
		call(t, "threads.get", inThread(other, "")).OK(t, 200).Same("messageCount", 2)
		found := call(t, "threads.list", `{"query": "charles"}`).OK(t, 200)
		if found.Text("0.id") != other.Text("threadId") || found.Len() != 1 {
			t.Errorf("found %s", found)
		}
		// The last message takes its thread along, notes and all.
		call(t, "threads.notes.create", inThread(v, `, "body": "x"`)).OK(t, 201)
		call(t, "messages.delete", ref(v)).OK(t, 204)
		call(t, "threads.get", inThread(v, "")).Refused(t, 404, "NOT_FOUND")
		call(t, "threads.notes.list", inThread(v, "")).Refused(t, 404, "NOT_FOUND")
		call(t, "messages.delete", ref(answer)).OK(t, 204)
		call(t, "threads.get", inThread(other, "")).OK(t, 200).Same("messageCount", 1)

		for fields, at := range map[string]string{
			`"status": "done"`:                        "status",
			`"status": null`:                          "status",
			`"subject": " "`:                          "subject",
			fmt.Sprintf(`"assigneeId": %q`, id.New()): "assigneeId",
			fmt.Sprintf(`"contactId": %q`, id.New()):  "contactId",
			fmt.Sprintf(`"customerId": %q`, id.New()): "customerId",
			`"snoozedUntil": "2001-01-01T00:00:00Z"`:  "snoozedUntil",
			`"snoozedUntil": "2999-01-01T00:00:00Z"`:  "snoozedUntil",
			`"unread": null`:                          "unread",
		} {
			call(t, "threads.update", inThread(other, ", "+fields)).Issues(t, at)
		}
		call(t, "threads.update", inThread(other, `, "messageCount": 7`)).Refused(t, 400, "VALIDATION_ERROR")
	})
}

// What a thread is asked for in the query, and by whom.
func TestThreadRights(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	v := draft(t, a.Door("rest", a.Tenant), `"to": "ada@example.com", "subject": "Drawings"`)
	path := "/v1/threads/" + v.Text("threadId")
	for _, bad := range []string{"nobody", "123"} {
		a.SendREST(t, a.Key, "GET", "/v1/threads?assigneeId="+bad, "").Refused(t, 400, "INVALID_INPUT")
	}
	reader, _ := a.NewKey(t, a.Tenant, "messages:read")
	a.SendREST(t, reader, "GET", path, "").OK(t, 200)
	a.SendREST(t, reader, "PATCH", path, `{"unread": true}`).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	a.SendREST(t, reader, "POST", path+"/notes", `{"body": "x"}`).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	others, _ := a.NewKey(t, a.Tenant, "contacts:read", "tasks:read")
	for _, p := range []string{"/v1/threads", path, path + "/notes"} {
		a.SendREST(t, others, "GET", p, "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
	}
}

func TestThreadNotes(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := draft(t, call, `"to": "ada@example.com", "subject": "Drawings"`)
		note := call(t, "threads.notes.create", inThread(v, `, "body": "She called."`)).OK(t, 201)
		note.Same("threadId", v.Text("threadId"))
		note.Same("body", "She called.")
		list := call(t, "threads.notes.list", inThread(v, "")).OK(t, 200)
		if list.Len() != 1 || list.At("0").String() != note.String() {
			t.Errorf("list %s", list)
		}
		for _, body := range []string{`" "`, `null`, `"` + strings.Repeat("x", 10001) + `"`} {
			call(t, "threads.notes.create", inThread(v, `, "body": `+body)).Issues(t, "body")
		}
		ref := inThread(v, fmt.Sprintf(`, "noteId": %q`, note.Text("id")))
		call(t, "threads.notes.delete", ref).OK(t, 204)
		call(t, "threads.notes.delete", ref).Refused(t, 404, "NOT_FOUND")
		if events := a.Events(t, "thread."); events != "thread.note.created thread.note.deleted" {
			t.Errorf("events %q", events)
		}
	})
}

// Mail that comes in opens a thread again. What the house notes leaves it never.
func TestThreadReopens(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		ada := d.call(t, "contacts.create", `{"firstName": "Ada",
			"emails": [{"email": "ada@example.com"}]}`).OK(t, 201).Text("id")
		d.posted("ada@example.com", d.businessAddress(), "From: ada@example.com", "Subject: Hello",
			"Message-ID: <a1@example.com>", "", "Is anybody there?")
		v := d.received(1).At("0")
		th := d.call(t, "threads.get", inThread(v, "")).OK(t, 200)
		th.Same("unread", true)
		th.Same("contactId", ada)
		d.call(t, "threads.notes.create", inThread(v, `, "body": "SECRETNOTE"`)).OK(t, 201)
		later := d.Clock.Now().Add(3600e9).String()
		d.call(t, "threads.update",
			inThread(v, `, "status": "closed", "unread": false, "snoozedUntil": "`+later+`"`)).OK(t, 200)
		_, m, _ := d.sent(`"to": "ada@example.com", "subject": "Re: Hello", "text": "Yes.",
			"inReplyToId": "` + v.Text("id") + `"`)
		th = d.call(t, "threads.get", inThread(v, "")).OK(t, 200)
		th.Same("status", "closed")
		th.Same("messageCount", 2)
		if n := countIn(t, d, "mailbox_mails", "SECRETNOTE"); n != 0 {
			t.Errorf("%d mails carry a note", n)
		}
		d.posted("ada@example.com", d.businessAddress(), "From: ada@example.com", "Subject: Re: Hello",
			"Message-ID: <a2@example.com>", "In-Reply-To: "+m.Header.Get("Message-ID"), "", "Good.")
		th = d.call(t, "threads.get", inThread(v, "")).OK(t, 200)
		th.Same("status", "open")
		th.Same("unread", true)
		th.Same("snoozedUntil", nil)
		th.Same("messageCount", 3)
		th.Same("lastMessageAt", d.received(2).Text("0.createdAt"))
		want := "thread.note.created thread.updated thread.updated"
		if events := d.Events(t, "thread."); events != want {
			t.Errorf("events %q", events)
		}
		// An open thread stays so without a word.
		d.call(t, "threads.update", inThread(v, `, "unread": false`)).OK(t, 200)
		d.posted("ada@example.com", d.businessAddress(), "From: ada@example.com", "Subject: Re: Hello",
			"Message-ID: <a3@example.com>", "In-Reply-To: <a2@example.com>", "", "Bye.")
		if events := d.Events(t, "thread."); events != want+" thread.updated" {
			t.Errorf("events %q", events)
		}
		// The person goes, and so does what the house said about them.
		d.AsOperator(t, "contacts.erase", "contact", id.ID(ada), fmt.Sprintf(`{"id": %q}`, ada))
		th = d.call(t, "threads.get", inThread(v, "")).OK(t, 200)
		th.Same("subject", "Thread with an erased contact")
		th.Same("contactId", nil)
		if n := d.call(t, "threads.notes.list", inThread(v, "")).OK(t, 200).Len(); n != 0 {
			t.Errorf("%d notes stay", n)
		}
		if n := d.call(t, "threads.list", `{"query": "ada@example.com"}`).OK(t, 200).Len(); n != 0 {
			t.Errorf("%d threads are still found", n)
		}
	})
}

func countIn(t *testing.T, d *desk, table, text string) (n int) {
	t.Helper()
	err := d.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table+" WHERE organization_id = $1 AND "+
			tx.BytesContainSQL("content"), d.Org, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// However many write into a thread and out of it at once, it counts right, and
// ends only with its last message.
func TestThreadRaces(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		ada := call(t, "contacts.create", `{"firstName": "Ada",
			"emails": [{"email": "ada@example.com"}]}`).OK(t, 201).Text("id")
		first := draft(t, call, `"to": "ada@example.com", "subject": "Drawings"`)
		other := draft(t, call, `"to": "bob@example.com", "subject": "Plans"`)
		answer := func(to apptest.Value) string {
			return `"to": "ada@example.com", "subject": "Re", "inReplyToId": "` + to.Text("id") + `"`
		}
		var moving []apptest.Value
		for i := range 8 {
			moving = append(moving, draft(t, call, answer([]apptest.Value{first, other}[i%2])))
		}
		apptest.RunAtOnce(18, func(i int) {
			switch {
			case i < 8: // across each other
				to := []apptest.Value{other, first}[i%2]
				call(t, "messages.update", with(moving[i], `"inReplyToId": "`+to.Text("id")+`"`)).OK(t, 200)
			case i < 16:
				v := draft(t, call, answer(first))
				if i%2 == 0 {
					call(t, "messages.delete", ref(v)).OK(t, 204)
				}
			case i == 16:
				call(t, "threads.update", inThread(first, `, "status": "waiting"`)).OK(t, 200)
			default:
				a.SendREST(t, a.Key, "DELETE", "/v1/contacts/"+ada, "").OK(t, 204)
			}
		})
		th := call(t, "threads.get", inThread(first, "")).OK(t, 200)
		th.Same("messageCount", 1+4+4)
		th.Same("status", "waiting")
		th.Same("contactId", nil)
		call(t, "threads.get", inThread(other, "")).OK(t, 200).Same("messageCount", 1+4)
	})
}

// before is the schema as it was, without the migrations from a number on.
func before(number string) fs.FS {
	out := fstest.MapFS{}
	names, _ := fs.Glob(migrations.FS, "*.sql")
	for _, name := range names {
		if text, err := fs.ReadFile(migrations.FS, name); err == nil && name < number {
			out[name] = &fstest.MapFile{Data: text}
		}
	}
	return out
}

// The messages of an older version have threads, too.
func TestThreadsOfOldMessages(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		text, err := fs.ReadFile(migrations.FS, "0021_threads.sql")
		if err != nil {
			t.Fatal(err)
		}
		o := dbtest.CreateOptions(t, e, before("0021"))
		old, err := db.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		org, thread, ada := id.New(), id.New(), id.New()
		ids := []id.ID{id.New(), id.New(), id.New(), id.New()}
		err = old.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, `
				INSERT INTO organizations (id, created_at, updated_at, name, plan, status)
				VALUES ($1, 1, 1, 'Old', 'free', 'active')`, org)
			for i, v := range ids {
				if err != nil {
					return err
				}
				in, direction, at := thread, "inbound", int64(10*(i+1))
				var deleted *int64
				if i == 2 {
					in = v
				}
				if i == 3 {
					deleted = &at
				}
				_, err = db.Exec(ctx, tx, `
					INSERT INTO messages (id, organization_id, created_at, updated_at, deleted_at, direction, status,
						purpose, thread_id, from_address, to_addresses, cc_addresses, bcc_addresses, subject,
						internet_id, reference_ids, attachment_count, search, size_bytes)
					VALUES ($1, $2, $3, $3, $4, $5, 'received', 'transactional', $6, 'a@b.example', $7, $7, $7, $8,
						'x', $7, 0, $9, 0)`, v, org, at, deleted, direction, in, db.JSON("[]"),
					fmt.Sprintf("Mail %d", i), fmt.Sprintf(" mail %d a@b.example", i))
			}
			if err != nil {
				return err
			}
			_, err = db.Exec(ctx, tx, `
				INSERT INTO message_contacts (id, organization_id, created_at, updated_at, message_id, contact_id, role,
					linked)
				VALUES ($1, $2, 1, 1, $3, $4, 'from', TRUE)`, id.New(), org, ids[0], ada)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		o.Migrations = []fs.FS{before("0021"), fstest.MapFS{"0021_threads.sql": {Data: text}}}
		now, err := db.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer now.Close()
		type row struct {
			ID      id.ID  `db:"id"`
			Subject string `db:"subject"`
			Number  int    `db:"message_count"`
			Last    int64  `db:"last_message_at"`
			Contact *id.ID `db:"contact_id"`
		}
		err = now.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			rows, err := db.QueryAll[row](ctx, tx, `
				SELECT id, subject, message_count, last_message_at, contact_id
				FROM threads
				WHERE organization_id = $1
				ORDER BY seq`, org)
			if len(rows) != 2 || rows[0].ID != thread || rows[0].Subject != "Mail 0" || rows[0].Number != 2 ||
				rows[0].Last != 20 || rows[0].Contact == nil || *rows[0].Contact != ada ||
				rows[1].ID != ids[2] || rows[1].Number != 1 || rows[1].Contact != nil {
				t.Errorf("threads %+v", rows)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Answers that come in at once, while the thread is closed, all count, and it is
// open in the end.
func TestThreadMailRace(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		d.posted("ada@example.com", d.businessAddress(), "From: ada@example.com", "Subject: Hello",
			"Message-ID: <a0@example.com>", "", "Is anybody there?")
		v := d.received(1).At("0")
		d.call(t, "threads.update", inThread(v, `, "status": "closed"`)).OK(t, 200)
		apptest.RunAtOnce(6, func(i int) {
			if i == 0 {
				d.call(t, "threads.notes.create", inThread(v, `, "body": "So many."`)).OK(t, 201)
				return
			}
			err := d.post("ada@example.com", []string{d.businessAddress()}, "From: ada@example.com",
				fmt.Sprintf("Message-ID: <a%d@example.com>", i), "In-Reply-To: <a0@example.com>", "", "Hello?")
			if err != nil {
				t.Error(err)
			}
		})
		th := d.call(t, "threads.get", inThread(v, "")).OK(t, 200)
		th.Same("messageCount", 6)
		th.Same("status", "open")
		th.Same("unread", true)
		if events := d.Events(t, "thread.updated"); events != "thread.updated thread.updated" {
			t.Errorf("reopened more than once: %q", events)
		}
	})
}
