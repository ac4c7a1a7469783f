package app

import (
	"context"
	"fmt"

	"frontdesk/internal/adapter/dnsimple"
	"frontdesk/internal/adapter/dnsserver"
	"frontdesk/internal/adapter/powerdns"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/resource/domain"
)

// openDNS is whoever answers for zones: our own server, unless the settings
// name another.
func (a *App) openDNS() domain.DNS {
	s := &a.Settings
	if other := elsewhere(s); other != nil {
		return other
	}
	store := &dnsserver.Store{DB: a.DB, Clock: a.Clock, Nameservers: s.DNS.Nameservers}
	a.DNS = dnsserver.NewServer(store, a.Log, s.DNS.RateLimit)
	return store
}

// elsewhere is the DNS provider outside, or nil when it is the embedded one.
func elsewhere(s *config.Settings) interface {
	domain.DNS
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

// ZoneTask is the zone to write.
type ZoneTask struct {
	Name string `json:"name"`
}

// Zone is a zone as a file.
type Zone struct {
	Name string `json:"name"`
	File string `json:"file"`
}

func (a *App) zoneFile(ctx context.Context, name string) (*Zone, error) {
	records, err := a.Zones.DNS.Records(ctx, name)
	if domain.StatusOf(err) == 404 {
		return nil, fmt.Errorf("there is no zone %s", name)
	}
	if err != nil {
		return nil, err
	}
	return &Zone{name, domain.ZoneFile(name, records)}, nil
}
