package desk_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

var (
	marks    = regexp.MustCompile(`type="checkbox" name="id" value="([^"]+)"`)
	wasMarks = regexp.MustCompile(`name="event" value="([^"]+)"`)
)

// A file with errors is looked at, imported, seen and undone, by a member.
func TestImportStory(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		b := member(t, a)
		b.get("/imports").at("/imports", "No imports yet", "Import a file")
		b.get("/contacts").at("/contacts", "Import")
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "emails": [{"email": "ada@example.org"}]}`).
			OK(t, 201)
		b.post("/imports/new", "objectType", "contacts").refused(400, "Choose a file first")
		csv := "First name,Email,Shoe size\nEmmy,emmy@example.org,38\nNobody,not an address,40\nAda Augusta," +
			"ada@example.org,37\n"
		check := b.upload("/imports/new", map[string]string{"objectType": "contacts"}, "people.csv", csv).
			at("/imports/check", "1 added", "1 changed", "1 refused", "Shoe size", "38 · 40 · 37", "left out",
				"1 not valid", "Import 2 contacts", "Ada Ada Augusta", "emmy@example.org", "Invalid email address")
		b.get("/contacts").hasNot("Emmy")
		file := check.find(`name="file" value="([^"]+)"`)
		// What is refused comes as a file that can be brought back once it is mended.
		refused := b.get(check.find(`href="([^"]+refused.csv[^"]*)"`))
		if !strings.HasPrefix(refused.Body, "First name,Emails,What is wrong,It was line\nNobody,not an address,") {
			t.Errorf("%d %s", refused.Status, refused.Body)
		}
		p := b.post(check.find(`action="([^"]*do=import[^"]*)"`)).at("/imports/")
		at := p.where()
		for range 3000 {
			if p = b.get(at); strings.Contains(p.text(), "done, with errors") {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		p.at(at, "done, with errors", "added 1", "changed 1", "refused 1", "Undo the import", "Refused lines")
		if again := b.get(at + "/refused.csv"); again.Body != refused.Body {
			t.Errorf("%s is not %s", again.Body, refused.Body)
		}
		mended := strings.Replace(refused.Body, "not an address", "nobody@example.org", 1)
		b.upload("/imports/new", map[string]string{"objectType": "contacts"}, "mended.csv", mended).
			at("/imports/check", "1 added", "0 refused", "Import 1 contact", "Nobody")
		b.get("/files").hasNot("people.csv")
		b.get("/contacts").at("/contacts", "Emmy", "Ada Augusta")
		b.post(at+"/undo").at(at, "Undone.")
		b.get("/contacts").at("/contacts", "Ada").hasNot("Emmy", "Ada Augusta")
		// Twice changes nothing.
		b.post(at + "/undo")
		b.get("/contacts").at("/contacts", "Ada").hasNot("Emmy")
		other := visit(t, a.URL)
		other.signIn(a.NewTenant(t, "free").Owner, "a long password").at("/")
		other.get(at).refused(404)
		other.post(at + "/undo").refused(404)
		other.get("/imports/check?objectType=contacts&file=" + file).refused(404)
		other.get("/imports/check/refused.csv?objectType=contacts&file=" + file).refused(404)
		other.get(at + "/refused.csv").refused(404)
	})
}

// Columns that nobody could know are mapped by hand; counts filter the lines; what is there already
// is told apart from what changes.
func TestImportMapping(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		b := owner(t, a)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "lastName": "Lovelace", "jobTitle": "Clerk",
			"emails": [{"email": "ada@example.org"}]}`).OK(t, 201)
		csv := "Wer;Wo;Als\nAda Lovelace;ada@example.org;Analyst\nEmmy Noether;emmy@example.org;=SUM(1)\n" +
			"Bo Li;emmy@example.org;Cook\n"
		check := b.upload("/imports/new", map[string]string{"objectType": "contacts"}, "leute.csv", csv).
			at("/imports/check", "Columns 3", "Ada Lovelace · Emmy Noether · Bo Li", "3 refused", "left out").
			hasNot("Import 3")
		query := "/imports/check?objectType=contacts&file=" + check.find(`name="file" value="([^"]+)"`)
		mapped := query + "&column=Wer&field=name&column=Wo&field=emails&column=Als&field=jobTitle"
		p := b.get(mapped).at("/imports/check", "1 added", "1 changed", "0 unchanged", "1 refused", "3 filled",
			"1 not valid", "Clerk Analyst", "Line 3 has the same email", "Import 2 contacts")
		p.find(`<option value="jobTitle" (selected)>`)
		b.get(mapped+"&lines=update").at("/imports/check", "1–1 of 1 line", "Clerk Analyst").
			hasNot("<ins><bdi>emmy@example.org", "Line 3 has")
		b.get(mapped+"&lines=unchanged").at("/imports/check", "No such line")
		unchanged := query + "&column=Wer&field=name&column=Wo&field=emails&column=Als&field=-"
		b.get(unchanged).at("/imports/check", "0 changed", "1 unchanged", "Import 1 contact")
		b.get(query+"&column=Wer&field=shoe").refused(400, "There is no field")
		if file := b.get(p.find(`href="([^"]+refused.csv[^"]*)"`)); !strings.Contains(file.Body, "Bo,Li,") {
			t.Errorf("%s", file.Body)
		}
		at := b.post(p.find(`action="([^"]*do=import[^"]*)"`)).at("/imports/").where()
		for range 3000 {
			if p = b.get(at); strings.Contains(p.text(), "done, with errors") {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		p.at(at, "added 1", "changed 1", "unchanged 0", "refused 1")
		b.get("/contacts").at("/contacts", "Ada Lovelace", "Emmy Noether").hasNot("Bo Li")
	})
}

