package desk_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// A filtered list is saved as a view and becomes a tab; it is changed, renamed, shared and deleted without a script.
func TestSavedViews(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		m, o := member(t, a), owner(t, a)
		for _, c := range []string{`{"firstName": "Ada", "tags": ["vip"]}`, `{"firstName": "Charles"}`} {
			a.SendREST(t, a.Key, "POST", "/v1/contacts", c).OK(t, 201)
		}
		m.get("/contacts").at("/contacts", "Ada", "Charles").hasNot("Save this view", `aria-label="Views"`)
		m.get("/contacts?tag=vip&sortBy=name&sortOrder=asc").at("/contacts", "Save this view")
		m.post("/views", "path", "contacts", "back", "/contacts?tag=vip", "name", " ").refused(400, "Name")
		p := m.post("/views", "path", "contacts", "back", "/contacts?tag=vip&sortBy=name&sortOrder=asc", "name",
			"The best").at("/contacts", "Saved.", "The best", "Ada").hasNot("Save this view", "Charles")
		tab := p.find(`<a href="([^"]*)" aria-current="page">The best`)
		ref := p.find(`action="/views/([^/"]+)/delete"`)
		m.get("/contacts").at("/contacts", "All", "The best", "Charles")
		o.get("/contacts").at("/contacts").hasNot("The best") // it is hers alone
		o.get("/views/" + ref).refused(404)
		o.post("/views/"+ref+"/edit", "field", "name", "name", "Taken").refused(404)
		o.post("/views/" + ref + "/delete").refused(404)

		// Without its filter it differs, which can be saved; so do its columns.
		wider := strings.Replace(tab, "tag=vip&", "", 1)
		m.get(wider).at("/contacts", "Charles", "Save the changes to The best")
		p = m.post("/view", "path", "contacts", "back", tab, "column", "Company", "column", "Email", "column", "Phone",
			"column", "Tags", "column", "Added", "shown", "Tags", "shown", "Added").
			at("/contacts", "Save the changes to The best", "Tags").hasNot(`">Company</th>`)
		p = m.post("/views", "path", "contacts", "back", p.Path, "view", ref, "do", "update").at("/contacts", "Saved.").
			hasNot("Save this view", `">Company</th>`)
		m.get("/contacts").at("/contacts", "Company")
		saved := a.SendREST(t, a.Key, "GET", "/v1/views?objectType=contacts", "").OK(t, 200)
		if saved.Len() != 0 {
			t.Errorf("the key of somebody else sees %s", saved)
		}

		m.post("/views/"+ref+"/edit", "field", "shared", "shared", "yes", "back", tab).at("/contacts", "Saved.",
			"Keep it to its maker")
		o.get("/contacts").at("/contacts", "The best")
		o.post("/views/"+ref+"/edit", "field", "name", "name", "Friends", "back", tab).at("/contacts", "Friends")
		saved = a.SendREST(t, a.Key, "GET", "/v1/views/"+ref, "").OK(t, 200)
		saved.Same("query.tag.0", "vip")
		saved.Same("columns.0", "tags")
		m.get("/views").at("/views", "Friends", "Contacts", "everybody")
		m.get("/views/"+ref).at("/contacts", "Friends", "Ada")
		o.post("/views/"+ref+"/delete", "back", "/contacts").at("/contacts", "Deleted.", "Undo").hasNot("Friends")

		// Times keep their meaning, and a view that is typed by hand is refused in words.
		m.post("/views", "path", "tasks", "back", "/tasks?dueBefore=2026-05-14&status=open", "name", "Soon").
			at("/tasks", "Soon", "Due before").hasNot("Save this view")
		m.post("/views", "path", "tasks", "back", "/tasks?status=nonsense", "name", "Odd").refused(400)
		m.post("/views", "path", "nothing", "back", "/", "name", "Odd").refused(404)
		m.post("/views", "path", "inbox", "back", "/inbox?status=waiting&unread=true", "name", "Unread ones").
			at("/inbox", "Unread ones", "Change the view")
	})
}

