package desk_test

import (
	"context"
	"html"
	"regexp"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// hidden are the hidden fields of a page's form, in pairs of name and value.
func hidden(p page) (out []string) {
	for _, m := range hiddenField.FindAllStringSubmatch(p.Body, -1) {
		out = append(out, html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	return out
}

// A form that is sent after the session ended asks for the password, and is then
// carried out: a contact, and a mail with several lines.
func TestFormOutlivesSession(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		token := b.get("/contacts/new").find(`name="once" value="([^"]*)"`)
		exec(t, a, "UPDATE sessions SET expires_at = 1")
		p := b.post("/contacts/new", "once", token, "firstName", "Ada", "notes", "one\r\ntwo \"three\"")
		p.refused(401, "You were signed out", "Nothing of it is lost")
		wrong := b.post("/sign-in", append(hidden(p), "email", a.Owner, "password", "not this one")...)
		wrong.has("You were signed out").hasNot("not this one")
		p = b.post("/sign-in", append(hidden(wrong), "email", a.Owner, "password", "a long password")...)
		p.at("/contacts/", "Ada", "Created.")
		if n := count(t, a, "SELECT count(*) FROM contacts WHERE first_name = 'Ada'"); n != 1 {
			t.Errorf("%d contacts", n)
		}

		token = b.get("/inbox/new").find(`name="once" value="([^"]*)"`)
		exec(t, a, "UPDATE sessions SET expires_at = 1")
		p = b.post("/inbox/new", "once", token, "to", "grace@example.org", "subject", "Hello", "text",
			"Dear Grace,\r\n\r\nyes.")
		p = b.post("/sign-in", append(hidden(p), "email", a.Owner, "password", "a long password")...)
		p.at("/inbox/", "Dear Grace,", "yes.")

		// Somebody else's page cannot be named as the one to go on with.
		p = visit(t, a.URL).post("/sign-in", "then", "https://evil.example/x", "then.a", "b", "email", a.Owner,
			"password", "a long password")
		p.at("/", "Today")
	})
}

// A form that is sent twice makes one record; what was changed in between makes another.
func TestFormSentTwice(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		token := b.get("/contacts/new").find(`name="once" value="([^"]*)"`)
		first := b.post("/contacts/new", "once", token, "firstName", "Twice").at("/contacts/")
		second := b.post("/contacts/new", "once", token, "firstName", "Twice").at("/contacts/")
		if first.where() != second.where() {
			t.Errorf("%s and %s", first.where(), second.where())
		}
		b.post("/contacts/new", "once", token, "firstName", "Other").at("/contacts/")
		token = b.get("/contacts/new").find(`name="once" value="([^"]*)"`)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() { b.post("/contacts/new", "once", token, "firstName", "Twice") })
		}
		wait.Wait()
		if n := count(t, a, "SELECT count(*) FROM contacts WHERE first_name = 'Twice'"); n != 2 {
			t.Errorf("%d contacts", n)
		}
		contact := strings.TrimPrefix(first.where(), "/contacts/")
		page := b.get(first.where())
		token = page.find(`name="once" value="([^"]*)"`)
		for range 2 {
			b.post("/contacts/"+contact+"/compose", "once", token, "write", "note", "text", "Called")
		}
		if n := count(t, a, "SELECT count(*) FROM contact_notes"); n != 1 {
			t.Errorf("%d notes", n)
		}
	})
}

func count(t testing.TB, a *apptest.App, text string) (n int) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
