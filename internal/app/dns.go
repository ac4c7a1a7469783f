package app

import (
	"context"
	"fmt"

	"frontdesk/internal/adapter/dnsimple"
	"frontdesk/internal/adapter/dnsserver"
	"frontdesk/internal/adapter/powerdns"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/resource/zone"
)

// openDNSProvider returns the DNS provider: the embedded server, unless the settings name
// another one.
func (a *App) openDNSProvider() zone.Provider {
	s := &a.Settings
	if other := externalDNS(s); other != nil {
		return other
	}
	store := &dnsserver.Store{DB: a.DB, Clock: a.Clock, Nameservers: s.DNS.Nameservers}
	a.DNS = dnsserver.NewServer(store, a.Log, s.DNS.RateLimit)
	return store
}

// externalDNS is the DNS provider outside the service, or nil for the embedded one.
func externalDNS(s *config.Settings) interface {
	zone.Provider
	Ping(context.Context) (string, error)
} {
	switch s.DNS.Provider {
	case "powerdns":
		return powerdns.New(s.PowerDNS.URL, s.PowerDNS.APIKey, s.DNS.Nameservers)
	case "dnsimple":
		return dnsimple.NewDNS(s.DNSimple.URL, s.DNSimple.Account, s.DNSimple.Token)
	}
	return nil
}

// ZoneTask names the zone to write.
type ZoneTask struct {
	Name string `json:"name"`
}

// Zone is a zone as a file.
type Zone struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// zoneFile is the answer of the task domains.zone.
func (a *App) zoneFile(ctx context.Context, name string) (*Zone, error) {
	text, err := a.Domains.Zones.File(ctx, name)
	if zone.ProviderStatus(err) == 404 {
		return nil, fmt.Errorf("there is no zone %s", name)
	}
	if err != nil {
		return nil, err
	}
	return &Zone{name, text}, nil
}
