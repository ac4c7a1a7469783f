// Package sandbox is a registrar and a payment provider that live in the
// service's own database, so that everything can be tried without an account
// anywhere. Both are deterministic: the beginning of a domain's name and the name of
// a card say what happens. A domain that begins with taken is taken, premium is
// premium, fail is refused, slow takes five seconds, and flaky is registered but the
// answer gets lost, which the service must find out by itself.
//
// Registrar (registrar.go) is a domain.Registrar, Payments (payments.go) a
// domain.Payments. Their records are tables of their own, which no resource may read;
// tests compare them with what the service believes. Every key works once, as at a
// real provider.
package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/domain"
)

// The records of the providers. At a real provider they would be outside, so no row
// belongs to an organization.
var (
	_ = db.Declare("sandbox_registrations", db.Life{})
	_ = db.Declare("sandbox_renewals", db.Life{})
	_ = db.Declare("sandbox_charges", db.Life{})
	_ = db.Declare("sandbox_refunds", db.Life{})
)

// Name is what both providers are called.
const Name = "sandbox"

// slowDelay is how long a domain or a card takes whose name begins with slow.
const slowDelay = 5 * time.Second

// transferPeriod is how long a name takes to leave for another registrar.
const transferPeriod = 5 * 24 * time.Hour

// gracePeriod is how long an expired name is kept for its former holder.
const gracePeriod = 30 * 24 * time.Hour

// errTimeout stands for an answer that got lost after the work was done.
var errTimeout = errors.New("sandbox: no answer in time")

type endingPrices struct {
	ending         string
	first, renewal int64
}

// endings are the top-level domains on offer, with prices in cents of a US dollar.
var endings = []endingPrices{{"com", 1200, 1500}, {"net", 1400, 1600}, {"org", 1100, 1300}, {"dev", 1400, 1600},
	{"app", 1600, 1800},
	{"io", 3900, 4500}, {"ai", 7900, 8900}, {"co", 2500, 2900}, {"me", 1900, 2100}, {"to", 4900, 4900}}

// Registrar registers names in the database.
type Registrar struct {
	db    *db.DB
	clock *clock.Clock
}

var _ domain.Registrar = (*Registrar)(nil)

// NewRegistrar returns the registrar. Its registrations are in the database.
func NewRegistrar(d *db.DB, c *clock.Clock) *Registrar { return &Registrar{d, c} }

// Name is the registrar's name.
func (r *Registrar) Name() string { return Name }

// Endings lists what is offered.
func (r *Registrar) Endings() []string {
	out := make([]string, len(endings))
	for i, e := range endings {
		out[i] = e.ending
	}
	return out
}

type registrationRow struct {
	Name         string      `db:"name"`
	Key          string      `db:"provider_key"`
	RegisteredAt clock.Time  `db:"registered_at"`
	ExpiresAt    clock.Time  `db:"expires_at"`
	TransferAt   *clock.Time `db:"transfer_at"`
}

const registrationColumns = "name, provider_key, registered_at, expires_at, transfer_at"

func (v *registrationRow) toHeld() *domain.HeldRegistration {
	return &domain.HeldRegistration{RegisteredAt: v.RegisteredAt, ExpiresAt: v.ExpiresAt, Verified: true}
}

// hasLeft reports whether a transfer to another registrar is complete.
func (v *registrationRow) hasLeft(now clock.Time) bool {
	return v.TransferAt != nil && v.TransferAt.Add(transferPeriod) <= now
}

// canBeRegistered reports whether a name that was registered can be registered again.
func (v *registrationRow) canBeRegistered(now clock.Time) bool {
	return !v.hasLeft(now) && v.ExpiresAt.Add(gracePeriod) <= now
}

func findRegistration(ctx context.Context, tx *db.Tx, name string) (*registrationRow, error) {
	v, err := db.QueryOne[registrationRow](ctx, tx,
		"SELECT "+registrationColumns+" FROM sandbox_registrations WHERE name = $1", name)
	if errors.Is(err, db.ErrNoRow) {
		return nil, domain.ErrUnknownToProvider
	}
	return &v, err
}

