package console

import (
	"net/http"
	"unicode/utf8"

	"frontdesk/internal/account"
)

// cookieName has the prefix with which a browser insists on https, on this
// host alone and on the whole of it. Over plain http it would refuse the
// cookie, so there the name is plain.
func (v *visit) cookieName() string {
	if v.secure() {
		return "__Host-frontdesk"
	}
	return "frontdesk"
}

// browserCookie names the cookie by which a browser is known after its
// sessions have ended.
func (v *visit) browserCookie() string { return v.cookieName() + "_browser" }

// browser is the token by which the browser is known, or nothing.
func (v *visit) browser() string {
	if c, err := v.r.Cookie(v.browserCookie()); err == nil && utf8.ValidString(c.Value) && len(c.Value) < 100 {
		return c.Value
	}
	return ""
}

// cookieAge is how long a browser keeps the cookie; the server decides how
// long it means anything.
const cookieAge = 90 * 24 * 60 * 60

// remember puts a new session into the browser, in place of any before it, and
// lets the browser be known again.
func (v *visit) remember(s *account.NewSession) {
	v.setCookie(v.cookieName(), s.Token, cookieAge)
	v.setCookie(v.browserCookie(), s.Browser, int(account.BrowserLifetime.Seconds()))
}

// forget takes the session out of the browser, which stays known.
func (v *visit) forget() { v.setCookie(v.cookieName(), "", -1) }

func (v *visit) setCookie(name, value string, age int) {
	http.SetCookie(v.w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: v.secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode})
}
