package config_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/config"
)

func withDomain(change func(*config.Settings)) config.Settings {
	s := validSettings()
	s.Domain, s.MCPListen, s.Mail.Domain = "Desk.Example.com.", "127.0.0.1:8081", "frontdesk.example"
	s.TLS = config.TLS{Listen: ":443", Redirect: ":80"}
	s.ACME = config.ACME{Directory: "https://ca.example/directory", Check: time.Minute}
	if change != nil {
		change(&s)
	}
	return s
}

// One name gives the addresses of everything.
func TestDomain(t *testing.T) {
	s := withDomain(nil)
	if err := s.FillAndValidate(false); err != nil {
		t.Fatal(err)
	}
	if s.Domain != "desk.example.com" || s.BaseURL != "https://desk.example.com" || s.MCPURL != s.BaseURL ||
		s.Listen != ":443" || !s.SharesListener() || s.Mail.Domain != s.Domain || !s.ObtainsCertificate() {
		t.Errorf("%+v", s)
	}
	s = withDomain(func(s *config.Settings) {
		s.MCPListen, s.Mail.Domain, s.BaseURL = "", "mail.example.com", "https://desk.example.com:8443"
		s.TLS.Cert, s.TLS.Key = "a", "b"
	})
	if err := s.FillAndValidate(false); err != nil || s.SharesListener() || s.Mail.Domain != "mail.example.com" ||
		s.BaseURL != "https://desk.example.com:8443" || s.ObtainsCertificate() {
		t.Errorf("%+v, %v", s, err)
	}
	for want, change := range map[string]func(*config.Settings){
		"--domain: \"192.0.2.1\"": func(s *config.Settings) { s.Domain = "192.0.2.1" },
		"--domain: \"localhost\"": func(s *config.Settings) { s.Domain = "localhost" },
		"--domain: \"a b.com\"":   func(s *config.Settings) { s.Domain = "a b.com" },
		"--domain: \"*.a.com\"":   func(s *config.Settings) { s.Domain = "*.a.com" },
		"--domain: name":          func(s *config.Settings) { s.Domain, s.TLS.Cert = "", "a" },
		"--tls-cert and":          func(s *config.Settings) { s.TLS.Cert = "a" },
		"--tls-listen":            func(s *config.Settings) { s.TLS.Listen = "443" },
		"--tls-redirect":          func(s *config.Settings) { s.TLS.Redirect = "80" },
		"--acme-directory":        func(s *config.Settings) { s.ACME.Directory = "ca" },
		"--acme-check":            func(s *config.Settings) { s.ACME.Check = 0 },
		"--base-url":              func(s *config.Settings) { s.BaseURL = "https://evil.example" },
		"--mcp-url":               func(s *config.Settings) { s.MCPURL = "http://desk.example.com" },
	} {
		s := withDomain(change)
		if err := s.FillAndValidate(false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Behind a proxy, too, the agent connection may share the listener and the name.
func TestSharedListener(t *testing.T) {
	s := validSettings()
	s.Listen, s.MCPListen, s.BaseURL = "127.0.0.1:8080", "127.0.0.1:8080", "https://desk.example.com"
	if err := s.FillAndValidate(false); err != nil || !s.SharesListener() || s.MCPURL != "https://desk.example.com" {
		t.Errorf("%+v, %v", s, err)
	}
}
