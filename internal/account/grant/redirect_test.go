package grant

import (
	"strings"
	"testing"
)

// Codes go to https, to the user's own machine, or to an app's own scheme.
func TestCheckRedirect(t *testing.T) {
	for uri, ok := range map[string]bool{
		"https://app.example/callback":     true,
		"https://app.example/callback?a=b": true,
		"http://127.0.0.1/callback":        true,
		"http://127.0.0.1:49152/callback":  true,
		"http://[::1]:49152/callback":      true,
		"http://localhost/callback":        true,
		"com.example.app:/callback":        true,
		"cursor://anysphere/callback":      true,

		"":                                                   false,
		"/callback":                                          false,
		"https:///callback":                                  false,
		"https://app.example/#fragment":                      false,
		"https://user@app.example/":                          false,
		`https://app.example\@evil.test/`:                    false,
		"https://app.example/two words":                      false,
		"https://app.example/żółw":                           false,
		"http://app.example/callback":                        false,
		"http://localhost.evil.test/":                        false,
		"http://127.0.0.1.evil.test/":                        false,
		"http://192.168.0.1/callback":                        false,
		"javascript:alert(1)":                                false,
		"data:text/html,x":                                   false,
		"file:///etc/passwd":                                 false,
		"view-source:https://app.example":                    false,
		"https://app.example/" + strings.Repeat("x", maxURI): false,
	} {
		if err := checkRedirect(uri); (err == nil) != ok {
			t.Errorf("%.60q: %v", uri, err)
		}
	}
}

// A redirect URI is compared as a string, except for the port on the user's own
// machine (RFC 8252 §7.3).
func TestMatches(t *testing.T) {
	registered := []string{
		"https://app.example/callback", "http://127.0.0.1/callback", "http://localhost:8080/cb?x=1",
		"http://[::1]/callback",
	}
	for uri, ok := range map[string]bool{
		"https://app.example/callback":     true,
		"http://127.0.0.1/callback":        true,
		"http://127.0.0.1:49152/callback":  true,
		"http://localhost/cb?x=1":          true,
		"http://localhost:1/cb?x=1":        true,
		"http://[::1]:49152/callback":      true,
		"https://app.example:444/callback": false,
		"https://app.example/callback/":    false,
		"https://APP.example/callback":     false,
		"https://app.example/callback?x=1": false,
		"http://127.0.0.1:49152/other":     false,
		"http://127.0.0.2:49152/callback":  false,
		"http://localhost:1/cb":            false,
		"http://a@127.0.0.1:1/callback":    false,
		"http://127.0.0.1:1/callback#x":    false,
		"https://127.0.0.1:49152/callback": false,
		"http://127.0.0.1.evil.test/":      false,
		"":                                 false,
	} {
		if matchesRegistered(registered, uri) != ok {
			t.Errorf("%q matches: %v", uri, !ok)
		}
	}
}
