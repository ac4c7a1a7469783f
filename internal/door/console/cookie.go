package console

import (
	"net/http"
	"unicode/utf8"

	"frontdesk/internal/account"
)

// cookieName has the prefix that makes a browser insist on https, on this host
// alone, and on the path /. Over plain http it would refuse such a cookie, so
// there the name has no prefix.
func (v *visit) cookieName() string {
	if v.secure() {
		return "__Host-frontdesk"
	}
	return "frontdesk"
}

// browserCookie names the cookie that identifies a browser after its sessions
// have ended.
func (v *visit) browserCookie() string { return v.cookieName() + "_browser" }

// browser is the token that identifies the browser, or nothing.
func (v *visit) browser() string {
	if c, err := v.r.Cookie(v.browserCookie()); err == nil && utf8.ValidString(c.Value) && len(c.Value) < 100 {
		return c.Value
	}
	return ""
}

// cookieAge is how long a browser keeps the cookie; the server decides how
// long it means anything.
const cookieAge = 90 * 24 * 60 * 60

// rememberSession sets the cookies of a new session, in place of any earlier
// one, and of the browser.
func (v *visit) rememberSession(s *account.NewSession) {
	v.setCookie(v.cookieName(), s.Token, cookieAge)
	v.setCookie(v.browserCookie(), s.Browser, int(account.BrowserLifetime.Seconds()))
}

// forgetSession removes the session's cookie and keeps the browser's.
func (v *visit) forgetSession() { v.setCookie(v.cookieName(), "", -1) }

func (v *visit) setCookie(name, value string, age int) {
	http.SetCookie(v.w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: v.secure(),
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
}
