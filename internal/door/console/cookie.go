package console

import "net/http"

// cookieName has the prefix with which a browser insists on https, on this
// host alone and on the whole of it. Over plain http it would refuse the
// cookie, so there the name is plain.
func (v *visit) cookieName() string {
	if v.secure() {
		return "__Host-frontdesk"
	}
	return "frontdesk"
}

// cookieAge is how long a browser keeps the cookie; the server decides how
// long it means anything.
const cookieAge = 90 * 24 * 60 * 60

// remember puts a new session into the browser, in place of any before it.
func (v *visit) remember(token string) { v.setCookie(token, cookieAge) }

// forget takes the session out of the browser.
func (v *visit) forget() { v.setCookie("", -1) }

func (v *visit) setCookie(value string, age int) {
	http.SetCookie(v.w, &http.Cookie{Name: v.cookieName(), Value: value, Path: "/", MaxAge: age, Secure: v.secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode})
}
