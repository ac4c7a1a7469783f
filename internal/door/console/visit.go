package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
)

// visit is one request: who asks, and where the answer goes.
type visit struct {
	*Door
	w       http.ResponseWriter
	r       *http.Request
	id      string           // the request's
	token   string           // the session's
	session *account.Session // nil when nobody is signed in
	caller  *op.Caller
	at      string // the address of the page shown, when a form led to it
	policy  string // where forms may lead besides this site, as form-action takes it
	inDesk  *desk.Visit
}

// access is who may see a page.
type access uint8

const (
	anyone access = iota
	signedIn
	managers // owners and admins
)

// maxForm is far more than any form open to strangers needs. maxEdited fits
// the largest automation: encoding a form can triple what was typed.
const (
	maxForm   = 256 << 10
	maxEdited = 4 << 20
)

// page turns a page into a handler.
func (d *Door) page(who access, show func(*visit) error) http.Handler {
	return d.handler(who, false, show)
}

// handler turns a page into a handler. streams means that the page reads the body
// itself.
func (d *Door) handler(who access, streams bool, show func(*visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Door: d, w: w, r: r, id: string(id.NewRequestID())}
		w.Header()["X-Request-ID"] = []string{v.id}
		if err := v.enter(who, streams); err != nil {
			v.fail(err)
			return
		}
		if v.session == nil && who != anyone {
			v.redirect("/sign-in?next=" + url.QueryEscape(v.returnPath()))
			return
		}
		if who != anyone && v.mustEnroll() && !mayVisitBeforeEnrolling(r.URL.Path) {
			v.redirect(signInPath + "?next=" + url.QueryEscape(v.returnPath()))
			return
		}
		if err := show(v); err != nil {
			v.fail(err)
		}
	})
}

// enter identifies the visitor and reads the form.
func (v *visit) enter(who access, streams bool) error {
	if c, err := v.r.Cookie(v.cookieName()); err == nil {
		s, err := v.Accounts.SessionByToken(v.r.Context(), c.Value)
		switch {
		case err == nil:
			v.token, v.session, v.caller = c.Value, s, account.CallerOfSession(s)
		case !fault.IsKind(err, fault.Unauthorized):
			return err
		}
	}
	if !streams || v.session == nil {
		if err := v.readForm(who); err != nil {
			return err
		}
	}
	if !utf8.ValidString(v.r.URL.Path) {
		return fault.NotFound.New()
	}
	for name, values := range v.r.Form {
		if !utf8.ValidString(name) || slices.ContainsFunc(values, func(s string) bool { return !utf8.ValidString(s) }) {
			return fault.BadInput.Say("The form is not valid UTF-8. Open the page again and send it from there.")
		}
	}
	if v.session == nil {
		return nil
	}
	if v.session.MustEnroll() {
		return nil // handler leads to the one page that is open
	}
	if who == managers && !v.session.Manager() {
		return fault.Forbidden.Say("Only owners and admins can see this page. Ask one of them to do it, or to make " +
			"you an admin.")
	}
	if who != anyone && v.session.OrgStatus != "active" && v.r.URL.Path != "/sign-out" &&
		!strings.HasPrefix(v.r.URL.Path, "/settings/organizations") {
		return fault.AccountDisabled.Say("The account %s is disabled. Ask whoever runs this server.", v.session.OrgName)
	}
	return nil
}

// readForm reads the form, up to what a form may have.
func (v *visit) readForm(who access) error {
	bound := int64(maxForm)
	if v.session != nil && who != anyone {
		bound = maxEdited
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, bound)
	err := v.r.ParseForm()
	if err == nil {
		return nil
	}
	f := fault.BadInput.Because(err)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		f.Text = "The form is too large. Nothing was saved; go back and shorten it."
	}
	return f
}

// returnPath is the page to return to after signing in: the one requested or,
// when a form was sent, the page that shows the form.
func (v *visit) returnPath() string {
	if v.r.Method == http.MethodGet || v.r.Method == http.MethodHead {
		return v.r.URL.RequestURI()
	}
	return v.r.URL.Path
}

// localPath returns a path that is safe to redirect to, because it stays on
// this site, and the front page in place of any other. A browser reads "//host"
// and "/\host" as another site.
func localPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(path, "/") ||
		strings.HasPrefix(path, "//") ||
		strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f }) ||
		strings.HasPrefix(u.Path, "//") || u.Path == "/sign-out" || u.Path == "/sign-in" {
		return "/"
	}
	return path
}

// next is where the visitor wanted to go.
func (v *visit) next() string { return localPath(v.r.FormValue("next")) }

func (v *visit) value(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }

// pathID reads an id from the path. What is not an id is not found.
func (v *visit) pathID(name string) (id.ID, error) {
	ref, ok := id.Parse(v.r.PathValue(name))
	if !ok {
		return "", fault.NotFound.New()
	}
	return ref, nil
}

// address is where the visitor comes from, for limits.
func (v *visit) address() string { return v.Proxies.Key(v.r).String() }

// redirect sends the browser to a path on this site.
func (v *visit) redirect(path string) {
	v.setHeaders()
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
}

// done redirects to a page that says what happened.
func (v *visit) done(path, what string) error {
	u, err := url.Parse(path)
	if err != nil {
		return err
	}
	q := u.Query()
	q.Set("done", what)
	u.RawQuery = q.Encode()
	v.redirect(u.String())
	return nil
}

// fail shows why a page cannot be shown. An error that is not a refusal is
// logged once, here, and the visitor learns only the request id.
func (v *visit) fail(err error) {
	f := fault.FromError(err)
	if f.Kind == fault.Internal && v.r.Context().Err() != nil {
		f = fault.Unavailable.Because(err) // the visitor went away
	}
	title := "That did not work"
	text := f.Sentence()
	switch f.Kind {
	case fault.Internal:
		v.Log.ErrorContext(v.r.Context(), "page failed", "trace_id", v.id, "method", v.r.Method, "path", v.route(),
			"err",
			err)
		title, text = "Something went wrong on our side", "The server's logs have the details under request "+v.id+"."
	case fault.Unavailable:
		v.Log.WarnContext(v.r.Context(), "page turned away", "trace_id", v.id, "path", v.route(), "err", err)
		title = "Busy for a moment"
	case fault.OutcomeUnknown:
		v.Log.WarnContext(v.r.Context(), "the outcome is unknown", "trace_id", v.id, "path", v.route(), "err", err)
		title, text = "We do not know whether that worked", "It may have happened. Check before you try again."
	case fault.NotFound:
		title = "There is no such page"
	case fault.Forbidden:
		if title = "You may not do this"; strings.HasPrefix(text, "Only owners and admins") ||
			strings.HasPrefix(text, "Only an owner or admin") {
			title = "Owners and admins only"
		}
	case fault.AccountDisabled:
		title = "This account is disabled"
	case fault.RateLimited:
		title = "Too many attempts"
	}
	if wait := f.RetryDelay(); wait > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(limit.CeilSeconds(wait)))
	}
	if err := v.showMessage(f.Status, title, text); err != nil {
		v.Log.ErrorContext(v.r.Context(), "page failed", "trace_id", v.id, "err", err)
	}
}

// route is the pattern of the request. The path itself may hold a token, which
// must not be logged.
func (v *visit) route() string {
	if v.r.Pattern != "" {
		return v.r.Pattern
	}
	return "/"
}

func (v *visit) notFound() error {
	return fault.NotFound.Say("The address may be mistyped, or what was here is gone.")
}
