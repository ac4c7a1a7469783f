package desk

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
)

// Access is who may see a page.
type Access uint8

// Most pages are for everybody who is signed in, so that is the default.
const (
	SignedIn Access = iota
	Managers        // owners and admins
	Anyone
	// AnySite is for anybody, and its forms may be sent by other sites: a mailbox
	// provider submits the one of a mail's unsubscribe link itself, and the token in
	// its address alone decides (RFC 8058).
	AnySite
)

func (a Access) public() bool { return a >= Anyone }

// maxForm is far more than any form open to strangers needs. maxEdited fits
// the largest automation: encoding a form can triple what was typed.
const (
	maxForm   = 256 << 10
	maxEdited = 4 << 20
)

// Mount adds all pages, and what they load.
func (d *Desk) Mount(mux *http.ServeMux) {
	d.mux = mux
	guard := d.newGuard()
	for _, route := range d.Routes() {
		if route.Who == AnySite {
			mux.Handle(route.Pattern, d.handler(route))
			continue
		}
		mux.Handle(route.Pattern, guard.Handler(d.handler(route)))
	}
	mux.Handle("GET /live", d.handler(Route{Show: func(v *Visit) error {
		return d.Live.Serve(v.W, v.R, v.Token, v.Session)
	}}))
	mux.Handle("/", guard.Handler(d.handler(Route{Who: Anyone, Show: notFound})))
	mux.HandleFunc("GET /assets/{name}", ServeAsset)
}

func notFound(*Visit) error {
	return fault.NotFound.Say("The address may be mistyped, or what was here is gone.")
}

// newGuard refuses forms sent by another site (Sec-Fetch-Site, or Origin). Behind
// a proxy, the Host may differ from the one that people see, so the configured
// address is trusted too.
func (d *Desk) newGuard() *http.CrossOriginProtection {
	g := http.NewCrossOriginProtection()
	scheme, rest, _ := strings.Cut(d.BaseURL, "://")
	host, _, _ := strings.Cut(rest, "/")
	if err := g.AddTrustedOrigin(scheme + "://" + host); err != nil {
		panic(err) // the configuration was checked
	}
	g.SetDenyHandler(d.handler(Route{Who: Anyone, Show: func(v *Visit) error {
		return v.ShowMessage(http.StatusForbidden, "This form came from another site",
			"Nothing was changed. Open the page here and try again.")
	}}))
	return g
}

// handler turns a page into a handler.
func (d *Desk) handler(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &Visit{Desk: d, W: w, R: r, ID: string(id.NewRequestID())}
		w.Header()["X-Request-ID"] = []string{v.ID}
		if err := v.enter(route); err != nil {
			v.fail(err)
			return
		}
		if v.Session == nil && !route.Who.public() {
			if err := v.askToSignIn(route); err != nil {
				v.fail(err)
			}
			return
		}
		if !route.Who.public() && v.MustEnroll() && !mayVisitBeforeEnrolling(r.URL.Path) {
			v.Redirect(SignInSettings + "?next=" + url.QueryEscape(v.ReturnPath())) //nolint:errcheck // always nil
			return
		}
		if err := route.Show(v); err != nil {
			v.fail(err)
		}
	})
}

// askToSignIn leads to the page that does, and keeps what was sent.
func (v *Visit) askToSignIn(route Route) error {
	if v.R.Method != http.MethodPost || route.SeenFirst {
		return v.Redirect("/sign-in?next=" + url.QueryEscape(v.ReturnPath()))
	}
	k, err := v.keepForm()
	if err != nil {
		return badForm(err)
	}
	return v.SignInPage(v, k)
}

