package optin_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/optin"
)

func TestEmailOptIns(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		contact := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		v := call(t, "email_opt_ins.create", `{"email": "Ada@Example.com"}`).OK(t, 201)
		v.Same("email", "Ada@Example.com")
		v.Same("status", "pending")
		for _, field := range []string{"deletedAt", "contactId", "source", "optedInAt", "optedOutAt"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		for _, hidden := range []string{"linkId", "link_id", "search", "folded"} {
			if v.Has(hidden) {
				t.Errorf("%s is shown", hidden)
			}
		}
		ref := fmt.Sprintf(`{"id": %q}`, v.Text("id"))
		if got := call(t, "email_opt_ins.get", ref).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		update := func(fields string) apptest.Result {
			return call(t, "email_opt_ins.update", fmt.Sprintf(`{"id": %q, %s}`, v.Text("id"), fields))
		}
		in := update(fmt.Sprintf(`"status": "opted_in", "contactId": %q, "source": "Fair"`, contact)).OK(t, 200)
		if in.At("optedInAt").Null() || !in.At("optedOutAt").Null() || in.Text("optedInAt") != in.Text("updatedAt") {
			t.Errorf("opted in: %s", in)
		}
		again := update(`"status": "opted_in", "source": "Shop"`).OK(t, 200)
		again.Same("optedInAt", in.Text("optedInAt")) // no move, so no new time
		out := update(`"status": "opted_out"`).OK(t, 200)
		out.Same("optedInAt", in.Text("optedInAt"))
		out.Same("optedOutAt", out.Text("updatedAt"))
		time.Sleep(2 * time.Millisecond) // callers know times by the millisecond
		if back := update(`"status": "opted_in"`).OK(t, 200); !back.At("optedOutAt").Null() ||
			back.Text("optedInAt") == in.Text("optedInAt") {
			t.Errorf("opted in again: %s", back)
		}
		if asked := update(`"status": "pending", "contactId": null, "source": null`).OK(t,
			200); !asked.At("optedInAt").Null() || !asked.At("contactId").Null() || !asked.At("source").Null() {
			t.Errorf("asked again: %s", asked)
		}
		before := call(t, "email_opt_ins.get", ref).OK(t, 200)
		if same := call(t, "email_opt_ins.update", ref).OK(t, 200); same.String() != before.String() {
			t.Errorf("{} changed something: %s", same)
		}
		update(`"email": "lovelace@example.com"`).OK(t, 200).Same("email", "lovelace@example.com")

		// An import says when it happened.
		old := call(t, "email_opt_ins.create",
			`{"email": "old@example.com", "status": "opted_out", "optedInAt": "2020-01-01T00:00:00Z", "optedOutAt": `+
				`"2021-01-01T00:00:00Z"}`).OK(t, 201)
		old.Same("optedInAt", "2020-01-01T00:00:00.000Z")
		old.Same("optedOutAt", "2021-01-01T00:00:00.000Z")

		call(t, "email_opt_ins.delete", ref).OK(t, 204)
		for _, op := range []string{"delete", "get", "update"} {
			call(t, "email_opt_ins."+op, ref).Refused(t, 404, "NOT_FOUND")
		}
		want := "email_opt_in.created" + strings.Repeat(" email_opt_in.updated", 6) +
			" email_opt_in.created email_opt_in.deleted"
		if events := a.Events(t, "email_opt_in."); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

const exists = "EMAIL_OPT_IN_EXISTS"

func TestEmailOptInRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		other := a.NewTenant(t, "free")
		foreign := a.Door("action", other)(t, "contacts.create", `{"firstName": "Eve"}`).OK(t, 201).Text("id")
		a.Door("action", other)(t, "email_opt_ins.create", `{"email": "ada@example.com"}`).OK(t, 201)
		// another organization has it too
		v := call(t, "email_opt_ins.create", `{"email": "ada@example.com"}`).OK(t, 201).Text("id")
		for _, c := range []struct{ fields, place string }{
			{`"email": "nope"`, "email"},
			{`"email": null`, "email"},
			{`"email": "Eve <eve@example.com>"`, "email"},
			{`"email": "x@example.com", "status": "maybe"`, "status"},
			{`"email": "x@example.com", "status": null`, "status"},
			{`"email": "x@example.com", "source": 3`, "source"},
			{`"email": "x@example.com", "contactId": "nope"`, "contactId"},
			{fmt.Sprintf(`"email": "x@example.com", "contactId": %q`, foreign), "contactId"},
			{`"email": "x@example.com", "linkId": "x"`, ""},
		} {
			call(t, "email_opt_ins.create", "{"+c.fields+"}").Issues(t, c.place)
			call(t, "email_opt_ins.update", fmt.Sprintf(`{"id": %q, %s}`, v, c.fields)).Issues(t, c.place)
		}
		for fields, place := range map[string]string{
			`"optedInAt": "2020-01-01T00:00:00Z"`:                         "optedInAt", // pending
			`"status": "opted_in", "optedOutAt": "2020-01-01T00:00:00Z"`:  "optedOutAt",
			`"status": "opted_in", "optedInAt": "2999-01-01T00:00:00Z"`:   "optedInAt",
			`"status": "opted_out", "optedOutAt": "2999-01-01T00:00:00Z"`: "optedOutAt",
			`"status": "opted_in", "optedInAt": "yesterday"`:              "optedInAt",
		} {
			call(t, "email_opt_ins.create", `{"email": "x@example.com", `+fields+`}`).Issues(t, place)
		}
		call(t, "email_opt_ins.update", fmt.Sprintf(`{"id": %q, "optedInAt": "2020-01-01T00:00:00Z"}`, v)).Issues(t, "")
		call(t, "email_opt_ins.create", `{}`).Issues(t, "email")
		call(t, "email_opt_ins.create", `{"email": "ADA@Example.COM"}`).Refused(t, 409, exists)
		second := call(t, "email_opt_ins.create", `{"email": "grace@example.com"}`).OK(t, 201).Text("id")
		call(t, "email_opt_ins.update",
			fmt.Sprintf(`{"id": %q, "email": "Ada@example.com"}`, second)).Refused(t, 409, exists)
		call(t, "email_opt_ins.update",
			fmt.Sprintf(`{"id": %q, "email": "GRACE@example.com"}`, second)).OK(t, 200).Same("email",
			"GRACE@example.com")
		call(t, "email_opt_ins.delete", fmt.Sprintf(`{"id": %q}`, v)).OK(t, 204)
		call(t, "email_opt_ins.update", fmt.Sprintf(`{"id": %q, "email": "ada@example.com"}`, second)).OK(t, 200)
	})
}

