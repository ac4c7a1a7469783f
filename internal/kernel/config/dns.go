package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// DNS is who serves the zones of domains.
type DNS struct {
	Listen      string   `help:"Address of the embedded DNS server; empty for none." default:"127.0.0.1:8053"`
	Provider    string   `help:"Who serves the zones: embedded, powerdns or dnsimple." default:"embedded"`
	Nameservers []string `help:"Name servers of new zones, primary first; default: ns1.HOST." placeholder:"HOST,…"`
	RateLimit   int      `help:"UDP answers per minute and address; beyond it, TCP." default:"6000"`
}

// PowerDNS is the server that serves the zones with --dns-provider powerdns.
type PowerDNS struct {
	URL    string `help:"Address of the PowerDNS API." name:"url" placeholder:"http://127.0.0.1:8081"`
	APIKey string `help:"Key of the PowerDNS API." name:"api-key"`
}

// embedded is the DNS provider that is this service itself.
const embedded = "embedded"

// serverNamePattern matches the name of a name server, with a dot in it.
var serverNamePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)

// fillAndValidateDNS fills in the name servers, ns1 below the host of --base-url, and refuses invalid settings.
func (s *Settings) fillAndValidateDNS() error {
	d := &s.DNS
	if d.Provider == "" {
		d.Provider = embedded
	}
	if !slices.Contains([]string{embedded, "powerdns", "dnsimple"}, d.Provider) {
		return fmt.Errorf("--dns-provider: %q is not known; use embedded, powerdns or dnsimple", d.Provider)
	}
	if d.Listen != "" {
		if _, _, err := net.SplitHostPort(d.Listen); err != nil {
			return fmt.Errorf("--dns-listen: %q is not host:port", d.Listen)
		}
	}
	if len(d.Nameservers) == 0 {
		host := "localhost"
		if base, err := url.Parse(s.BaseURL); err == nil {
			if _, err := netip.ParseAddr(base.Hostname()); err != nil {
				host = base.Hostname()
			}
		}
		d.Nameservers = []string{"ns1." + host}
	}
	for i, name := range d.Nameservers {
		name = strings.TrimSuffix(strings.ToLower(name), ".")
		if !serverNamePattern.MatchString(name) || len(name) > 253 {
			return fmt.Errorf("--dns-nameservers: %q is not a host name", name)
		}
		d.Nameservers[i] = name
	}
	if d.RateLimit < 0 {
		return errors.New("--dns-rate-limit: must not be negative; 0 is no limit")
	}
	switch d.Provider {
	case "powerdns":
		if s.PowerDNS.APIKey == "" {
			return errors.New("--powerdns-url and --powerdns-api-key are required with --dns-provider powerdns")
		}
		return checkURL("powerdns-url", s.PowerDNS.URL)
	case "dnsimple":
		if s.DNSimple.Token == "" || s.DNSimple.Account == "" {
			return errors.New("--dnsimple-token and --dnsimple-account are required with --dns-provider dnsimple")
		}
		return checkURL("dnsimple-url", s.DNSimple.URL)
	}
	return nil
}

// ServesDNS reports whether the embedded DNS server runs.
func (s *Settings) ServesDNS() bool { return s.DNS.Provider == embedded && s.DNS.Listen != "" }
