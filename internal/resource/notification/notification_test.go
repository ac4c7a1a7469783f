package notification_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/notification"
)

// work runs the jobs until the test ends.
func work(t *testing.T, a *apptest.App) {
	t.Helper()
	if err := a.Jobs.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// as calls operations as a member at the desk, with the rights that they have now.
func as(a *apptest.App, user id.ID) apptest.Door {
	return func(t testing.TB, operation, input string) apptest.Result {
		t.Helper()
		answer, err := action.New(a.Runner, a.Catalog, op.ConsoleDoor).Do(t.Context(), action.Call{
			Caller: callerOf(t, a, user), Operation: operation, Input: []byte(input), RequestID: string(id.New())})
		return apptest.ResultOf(t, answer, err)
	}
}

func callerOf(t testing.TB, a *apptest.App, user id.ID) *op.Caller {
	t.Helper()
	caller, err := a.Accounts.MakerAsCaller(t.Context(), a.Org, op.UserActor, user)
	if err != nil {
		t.Fatal(err)
	}
	return caller
}

// newMember adds a member of the organization.
func newMember(t *testing.T, a *apptest.App, name string) id.ID {
	t.Helper()
	return a.AsOperator(t, "users.create", "organization", a.Org, fmt.Sprintf(
		`{"email": "m-%s@example.com", "name": %q, "role": "member", "password": "a long password"}`, id.New(),
		name)).ID("id")
}

// told is what a person was told, newest first: the kind and the subject of each.
func told(t *testing.T, a *apptest.App, user id.ID) (out []string) {
	t.Helper()
	rows := as(a, user)(t, "notifications.list", `{"limit": 100}`).OK(t, 200)
	for i := range rows.Len() {
		at := fmt.Sprint(i)
		out = append(out, rows.Text(at+".kind")+" "+rows.Text(at+".subject"))
	}
	return out
}

// waitFor waits until somebody was told so many things.
func waitFor(t *testing.T, a *apptest.App, user id.ID, n int) []string {
	t.Helper()
	settle(t, a)
	got := told(t, a, user)
	if len(got) != n {
		t.Fatalf("told %d things, want %d: %q", len(got), n, got)
	}
	return got
}

// settle waits until every event was passed on.
func settle(t *testing.T, a *apptest.App) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		n := 0
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			n, err = db.QueryOne[int](ctx, tx, `SELECT count(*) FROM jobs
				WHERE kind = 'event.fan_out' AND state IN ('ready', 'running')`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("events are not passed on")
		}
	}
}

func newContact(t *testing.T, a *apptest.App, name string) id.ID {
	t.Helper()
	return a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(`{"firstName": %q}`, name)).OK(t, 201).ID("id")
}

func note(t *testing.T, call apptest.Door, contact id.ID, body string) id.ID {
	t.Helper()
	return call(t, "contacts.notes.create", fmt.Sprintf(`{"id": %q, "body": %q}`, contact, body)).OK(t, 201).ID("id")
}