func TestEmailOptInFilters(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		contact := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		for _, c := range []string{`"email": "Ada@example.com", "status": "opted_in", "source": "Straße"`,
			`"email": "grace@example.org", "contactId": "` + contact + `"`,
			`"email": "alan@example.net", "status": "opted_out"`} {
			call(t, "email_opt_ins.create", "{"+c+"}").OK(t, 201)
		}
		for filter, want := range map[string]int{
			``: 3, `"status": "opted_in"`: 1, `"status": "pending"`: 1, `"email": "ADA@EXAMPLE.COM"`: 1,
			`"email": "ada"`:                          0,
			`"contactId": "` + contact + `"`:          1,
			`"contactId": "` + string(id.New()) + `"`: 0, `"query": "example"`: 3, `"query": "STRASSE"`: 1,
			`"query": "al"`: 1,
			`"query": "example.org", "status": "opted_out"`: 0, `"limit": 2`: 2,
		} {
			if n := call(t, "email_opt_ins.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
		}
		call(t, "email_opt_ins.list", `{"sortOrder": "asc"}`).OK(t, 200).Same("0.email", "Ada@example.com")
	})
	a := apptest.Start(t, db.SQLite)
	for _, query := range []string{"status=maybe", "contactId=1", "limit=101"} {
		a.SendREST(t, a.Key, "GET", "/v1/email-opt-ins?"+query, "").Refused(t, 400, "INVALID_INPUT")
	}
}

// Of many who take an address at once, newly or by a change, one succeeds.
func TestEmailOptInRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		for round := range 5 {
			var others []string
			for i := range 12 {
				others = append(others, call(t, "email_opt_ins.create",
					fmt.Sprintf(`{"email": "other-%d-%d@example.com"}`, round, i)).OK(t, 201).Text("id"))
			}
			var mu sync.Mutex
			won := 0
			apptest.RunAtOnce(24, func(i int) {
				var r apptest.Result
				if i%2 == 0 {
					r = call(t, "email_opt_ins.create", fmt.Sprintf(`{"email": "Wanted-%d@example.com"}`, round))
				} else {
					r = call(t, "email_opt_ins.update",
						fmt.Sprintf(`{"id": %q, "email": "wanted-%d@EXAMPLE.com"}`, others[i/2], round))
				}
				mu.Lock()
				defer mu.Unlock()
				if r.Status < 300 {
					won++
				} else if r.Status != 409 || r.Code() != exists {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
			if won != 1 {
				t.Fatalf("%d have the address", won)
			}
		}
	})
}

