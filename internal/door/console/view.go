package console

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
)

//go:embed pages/*.html
var files embed.FS

// templates are the pages, each with the layout and the shared parts.
var templates = func() map[string]*template.Template {
	base := template.Must(template.New("").Funcs(template.FuncMap{"asset": assetURL, "capital": capital,
		"inc": func(i int) int { return i + 1 }}).ParseFS(files, "pages/layout.html", "pages/parts.html"))
	out := map[string]*template.Template{}
	names, err := fs.Glob(files, "pages/*.html")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name != "layout" && name != "parts" {
			out[name] = template.Must(template.Must(base.Clone()).ParseFS(files, file))
		}
	}
	return out
}()

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

	Session *account.Session
	Done    string // what was just done
	now     clock.Time
	zone    *time.Location
}

type crumb struct{ Text, Href string }

type action struct{ Text, Href string }

// mainUnless is a list's main action, or nil when the list is empty: the text
// shown in its place then has the button.
func mainUnless(empty bool, text, href string) *action {
	if empty {
		return nil
	}
	return &action{text, href}
}

// badge is a state: a small coloured word.
type badge struct{ Text, Kind string } // good, bad, warn or nothing

// setHeaders sets the headers of every page: it is never cached or framed, and
// runs and loads nothing from other servers.
func (v *visit) setHeaders() {
	h := v.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// A link out must not carry a path, which may hold a token. With
	// no-referrer a browser would hide the Origin that the guard looks at.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; "+
			"frame-ancestors 'none'; form-action 'self'"+v.policy)
}

// show writes a page.
func (v *visit) show(status int, page string, w view) error {
	w.Session, w.now, w.zone = v.session, v.Runner.Clock.Now(), time.UTC
	if v.session != nil {
		if zone, err := time.LoadLocation(v.session.Timezone); err == nil {
			w.zone = zone
		}
	}
	w.Done = sentences[v.r.URL.Query().Get("done")]
	var buf bytes.Buffer
	if err := templates[page].ExecuteTemplate(&buf, "layout", &w); err != nil {
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
	return v.show(status, "message", view{Title: title, Data: text, Bare: v.session == nil})
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
	"default": "Default card changed.",
}

// Tone is the colour of what was just done: what changed nothing is plain.
func (w *view) Tone() string {
	if w.Done == sentences["nocard"] || w.Done == sentences["samecard"] {
		return "plain"
	}
	return "good"
}

// Trail is the path to this page; its last step, the page itself, is not a
// link. A single step is not shown.
func (w *view) Trail() []crumb {
	if len(w.Crumbs) < 2 {
		return nil
	}
	trail := slices.Clone(w.Crumbs)
	trail[len(trail)-1].Href = ""
	return trail
}

// Now is when the page was made.
func (w *view) Now() string { return w.now.String() }

// secretOnce is a secret that is shown now and never again. Back is where
// reloading the page leads.
type secretOnce struct{ Lead, Secret, Back string }

// moment is a time in words, with the exact one beside it.
type moment struct{ ISO, Exact, Ago string }

// When describes a time, or nil.
func (w *view) When(at any) *moment {
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