// What is done to all rows of a filter reaches each once, counts and names what is refused, and is undone together.
func TestBulkOfAll(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		var rows []string
		for i := range 230 {
			tags := `[]`
			if i%115 == 7 { // 50 tags are the most that a contact has
				tags = `["` + strings.Join(numbered("t", 50), `", "`) + `"]`
			}
			rows = append(rows, fmt.Sprintf(`{"firstName": "Contact", "lastName": "%03d", "tags": %s}`, i, tags))
		}
		for i := 0; i < len(rows); i += 100 {
			a.SendREST(t, a.Key, "POST", "/v1/contacts/batch",
				`{"rows": [`+strings.Join(rows[i:min(i+100, len(rows))], ",")+`]}`).OK(t, 200)
		}
		b.get("/contacts?query=contact").at("/contacts", "All that match")
		p := b.post("/contacts/bulk", "all", "yes", "do", "tag", "text-tag", "chosen", "back",
			"/contacts?query=contact").at("/contacts/bulk", "Tag “chosen”: 230 contacts", "every row of the list")
		if n := a.SendREST(t, a.Key, "GET", "/v1/contacts?tag=chosen", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d were tagged before anybody agreed", n)
		}
		late := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Contact", "lastName": "late"}`).
			OK(t, 201).Text("id")
		form := hiddenFields(p)
		p = b.post("/contacts/bulk", form...).at("/contacts/bulk", "100 of 230 contacts", "Go on")
		b.post("/contacts/bulk", form...).at("/contacts/bulk", "100 of 230 contacts") // sent twice
		if tagged := total(t, a, "/v1/contacts?tag=chosen"); tagged != 99 {
			t.Errorf("%d tagged after the first part, sent twice", tagged)
		}
		p = b.post("/contacts/bulk", hiddenFields(p)...).at("/contacts/bulk", "200 of 230 contacts", "2 stay")
		p = b.post("/contacts/bulk", hiddenFields(p)...).at("/contacts/bulk", "2 contacts stayed as they were",
			"The others are done", "Contact 007", "Contact 122", "Tagged: 228.", "Undo")
		if tagged := total(t, a, "/v1/contacts?tag=chosen"); tagged != 228 {
			t.Errorf("%d tagged", tagged)
		}
		if v := a.SendREST(t, a.Key, "GET", "/v1/contacts/"+late, "").OK(t, 200); v.At("tags").Len() != 0 {
			t.Errorf("a row that came later was changed: %s", v)
		}
		b.post("/undo", "event", p.find(`name="event" value="(request[^"]+)"`), "back", "/contacts").at("/")
		if tagged := total(t, a, "/v1/contacts?tag=chosen"); tagged != 0 {
			t.Errorf("%d are still tagged", tagged)
		}

		// A change that takes rows out of the filter still reaches all of them.
		rows = rows[:0]
		for i := range 130 {
			rows = append(rows, fmt.Sprintf(`{"title": "Task %d"}`, i))
		}
		a.SendREST(t, a.Key, "POST", "/v1/tasks/batch", `{"rows": [`+strings.Join(rows[:100], ",")+`]}`).OK(t, 200)
		a.SendREST(t, a.Key, "POST", "/v1/tasks/batch", `{"rows": [`+strings.Join(rows[100:], ",")+`]}`).OK(t, 200)
		p = b.post("/tasks/bulk", "all", "yes", "set-status", "in_progress", "back", "/tasks?status=open").
			at("/tasks/bulk", "Status “In progress”: 130 tasks")
		p = b.post("/tasks/bulk", hiddenFields(p)...).at("/tasks/bulk", "100 of 130 tasks")
		b.post("/tasks/bulk", hiddenFields(p)...).at("/tasks", "Changed: 130.", "Undo")
		if n := total(t, a, "/v1/tasks?status=in_progress"); n != 130 {
			t.Errorf("%d in progress", n)
		}
		b.get("/tasks/bulk").at("/tasks") // a reload
		b.post("/tasks/bulk", "do", "explode", "id", late).refused(404)
		b.post("/tasks/bulk", "all", "yes", "do", "complete", "back", "/tasks?query=nothing+like+that").
			at("/tasks", "Nothing was selected.")
	})
}