// enter identifies the visitor and reads the form.
func (v *Visit) enter(route Route) error {
	if c, err := v.R.Cookie(v.CookieName()); err == nil {
		s, err := v.Accounts.SessionByToken(v.R.Context(), c.Value)
		switch {
		case err == nil:
			v.Token, v.Session, v.Caller = c.Value, s, account.CallerOfSession(s)
		case !fault.IsKind(err, fault.Unauthorized):
			return err
		}
	}
	if !route.Streams || v.Session == nil {
		if err := v.readForm(route.Who); err != nil {
			return err
		}
	}
	if !utf8.ValidString(v.R.URL.Path) {
		return fault.NotFound.New()
	}
	for name, values := range v.R.Form {
		if !utf8.ValidString(name) || slices.ContainsFunc(values, func(s string) bool { return !utf8.ValidString(s) }) {
			return fault.BadInput.Say("The form is not valid UTF-8. Open the page again and send it from there.")
		}
	}
	if v.Session == nil || v.Session.MustEnroll() { // handler leads either to the one page that is open to them
		return nil
	}
	if route.Who == Managers && !v.Session.Manager() {
		return fault.Forbidden.Say("Only owners and admins can see this page. Ask one of them to do it, or to make " +
			"you an admin.")
	}
	if !route.Who.public() && v.Session.OrgStatus != "active" && v.R.URL.Path != "/sign-out" &&
		!strings.HasPrefix(v.R.URL.Path, "/settings/organizations") {
		return fault.AccountDisabled.Say("The account %s is disabled. Ask whoever runs this server.", v.Session.OrgName)
	}
	return nil
}

// readForm reads the form, up to what a form may have.
func (v *Visit) readForm(who Access) error {
	bound := int64(maxForm)
	if v.Session != nil && !who.public() {
		bound = maxEdited
	}
	v.R.Body = http.MaxBytesReader(v.W, v.R.Body, bound)
	err := v.R.ParseForm()
	if err == nil {
		return nil
	}
	f := fault.BadInput.Because(err)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		f.Text = "The form is too large. Nothing was saved; go back and shorten it."
	}
	return f
}

// SignInSettings is the page of a person's own sign-in, and the only one open to
// whoever has yet to add a second factor.
const SignInSettings = "/settings/sign-in"

// MustEnroll reports whether the visitor has to add a second factor before they see
// anything of the organization.
func (v *Visit) MustEnroll() bool { return v.Session != nil && v.Session.MustEnroll() }

// mayVisitBeforeEnrolling reports whether a page is open to such a visitor.
func mayVisitBeforeEnrolling(path string) bool {
	return path == SignInSettings || strings.HasPrefix(path, SignInSettings+"/") || path == "/sign-out" ||
		path == "/settings/organizations"
}

// ReturnPath is the page to return to after signing in: the one requested or,
// when a form was sent, the page that shows the form.
func (v *Visit) ReturnPath() string {
	if v.R.Method == http.MethodGet || v.R.Method == http.MethodHead {
		return v.R.URL.RequestURI()
	}
	return v.R.URL.Path
}

// Next is where the visitor wanted to go before they had to sign in.
func (v *Visit) Next() string { return LocalPath(v.R.FormValue("next")) }

// LocalPath is a path that is safe to redirect to after signing in, and Today in
// place of any other.
func LocalPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || !IsLocalPath(path) || u.Path == "/sign-out" || u.Path == "/sign-in" {
		return "/"
	}
	return path
}

// IsLocalPath reports whether an address stays on this site, so that it is safe to
// redirect to. A browser reads "//host" and "/\host" as another site.
func IsLocalPath(path string) bool {
	u, err := url.Parse(path)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil && strings.HasPrefix(path, "/") &&
		!strings.HasPrefix(path, "//") && !strings.HasPrefix(u.Path, "//") &&
		!strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f })
}

// Address is where the visitor comes from, for limits.
func (v *Visit) Address() string { return v.Proxies.Key(v.R).String() }

// Origin adds where the visitor comes from, as the operations that sign in take it.
func (v *Visit) Origin(input Fields) Fields {
	input["address"], input["browser"] = v.Address(), v.Browser()
	input["userAgent"] = cut.Runes(strings.ToValidUTF8(v.R.UserAgent(), "\uFFFD"), 300)
	return input
}

// Own is the input of an operation on the visitor's own account.
func (v *Visit) Own(input Fields) Fields {
	if input == nil {
		input = Fields{}
	}
	input["token"] = v.Token
	return input
}

// CookieName has the prefix that makes a browser insist on https, on this host
// alone, and on the path /. Over plain http it would refuse such a cookie, so
// there the name has no prefix.
func (v *Visit) CookieName() string {
	if v.secure() {
		return "__Host-frontdesk"
	}
	return "frontdesk"
}

// secure reports whether people reach the desk over https.
func (v *Visit) secure() bool { return strings.HasPrefix(v.BaseURL, "https://") }

