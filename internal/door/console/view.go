package console

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
)

//go:embed pages/*.html
var files embed.FS

// templates are the pages, each with the parts of the desk and those of the
// settings. A page's copy of the parts takes half a megabyte, so it is made when
// the page is first shown.
var templates = func() map[string]func() *template.Template {
	base := template.Must(desk.Templates().ParseFS(files, "pages/layout.html", "pages/parts.html"))
	out := map[string]func() *template.Template{}
	names, err := fs.Glob(files, "pages/*.html")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name != "layout" && name != "parts" {
			out[name] = sync.OnceValue(func() *template.Template {
				return template.Must(template.Must(base.Clone()).ParseFS(files, file))
			})
		}
	}
	return out
}()

// A step of the way to a page; a state as a small coloured word (good, bad, warn
// or nothing); a button.
type (
	crumb  struct{ Text, Href string }
	badge  struct{ Text, Kind string }
	action = desk.Button
)

// view is what the layout shows around a page's own data.
type view struct {
	Title   string
	Section string // in the rail
	Tab     string // within the section
	Crumbs  []crumb
	Badge   badge
	Main    *action // the page's one main action
	Bare    bool    // without the rail
	Data    any
}

// shown is a view as the templates see it.
type shown struct {
	desk.View
	now  clock.Time
	zone *time.Location
}

// mainUnless is a list's main action, or nil when the list is empty, as the text
// shown in its place then has the button, or when the reader may not do it.
func mainUnless(not bool, text, href string) *action {
	if not {
		return nil
	}
	return &action{Text: text, Href: href, Icon: "plus"}
}

// setHeaders sets the headers of every page.
func (v *visit) setHeaders() { desk.SetHeaders(v.w, v.policy) }

// show writes a page.
func (v *visit) show(status int, page string, w view) error {
	d := v.desk()
	out := shown{View: desk.View{Title: w.Title, Section: w.Section, Tab: w.Tab, Badge: desk.Badge(w.Badge),
		Main: w.Main, Bare: w.Bare, Data: w.Data, Done: sentences[v.r.URL.Query().Get("done")], Tone: "good"}}
	for _, c := range w.Crumbs {
		out.Crumbs = append(out.Crumbs, desk.Crumb(c))
	}
	if out.Done != "" && (out.Done == sentences["nocard"] || out.Done == sentences["samecard"]) {
		out.Tone = "plain" // nothing changed
	}
	d.Prepare(&out.View)
	out.now, out.zone = out.Time, out.In
	var buf bytes.Buffer
	if err := templates[page]().ExecuteTemplate(&buf, "layout", &out); err != nil {
		return err
	}
	v.setHeaders()
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	v.w.Write(buf.Bytes()) //nolint:errcheck // the visitor is gone
	return nil
}

// showMessage shows a page that is one sentence.
func (v *visit) showMessage(status int, title, text string) error {
	return v.show(status, "message", view{Title: title, Data: text, Bare: v.session == nil || v.mustEnroll()})
}

// sentences say what was just done. The address names one of them, and cannot
// make the page say anything else.
var sentences = map[string]string{
	"accepted": "Accepted. API keys and agents of the business work within a minute.", "saved": "Saved.",
	"created": "Created.", "renamed": "Renamed.",
	"activated":   "Activated. Clients that were connected before must reconnect.",
	"deactivated": "Deactivated. Its clients are disconnected.",
	"deleted":     "Deleted.", "revoked": "Revoked.", "removed": "Removed.", "disconnected": "Disconnected.",
	"role":   "Role changed.",
	"paused": "Paused. Executions that had not begun are canceled.", "resumed": "Active again.",
	"enabled":  "Enabled. It receives events from now on.",
	"disabled": "Disabled. Waiting deliveries are canceled.",
	"tested":   "The test event was sent. This is what came back.",
	"resent":   "Sent again. This is what came back.", "started": "Started.", "canceled": "Canceled.",
	"retried": "It continues from where it stopped.",
	"card":    "Card saved. It is the default now.", "samecard": "This card is already saved. Nothing changed.",
	"nocard":   "No card was added.",
	"reset":    "Your password is changed, and you are signed out everywhere. Sign in with the new one.",
	"password": "Password changed. Other browsers are signed out.", "welcome": "Welcome. You are signed in.",
	"default": "Default card changed.", "expired": "That took too long. Sign in again.",
	"factor": "Added. Signing in asks for it from now on.", "ended": "Ended. That browser is signed out.",
	"endedall": "All other browsers are signed out.",
}

// The pages of the desk say them too: somebody who joined sees Today.
var _ = desk.AddSentences(sentences)

// secretOnce is a secret that is shown now and never again. Back is where
// reloading the page leads.
type secretOnce struct{ Lead, Secret, Back string }

// moment is a time in words, with the exact one beside it.
type moment struct{ ISO, Exact, Ago string }

// When describes a time, or nil.
func (w *shown) When(at any) *moment {
	var t clock.Time
	switch at := at.(type) {
	case clock.Time:
		t = at
	case *clock.Time:
		if at == nil {
			return nil
		}
		t = *at
	}
	std := t.Std().In(w.zone)
	return &moment{ISO: t.String(), Exact: std.Format("2 Jan 2006, 15:04 MST"), Ago: relative(w.now.Sub(t), std)}
}

// From is the address that a session came from. One of IPv4 stands alone; of IPv6
// only the network is kept.
func (*shown) From(address string) string { return strings.TrimSuffix(address, "/32") }

// Browser names a browser.
func (*shown) Browser(agent string) string { return browserWords(agent) }
