package app_test

import (
	"context"
	"crypto"
	"fmt"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/mailhost"
)

// What signs mail is the same after the sealing key was rotated, and nothing
// needs the old one.
func TestRotateMailKeys(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
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
			signers, err := a.Domains.Email.LoadSigners(t.Context(), a.Org, "engines.com")
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

// rotating has the sealing key rotated right after it sealed for the first time.
type rotating struct {
	op.Sealer
	once   sync.Once
	rotate func()
	done   chan struct{}
}

func (r *rotating) Seal(plain []byte, place string) ([]byte, error) {
	sealed, err := r.Sealer.Seal(plain, place)
	r.once.Do(func() {
		go func() { defer close(r.done); r.rotate() }()
		select {
		case <-r.done:
		case <-time.After(500 * time.Millisecond): // it waits for the write that sealed
		}
	})
	return sealed, err
}

// A rotation in the moment in which keys for mail are made loses none of them:
// what was sealed with the old key is stored before that key goes.
func TestRotateWhileMailKeysAreMade(t *testing.T) {
	var proof string
	seal := &struct{ op.Sealer }{} // the test replaces it while the service runs
	a := apptest.Start(t, db.SQLite, app.Extra{Domains: func(c *domain.Config) {
		seal.Sealer, c.Seal = c.Seal, seal
		c.LookupTXT = func(context.Context, string) ([]string, error) { return []string{proof}, nil }
	}})
	during := func() *rotating {
		return &rotating{Sealer: a.Runner.Seal, done: make(chan struct{}), rotate: func() {
			if _, err := a.Admin.RunTask(t.Context(), "secrets.rotate", app.RotateTask{}, nil); err != nil {
				t.Error(err)
			}
		}}
	}
	t.Run("of a domain", func(t *testing.T) {
		call := a.Door("rest", a.Tenant)
		v := call(t, "domains.create", `{"name": "engines.com"}`).OK(t, 201)
		proof = v.Text("verification.recordValue")
		call(t, "domains.verify", fmt.Sprintf(`{"id": %q}`, v.Text("id"))).OK(t, 200)
		r := during()
		seal.Sealer = r
		call(t, "domains.email.enable", fmt.Sprintf(`{"id": %q}`, v.Text("id"))).OK(t, 200)
		<-r.done
		if signers, err := a.Domains.Email.LoadSigners(t.Context(), a.Org, "engines.com"); err != nil ||
			len(signers) != 2 {
			t.Errorf("%d keys: %v", len(signers), err)
		}
	})
	t.Run("of the service", func(t *testing.T) {
		r := during()
		c := mailhost.Config{Domain: "desk.example", DB: a.DB, Clock: a.Clock, Email: a.Domains.Email, Seal: r}
		if _, err := mailhost.New(c).Records(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-r.done
		c.Seal = a.Runner.Seal
		if _, err := mailhost.New(c).SigningKeys(t.Context(), "", "no-reply@desk.example"); err != nil {
			t.Error(err)
		}
	})
}