// Colleagues name each other and give each other work. Nobody is told of their own doing, of what they may not read, or
// after they left.
func TestToldOfWork(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		grace := newMember(t, a, "Grace Hopper")
		owner, hers := as(a, a.OwnerID), as(a, grace)
		ada := newContact(t, a, "Ada")
		first := note(t, hers, ada, "@Owner do you know her? @Grace Hopper asks")
		if got := waitFor(t, a, a.OwnerID, 1); got[0] != "mentioned Ada" {
			t.Errorf("%q", got)
		}
		waitFor(t, a, grace, 0)
		rows := owner(t, "notifications.list", `{}`).OK(t, 200)
		rows.Same("0.actorName", "Grace Hopper")
		rows.Same("0.actorId", grace)
		rows.Same("0.resourceType", "contact")
		rows.Same("0.resourceId", ada)
		rows.Same("0.text", "@Owner do you know her? @Grace Hopper asks")
		if rows.At("0").Has("userId") || rows.At("0").Has("permission") {
			t.Errorf("%s", rows)
		}
		// A change tells only whom it names anew.
		change := func(call apptest.Door, body string) {
			call(t, "contacts.notes.update", fmt.Sprintf(`{"id": %q, "noteId": %q, "body": %q}`, ada, first, body)).
				OK(t, 200)
		}
		change(hers, "@Owner do you know her well?")
		waitFor(t, a, a.OwnerID, 1)
		change(owner, "@Owner do you know her well? @Grace: yes")
		waitFor(t, a, grace, 1)
		waitFor(t, a, a.OwnerID, 1)

		task := owner(t, "tasks.create", `{"title": "Call Ada"}`).OK(t, 201).ID("id")
		for _, who := range []id.ID{grace, a.OwnerID} {
			owner(t, "tasks.assignees.create", fmt.Sprintf(`{"id": %q, "userId": %q}`, task, who)).OK(t, 201)
		}
		hers(t, "tasks.activity.create", fmt.Sprintf(`{"id": %q, "body": "Done, @owner."}`, task)).OK(t, 201)
		if got := waitFor(t, a, grace, 2); got[0] != "assigned Call Ada" {
			t.Errorf("%q", got)
		}
		if got := waitFor(t, a, a.OwnerID, 2); got[0] != "mentioned Call Ada" {
			t.Errorf("%q", got)
		}
		thread := a.SendREST(t, a.Key, "POST", "/v1/messages",
			`{"to": ["ada@example.org"], "subject": "The engine", "text": "Hello"}`).OK(t, 201).ID("threadId")
		assign := fmt.Sprintf(`{"id": %q, "assigneeId": %q}`, thread, grace)
		owner(t, "threads.update", assign).OK(t, 200)
		owner(t, "threads.update", assign).OK(t, 200) // nothing changes
		owner(t, "threads.update", fmt.Sprintf(`{"id": %q, "status": "closed"}`, thread)).OK(t, 200)
		owner(t, "threads.notes.create", fmt.Sprintf(`{"id": %q, "body": "@grace, see?"}`, thread)).OK(t, 201)
		if got := waitFor(t, a, grace, 4); strings.Join(got[:2], ", ") != "mentioned The engine, assigned The engine" {
			t.Errorf("%q", got)
		}

		// Whoever may not read contacts is not told of one, and no longer sees what they were told before.
		owner(t, "members.update", fmt.Sprintf(`{"id": %q, "permissions": ["tasks:read"]}`, grace)).OK(t, 200)
		note(t, owner, ada, "@Grace Hopper may not read this")
		if got := waitFor(t, a, grace, 1); got[0] != "assigned Call Ada" {
			t.Errorf("%q", got)
		}
		hers(t, "notifications.read", `{}`).OK(t, 200).Same("unread", 0.0)
		owner(t, "members.update", fmt.Sprintf(`{"id": %q, "permissions": ["*"]}`, grace)).OK(t, 200)
		waitFor(t, a, grace, 4)
		hers(t, "notifications.count", `{}`).OK(t, 200).Same("unread", 3.0)

		a.AsOperator(t, "users.remove", "organization", a.Org, fmt.Sprintf(`{"id": %q}`, grace))
		note(t, owner, ada, "@Grace Hopper has left")
		settle(t, a)
		if n := count(t, a, grace); n != 4 {
			t.Errorf("%d notifications after she left", n)
		}
	})
}