func (r *Registrar) loadRegistration(ctx context.Context, name string) (v *registrationRow, err error) {
	err = r.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = findRegistration(ctx, tx, name)
		return err
	})
	return v, err
}

// Check tells whether a name is free, and its prices.
func (r *Registrar) Check(ctx context.Context, name string) (*domain.Offer, error) {
	label, ending, _ := strings.Cut(name, ".")
	i := slices.IndexFunc(endings, func(p endingPrices) bool { return p.ending == ending })
	if i < 0 {
		return nil, nil
	}
	o := &domain.Offer{Available: !strings.HasPrefix(label, "taken"), Premium: strings.HasPrefix(label, "premium"),
		FirstYearPrice: endings[i].first, RenewalPrice: endings[i].renewal}
	v, err := r.loadRegistration(ctx, name)
	switch {
	case errors.Is(err, domain.ErrUnknownToProvider):
		return o, nil
	case err != nil:
		return nil, err
	}
	o.Available = o.Available && v.canBeRegistered(r.clock.Now())
	return o, nil
}

// Register registers a name, unless the name itself calls for a failure.
func (r *Registrar) Register(ctx context.Context, key string, a domain.RegistrationRequest) (*domain.HeldRegistration,
	error) {
	if err := waitIfSlow(ctx, a.Name); err != nil {
		return nil, err
	}
	if strings.HasPrefix(a.Name, "fail") {
		return nil, &domain.Refusal{Code: "registry_error",
			Message: "The registry rejected the registration of " + a.Name + "."}
	}
	var v *registrationRow
	first := false
	err := r.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		now := r.clock.Now()
		first = false
		v, err = findRegistration(ctx, tx, a.Name)
		switch {
		case err == nil && v.Key == key:
			return nil
		case err == nil && !v.canBeRegistered(now), strings.HasPrefix(a.Name, "taken"):
			return &domain.Refusal{Code: "domain_taken",
				Message: a.Name + " was registered by somebody else meanwhile."}
		case err != nil && !errors.Is(err, domain.ErrUnknownToProvider):
			return err
		}
		first = true
		began := now.Std().Truncate(time.Second)
		v = &registrationRow{Name: a.Name, Key: key, RegisteredAt: clock.FromStd(began),
			ExpiresAt: clock.FromStd(began.AddDate(a.Years, 0, 0))}
		_,
			err = db.Exec(ctx, tx,
			`
				INSERT INTO sandbox_registrations (name, provider_key, registered_at, expires_at, locked, contact)
				VALUES ($1, $2, $3, $4, FALSE, $5)
				ON CONFLICT (name) DO UPDATE
				SET provider_key = excluded.provider_key, registered_at = excluded.registered_at,
					expires_at = excluded.expires_at,
					locked = excluded.locked, contact = excluded.contact, transfer_at = NULL`, v.Name, v.Key,
			v.RegisteredAt, v.ExpiresAt, a.Registrant)
		return err
	})
	if err != nil {
		return nil, err
	}
	if first && strings.HasPrefix(a.Name, "flaky") {
		return nil, errTimeout
	}
	return v.toHeld(), nil
}

// waitIfSlow waits if the name begins with slow.
func waitIfSlow(ctx context.Context, name string) error {
	if !strings.HasPrefix(name, "slow") {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(slowDelay):
		return nil
	}
}

// Registered tells of the registration that a key made.
func (r *Registrar) Registered(ctx context.Context, key string,
	a domain.RegistrationRequest) (*domain.HeldRegistration, error) {
	v, err := r.loadRegistration(ctx, a.Name)
	if err == nil && v.Key != key {
		err = domain.ErrUnknownToProvider
	}
	if err != nil {
		return nil, err
	}
	return v.toHeld(), nil
}

