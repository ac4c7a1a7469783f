package app

import (
	"context"
	"net"

	"frontdesk/internal/account"
	"frontdesk/internal/adapter/dnsimple"
	"frontdesk/internal/adapter/sandbox"
	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/resource/domain"
)

// openDomains joins names with those who register them, charge for them and
// answer for them.
func (a *App) openDomains(extra []Extra) *domain.Domains {
	c := domain.Config{DB: a.DB, Clock: a.Clock, Log: a.Log, Events: a.Events, Jobs: a.Jobs,
		Registrar: a.registrar(), Payments: a.payments(), DNS: a.openDNS(),
		LookupTXT: texts(a.Settings.DNSResolver), Tell: a.tellOwners}
	c.Delegates = a.DNS != nil // the embedded server asks the parent's zone
	for _, e := range extra {
		if e.Domains != nil {
			e.Domains(&c)
		}
	}
	a.Zones = domain.NewZones(domain.ZonesConfig{DB: a.DB, Clock: a.Clock, Log: a.Log, Events: a.Events, Jobs: a.Jobs, DNS: c.DNS, Pause: c.Pause})
	a.Zones.Handle()
	c.Email = domain.NewEmail(domain.EmailConfig{DB: a.DB, Clock: a.Clock, Zones: a.Zones, Seal: a.seal, Host: a.Settings.Mail.Domain, SPF: a.Settings.Mail.SPF})
	d := domain.New(c)
	d.Handle()
	return d
}

func (a *App) registrar() domain.Registrar {
	if s := a.Settings.DNSimple; a.Settings.RegistrarProvider == "dnsimple" {
		return dnsimple.New(s.URL, s.Account, s.Token, s.Endings)
	}
	return sandbox.NewRegistrar(a.DB, a.Clock)
}

func (a *App) payments() domain.Payments {
	if s := a.Settings.Stripe; a.Settings.PaymentsProvider == stripe.Name {
		return openStripe(s)
	}
	return sandbox.NewPayments(a.DB, a.Clock)
}

func openStripe(s config.Stripe) *stripe.Client {
	return stripe.New(stripe.Config{SecretKey: s.SecretKey, URL: s.URL, CheckoutURL: s.CheckoutURL})
}

// cardProvider is the real payment provider, or nil.
func (a *App) cardProvider() account.CardProvider {
	c, _ := a.payments().(account.CardProvider)
	return c
}

// texts looks TXT records up at one DNS server, or as the machine does. The
// dot keeps the machine's search domains out of it.
func texts(address string) func(ctx context.Context, name string) ([]string, error) {
	r := net.DefaultResolver
	if address != "" {
		r = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}}
	}
	return func(ctx context.Context, name string) ([]string, error) { return r.LookupTXT(ctx, name+".") }
}
