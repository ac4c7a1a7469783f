package grant

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const maxURI = 2048

// browsers open these themselves, or worse, run them: nothing to send a code to.
var browsers = []string{"javascript", "data", "vbscript", "file", "filesystem", "blob", "about", "view-source", "ftp", "ws", "wss", "mailto", "tel", "sms", "intent", "content", "chrome", "jar"}

// checkRedirect refuses a redirect URI that nobody should register: https, or
// http to this machine (RFC 8252 §7.3), or an app's own scheme (RFC 8252 §7.1).
func checkRedirect(s string) *Error {
	bad := func(why string) *Error { return refuse(InvalidRedirect, s+": "+why) }
	if !printable(s, maxURI) {
		return refuse(InvalidRedirect, "A redirect URI has at most 2048 characters, of ASCII and without spaces.")
	}
	u, err := url.Parse(s)
	// RFC 6749 §3.1.2: absolute, and without a fragment.
	if err != nil || u.Scheme == "" || strings.Contains(s, "#") {
		return bad("not an absolute URI without a fragment")
	}
	if u.User != nil || strings.Contains(s, `\`) {
		return bad("must not hold a user name or a backslash")
	}
	switch {
	case u.Scheme == "https":
		if u.Hostname() == "" {
			return bad("has no host")
		}
	case u.Scheme == "http":
		if !loopback(u.Hostname()) {
			return bad("plain http is only for this machine, like http://127.0.0.1/callback")
		}
	case slices.Contains(browsers, u.Scheme):
		return bad("this scheme cannot take a code")
	}
	return nil
}

// loopback reports whether a host is the user's own machine.
func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// ownMachine reports whether a redirect URI leads to the person's own machine.
func ownMachine(redirect string) bool {
	u, err := url.Parse(redirect)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && loopback(u.Hostname())
}

// matches reports whether a redirect URI is one of those registered: as a
// string (RFC 9700 §2.1), but with any port on the user's own machine, because
// an app does not know beforehand which one it will get (RFC 8252 §7.3).
func matches(registered []string, given string) bool {
	if slices.Contains(registered, given) {
		return true
	}
	want, ok := withoutPort(given)
	return ok && slices.ContainsFunc(registered, func(r string) bool {
		have, ok := withoutPort(r)
		return ok && have == want
	})
}

// withoutPort is a URI of the user's own machine without its port.
func withoutPort(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || !strings.HasPrefix(s, "http://") || u.User != nil || !loopback(u.Hostname()) || !printable(s, maxURI) || strings.ContainsAny(s, `#\`) {
		return "", false
	}
	authority, rest := s[len("http://"):], ""
	if i := strings.IndexAny(authority, "/?"); i >= 0 {
		authority, rest = authority[:i], authority[i:]
	}
	return "http://" + strings.TrimSuffix(authority, ":"+u.Port()) + rest, true
}

// printable reports whether s is ASCII without spaces and control characters.
func printable(s string, most int) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= most
}

// back is the client's redirect URI with an answer in its query, after what it
// holds already (RFC 6749 §3.1.2). Every answer names the issuer (RFC 9207 §2)
// and carries the client's state (RFC 6749 §4.1.2).
func (g *Grants) back(redirect string, state *string, answer url.Values) string {
	if state != nil {
		answer.Set("state", *state)
	}
	answer.Set("iss", g.config.Issuer)
	sign := "?"
	if strings.Contains(redirect, "?") {
		sign = "&"
	}
	return redirect + sign + answer.Encode()
}

func (g *Grants) backWith(redirect string, state *string, e *Error) string {
	return g.back(redirect, state, url.Values{"error": {e.Code}, "error_description": {e.Description}})
}

// host is where a redirect leads, as a person can judge it.
func host(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil {
		return redirect
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return u.Scheme + "://" + u.Host
	}
	return u.Host
}