// Renew adds years, once for a key.
func (r *Registrar) Renew(ctx context.Context, key, name string, years int,
	until clock.Time) (*domain.HeldRegistration, error) {
	if err := waitIfSlow(ctx, name); err != nil {
		return nil, err
	}
	var v *registrationRow
	first := false
	err := r.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		now := r.clock.Now()
		if v, err = findRegistration(ctx, tx, name); errors.Is(err, domain.ErrUnknownToProvider) || err == nil &&
			v.hasLeft(now) {
			return &domain.Refusal{Code: "domain_not_found", Message: name + " is not registered here."}
		}
		if err != nil {
			return err
		}
		n, err := db.Exec(ctx, tx, `
			INSERT INTO sandbox_renewals (name, provider_key, years, renewed_at)
			VALUES ($1, $2, $3, $4)
			ON CONFLICT (provider_key) DO NOTHING`, name, key, years, now)
		if first = n == 1; err != nil || !first {
			return err
		}
		if v.ExpiresAt != until {
			return &domain.Refusal{Code: "already_renewed", Message: name + " was renewed by other means."}
		}
		v.ExpiresAt = clock.FromStd(until.Std().AddDate(years, 0, 0))
		_, err = db.Exec(ctx, tx, "UPDATE sandbox_registrations SET expires_at = $2 WHERE name = $1", name, v.ExpiresAt)
		return err
	})
	if err != nil {
		return nil, err
	}
	if first && strings.HasPrefix(name, "flaky") {
		return nil, errTimeout
	}
	return v.toHeld(), nil
}

// Renewed tells of the renewal that a key made.
func (r *Registrar) Renewed(ctx context.Context, key, name string, _ clock.Time) (held *domain.HeldRegistration,
	err error) {
	err = r.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.QueryOne[string](ctx, tx, `
			SELECT provider_key
			FROM sandbox_renewals
			WHERE provider_key = $1 AND name = $2`,
			key, name)
		if errors.Is(err, db.ErrNoRow) {
			return domain.ErrUnknownToProvider
		}
		if err != nil {
			return err
		}
		v, err := findRegistration(ctx, tx, name)
		if err == nil {
			held = v.toHeld()
		}
		return err
	})
	return held, err
}

// updateRegistration sets one column of a registration.
func (r *Registrar) updateRegistration(ctx context.Context, name, set string, value any) error {
	return r.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := db.Exec(ctx, tx, "UPDATE sandbox_registrations SET "+set+" = $2 WHERE name = $1", name, value)
		if err == nil && n == 0 {
			err = &domain.Refusal{Code: "domain_not_found", Message: name + " is not registered here."}
		}
		return err
	})
}

// SetTransferLock turns the transfer lock on or off.
func (r *Registrar) SetTransferLock(ctx context.Context, name string, on bool) error {
	return r.updateRegistration(ctx, name, "locked", on)
}

// ChangeContact replaces the registrant, which .to does not support.
func (r *Registrar) ChangeContact(ctx context.Context, name string, c domain.Registrant) error {
	if strings.HasSuffix(name, ".to") {
		return &domain.UnsupportedError{Operation: "contact_update"}
	}
	return r.updateRegistration(ctx, name, "contact", c)
}

// BeginTransfer begins a transfer, which is complete after transferPeriod, and returns
// a code for the other registrar.
func (r *Registrar) BeginTransfer(ctx context.Context, name string) (string, error) {
	if err := r.updateRegistration(ctx, name, "transfer_at", r.clock.Now()); err != nil {
		return "", err
	}
	return rand.Text(), nil
}

// EndTransfer withdraws a transfer.
func (r *Registrar) EndTransfer(ctx context.Context, name string) error {
	return r.updateRegistration(ctx, name, "transfer_at", (*clock.Time)(nil))
}

// Left reports whether a name has been transferred to another registrar.
func (r *Registrar) Left(ctx context.Context, name string) (bool, error) {
	v, err := r.loadRegistration(ctx, name)
	if err != nil {
		return false, err
	}
	return v.hasLeft(r.clock.Now()), nil
}