// Marketing mail goes to nobody who has not opted in, or whose opt-in is
// deleted.
func TestRefused(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		create := func(email, status string) string {
			return call(t, "email_opt_ins.create",
				fmt.Sprintf(`{"email": %q, "status": %q}`, email, status)).OK(t, 201).Text("id")
		}
		create("Yes@example.com", "opted_in")
		create("no@example.com", "opted_out")
		create("asked@example.com", "pending")
		gone := create("gone@example.com", "opted_in")
		call(t, "email_opt_ins.delete", fmt.Sprintf(`{"id": %q}`, gone)).OK(t, 204)
		a.Door("action", a.NewTenant(t, "free"))(t, "email_opt_ins.create",
			`{"email": "theirs@example.com", "status": "opted_in"}`).OK(t, 201)
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			refused, err := optin.NotOptedIn(ctx, tx, a.Org,
				[]string{"YES@example.com", "No@example.com", "asked@example.com", "gone@example.com",
					"theirs@example.com",
					"nobody@example.com"})
			if got := strings.Join(refused,
				" "); got != "No@example.com asked@example.com gone@example.com theirs@example.com nobody@example.com" {
				t.Errorf("refused: %s", got)
			}
			if none, err := optin.NotOptedIn(ctx, tx, a.Org, nil); len(none) > 0 || err != nil {
				t.Errorf("nobody: %v, %v", none, err)
			}
			if _, err := a.Links.Link(ctx, tx, a.Org, "nobody@example.com"); !fault.IsKind(err, fault.NotFound) {
				t.Errorf("a link for nobody: %v", err)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// follow unsubscribes as a mail program does.
func follow(t testing.TB, a *apptest.App, link string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		a.URL+strings.TrimPrefix(link, a.Settings.BaseURL), strings.NewReader("List-Unsubscribe=One-Click"))
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("unsubscribing answers %d", res.StatusCode)
	}
}

// A link that is followed while its row moves to another address does nothing
// to that address.
func TestUnsubscribeRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		row := call(t, "email_opt_ins.create",
			`{"email": "ada@example.com", "status": "opted_in"}`).OK(t, 201).Text("id")
		done := make(chan struct{})
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			link, err := a.Links.Link(ctx, tx, a.Org, "ada@example.com")
			if err != nil {
				return err
			}
			if _, err := db.Exec(ctx, tx, `
				UPDATE email_opt_ins
				SET email = 'grace@example.com', email_folded = 'grace@example.com', link_id = $2
				WHERE organization_id = $1`, a.Org, id.New()); err != nil {
				return err
			}
			go func() { defer close(done); follow(t, a, link) }()
			time.Sleep(500 * time.Millisecond) // on PostgreSQL it has found the row by now, and waits for it
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		call(t, "email_opt_ins.get", fmt.Sprintf(`{"id": %q}`, row)).OK(t, 200).Same("status", "opted_in")
	})
}

// A purged contact disappears from its opt-ins, and the links of a deleted
// opt-in work for the next one of the address.
func TestLinksOutliveRows(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		link := func() (s string) {
			t.Helper()
			err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				s, err = a.Links.Link(ctx, tx, a.Org, "ada@example.com")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		first := call(t, "email_opt_ins.create", `{"email": "Ada@example.com"}`).OK(t, 201).Text("id")
		before := link()
		if !strings.HasPrefix(before, a.Settings.BaseURL+"/unsubscribe/") ||
			strings.Contains(strings.ToLower(before), "ada") || len(before)-len(a.Settings.BaseURL) > 90 {
			t.Errorf("%s", before)
		}
		call(t, "email_opt_ins.delete", fmt.Sprintf(`{"id": %q}`, first)).OK(t, 204)
		call(t, "email_opt_ins.create", `{"email": "ada@example.com", "status": "opted_in"}`).OK(t, 201)
		if after := link(); after != before {
			t.Errorf("another link for the same address: %s, %s", before, after)
		}
		// The former holder of the row has no say about the address that it has
		// now.
		renamed := call(t, "email_opt_ins.create", `{"email": "old@example.com", "status": "opted_in"}`).OK(t, 201)
		var old, young string
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			old, err = a.Links.Link(ctx, tx, a.Org, "old@example.com")
			return err
		})
		call(t, "email_opt_ins.update",
			fmt.Sprintf(`{"id": %q, "email": "young@example.com"}`, renamed.Text("id"))).OK(t, 200)
		if err == nil {
			err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				young, err = a.Links.Link(ctx, tx, a.Org, "young@example.com")
				return err
			})
		}
		if err != nil || old == young {
			t.Errorf("one link for two addresses: %s, %v", old, err)
		}
		// An address that gets a row again, in whatever way, is unsubscribed by
		// its old links.
		call(t, "email_opt_ins.update",
			fmt.Sprintf(`{"id": %q, "email": "Old@example.com"}`, renamed.Text("id"))).OK(t, 200)
		follow(t, a, old)
		call(t, "email_opt_ins.get",
			fmt.Sprintf(`{"id": %q}`, renamed.Text("id"))).OK(t, 200).Same("status", "opted_out")
		// A second server reads the same key and creates none of its own.
		c := optin.Config{DB: a.DB, Clock: a.Clock, Seal: a.Runner.Seal, BaseURL: a.Settings.BaseURL}
		again, err := optin.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Seal = nil
		keyless, err := optin.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if s, err := again.Link(ctx, tx, a.Org, "ada@example.com"); s != before || err != nil {
				t.Errorf("another server's link: %s, %v", s, err)
			}
			if _, err := keyless.Link(ctx, tx, a.Org, "ada@example.com"); err == nil {
				t.Error("a link without a key")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
