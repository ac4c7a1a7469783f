package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"
)

// Providers are the companies that charge cards and register domains. The built-in sandboxes pretend to, and need no
// account.
type Providers struct {
	PaymentsProvider  string   `help:"Who charges cards: sandbox or stripe." default:"sandbox"`
	RegistrarProvider string   `help:"Who registers domains: sandbox or dnsimple." default:"sandbox"`
	DNSResolver       string   `help:"DNS server for verification; default: the machine's." placeholder:"HOST:PORT"`
	Stripe            Stripe   `embed:"" prefix:"stripe-"`
	DNSimple          DNSimple `embed:"" prefix:"dnsimple-"`
}

// Stripe is the account that receives card payments.
type Stripe struct {
	SecretKey string `help:"Secret key of the Stripe account." placeholder:"sk_…"`
	URL       string `help:"Address of Stripe's API." default:"https://api.stripe.com" name:"url"`
	// CheckoutURL is another for accounts that have a domain of their own for checkout.
	CheckoutURL string `help:"Address of Stripe's checkout pages." default:"https://checkout.stripe.com"`
}

// DNSimple is the account that domains are registered in.
type DNSimple struct {
	Token   string   `help:"Access token of the DNSimple account."`
	Account string   `help:"Number of the DNSimple account."`
	URL     string   `help:"Address of DNSimple's API or its sandbox." default:"https://api.dnsimple.com" name:"url"`
	Endings []string `help:"Endings to offer." default:"com,net,org,dev,app,io,ai,co,me"`
}

// sandbox is the provider that only pretends.
const sandbox = "sandbox"

// fillAndValidate fills in the sandboxes and refuses providers that are unknown, incomplete or too real: for the demo,
// and for a shifted clock.
func (p *Providers) fillAndValidate(demo bool, offset time.Duration) error {
	for value, choice := range map[*string][]string{&p.PaymentsProvider: {"payments-provider", "stripe"},
		&p.RegistrarProvider: {"registrar-provider", "dnsimple"}} {
		if *value == "" {
			*value = sandbox
		}
		if !slices.Contains([]string{sandbox, choice[1]}, *value) {
			return fmt.Errorf("--%s: %q is not known; use sandbox or %s", choice[0], *value, choice[1])
		}
	}
	if p.DNSResolver != "" {
		if _, _, err := net.SplitHostPort(p.DNSResolver); err != nil {
			return fmt.Errorf("--dns-resolver: %q is not host:port", p.DNSResolver)
		}
	}
	if p.PaymentsProvider == "stripe" {
		if p.Stripe.SecretKey == "" {
			return errors.New("--stripe-secret-key is required with --payments-provider stripe")
		}
		if err := errors.Join(checkURL("stripe-url", p.Stripe.URL),
			checkURL("stripe-checkout-url", p.Stripe.CheckoutURL)); err != nil {
			return err
		}
	}
	if p.RegistrarProvider == "dnsimple" {
		if p.DNSimple.Token == "" || p.DNSimple.Account == "" || len(p.DNSimple.Endings) == 0 {
			return errors.New("--dnsimple-token, --dnsimple-account and --dnsimple-endings are required with " +
				"--registrar-provider dnsimple")
		}
		if err := checkURL("dnsimple-url", p.DNSimple.URL); err != nil {
			return err
		}
	}
	live := p.PaymentsProvider != sandbox || p.RegistrarProvider != sandbox
	if demo && live {
		return errors.New("--demo uses the sandboxes only; leave out --payments-provider and --registrar-provider")
	}
	if offset != 0 && live {
		return errors.New("--clock-offset is for rehearsals and cannot be used with a real payment or registrar " +
			"provider")
	}
	return nil
}

// checkURL refuses a setting that is no http or https URL.
func checkURL(flag, s string) error {
	if u, err := url.Parse(s); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--%s: %q is not an http or https address", flag, s)
	}
	return nil
}
