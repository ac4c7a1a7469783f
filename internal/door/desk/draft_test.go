package desk_test

import (
	"strconv"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// What is typed is kept per person and form, comes back, goes when the form is sent,
// and nobody else sees it.
func TestDrafts(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		b.get("/contacts/new").hasNot("data-drafts")
		b.post("/draft", "place", "/contacts/new", "f.firstName", "Ada", "f.notes", "one\ntwo", "f.once", "x")
		b.post("/draft", "place", "/contacts/new", "f.firstName", "Ada", "f.notes", "one\ntwo\nthree", "f.once", "x")
		b.get("/contacts/new").find(`(data-drafts="/contacts/new")`)
		kept := b.get("/draft?place=/contacts/new").Body
		if !strings.Contains(kept, `"notes":["one\ntwo\nthree"]`) || !strings.Contains(kept,
			`"once":["x"]`) { // with its token
			t.Error(kept)
		}
		// What is typed before the draft is back is added to it.
		b.post("/draft", "place", "/contacts/new", "m.notes", "four", "m.lastName", "Lovelace", "m.firstName", "Ad")
		kept = b.get("/draft?place=/contacts/new").Body
		for _, want := range []string{`"notes":["one\ntwo\nthree\nfour"]`, `"lastName":["Lovelace"]`,
			`"firstName":["Ada"]`, `"once":["x"]`} {
			if !strings.Contains(kept, want) {
				t.Errorf("no %s in %s", want, kept)
			}
		}
		// Another tab went on from a version that is no longer there: neither loses a word, and the first token stays.
		b.post("/draft", "place", "/contacts/new", "t.notes", "one", "f.once", "x", "version", "v1", "from", "")
		b.post("/draft", "place", "/contacts/new", "t.notes", "one here", "f.once", "x", "version", "v2", "from", "v1")
		joined := b.post("/draft", "place", "/contacts/new", "t.notes", "one there", "f.status", "b", "f.once", "y",
			"version", "v3", "from", "v1").Body
		for _, want := range []string{`one here`, `one there`, `"status":["b"]`, `"once":["x"]`} {
			if !strings.Contains(joined, want) || strings.Contains(joined, `"version":"v3"`) {
				t.Errorf("no %s in %s", want, joined)
			}
		}
		// The same again, because nobody heard that it arrived, changes nothing.
		again := []string{"place", "/contacts/new", "t.notes", "one here\none there", "version", "v5", "from",
			b.get("/draft?place=/contacts/new").find(`"version":"([^"]+)"`)}
		b.post("/draft", again...)
		b.post("/draft", again...).has(`"version":"v5"`)
		// Who goes on from what is there may take words away.
		b.post("/draft", "place", "/contacts/new", "t.notes", "one", "version", "v4", "from",
			b.get("/draft?place=/contacts/new").find(`"version":"([^"]+)"`))
		b.get("/draft?place=/contacts/new").has(`"notes":["one"]`).hasNot("there")
		other := member(t, a)
		other.get("/draft?place=/contacts/new").refused(404)
		other.get("/contacts/new").hasNot("data-drafts")

		b.post("/contacts/new", "firstName", "", "lastName", "").refused(400) // refused: it is still a draft
		b.get("/draft?place=/contacts/new")
		b.post("/contacts/new", "firstName", "Ada").at("/contacts/", "Created.")
		b.get("/draft?place=/contacts/new").refused(404)

		// a form that is answered with a secret leads nowhere else
		b.post("/draft", "place", "/settings/keys/new", "f.name", "Shop")
		b.post("/settings/keys/new", "name", "Shop", "business_id", string(a.Business), "permissions", "*").
			has("It will not be shown again")
		b.get("/draft?place=/settings/keys/new").refused(404)

		b.post("/draft", "place", "/tasks/new", "f.title", "Call")
		b.post("/draft/discard", "place", "/tasks/new")
		b.get("/draft?place=/tasks/new").refused(404)
		b.post("/draft", "place", "https://evil.example/", "f.title", "Call").refused(400)
		b.post("/draft", "place", "/tasks/new", "f.title", strings.Repeat("x", 200_000))
		b.get("/draft?place=/tasks/new").find("(xxx)")
		b.post("/draft", "place", "/tasks/new", "f.title", strings.Repeat("x", 300_000)).refused(400)
		for i := range 120 {
			b.post("/draft", "place", "/tasks/"+strconv.Itoa(i), "f.title", "Call")
		}
		if n := count(t, a, "SELECT count(*) FROM drafts"); n != 100 {
			t.Errorf("%d drafts", n)
		}
	})
}
