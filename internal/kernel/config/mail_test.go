package config_test

import (
	"strings"
	"testing"

	"frontdesk/internal/kernel/config"
)

// What SPF records of hosted domains say is a list of mechanisms, and never
// more than that.
func TestSPF(t *testing.T) {
	for in, want := range map[string]string{"": "a:mail.example.com", "include:relay.example": "include:relay.example", "mx ip4:192.0.2.0/24 ip6:2001:db8::1": "mx ip4:192.0.2.0/24 ip6:2001:db8::1",
		"v=spf1 mx": "!", "+all": "!", "-all": "!", "include:": "!", "a  mx": "!", "a\nmx": "!", "redirect=other.example": "!", "a " + strings.Repeat("a ", 100) + "a": "!"} {
		s := config.Settings{Listen: "127.0.0.1:0", Agreement: config.Agreement{Business: "1", Domain: "1"}, Files: config.Files{MaxBytes: 1}, Mail: config.Mail{Domain: "mail.example.com", SPF: in},
			RateLimit:  config.RateLimit{Free: 1, Starter: 1, Professional: 1, Enterprise: 1, Public: 1},
			AgentLimit: config.AgentLimit{Free: 1, Starter: 1, Professional: 1, Enterprise: 1, Transport: 1}, OAuth: config.OAuth{RegisterLimit: 1, TokenLimit: 1}}
		err := s.Settle(false)
		if want == "!" && (err == nil || !strings.Contains(err.Error(), "--mail-spf")) || want != "!" && (err != nil || s.Mail.SPF != want) {
			t.Errorf("%q: %q, %v", in, s.Mail.SPF, err)
		}
	}
}
