package desk

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/resource/notification"
)

//go:embed parts/*.html
var parts embed.FS

// base is the templates of the parts and of the rooms. A template "layout" shows
// a View; everything else is a part of it.
var base, functions = template.New(""), template.FuncMap{}

func init() { // part refers to base
	maps.Copy(functions, template.FuncMap{
		"asset": AssetURL, "capital": Capital, "part": part, "an": WithArticle, "icon": iconUse, "dict": dict,
		"brief": brief,
		"inc":   func(i int) int { return i + 1 }, "dec": func(i int) int { return i - 1 },
	})
	base.Funcs(functions)
	AddTemplates(parts, "parts/*.html")
}

// brief is the text of a button in two parts, of which a phone shows the first: "New", "contact".
func brief(text string) [2]string {
	first, rest, _ := strings.Cut(text, " ")
	if slices.Contains([]string{"New", "Create", "Import", "Invite", "Add"}, first) {
		return [2]string{first, rest}
	}
	return [2]string{text}
}

// iconUse shows an icon of the sprite (parts/icons.html). It says nothing to
// those who cannot see it.
func iconUse(name string) template.HTML {
	return template.HTML(`<svg class="i" aria-hidden="true"><use href="#i-` + //nolint:gosec // it is escaped
		template.HTMLEscapeString(name) + `"/></svg>`)
}

// dict hands several values to a template, given in pairs of name and value.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// part shows a template by name, so that what a page is made of can be data.
func part(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	err := base.ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err //nolint:gosec // the template has escaped it
}

// AddTemplates adds a room's templates to the parts. Only for the start of the
// program: `var _ = desk.AddTemplates(pages, "*.html")`.
func AddTemplates(files fs.FS, patterns ...string) bool {
	for _, t := range template.Must(template.New("").Funcs(functions).ParseFS(files, patterns...)).Templates() {
		if t.Tree == nil || strings.HasSuffix(t.Name(), ".html") { // a file, which only defines templates
			continue
		}
		if base.Lookup(t.Name()) != nil {
			panic("desk: two templates are called " + t.Name())
		}
		template.Must(base.AddParseTree(t.Name(), t.Tree))
	}
	return true
}

// View is what the frame shows around a page.
type View struct {
	Title   string
	Section string // in the rail
	Tab     string // within the section
	Crumbs  []Crumb
	Badge   Pill
	Main    *Button // the page's one main action
	Bare    bool    // without the rail: sign-in, consent
	Data    any

	Page    string   // the part that shows Data
	Whole   bool     // that part is given the View, not only its Data
	Sub     string   // beside the title, small
	Avatar  *Avatar  // before it
	Buttons []Button // beside the main action
	More    []Button // in the menu behind the dots
	Watch   string   // the resource types whose events refresh the page, in words; * for all
	Own     bool     // the page has its own layout and no padding
	Beheads bool     // the page shows its own title

	Session *account.Session
	Done    string   // what was just done
	Undo    []string // what Undo takes back: ids of events, or marks of a room
	Back    string   // this page, for forms that return to it
	House   string
	Firms   []Option // the businesses to choose from, where there are several
	Firm    string   // the chosen one; empty for all
	Rail    [][]Entry
	API     []Sample

	Density string // of rows; empty for compact
	Drafts  string // the addresses of forms that the reader has begun, with spaces between
	Bell    *Bell

	Time clock.Time

	visit *Visit
}

// May reports whether the reader may run an operation, for what a page offers.
func (w *View) May(operation string) bool {
	return w.visit != nil && w.visit.Caller != nil && w.visit.May(operation)
}

// Bell leads to what the reader was told.
type Bell struct{ Unread int }

// Words say it to those who cannot see it.
func (b *Bell) Words() string {
	if b.Unread == 0 {
		return "Notices"
	}
	return fmt.Sprintf("Notices, %d unread", b.Unread)
}

// Bell counts what the reader has not read yet. A page is shown without the count rather than not at all.
func (v *Visit) Bell() *Bell {
	if !v.Has("/notifications") {
		return nil
	}
	var n notification.Unread
	if err := v.Do("notifications.count", Fields{}, &n); err != nil {
		v.Log.WarnContext(v.R.Context(), "the notices could not be counted", "trace_id", v.ID, "err", err)
	}
	return &Bell{n.Unread}
}

// Crumb is a step of the way to a page.
type Crumb struct{ Text, Href string }

// Button is a link or, with Post, a form of one button.
type Button struct {
	Text, Href string
	Icon       string
	Post       bool
	Away       bool // it deletes something
	Only       bool // the icon alone, with the text for those who cannot see it
}