// An import that is too large for one transaction is undone in the background, and
// the page of the undo tells how far it has come.
func TestLargeImportIsUndone(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		b := owner(t, a)
		rows := "First name,Email\n"
		for i := range 600 {
			rows += fmt.Sprintf("Emmy,emmy%d@example.org\n", i)
		}
		check := b.upload("/imports/new", map[string]string{"objectType": "contacts"}, "people.csv", rows)
		file := check.find(`name="file" value="([^"]+)"`)
		at := b.post("/imports/check", "do", "import", "file", file, "objectType", "contacts").at("/imports/").where()
		wait := func(path, text string) {
			t.Helper()
			for range 3000 {
				if strings.Contains(b.get(path).text(), text) {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Fatalf("%s never shows %q", path, text)
		}
		wait(at, "added 600")
		undo := b.post(at+"/undo").at("/review/", "600 changes").where()
		wait(undo, "600 are done, 0 stay as they are")
		b.get("/contacts").hasNot("Emmy")
	})
}

// Ten suggestions are accepted at once and undone, and what they took the place
// of is back.
func TestSuggestionsStory(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		b.get("/review").at("/review", "Nothing waits for you")
		definition := a.SendREST(t, a.Key, "POST", "/v1/property-definitions",
			`{"objectType": "contact", "key": "city", "name": "City", "valueType": "text"}`).OK(t, 201).ID("id")
		for i := range 10 {
			c := a.SendREST(t, a.Key, "POST", "/v1/contacts",
				fmt.Sprintf(`{"firstName": "Person", "lastName": "No%d"}`, i)).OK(t, 201).ID("id")
			give := func(value, status string) {
				a.SendREST(t, a.Key, "POST", "/v1/contacts/"+string(c)+"/properties", fmt.Sprintf(
					`{"definitionId": %q, "value": %q, "status": %q, "sources": [{"url": "https://example.com/%d"}]}`,
					definition, value, status, i)).OK(t, 201)
			}
			if i == 0 {
				give("Paris", "confirmed")
			}
			give(fmt.Sprintf("London %d", i), "suggested")
		}
		p := b.get("/review").at("/review", "Person No0", "Paris → London 0", "London 9")
		var chosen []string
		for _, m := range marks.FindAllStringSubmatch(p.Body, -1) {
			chosen = append(chosen, "id", m[1])
		}
		if len(chosen) != 20 {
			t.Fatalf("%d chosen", len(chosen)/2)
		}
		done := b.post("/review/decide", append(chosen, "do", "approve")...).
			at("/review", "Approved: 10.", "Nothing waits for you")
		contact := a.SendREST(t, a.Key, "GET", "/v1/contacts?query=No0&include=properties", "")
		if !strings.Contains(string(contact.Body), "London 0") {
			t.Errorf("%s", contact.Body)
		}
		var was []string
		for _, m := range wasMarks.FindAllStringSubmatch(done.Body, -1) {
			was = append(was, "event", m[1])
		}
		b.post("/undo", append(was, "back", "/review")...).at("/review", "Undone.", "Paris → London 0", "London 9")
		contact = a.SendREST(t, a.Key, "GET", "/v1/contacts?query=No0&include=properties", "")
		if !strings.Contains(string(contact.Body), "Paris") || strings.Contains(string(contact.Body), "London") {
			t.Errorf("%s", contact.Body)
		}
		b.post("/review/decide", "do", "reject", chosen[0], chosen[1]).at("/review", "Rejected.")
		b.post("/review/decide", "do", "approve", "id", "people.x.y.").refused(404)
		b.post("/review/decide", "do", "approve").at("/review", "Nothing was selected.")
		other := visit(t, a.URL)
		other.signIn(a.NewTenant(t, "free").Owner, "a long password").at("/")
		other.get("/review").at("/review", "Nothing waits for you")
		other.post("/review/decide", "do", "approve", chosen[2], chosen[3]).refused(404)
	})
}

// A reader chooses columns and how dense rows are, in this browser.
func TestColumnsAndDensity(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "emails": [{"email": "ada@example.org"}]}`).
			OK(t, 201)
		b.get("/contacts").at("/contacts", "ada@example.org").find(`(<html lang="en">)`)
		p := b.post("/view", "path", "contacts", "back", "/contacts?sortBy=name", "column", "Email", "column", "Tags",
			"shown", "Tags", "density", "comfortable").at("/contacts", "Ada").hasNot("ada@example.org")
		p.find(`(<html lang="en" data-density="comfortable">)`)
		b.post("/view", "path", "contacts", "column", "Email", "shown", "Email", "density", "compact").
			at("/contacts", "ada@example.org").find(`(<html lang="en">)`)
		b.post("/view", "path", "nothing").refused(404)
	})
}

// Everything that an agent did since a time is planned to be undone, seen, and
// undone.
func TestUndoOfAnAgent(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		agent := a.NewAgent(t, a.Tenant, "all")
		_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
		session := a.InitializeSession(t, access)
		a.SendRPC(t, access,
			`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "contacts_create", `+
				`"arguments": {"firstName": "Zuse"}}}`, session...)
		b.get("/contacts").at("/contacts", "Zuse")
		at := "/agents/" + string(agent)
		b.get(at).at(at, "Undo what it did")
		b.post(at+"/undo", "since", "whenever").refused(400, "Write a date")
		b.post(at+"/undo", "since", "2099-01-01T00:00").refused(404, "Nothing was found")
		p := b.post(at+"/undo", "since", "2020-01-01T00:00").at("/review/", "Delete the contact", "Zuse")
		b.post(p.where(), "decision", "execute").at(p.where(), "Done")
		b.get("/contacts").at("/contacts", "No contacts yet")
	})
}
