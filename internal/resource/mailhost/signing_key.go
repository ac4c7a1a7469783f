package mailhost

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"sync"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/dkimkey"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
)

var _ = db.Declare("mail_keys", db.Life{
	Sealed: []db.Sealed{{Column: "sealed", Place: "'mail_keys/' || domain || '/' || selector"}},
})

// SigningKey signs the mail of a domain with DKIM (RFC 6376).
type SigningKey struct {
	Domain, Selector string
	Signer           crypto.Signer // RSA or Ed25519
}

// ErrInactive means that the domain of an address is not an active one of the
// organization, so nothing is sent from it, not even mail that was accepted
// while it was.
var ErrInactive = errors.New("mailhost: the domain is not active")

// SigningKeys finds the keys that sign mail from an address: those of its domain, or the
// service's own if its email is not hosted here. It opens transactions of its own, so it must
// not be called inside one.
func (s *Service) SigningKeys(ctx context.Context, org id.ID, address string) ([]SigningKey, error) {
	name := DomainOf(address)
	if name == s.domain {
		return s.loadOwnSigningKeys(ctx)
	}
	signers, err := s.email.LoadSigners(ctx, org, name)
	switch {
	case errors.Is(err, domain.ErrMayNotSend):
		return nil, fmt.Errorf("%w: %s", ErrInactive, name)
	case err != nil:
		return nil, err
	case len(signers) == 0:
		return s.loadOwnSigningKeys(ctx)
	}
	var keys []SigningKey
	for _, v := range signers {
		keys = append(keys, SigningKey{name, v.Selector, v.Key})
	}
	return keys, nil
}

// ownKeys caches the keys of the service's domain. They are created on first use and stored
// sealed.
type ownKeys struct {
	mu   sync.Mutex
	open []SigningKey
}

// mailKey is a row of mail_keys.
type mailKey struct {
	Selector string `db:"selector"`
	Sealed   []byte `db:"sealed"`
	Record   string `db:"record"`
}

// loadOwnSigningKeys unseals the keys of the service's domain, once per process.
func (s *Service) loadOwnSigningKeys(ctx context.Context) ([]SigningKey, error) {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	if s.own.open != nil {
		return s.own.open, nil
	}
	rows, err := s.ensureMailKeys(ctx)
	if err != nil {
		return nil, err
	}
	var keys []SigningKey
	for _, r := range rows {
		signer, err := s.unsealKey(r)
		if err != nil {
			return nil, fmt.Errorf("mailhost: the key %s of %s: %w", r.Selector, s.domain, err)
		}
		keys = append(keys, SigningKey{s.domain, r.Selector, signer})
	}
	s.own.open = keys
	return keys, nil
}

func (s *Service) unsealKey(r mailKey) (crypto.Signer, error) {
	plain, err := s.seal.Open(r.Sealed, s.sealPlace(r.Selector))
	if err != nil {
		return nil, err
	}
	return dkimkey.ParsePrivate(plain)
}

// sealPlace is what a sealed key is bound to. The table's Life repeats it in SQL.
func (s *Service) sealPlace(selector string) string { return "mail_keys/" + s.domain + "/" + selector }

// ensureMailKeys reads the keys of the service's domain, one RSA and one Ed25519, and creates
// missing ones. If two servers do so at once, the first key wins.
func (s *Service) ensureMailKeys(ctx context.Context) (rows []mailKey, err error) {
	read := func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.QueryAll[mailKey](ctx, tx, `
			SELECT selector, sealed, record FROM mail_keys
			WHERE domain = $1
			ORDER BY selector`,
			s.domain)
		return err
	}
	if err := s.db.Read(ctx, read); err != nil || len(rows) == 2 {
		return rows, err
	}
	pair, err := dkimkey.GeneratePair()
	if err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, k := range pair {
			// Sealed inside the transaction: a rotation of the sealing key
			// waits for the writes that began before it, and removes the old
			// key after them.
			sealed, err := s.seal.Seal(k.Private, s.sealPlace(k.Selector))
			if err != nil {
				return err
			}
			_, err = db.Exec(ctx, tx, `
				INSERT INTO mail_keys (domain, selector, sealed, record, created_at)
				VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (domain, selector) DO NOTHING`,
				s.domain, k.Selector, sealed, k.Record, s.clock.Now())
			if err != nil {
				return err
			}
		}
		return read(ctx, tx)
	})
	return rows, err
}

// Record is a DNS record that the owner of a domain publishes.
type Record struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Records lists what the operator publishes for the service's domain, so that receivers can
// verify its signatures. It creates missing keys.
func (s *Service) Records(ctx context.Context) ([]Record, error) {
	rows, err := s.ensureMailKeys(ctx)
	var out []Record
	for _, r := range rows {
		out = append(out, Record{dkimkey.RecordName(r.Selector) + "." + s.domain, "TXT", r.Record})
	}
	return out, err
}