// Entry is a place in the rail.
type Entry struct {
	Key, Text, Href, Icon string
	Count                 string
	Also                  string // a further counter that is added to that of Key
	Says                  string // what the count counts: "unread"
	Op                    string // what the place begins with; without the right to it, it is not shown
	Managers              bool
	Last                  bool
}

var rail = [][]Entry{
	{
		{Key: "today", Text: "Today", Href: "/", Icon: "home"},
		{Key: "inbox", Text: "Inbox", Href: "/inbox", Icon: "inbox", Says: "unread", Op: "threads.list"},
		{Key: "contacts", Text: "Contacts", Href: "/contacts", Icon: "people", Op: "contacts.list"},
		{Key: "customers", Text: "Customers", Href: "/customers", Icon: "building", Op: "customers.list"},
		{Key: "tasks", Text: "Tasks", Href: "/tasks", Icon: "task", Says: "due", Op: "tasks.list"},
		{Key: "invoices", Text: "Invoices", Href: "/invoices", Icon: "invoice", Op: "invoices.list"},
		{Key: "money", Text: "Money", Href: "/money", Icon: "bars", Op: "invoices.list"},
		{Key: "files", Text: "Files", Href: "/files", Icon: "folder", Op: "files.list"},
		{Key: "domains", Text: "Domains", Href: "/domains", Icon: "globe", Op: "domains.list"},
	},
	{
		{Key: "review", Text: "Review", Href: "/review", Icon: "review", Also: "values", Says: "waiting",
			Op: "proposals.list"},
		{Key: "automations", Text: "Automations", Href: "/automations", Icon: "bolt", Op: "automations.list"},
		{Key: "agents", Text: "Agents", Href: "/agents", Icon: "bot", Managers: true},
		{Key: "activity", Text: "Activity", Href: "/activity", Icon: "pulse", Op: "events.list"},
	},
	{
		{Key: "businesses", Text: "Business", Href: "/businesses", Icon: "store", Op: "businesses.list"},
		{Key: "settings", Text: "Settings", Href: "/settings", Icon: "sliders"},
	},
}

// SetHeaders sets the headers of every page: it is never cached or framed by
// others, and runs and loads nothing from other servers. more is added to
// form-action.
func SetHeaders(w http.ResponseWriter, more string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// A link out must not carry a path, which may hold a token. With
	// no-referrer a browser would hide the Origin that the guard looks at.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; connect-src 'self'; "+
			"img-src 'self' data:; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"+more)
}

// prepare fills in what the frame shows on every page.
func (v *Visit) prepare(w *View) {
	w.Session, w.Time, w.visit = v.Session, v.Now(), v
	q := v.R.URL.Query()
	if w.Done == "" {
		w.Done = v.sentence(q)
	}
	if v.Session == nil || v.Session.MustEnroll() { // neither may see the business
		return
	}
	w.House, w.Density = v.CurrentBusiness().Name, v.density()
	if all := v.businesses(); len(all) > 1 {
		w.Firms = []Option{{"", allBusinessWord}}
		for _, b := range all {
			w.Firms = append(w.Firms, Option{string(b.ID), b.Name})
		}
		w.House = allBusinessWord
		if b := v.chosen(); b != nil {
			w.Firm, w.House = string(b.ID), b.Name
		}
	}
	for _, e := range q["undo"] {
		if canUndo(e) && len(w.Undo) < maxBulk {
			w.Undo = append(w.Undo, e)
		}
	}
	w.Back = v.With()
	if w.Bare {
		return
	}
	w.Drafts = strings.Join(v.draftPlaces(), " ")
	if !w.Beheads { // or the page has the bell in its own head
		w.Bell = v.Bell()
	}
	n := v.counted()
	for _, group := range rail {
		group = slices.DeleteFunc(slices.Clone(group), func(e Entry) bool {
			return !v.offers(e)
		})
		for i := range group {
			group[i].Count = addCounts(n[group[i].Key], n[group[i].Also])
		}
		w.Rail = append(w.Rail, group)
	}
}

// offers reports whether a place is there, and is the reader's to see.
func (v *Visit) offers(e Entry) bool {
	return (!e.Managers || v.Session.Manager()) && (e.Op == "" || v.May(e.Op)) && v.Has(e.Href)
}

// elsewhere are the places that other doors serve.
var elsewhere = []string{"/docs"}

// AddPlaces adds places that are served without a Route of the desk.
func AddPlaces(paths ...string) bool {
	elsewhere = append(elsewhere, paths...)
	return true
}

// Has reports whether there is a page at a path.
func (d *Desk) Has(path string) bool {
	pattern := "GET " + path
	return slices.Contains(elsewhere, path) || slices.ContainsFunc(d.Routes(),
		func(r Route) bool { return r.Pattern == pattern || path == "/" && r.Pattern == "GET /{$}" })
}

