package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// TLS is how the server speaks https by itself, with --domain. Without it, a proxy in front of it does.
type TLS struct {
	Listen   string `help:"With --domain: address of https." default:":443"`
	Redirect string `help:"With --domain: address that sends http to https; empty for none." default:":80"`
	Cert     string `help:"File with a certificate chain of your own, instead of ACME." placeholder:"FILE"`
	Key      string `help:"File with the certificate's key." placeholder:"FILE"`
}

// ACME is the authority that the server gets its certificate from, with --domain and without --tls-cert.
type ACME struct {
	Directory string        `help:"Authority." default:"https://acme-v02.api.letsencrypt.org/directory"`
	Email     string        `help:"Where the authority can reach you; optional."`
	Root      string        `help:"File with the roots of an authority that is not public." placeholder:"FILE"`
	Check     time.Duration `help:"How often certificates are checked for renewal." default:"10m"`
}

// The defaults of --acme-directory and --acme-check, to recognize whether an operator has changed them.
const (
	LetsEncryptDirectory = "https://acme-v02.api.letsencrypt.org/directory"
	ACMECheckEvery       = 10 * time.Minute
)

// defaultMailDomain is the default of --mail-domain, by which settings that nobody changed are recognized.
const defaultMailDomain = "frontdesk.example"

// fillFromDomain derives other settings from --domain: one name for the console, the API and the agent connection, on
// one listener. Without --domain it does nothing.
func (s *Settings) fillFromDomain() error {
	t := &s.TLS
	if s.Domain == "" {
		if t.Cert != "" || t.Key != "" {
			return errors.New("--domain: name the server that --tls-cert is for")
		}
		return nil
	}
	s.Domain = strings.TrimSuffix(strings.ToLower(s.Domain), ".")
	if _, err := netip.ParseAddr(s.Domain); err == nil || !hostNamePattern.MatchString(s.Domain) ||
		len(s.Domain) > 200 {
		return fmt.Errorf("--domain: %q is not a name like desk.example.com", s.Domain)
	}
	if (t.Cert == "") != (t.Key == "") {
		return errors.New("--tls-cert and --tls-key: give both or neither")
	}
	if _, _, err := net.SplitHostPort(t.Listen); err != nil {
		return fmt.Errorf("--tls-listen: %q is not host:port", t.Listen)
	}
	if t.Redirect != "" {
		if _, _, err := net.SplitHostPort(t.Redirect); err != nil {
			return fmt.Errorf("--tls-redirect: %q is not host:port", t.Redirect)
		}
	}
	if t.Cert == "" {
		if err := checkURL("acme-directory", s.ACME.Directory); err != nil {
			return err
		}
		if s.ACME.Check < time.Second {
			return errors.New("--acme-check: must be at least 1s")
		}
	}
	s.Listen = t.Listen
	if s.BaseURL == "" {
		s.BaseURL = "https://" + s.Domain
	}
	if s.MCPListen != "" {
		s.MCPListen = t.Listen
		if s.MCPURL == "" {
			s.MCPURL = s.BaseURL
		}
	}
	// --mcp-url may have been taken from --base-url, so --base-url is checked first: it is the one to name in the
	// error.
	for _, given := range [][2]string{{"base-url", s.BaseURL}, {"mcp-url", s.MCPURL}} {
		u, err := url.Parse(given[1])
		if given[1] != "" && (err != nil || u.Scheme != "https" || u.Hostname() != s.Domain) {
			return fmt.Errorf("--%s: with --domain it begins with https://%s; leave it out", given[0], s.Domain)
		}
	}
	if s.Mail.Domain == "" || s.Mail.Domain == defaultMailDomain {
		s.Mail.Domain = s.Domain
	}
	return nil
}

// SharesListener reports whether the agent connection uses the listener of the API. Two addresses with port 0 are equal
// as texts and still two listeners, because the system chooses a port for each.
func (s *Settings) SharesListener() bool {
	return s.MCPListen != "" && s.MCPListen == s.Listen && (s.Domain != "" || !strings.HasSuffix(s.Listen, ":0"))
}

// ObtainsCertificate reports whether the server gets its certificate by ACME.
func (s *Settings) ObtainsCertificate() bool { return s.Domain != "" && s.TLS.Cert == "" }
