package desk

import (
	"net/http"
	"strings"

	"frontdesk/internal/kernel/cut"
)

// hits is what the search found: a group for each noun, then what can be done.
type hits struct {
	Query  string
	Groups []hitGroup
	None   bool
}

type hitGroup struct {
	Head  string
	All   string
	Lines []Line
}

const hitsEach = 5

// search finds objects of every noun, pages, and what can be created. The
// palette shows the same page's hits while somebody types.
func search(v *Visit) error {
	text := strings.TrimSpace(v.R.URL.Query().Get("query"))
	d := &hits{Query: text}
	only := v.R.URL.Query().Get("only")
	text = cut.Runes(text, 200)
	found := false
	for _, n := range v.nouns {
		if text == "" || !n.searchable() || !n.mayList(v) || only != "" && only != n.path() {
			continue
		}
		rows, page, err := n.lines(v, Fields{"query": text, "limit": hitsEach})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			continue
		}
		found = true
		_, many, _ := n.words()
		g := hitGroup{Head: Capital(many), Lines: rows}
		if page.HasMore && n.listed() {
			g.All = address("/"+n.path(), map[string][]string{"query": {text}})
		}
		d.Groups = append(d.Groups, g)
	}
	d.None = text != "" && !found
	if only == "" {
		d.Groups = append(d.Groups, v.places(text), v.creations(text))
	}
	kept := d.Groups[:0]
	for _, g := range d.Groups {
		if len(g.Lines) > 0 {
			kept = append(kept, g)
		}
	}
	d.Groups = kept
	return v.Show(http.StatusOK, "search", View{Title: "Search", Section: "search", Data: d})
}

// morePlaces are pages that the rail does not have.
var morePlaces = []Entry{
	{Text: "Write a mail", Href: "/inbox/new", Icon: "pencil", Op: "messages.create"},
	{Text: "Outbox", Href: "/outbox", Icon: "send", Op: "messages.list"},
	{Text: "Imports", Href: "/imports", Icon: "import", Op: "imports.list"},
	{Text: "Email templates", Href: "/templates", Icon: "note", Op: "email_templates.list"},
	{Text: "Email consent", Href: "/opt-ins", Icon: "mail", Op: "email_opt_ins.list"},
	{Text: "Properties", Href: "/properties", Icon: "columns", Op: "property_definitions.list"},
	{Text: "Webhooks", Href: "/webhooks", Icon: "bolt", Op: "webhooks.list"},
	{Text: "Runs of automations", Href: "/executions", Icon: "bolt", Op: "automation_executions.list"},
	{Text: "Members", Href: "/settings/members", Icon: "people", Managers: true},
	{Text: "API keys", Href: "/settings/keys", Icon: "key", Managers: true},
	{Text: "Cards", Href: "/settings/cards", Icon: "invoice", Managers: true},
	{Text: "Plan", Href: "/settings/plan", Icon: "sliders", Managers: true},
	{Text: "API reference", Href: "/docs", Icon: "code"}, {Text: "Keyboard shortcuts", Href: "/keys", Icon: "note"},
}

func (v *Visit) places(text string) hitGroup {
	g := hitGroup{Head: "Pages"}
	add := func(e Entry) {
		if !v.offers(e) || !strings.Contains(strings.ToLower(e.Text), strings.ToLower(text)) || len(g.Lines) >= 8 {
			return
		}
		g.Lines = append(g.Lines, Line{Text: e.Text, Href: e.Href, Icon: e.Icon})
	}
	for _, group := range rail {
		for _, e := range group {
			add(e)
		}
	}
	for _, e := range morePlaces {
		add(e)
	}
	return g
}

func (v *Visit) creations(text string) hitGroup {
	g := hitGroup{Head: "Create"}
	for _, n := range v.nouns {
		one, _, _ := n.words()
		word := "New " + one
		if !n.mayCreate(v) || text != "" && !strings.Contains(strings.ToLower(word), strings.ToLower(text)) {
			continue
		}
		g.Lines = append(g.Lines, Line{Text: word, Href: "/" + n.path() + "/new", Icon: "plus"})
	}
	return g
}

// keysPage lists the keys that work everywhere.
func keysPage(v *Visit) error {
	return v.Show(http.StatusOK, "keys", View{Title: "Keyboard shortcuts", Section: "search"})
}
