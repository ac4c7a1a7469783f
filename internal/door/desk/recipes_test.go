package desk_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

var (
	areas    = regexp.MustCompile(`(?s)<textarea ([^>]*)>\n(.*?)</textarea>`)
	selects  = regexp.MustCompile(`(?s)<select ([^>]*)>(.*?)</select>`)
	selected = regexp.MustCompile(`<option value="([^"]*)" selected`)
)

// shown is what the main form of a page would send if it were sent as it is, in pairs.
func (p page) shown() (out []string) {
	p.t.Helper()
	_, form, _ := strings.Cut(p.Body, `data-exchange`)
	add := func(attributes, value string) {
		if name := named.FindStringSubmatch(attributes); name != nil && value != "" {
			out = append(out, name[1], html.UnescapeString(value))
		}
	}
	for _, m := range field.FindAllStringSubmatch(form, -1) {
		value := holds.FindStringSubmatch(m[1])
		ticks := strings.Contains(m[1], `type="radio"`) || strings.Contains(m[1], `type="checkbox"`)
		if value != nil && (!ticks || strings.Contains(m[1], " checked")) {
			add(m[1], value[1])
		}
	}
	for _, m := range areas.FindAllStringSubmatch(form, -1) {
		add(m[1], m[2])
	}
	for _, m := range selects.FindAllStringSubmatch(form, -1) {
		if value := selected.FindStringSubmatch(m[2]); value != nil {
			add(m[1], value[1])
		}
	}
	return out
}

// Every recipe opens in plain words, can be tried and saved as it is, and comes back in the same words.
func TestRecipes(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		offered := regexp.MustCompile(`/automations/new\?recipe=([a-z-]+)"><b>`).FindAllStringSubmatch(
			b.get("/automations/new").Body, -1)
		if len(offered) < 8 {
			t.Fatalf("%d recipes", len(offered))
		}
		for _, m := range offered {
			p := b.get("/automations/new?recipe="+m[1]).at("/automations/new").hasNot("{{", "Show as a form")
			typed := p.shown()
			b.post("/automations/new", append(typed, "do", "try")...).at("/automations/new", "What it would have done")
			p = b.post("/automations/new", typed...).at("/automations/", "Created.").hasNot("{{")
			path := strings.Split(p.Path, "?")[0]
			again := b.get(path + "/edit").at(path + "/edit").hasNot("{{").shown()
			for i := 0; i < len(typed); i += 2 {
				if typed[i] != "once" && !hasPair(again, typed[i], typed[i+1]) {
					t.Errorf("%s: %s is no longer %q in %q", m[1], typed[i], typed[i+1], again)
				}
			}
		}
		b.get("/automations/new?recipe=nothing-like-it").refused(404)
	})
}

func hasPair(pairs []string, name, value string) bool {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == name && pairs[i+1] == value {
			return true
		}
	}
	return false
}

// Rows are picked by name, and what a text names is told from what it only looks like.
func TestSpokenValues(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		ada := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada", "lastName": "Lovelace"}`).OK(t, 201)
		step := func(pairs ...string) []string {
			return append([]string{"name", "Spoken", "trigger.kind", "event", "trigger.event", "contact.created",
				"steps.0.operation", "tasks.create"}, pairs...)
		}
		p := b.post("/automations/new", step("steps.0.input.title",
			`Call [first name, or "them"] [note] [First name](x)`,
			"steps.0.input.contactId", "Ada Lovelace", "steps.0.input.assigneeIds", "Owner",
			"steps.0.input.dueAt", "2027-01-31T09:30")...).at("/automations/", "Created.", "Ada Lovelace", "Owner")
		path := strings.Split(p.Path, "?")[0]
		stored := a.SendREST(t, a.Key, "GET", "/v1"+path, "")
		for _, want := range []string{`"title":"Call [first name, or \"them\"] [note] [First name](x)"`,
			`"contactId":"` + string(ada.ID("id")) + `"`, `"dueAt":"2027-01-31T`} {
			if !strings.Contains(string(stored.Body), want) {
				t.Errorf("no %s in %s", want, stored.Body)
			}
		}
		b.get(path+"/edit").at(path+"/edit", "Show as JSON").
			find(`name="steps.0.input.contactId" value="(Ada Lovelace)"`)
		// A text that would be read as a value is shown as it is stored.
		a.SendREST(t, a.Key, "PATCH", "/v1"+path,
			`{"steps": [{"operation": "tasks.create", "input": {"title": "[First name]"}}]}`).OK(t, 200)
		b.get(path+"/edit").at(path+"/edit", "Show as a form", `"title": "[First name]"`)

		b.post("/automations/new", step("steps.0.input.title", "Pay [Invoice number]")...).refused(400,
			"There is no [Invoice number] here")
		b.post("/automations/new", step("steps.0.input.title", "Call", "steps.0.input.contactId", "Nobody")...).
			refused(400,
				"No contact is called that")
		b.post("/automations/new", step("steps.0.input.title", "Call", "steps.0.input.assigneeIds", "Nobody")...).
			refused(400, "No member is called that")
	})
}