// Whoever may not undo whole requests undoes each of the changes.
func TestBulkUndoneOneByOne(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		grace := a.SendREST(t, a.Key, "GET", "/v1/members?query=grace", "").OK(t, 200).Text("0.id")
		a.AsOperator(t, "members.update", "organization", a.Org, fmt.Sprintf(`{"id": %q,
			"permissions": ["contacts:read", "contacts:write", "webhooks:read"]}`, grace))
		var pairs []string
		for i := range 2 {
			pairs = append(pairs, "id", a.SendREST(t, a.Key, "POST", "/v1/contacts",
				fmt.Sprintf(`{"firstName": "Person %d"}`, i)).OK(t, 201).Text("id"))
		}
		p := b.post("/contacts/bulk", append(pairs, "do", "delete", "back", "/contacts")...).
			at("/contacts", "Deleted: 2.", "Undo").hasNot(`value="request.`)
		events := []string{"back", "/contacts"}
		for _, m := range regexp.MustCompile(`name="event" value="([^"]+)"`).FindAllStringSubmatch(p.Body, -1) {
			events = append(events, "event", m[1])
		}
		b.post("/undo", events...).at("/contacts", "Undone.", "Person 0", "Person 1")
	})
}

// Tasks are given to somebody from the list, ticked off in their row, moved on the board, and seen in a month.
func TestTasksTogether(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		var ids []string
		for _, title := range []string{"Write", "Print", "Send"} {
			ids = append(ids, a.SendREST(t, a.Key, "POST", "/v1/tasks",
				fmt.Sprintf(`{"title": %q, "dueAt": "2026-05-14T12:00:00Z"}`, title)).OK(t, 201).Text("id"))
		}
		p := b.get("/tasks").at("/tasks", "Assign", "Done: Write")
		me := p.find(`name="set-assign" value="([^"]+)"><bdi class="cut">Grace Hopper`)
		b.post("/tasks/bulk", "set-assign", me, "id", ids[0], "id", ids[1], "back", "/tasks").
			at("/tasks", "Assigned: 2.", "Undo")
		b.post("/tasks/bulk", "set-assign", me, "id", ids[1], "id", ids[2], "back", "/tasks").at("/tasks", "Assigned.")
		b.post("/tasks/bulk", "set-assign", me, "id", ids[1], "back", "/tasks").
			at("/tasks", "They are like that already.")
		b.get("/tasks?assigneeId="+me).at("/tasks", "Write", "Print", "Send")
		b.post("/tasks/"+ids[0]+"/complete", "back", "/tasks").at("/tasks", "Done.", "Undo")
		b.get("/tasks/board").at("/tasks/board", "Print").find(`(data-lane="in_progress")`)
		b.post("/tasks/"+ids[1]+"/status", "status", "in_progress").at("/tasks/board", "Changed.", "Undo")
		a.SendREST(t, a.Key, "GET", "/v1/tasks/"+ids[1], "").OK(t, 200).Same("status", "in_progress")

		p = b.get("/tasks?view=calendar&month=2026-05").at("/tasks", "May 2026", "Write", "Print", "Thursday, May 14")
		if days := strings.Index(p.Body, ">Sunday<"); days < 0 || days > strings.Index(p.Body, ">Monday<") {
			t.Error("an American week begins with Sunday")
		}
		b.get("/tasks?view=calendar&month=2026-05&status=in_progress").at("/tasks", "Print").
			hasNot("/tasks/" + ids[0] + `"`)
		b.get("/tasks?view=calendar&month=nonsense").at("/tasks").hasNot("Print")
		b.get("/tasks?view=nonsense").at("/tasks", "Print", "Done: Print")
		business := "/v1/businesses/" + string(a.Business)
		a.SendREST(t, a.Key, "PATCH", business, `{"locale": "de-DE", "timezone": "Pacific/Auckland"}`).OK(t, 200)
		p = b.get("/tasks?view=calendar&month=2026-05").at("/tasks", "Friday, 15 May")
		if strings.Index(p.Body, ">Monday<") > strings.Index(p.Body, ">Sunday<") {
			t.Error("a German week begins with Monday")
		}
	})
}

