package mailhost_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/mailhost"
)

// The service's own domain has four kinds of addresses. mailhost does not know
// whose message such an address names. Domains of organizations are tested with
// the letters that go there.
func TestTargets(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		recipient := id.New()
		message := string(id.New()) + ".abcdef"
		for address, want := range map[string]mailhost.Target{
			"no-reply@frontdesk.example":                           {},
			"No-Reply@FRONTDESK.example":                           {},
			"reply+" + message + "@frontdesk.example":              {MessageID: message},
			mailhost.BounceAddress(recipient, "frontdesk.example"): {Recipient: recipient},
			string(a.Business) + "@frontdesk.example":              {Organization: a.Org},
		} {
			if got, err := target(t, a, address); err != nil || got != want {
				t.Errorf("%s: %+v, %v", address, got, err)
			}
		}
		for address, want := range map[string]error{
			"desk@frontdesk.example":                        mailhost.ErrNobody,
			"reply+@frontdesk.example":                      mailhost.ErrNobody,
			"bounce+nobody@frontdesk.example":               mailhost.ErrNobody,
			string(id.New()) + "@frontdesk.example":         mailhost.ErrNobody,
			"desk@example.com":                              mailhost.ErrNotHosted,
			"desk@sub.frontdesk.example":                    mailhost.ErrNotHosted,
			"frontdesk.example":                             mailhost.ErrNotHosted,
			"@frontdesk.example":                            mailhost.ErrNotHosted,
			strings.Repeat("x", 300) + "@frontdesk.example": mailhost.ErrNotHosted,
			"no-reply@frontdesk.example@example.com":        mailhost.ErrNotHosted,
		} {
			if got, err := target(t, a, address); !errors.Is(err, want) {
				t.Errorf("%.60s: %+v, %v, want %v", address, got, err, want)
			}
		}
	})
}

func target(t *testing.T, a *apptest.App, address string) (out mailhost.Target, err error) {
	t.Helper()
	err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = a.MailHosts.FindTarget(ctx, tx, address)
		return err
	})
	return out, err
}

// Everybody sends from no-reply@ the service's domain, and from no other
// address there.
func TestMaySendFrom(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		for address, want := range map[string]bool{
			a.MailHosts.DefaultAddress(): true,
			"NO-REPLY@frontdesk.example": true,
			"desk@frontdesk.example":     false,
			"no-reply@example.com":       false,
		} {
			err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				got, err := a.MailHosts.MaySendFrom(ctx, tx, a.Org, address)
				if got != want {
					t.Errorf("%s: %v", address, got)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string][2]string{
		"ada@bücher.example":  {"ada@xn--bcher-kva.example", "xn--bcher-kva.example"},
		"Ada@Example.COM":     {"Ada@example.com", "example.com"},
		"a@b@Example.com":     {"a@b@example.com", "example.com"},
		"nowhere":             {"nowhere", "nowhere"},
		"x@not a domain.test": {"x@not a domain.test", "not a domain.test"},
	} {
		if got := [2]string{mailhost.ToASCII(address), mailhost.DomainOf(address)}; got != want {
			t.Errorf("%s: %q", address, got)
		}
	}
}
