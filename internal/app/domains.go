package app

import (
	"context"
	"net"

	"frontdesk/internal/account"
	"frontdesk/internal/account/card"
	"frontdesk/internal/adapter/dnsimple"
	"frontdesk/internal/adapter/sandbox"
	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/notification"
)

// openDomains wires domains to their registrar, payment provider and DNS.
func (a *App) openDomains(extra []Extra) *domain.Domains {
	c := domain.Config{
		DB:        a.DB,
		Clock:     a.Clock,
		Log:       a.Log,
		Events:    a.Events,
		Jobs:      a.Jobs,
		Seal:      a.seal,
		Registrar: a.newRegistrar(),
		Payments:  a.newPayments(),
		DNS:       a.openDNSProvider(),
		LookupTXT: newLookup(a.Settings.DNSResolver, (*net.Resolver).LookupTXT),
		LookupMX:  newLookup(a.Settings.DNSResolver, (*net.Resolver).LookupMX),
		MailHost:  a.Settings.Mail.Domain,
		SPF:       a.Settings.Mail.SPF,
		Notify: func(ctx context.Context, tx *db.Tx, org id.ID, n domain.Notice) error {
			about := notification.News{Kind: notification.DomainAtRisk, ResourceType: "domain", ResourceID: n.Domain,
				Cause: event.Event{Organization: org}}
			if n.Payment {
				about.Kind = notification.PaymentFailed
			}
			return a.notifyOwners(ctx, tx, about, account.Notice{Subject: n.Subject, Text: n.Text})
		},
	}
	c.HonorsDelegation = a.DNS != nil // the embedded server answers for a child zone only if the parent delegates it
	for _, e := range extra {
		if e.Domains != nil {
			e.Domains(&c)
		}
	}
	d := domain.New(c)
	d.Handle()
	return d
}

// newRegistrar is where domains are bought. The sandbox pretends.
func (a *App) newRegistrar() domain.Registrar {
	if s := a.Settings.DNSimple; a.Settings.RegistrarProvider == "dnsimple" {
		return dnsimple.New(s.URL, s.Account, s.Token, s.Endings)
	}
	return sandbox.NewRegistrar(a.DB, a.Clock)
}

// newPayments is who charges cards. The sandbox pretends.
func (a *App) newPayments() domain.Payments {
	if s := a.Settings.Stripe; a.Settings.PaymentsProvider == stripe.Name {
		return openStripe(s)
	}
	return sandbox.NewPayments(a.DB, a.Clock)
}

func openStripe(s config.Stripe) *stripe.Client {
	return stripe.New(stripe.Config{SecretKey: s.SecretKey, URL: s.URL, CheckoutURL: s.CheckoutURL})
}

// cardProvider is the real payment provider, which keeps the cards, or nil for the
// sandbox.
func (a *App) cardProvider() card.Provider {
	c, _ := a.newPayments().(card.Provider)
	return c
}

// newResolver asks one DNS server, or those that the machine is set to.
func newResolver(address string) *net.Resolver {
	if address == "" {
		return net.DefaultResolver
	}
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
}

// newLookup returns a function that looks records up at one DNS server, or as the machine
// does. The dot keeps the machine's search domains out of it.
func newLookup[T any](
	address string, ask func(*net.Resolver, context.Context, string) (T, error),
) func(ctx context.Context, name string) (T, error) {
	r := newResolver(address)
	return func(ctx context.Context, name string) (T, error) { return ask(r, ctx, name+".") }
}
