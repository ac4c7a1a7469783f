package grant

import (
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/kernel/peer"
)

const maxURI = 2048

// unsafeSchemes are opened, or even run, by the browser itself. No code may be
// sent to them.
var unsafeSchemes = []string{"javascript", "data", "vbscript", "file", "filesystem", "blob", "about",
	"view-source", "ftp", "ws", "wss", "mailto", "tel", "sms", "intent", "content", "chrome", "jar"}

// checkRedirect refuses an unsafe redirect URI. Allowed are https, http to the
// user's own machine (RFC 8252 §7.3), and an app's own scheme (RFC 8252 §7.1).
func checkRedirect(s string) *Error {
	bad := func(why string) *Error { return oauthError(InvalidRedirect, s+": "+why) }
	if !isPrintableASCII(s, maxURI) {
		return oauthError(InvalidRedirect, "A redirect URI has at most 2048 ASCII characters and no spaces.")
	}
	u, err := url.Parse(s)
	// RFC 6749 §3.1.2: absolute, and without a fragment.
	if err != nil || u.Scheme == "" || strings.Contains(s, "#") {
		return bad("not an absolute URI without a fragment")
	}
	if u.User != nil || strings.Contains(s, `\`) {
		return bad("must not contain a user name or a backslash")
	}
	switch {
	case u.Scheme == "https":
		if u.Hostname() == "" {
			return bad("has no host")
		}
	case u.Scheme == "http":
		if !peer.IsLoopback(u.Hostname()) {
			return bad("plain http is only for the user's own machine, like http://127.0.0.1/callback")
		}
	case slices.Contains(unsafeSchemes, u.Scheme):
		return bad("this scheme cannot receive a code")
	}
	return nil
}

// isOwnMachine reports whether a redirect URI leads to the person's own machine.
func isOwnMachine(redirect string) bool {
	u, err := url.Parse(redirect)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && peer.IsLoopback(u.Hostname())
}

// matchesRegistered reports whether a redirect URI is a registered one. It
// compares strings (RFC 9700 §2.1), but allows any port on the user's own
// machine, because an app does not know its port in advance (RFC 8252 §7.3).
func matchesRegistered(registered []string, given string) bool {
	if slices.Contains(registered, given) {
		return true
	}
	want, ok := stripLoopbackPort(given)
	return ok && slices.ContainsFunc(registered, func(r string) bool {
		have, ok := stripLoopbackPort(r)
		return ok && have == want
	})
}

// stripLoopbackPort removes the port from a plain http URI of the user's own machine. It is
// not ok for any other URI. It cuts the string rather than writing a parsed URL, which
// could differ in spelling.
func stripLoopbackPort(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || !strings.HasPrefix(s, "http://") || u.User != nil || !peer.IsLoopback(u.Hostname()) ||
		!isPrintableASCII(s, maxURI) || strings.ContainsAny(s, `#\`) {
		return "", false
	}
	authority, rest := s[len("http://"):], ""
	if i := strings.IndexAny(authority, "/?"); i >= 0 {
		authority, rest = authority[:i], authority[i:]
	}
	return "http://" + strings.TrimSuffix(authority, ":"+u.Port()) + rest, true
}

// isPrintableASCII reports whether s is ASCII without spaces and control characters.
func isPrintableASCII(s string, most int) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= most
}

// redirectWithAnswer appends an answer to the query of the client's redirect URI,
// after what it already contains (RFC 6749 §3.1.2). Every answer names the
// issuer (RFC 9207 §2) and carries the client's state (RFC 6749 §4.1.2).
func (g *Grants) redirectWithAnswer(redirect string, state *string, answer url.Values) string {
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

func (g *Grants) redirectWithError(redirect string, state *string, e *Error) string {
	return g.redirectWithAnswer(redirect, state, url.Values{"error": {e.Code}, "error_description": {e.Description}})
}

// redirectHost names where a redirect leads, in a form that a person can judge.
func redirectHost(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil {
		return redirect
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return u.Scheme + "://" + u.Host
	}
	return u.Host
}
