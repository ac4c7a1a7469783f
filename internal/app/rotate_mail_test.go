package app_test

import (
	"context"
	"crypto"
	"fmt"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/domain"
)

// What signs mail is the same after the sealing key was rotated, and nothing
// needs the old one.
func TestRotateMailKeys(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e db.Engine) {
		var proof string
		a := apptest.Start(t, e, app.Extra{Domains: func(c *domain.Config) {
			c.LookupTXT = func(context.Context, string) ([]string, error) { return []string{proof}, nil }
		}})
		call := a.Door("rest", a.Tenant)
		v := call(t, "domains.create", `{"name": "engines.com"}`).OK(t, 201)
		proof = v.Text("verification.recordValue")
		for _, operation := range []string{"domains.verify", "domains.email.enable"} {
			call(t, operation, fmt.Sprintf(`{"id": %q}`, v.Text("id"))).OK(t, 200)
		}
		public := func() (out []crypto.PublicKey) {
			t.Helper()
			signers, err := a.Domains.Email.Signers(t.Context(), a.Org, "engines.com")
			if err != nil || len(signers) != 2 {
				t.Fatalf("%d keys: %v", len(signers), err)
			}
			for _, s := range signers {
				out = append(out, s.Key.Public())
			}
			return out
		}
		before := public()
		rotate(t, a, false)
		if out := rotate(t, a, true); len(out.Kept) != 0 {
			t.Errorf("older keys are needed: %+v", out)
		}
		for i, k := range public() {
			if !k.(interface{ Equal(crypto.PublicKey) bool }).Equal(before[i]) {
				t.Error("another key signs")
			}
		}
	})
}