// Conversations are assigned, snoozed and closed together.
func TestInboxTogether(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		var ids []string
		for i := range 3 {
			m := a.SendREST(t, a.Key, "POST", "/v1/messages", fmt.Sprintf(`{"to": ["ada%d@example.com"],
				"subject": "Letter %d", "text": "Hello"}`, i, i)).OK(t, 201)
			ids = append(ids, m.Text("threadId"))
		}
		p := b.get("/inbox").at("/inbox", "Letter 0", "Letter 2", "Snooze", "Close")
		me := p.find(`name="set-assign" value="([^"]+)"><bdi class="cut">Grace Hopper`)
		b.post("/inbox/bulk", "set-assign", me, "id", ids[0], "id", ids[1], "back", "/inbox").
			at("/inbox", "Assigned: 2.", "Undo")
		b.get("/inbox?assigneeId="+me).at("/inbox", "Letter 0", "Letter 1").hasNot("Letter 2")
		until := p.find(`name="set-snooze" value="([^"]+)"><bdi class="cut">In a week`)
		b.post("/inbox/bulk", "set-snooze", until, "id", ids[1], "back", "/inbox").at("/inbox", "Snoozed.").
			hasNot("Letter 1")
		b.post("/inbox/bulk", "do", "close", "all", "yes", "back", "/inbox").
			at("/inbox/bulk", "Close: 2 conversations")
		p = b.post("/inbox/bulk", "do", "close", "id", ids[0], "id", ids[2], "back", "/inbox").
			at("/inbox", "Closed: 2.").hasNot("Letter 0")
		b.post("/undo", "event", p.find(`name="event" value="(request[^"]+)"`), "back", "/inbox").
			at("/inbox", "Undone.", "Letter 0", "Letter 2")
	})
}

// Contacts are found by their company and by a field that the business defined, each also as a view.
func TestOwnFilters(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := member(t, a)
		definition := a.SendREST(t, a.Key, "POST", "/v1/property-definitions", `{"objectType": "contact",
			"key": "tier", "name": "Service tier", "valueType": "select", "options": ["gold", "silver"]}`).
			OK(t, 201).Text("id")
		for i, company := range []string{"Analytical Engines", "Analytical Engines", "Weavers & Sons"} {
			c := a.SendREST(t, a.Key, "POST", "/v1/contacts", fmt.Sprintf(`{"firstName": "Person %d",
				"organizationName": %q}`, i, company)).OK(t, 201).Text("id")
			a.SendREST(t, a.Key, "POST", "/v1/contacts/"+c+"/properties", fmt.Sprintf(`{"definitionId": %q,
				"value": %q, "status": "confirmed"}`, definition, []string{"gold", "silver", "gold"}[i])).OK(t, 201)
		}
		p := b.get("/contacts").at("/contacts", "Service tier", "Company")
		p.find(`name="propertyKey" value="(tier)"`)
		b.get(p.find(`href="(/contacts\?organizationName=[^"]*)"><bdi>Weavers`)).at("/contacts", "Person 2",
			"Weavers & Sons").hasNot("Person 0")
		b.get("/contacts?organizationName=Analytical+Engines&propertyKey=tier&propertyValue=gold").
			at("/contacts", "Person 0").hasNot("Person 1", "Person 2")
		b.post("/views", "path", "contacts", "back", "/contacts?propertyKey=tier&propertyValue=gold", "name", "Gold").
			at("/contacts", "Gold", "Service tier", "Person 0", "Person 2").hasNot("Person 1")
		b.get("/contacts?propertyKey=nothing&propertyValue=x").at("/contacts", "Property key")
	})
}

// hiddenFields are the pairs of the form that goes on with a series.
func hiddenFields(p page) (pairs []string) {
	_, form, _ := strings.Cut(p.Body, `<form class="sheet-form"`)
	form, _, _ = strings.Cut(form, "</form>")
	for _, m := range hiddenInput.FindAllStringSubmatch(form, -1) {
		pairs = append(pairs, html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	return pairs
}

var hiddenInput = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

func numbered(word string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%s%d", word, i))
	}
	return out
}

// total counts the rows of a list.
func total(t *testing.T, a *apptest.App, path string) (n int) {
	t.Helper()
	for offset := 0; ; offset += 100 {
		got := a.SendREST(t, a.Key, "GET", fmt.Sprintf("%s&limit=100&offset=%d", path, offset), "").OK(t, 200).Len()
		if n += got; got < 100 {
			return n
		}
	}
}