// browserCookie names the cookie that identifies a browser after its sessions
// have ended.
func (v *Visit) browserCookie() string { return v.CookieName() + "_browser" }

// Browser is the token that identifies the browser, or nothing.
func (v *Visit) Browser() string {
	if c, err := v.R.Cookie(v.browserCookie()); err == nil && utf8.ValidString(c.Value) && len(c.Value) < 100 {
		return c.Value
	}
	return ""
}

// cookieAge is how long a browser keeps the session's cookie, in seconds; the
// server decides how long it means anything.
const cookieAge = 90 * 24 * 60 * 60

// StartSession replaces the browser's session with a new one.
func (v *Visit) StartSession(s *account.NewSession) {
	if v.Session != nil {
		if err := v.Do("sessions.delete", Fields{"token": v.Token}, nil); err != nil {
			v.Log.WarnContext(v.R.Context(), "an old session was not ended", "trace_id", v.ID, "err", err)
		}
	}
	v.SetCookie(v.CookieName(), s.Token, cookieAge)
	v.SetCookie(v.browserCookie(), s.Browser, int(account.BrowserLifetime.Seconds()))
}

// ForgetSession removes the session's cookie and keeps the browser's.
func (v *Visit) ForgetSession() { v.SetCookie(v.CookieName(), "", -1) }

// SignOut ends the session and leads to where one begins.
func (v *Visit) SignOut() error {
	if err := v.Do("sessions.delete", Fields{"token": v.Token}, nil); err != nil {
		return err
	}
	v.ForgetSession()
	return v.Redirect("/sign-in")
}

// ProviderName is what the identity provider is called; empty without one.
func (v *Visit) ProviderName() string {
	name, _ := v.Accounts.ProviderName()
	return name
}

// SetCookie sets a cookie that scripts cannot read, for a number of seconds.
func (v *Visit) SetCookie(name, value string, age int) {
	http.SetCookie(v.W, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: v.secure(),
		HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// fail shows why a page cannot be shown. An error that is not a refusal is
// logged once, here, and the visitor learns only the request id.
func (v *Visit) fail(err error) {
	ctx := v.R.Context()
	f := fault.FromError(err)
	if f.Kind == fault.Internal && ctx.Err() != nil {
		f = fault.Unavailable.Because(err) // the visitor went away
	}
	title := "That did not work"
	text := f.Sentence()
	switch f.Kind {
	case fault.Internal:
		v.Log.ErrorContext(ctx, "page failed", "trace_id", v.ID, "method", v.R.Method, "path", v.route(), "err", err)
		title, text = "Something went wrong on our side", "The server's logs have the details under request "+v.ID+"."
	case fault.Unavailable:
		v.Log.WarnContext(ctx, "page turned away", "trace_id", v.ID, "path", v.route(), "err", err)
		title = "Busy for a moment"
	case fault.OutcomeUnknown:
		v.Log.WarnContext(ctx, "the outcome is unknown", "trace_id", v.ID, "path", v.route(), "err", err)
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
	case fault.KeyReused, fault.KeyInFlight:
		title, text = "This was sent already", "It was done once, and not a second time. Open the page again to see it."
	}
	if wait := f.RetryDelay(); wait > 0 {
		v.W.Header().Set("Retry-After", strconv.Itoa(limit.CeilSeconds(wait)))
	}
	if err := v.ShowMessage(f.Status, title, text); err != nil {
		v.Log.ErrorContext(ctx, "page failed", "trace_id", v.ID, "err", err)
	}
}

// route is the pattern of the request. The path itself may hold a token, which
// must not be logged.
func (v *Visit) route() string {
	if v.R.Pattern != "" {
		return v.R.Pattern
	}
	return "/"
}

// SetRetryAfter tells the client how long to wait, if the refusal says so.
func (v *Visit) SetRetryAfter(err error) {
	if f := fault.FromError(err); f.RetryAfter > 0 {
		v.W.Header().Set("Retry-After", strconv.Itoa(limit.CeilSeconds(f.RetryAfter)))
	}
}

// ShowMessage shows a page that is one sentence.
func (v *Visit) ShowMessage(status int, title, text string) error {
	return v.Show(status, "sentence", View{Title: title, Data: text, Bare: v.Session == nil || v.MustEnroll()})
}