// Money that came, an agent that asks and what failed are told to those whom it concerns.
func TestToldOfTheHouse(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		graceID := newMember(t, a, "Grace Hopper")
		grace, owner := as(a, graceID), as(a, a.OwnerID)
		customer := grace(t, "customers.create", `{"name": "Ada"}`).OK(t, 201).ID("id")
		invoice := grace(t, "invoices.create", fmt.Sprintf(`{"businessId": %q, "customerId": %q, "lineItems":
			[{"description": "Engine", "quantity": "1", "unitAmountCents": 61200}]}`, a.Business, customer)).
			OK(t, 201).ID("id")
		number := grace(t, "invoices.issue", fmt.Sprintf(`{"id": %q}`, invoice)).OK(t, 200).Text("invoiceNumber")
		answer, err := action.New(a.Runner, a.Catalog, op.ConsoleDoor).Do(t.Context(), action.Call{
			Caller: callerOf(t, a, graceID), Operation: "invoices.record_payment", Key: "once",
			RequestID: string(id.New()),
			Input:     fmt.Appendf(nil, `{"id": %q, "amountCents": 61200}`, invoice)})
		apptest.ResultOf(t, answer, err).OK(t, 201)
		if got := waitFor(t, a, a.OwnerID, 1); got[0] != "invoice_paid "+number {
			t.Errorf("%q", got)
		}
		owner(t, "notifications.list", `{}`).OK(t, 200).Same("0.text", "$612.00, Ada")
		waitFor(t, a, graceID, 0)

		// Who sent a mail is told that it failed, and the owners what the service could not send.
		sent := grace(t, "messages.create", `{"to": ["ada@example.org"], "subject": "The engine", "text": "Hi"}`).
			OK(t, 201)
		happen(t, a, "message.failed", sent.ID("id"), fmt.Sprintf(
			`{"threadId": %q, "subject": "The engine", "errorMessage": "550 No such user"}`, sent.Text("threadId")))
		if got := waitFor(t, a, graceID, 1); got[0] != "mail_failed The engine" {
			t.Errorf("%q", got)
		}
		waitFor(t, a, a.OwnerID, 1)
		happen(t, a, "message.bounced", id.New(), fmt.Sprintf(
			`{"threadId": %q, "subject": "Your invoice", "errorMessage": null}`, sent.Text("threadId")))
		if got := waitFor(t, a, a.OwnerID, 2); got[0] != "mail_failed Your invoice" {
			t.Errorf("%q", got)
		}
		// A customer answers in a thread that is hers; a machine's answer is not told.
		owner(t, "threads.update", fmt.Sprintf(`{"id": %q, "assigneeId": %q}`, sent.Text("threadId"), graceID)).
			OK(t, 200)
		for _, machine := range []bool{true, false} {
			happen(t, a, "message.received", id.New(), fmt.Sprintf(`{"threadId": %q, "from": "ada@example.org",
				"text": "I like\n  it.", "autoSubmitted": %v}`, sent.Text("threadId"), machine))
		}
		if got := waitFor(t, a, graceID, 3); got[0] != "answered The engine" {
			t.Errorf("%q", got)
		}
		rows := grace(t, "notifications.list", `{}`).OK(t, 200)
		rows.Same("0.text", "I like it.")
		rows.Same("0.actorName", "ada@example.org")

		// Those who may decide are told of a proposal, once.
		owner(t, "members.update", fmt.Sprintf(`{"id": %q, "mayApprove": false}`, graceID)).OK(t, 200)
		ref := id.New()
		happen(t, a, "proposal.created", ref, `{"title": "Send a mail", "status": "pending"}`)
		happen(t, a, "proposal.created", id.New(), `{"title": "Not yet", "status": "planned"}`)
		happen(t, a, "proposal.updated", ref, `{"title": "Send a mail", "status": "pending"}`)
		if got := waitFor(t, a, a.OwnerID, 3); got[0] != "proposal Send a mail" {
			t.Errorf("%q", got)
		}
		waitFor(t, a, graceID, 3)
		happen(t, a, "webhook.disabled", id.New(), `{"url": "https://gone.example/"}`)
		if got := waitFor(t, a, a.OwnerID, 4); got[0] != "webhook https://gone.example/" {
			t.Errorf("%q", got)
		}
	})
}

// happen writes an event of the service itself.
func happen(t *testing.T, a *apptest.App, kind string, about id.ID, data string) {
	t.Helper()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		return a.App.Events.Append(ctx, tx, event.Event{Organization: a.Org, At: a.Clock.Now(), Type: kind,
			ResourceID: about,
			Data:       db.JSON(data)}.BySystem())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What was told of a person goes when the person is erased.
func TestErasedPersonIsNotTold(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		grace := as(a, newMember(t, a, "Grace Hopper"))
		ada, eve := newContact(t, a, "Ada"), newContact(t, a, "Eve")
		grace(t, "contacts.emails.create", fmt.Sprintf(`{"id": %q, "email": "ada@example.org"}`, ada)).OK(t, 201)
		note(t, grace, ada, "@owner about Ada")
		note(t, grace, eve, "@owner she knows ada@example.org")
		note(t, grace, eve, "@owner about Eve")
		waitFor(t, a, a.OwnerID, 3)
		a.AsOperator(t, "contacts.erase", "contact", ada, fmt.Sprintf(`{"id": %q}`, ada))
		left := as(a, a.OwnerID)(t, "notifications.list", `{}`).OK(t, 200)
		if left.Len() != 1 || left.Text("0.text") != "@owner about Eve" {
			t.Errorf("%s", left)
		}
	})
}

