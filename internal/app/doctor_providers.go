package app

import (
	"context"
	"log/slog"
	"time"

	"frontdesk/internal/adapter/dnsimple"
	"frontdesk/internal/adapter/oidc"
)

// checkProviders checks that the companies whose services are used accept our keys.
func (d *doctor) checkProviders(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	s := &d.settings
	check := func(name, provider, remedy string, ask func() error) {
		if provider == "sandbox" {
			d.addFinding(name, statusOK, "", "The built-in sandbox; nothing real is charged or registered.")
			return
		}
		if err := ask(); err != nil {
			d.addFinding(name, statusFail, remedy, "%s does not answer as it should: %v.", provider, err)
			return
		}
		d.addFinding(name, statusOK, "", "%s answers.", provider)
	}
	if s.OIDC.Issuer != "" {
		check("sign-in", s.OIDC.Issuer, "Check --oidc-issuer, and whether this machine reaches it.", func() error {
			return oidc.New(oidc.Config{Settings: s.OIDC, Log: slog.New(slog.DiscardHandler)}).Check(ctx)
		})
	}
	check("payments", s.PaymentsProvider, "Check --stripe-secret-key.",
		func() error { return openStripe(s.Stripe).Check(ctx) })
	check("registrar", s.RegistrarProvider, "Check --dnsimple-token, --dnsimple-account and --dnsimple-url.",
		func() error {
			return dnsimple.New(s.DNSimple.URL, s.DNSimple.Account, s.DNSimple.Token,
				s.DNSimple.Endings).CheckAccount(ctx)
		})
}
