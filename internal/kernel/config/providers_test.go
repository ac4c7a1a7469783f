package config_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/config"
)

// Providers that cannot be used are refused at start, and so is a rehearsal
// with a real one.
func TestProviders(t *testing.T) {
	stripe := config.Stripe{SecretKey: "sk_test", URL: "https://api.stripe.com",
		CheckoutURL: "https://checkout.stripe.com"}
	dnsimple := config.DNSimple{Token: "t", Account: "1", URL: "https://api.dnsimple.com", Endings: []string{"com"}}
	for _, c := range []struct {
		providers config.Providers
		demo      bool
		offset    time.Duration
		want      string // of the refusal; empty for none
	}{
		{config.Providers{}, true, time.Hour, ""},
		{config.Providers{PaymentsProvider: "stripe", RegistrarProvider: "dnsimple", Stripe: stripe,
			DNSimple: dnsimple},
			false, 0, ""},
		{config.Providers{PaymentsProvider: "stripe", Stripe: stripe}, false, time.Hour, "--clock-offset"},
		{config.Providers{RegistrarProvider: "dnsimple", DNSimple: dnsimple}, false, -time.Hour, "--clock-offset"},
		{config.Providers{PaymentsProvider: "stripe", Stripe: stripe}, true, 0, "--demo"},
		{config.Providers{PaymentsProvider: "cash"}, false, 0, "--payments-provider"},
		{config.Providers{RegistrarProvider: "nobody"}, false, 0, "--registrar-provider"},
		{config.Providers{PaymentsProvider: "stripe"}, false, 0, "--stripe-secret-key"},
		{config.Providers{PaymentsProvider: "stripe", Stripe: config.Stripe{SecretKey: "k", URL: "stripe"}}, false, 0,
			"--stripe-url"},
		{config.Providers{PaymentsProvider: "stripe",
			Stripe: config.Stripe{SecretKey: "k", URL: stripe.URL, CheckoutURL: "checkout"}}, false,
			0, "--stripe-checkout-url"},
		{config.Providers{RegistrarProvider: "dnsimple"}, false, 0, "--dnsimple-token"},
		{config.Providers{DNSResolver: "nowhere"}, false, 0, "--dns-resolver"},
	} {
		s := validSettings()
		s.ClockOffset, s.Providers = c.offset, c.providers
		err := s.FillAndValidate(c.demo)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c, err, c.want)
		}
	}
}

// sound is what Settle finds nothing wrong with.
func validSettings() config.Settings {
	return config.Settings{Listen: "127.0.0.1:0", Workers: 1, Agreement: config.Agreement{Business: "1", Domain: "1"},
		RateLimit:  config.RateLimit{Free: 1, Starter: 1, Professional: 1, Enterprise: 1, Public: 1},
		AgentLimit: config.AgentLimit{Free: 1, Starter: 1, Professional: 1, Enterprise: 1, Transport: 1},
		OAuth:      config.OAuth{RegisterLimit: 1, TokenLimit: 1}, Files: config.Files{MaxBytes: 1},
		Mail: config.Mail{Domain: "mail.example.com"},
		Retention: config.Retention{Idempotency: 24 * time.Hour, Jobs: time.Hour, Deliveries: 96 * time.Hour,
			Deleted: time.Hour, Events: 96 * time.Hour, Executions: time.Hour},
		StorageLimit:    config.StorageLimit{Free: 1, Starter: 1, Professional: 1, Enterprise: 1},
		AutomationLimit: config.AutomationLimit{Free: 1, Starter: 1, Professional: 1, Enterprise: 1}}
}

// What cannot be is refused by the setting's name: a retention of nothing, for
// one, would end what is not over.
func TestImpossible(t *testing.T) {
	for want, change := range map[string]func(*config.Settings){
		"--retention-events":      func(s *config.Settings) { s.Retention.Events = 95 * time.Hour },
		"--retention-deliveries":  func(s *config.Settings) { s.Retention.Deliveries = 95 * time.Hour },
		"--retention-deleted":     func(s *config.Settings) { s.Retention.Deleted = 0 },
		"--retention-jobs":        func(s *config.Settings) { s.Retention.Jobs = -time.Hour },
		"--retention-executions":  func(s *config.Settings) { s.Retention.Executions = 0 },
		"--workers":               func(s *config.Settings) { s.Workers = 0 },
		"--retention-idempotency": func(s *config.Settings) { s.Retention.Idempotency = time.Hour },
		"--storage-limit-free":    func(s *config.Settings) { s.StorageLimit.Free = 0 },
		"--storage-reserve":       func(s *config.Settings) { s.StorageReserve = 91 },
		"--base-url":              func(s *config.Settings) { s.BaseURL = "https://example.com/desk" },
	} {
		s := validSettings()
		change(&s)
		if err := s.FillAndValidate(false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