// count counts the rows of a person, whoever may read them.
func count(t *testing.T, a *apptest.App, user id.ID) (n int) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx,
			"SELECT count(*) FROM notifications WHERE organization_id = $1 AND user_id = $2", a.Org, user)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A key and an agent read what their person was told, as far as they may read what it is about; an automation that
// nobody stands behind reads nothing. Another organization's are not theirs.
func TestNotificationsThroughDoors(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		work(t, a)
		grace := as(a, newMember(t, a, "Grace Hopper"))
		ada := newContact(t, a, "Ada")
		note(t, grace, ada, "@owner one")
		task := grace(t, "tasks.create", `{"title": "Two"}`).OK(t, 201).ID("id")
		grace(t, "tasks.assignees.create", fmt.Sprintf(`{"id": %q, "userId": %q}`, task, a.OwnerID)).OK(t, 201)
		waitFor(t, a, a.OwnerID, 2)
		list := call(t, "notifications.list", `{"unread": true}`).OK(t, 200)
		if strings.HasSuffix(t.Name(), "/action") {
			if list.Len() != 0 {
				t.Errorf("%s", list)
			}
			return
		}
		list.Same("0.kind", "assigned")
		list.Same("1.kind", "mentioned")
		if n := call(t, "notifications.list", `{"kind": ["assigned"]}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d were assigned", n)
		}
		other := a.NewTenant(t, "enterprise")
		stranger := *a
		stranger.Tenant = other
		as(&stranger, other.OwnerID)(t, "notifications.read", fmt.Sprintf(`{"ids": [%q]}`, list.Text("0.id"))).
			OK(t, 200)
		if strings.HasSuffix(t.Name(), "/agent") {
			if a.Catalog.Named("notifications.read").Doors&op.AgentDoor != 0 {
				t.Error("an agent could hide what its person was told")
			}
			return
		}
		read := call(t, "notifications.read", fmt.Sprintf(`{"ids": [%q, %q]}`, list.Text("0.id"), id.New())).OK(t, 200)
		read.Same("unread", 1.0)
		read.Same("byKind.mentioned", 1.0)
		left := call(t, "notifications.list", `{"unread": true}`).OK(t, 200)
		if left.Len() != 1 || left.Text("0.id") != list.Text("1.id") {
			t.Errorf("%s", left)
		}
		few, _ := a.NewKey(t, a.Tenant, "contacts:read")
		some := a.SendREST(t, few, "GET", "/v1/notifications", "").OK(t, 200)
		if some.Len() != 1 || some.Text("0.kind") != "mentioned" {
			t.Errorf("a key for contacts reads %s", some)
		}
		call(t, "notifications.read", `{}`).OK(t, 200).Same("unread", 0.0)
		call(t, "notifications.list", `{"kind": ["nothing"]}`).Refused(t, 400, "INVALID_INPUT")
	})
}

// An event that is heard again, by several at once, is told once.
func TestToldOnce(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		grace := as(a, newMember(t, a, "Grace Hopper"))
		note(t, grace, newContact(t, a, "Ada"), "@owner once")
		var e event.Event
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			rows, err := event.ListNewestOfType(ctx, tx, a.Org, "contact.note.created", 1)
			e = rows[0]
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		apptest.RunAtOnce(6, func(int) {
			err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
				return notification.Hear(a.Notifications, ctx, tx, e)
			})
			if err != nil {
				t.Error(err)
			}
		})
		if n := count(t, a, a.OwnerID); n != 1 {
			t.Errorf("told %d times", n)
		}
		work(t, a)
		waitFor(t, a, a.OwnerID, 1)
	})
}

// Two processes over one PostgreSQL share the work: nothing is lost or told twice.
func TestToldByTwoProcesses(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		if e != db.Postgres {
			t.Skip("one process owns a SQLite file")
		}
		a := apptest.Start(t, e)
		second := apptest.StartWith(t, a.Settings)
		second.Tenant = a.Tenant
		grace := newMember(t, a, "Grace Hopper")
		ada := newContact(t, a, "Ada")
		work(t, a)
		work(t, second)
		apptest.RunAtOnce(4, func(part int) {
			for i := range 10 {
				note(t, as([]*apptest.App{a, second}[i%2], grace), ada, fmt.Sprintf("@owner %d of %d", i, part))
			}
		})
		waitFor(t, a, a.OwnerID, 40)
	})
}

// People choose what they are told, and how. What fails is always told.
func TestChoices(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		grace, owner := as(a, newMember(t, a, "Grace Hopper")), as(a, a.OwnerID)
		choose := func(kind, channel string, wanted bool) apptest.Result {
			return owner(t, "notifications.choose", fmt.Sprintf(
				`{"choices": [{"kind": %q, "channel": %q, "wanted": %v}]}`, kind, channel, wanted))
		}
		chosen := func(kind, channel string) bool {
			all := owner(t, "notifications.choices", `{}`).OK(t, 200).At("choices")
			for i := range all.Len() {
				if c := all.At(fmt.Sprint(i)); c.Text("kind") == kind && c.Text("channel") == channel {
					return strings.Contains(c.String(), `"wanted":true`) || strings.Contains(c.String(),
						`"wanted": true`)
				}
			}
			t.Fatalf("no %s by %s", kind, channel)
			return false
		}
		if !chosen("mentioned", "mail") || chosen("assigned", "mail") || !chosen("backup_failed", "desk") {
			t.Error("the defaults")
		}
		choose("mentioned", "desk", false).OK(t, 204)
		choose("mentioned", "mail", false).OK(t, 204)
		choose("mentioned", "push", false).OK(t, 204)
		choose("backup_failed", "desk", false).Issues(t, "choices")
		choose("nothing", "desk", true).Issues(t, "choices")
		ada := newContact(t, a, "Ada")
		note(t, grace, ada, "@owner is told nothing")
		waitFor(t, a, a.OwnerID, 0)
		if n := count(t, a, a.OwnerID); n != 0 {
			t.Errorf("%d rows that nobody wants", n)
		}
		choose("mentioned", "mail", true).OK(t, 204)
		note(t, grace, ada, "@owner is told by mail alone")
		waitFor(t, a, a.OwnerID, 0)
		if n := count(t, a, a.OwnerID); n != 1 {
			t.Errorf("%d rows for the mail", n)
		}
		// The mail about proposals is that of the Review page.
		choose("proposal", "mail", true).OK(t, 204)
		if !chosen("proposal", "mail") {
			t.Error("the review mail")
		}
	})
}

// A hundred notifications are one mail, and what was read before it goes is not in it.
func TestMailTogether(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		var ahead atomic.Int64
		machine := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		a := apptest.Start(t, e, app.Extra{Clock: clock.NewFromSource(machine, 0)})
		work(t, a)
		grace, owner := as(a, newMember(t, a, "Grace Hopper")), as(a, a.OwnerID)
		ada := newContact(t, a, "Ada Secret")
		for i := range 100 {
			note(t, grace, ada, fmt.Sprintf("@owner number %d", i))
		}
		waitFor(t, a, a.OwnerID, 100)
		newest := owner(t, "notifications.list", `{}`).OK(t, 200).Text("0.id")
		owner(t, "notifications.read", fmt.Sprintf(`{"ids": [%q]}`, newest)).OK(t, 200)
		mails := func() apptest.Value {
			return a.SendREST(t, a.Key, "GET", "/v1/messages", "").OK(t, 200)
		}
		if n := mails().Len(); n != 0 {
			t.Fatalf("%d mails at once", n)
		}
		ahead.Store(int64(16 * time.Minute))
		for end := time.Now().Add(20 * time.Second); mails().Len() == 0 && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		list := mails()
		if list.Len() != 1 {
			t.Fatalf("%d mails", list.Len())
		}
		list.Same("0.subject", "99 notices for you")
		list.Same("0.to.0", a.Owner)
		text := list.Text("0.html")
		if strings.Contains(text, "Secret") || !strings.Contains(text, "Grace Hopper named you in a note about a "+
			"contact") ||
			!strings.Contains(text, "And 79 more") || !strings.Contains(text, a.Settings.BaseURL+"/notifications/") {
			t.Errorf("%s", text)
		}
		// The next window has a mail of its own.
		note(t, grace, ada, "@owner again")
		settle(t, a)
		ahead.Store(int64(32 * time.Minute))
		for end := time.Now().Add(20 * time.Second); mails().Len() == 1 && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		mails().Same("0.subject", "Grace Hopper named you in a note about a contact")
	})
}
