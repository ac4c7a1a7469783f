package desk

import (
	"net/url"
	"regexp"

	"frontdesk/internal/kernel/peer"
)

// What a policy may contain: anything else could end the directive.
var (
	policyScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
	policyHost   = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)
)

// FormTarget is a validated redirect URI's origin as form-action takes it. For
// an app's own scheme it is the scheme, because such a URI has no origin.
func FormTarget(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil || !policyScheme.MatchString(u.Scheme) {
		return ""
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return " " + u.Scheme + ":"
	}
	if policyHost.MatchString(u.Host) {
		return " " + u.Scheme + "://" + u.Host
	}
	// A policy cannot name an IPv6 address. Only the user's own machine gets
	// the whole scheme for it.
	if peer.IsLoopback(u.Hostname()) {
		return " " + u.Scheme + ":"
	}
	return ""
}
