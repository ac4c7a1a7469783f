package config_test

import (
	"strings"
	"testing"
)

// What SPF records of hosted domains say is a list of mechanisms, and never
// more than that.
func TestSPF(t *testing.T) {
	for in, want := range map[string]string{"": "a:mail.example.com", "include:relay.example": "include:relay.example",
		"mx ip4:192.0.2.0/24 ip6:2001:db8::1": "mx ip4:192.0.2.0/24 ip6:2001:db8::1",
		"v=spf1 mx":                           "!", "+all": "!", "-all": "!", "include:": "!", "a  mx": "!",
		"a\nmx":                  "!",
		"redirect=other.example": "!", "a " + strings.Repeat("a ", 100) + "a": "!"} {
		s := validSettings()
		s.Mail.SPF = in
		err := s.FillAndValidate(false)
		if want == "!" && (err == nil || !strings.Contains(err.Error(), "--mail-spf")) || want != "!" &&
			(err != nil || s.Mail.SPF != want) {
			t.Errorf("%q: %q, %v", in, s.Mail.SPF, err)
		}
	}
}