// Show shows a part as a page.
func (v *Visit) Show(status int, page string, w View) error {
	w.Page = page
	v.prepare(&w)
	var b bytes.Buffer
	if err := base.ExecuteTemplate(&b, "layout", &w); err != nil {
		return err
	}
	return v.WriteHTML(status, b.Bytes())
}

// ShowView shows a part as a page, and gives it the whole View, so that it can ask
// what the visitor may do and say times in words.
func (v *Visit) ShowView(status int, page string, w View) error {
	w.Whole = true
	return v.Show(status, page, w)
}

// WriteHTML answers with a page.
func (v *Visit) WriteHTML(status int, page []byte) error {
	if v.Session != nil {
		page = addTokens(page)
	}
	SetHeaders(v.W, v.FormTargets)
	v.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.W.WriteHeader(status)
	v.W.Write(page) //nolint:errcheck // the visitor is gone
	return nil
}

// Fragment answers with a part alone, for the script of an open page.
func (v *Visit) Fragment(name string, data any) error { return v.ShowPart(http.StatusOK, name, data) }

// ShowPart answers with a part alone: it may be a whole page that is not ours to
// frame, such as a customer's invoice.
func (v *Visit) ShowPart(status int, name string, data any) error {
	text, err := part(name, data)
	if err != nil {
		return err
	}
	return v.WriteHTML(status, []byte(text))
}

// Trail is the path to this page; its last step, the page itself, is not a
// link. A single step is not shown.
func (w *View) Trail() []Crumb {
	if len(w.Crumbs) < 2 {
		return nil
	}
	return w.Crumbs[:len(w.Crumbs)-1]
}

// When says a time in words, with the exact one beside it; at may be nil.
func (w *View) When(at any) *TimeText {
	switch at := at.(type) {
	case clock.Time:
		return w.visit.When(at)
	case *clock.Time:
		if at != nil {
			return w.visit.When(*at)
		}
	}
	return nil
}

// Above is the nearest step of the trail that is a page, or nil.
func (w *View) Above() *Crumb {
	for _, c := range slices.Backward(w.Trail()) {
		if c.Href != "" {
			return &c
		}
	}
	return nil
}

// Now is when the page was made.
func (w *View) Now() string { return w.Time.String() }

// Me is the visitor's avatar.
func (w *View) Me() *Avatar { return AvatarOf(w.Session.Name, "") }

// Current reports whether an entry of the rail is where the page is.
func (w *View) Current(key string) bool { return w.Section == key }

// Narrow are the entries of the bar on a phone.
func (w *View) Narrow() (out []Entry) {
	for _, group := range w.Rail {
		for _, e := range group {
			if e.Key == "today" || e.Key == "inbox" || e.Key == "review" {
				out = append(out, e)
			}
		}
	}
	return out
}

// doneTexts say what was just done. The address names one of them, and cannot
// make the page say anything else.
var doneTexts = map[string]string{
	"saved": "Saved.", "created": "Created.", "deleted": "Deleted.", "undone": "Undone.", "added": "Added.",
	"removed": "Removed.", "noted": "Note saved.", "changed": "Changed.", "restored": "It is back.",
	"uploaded": "Uploaded.", "issued": "Issued. It has its number now.", "sent": "Sent.", "voided": "Voided.",
	"paid": "Payment recorded.", "credited": "Credit note created.",
	"refunded": "Recorded. It was paid back.", "checked": "Checked again.",
	"completed": "Done.", "commented": "Comment saved.", "merged": "Merged into one.",
	"nothing": "Nothing was selected.", "enabled": "Email is on.", "disabled": "Email is off.",
	"registering": "We are registering it. That takes a minute.",
	"renewed":     "We are renewing it. That takes a minute.", "linked": "The link is ready.",
	"preview": "This is how it will look.",
}

// AddDoneTexts lets a room say more.
func AddDoneTexts(more map[string]string) bool {
	for key, text := range more {
		if old, ok := doneTexts[key]; ok && old != text {
			panic("desk: two rooms say " + key)
		}
		doneTexts[key] = text
	}
	return true
}

// sentence says what was just done, as the address has it.
func (v *Visit) sentence(q url.Values) string {
	n, err := strconv.Atoi(q.Get("n"))
	if err != nil || n < 1 || n > 10_000_000 {
		n = 1
	}
	return doneSentence(q.Get("done"), n)
}

// doneSentence says what was just done to a number of things.
func doneSentence(what string, n int) string {
	text := doneTexts[what]
	if text != "" && n != 1 {
		text = text[:len(text)-1] + ": " + thousands(n) + "."
	}
	return text
}
