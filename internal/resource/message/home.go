package message

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Home knows the service's own domain, from whose no-reply address every
// organization may send. Its other addresses are nobody's: who could choose
// one could pass for another organization. The keys are made when they are
// first wanted and kept sealed.
type Home struct {
	TakesMail bool // answers can arrive

	domain string
	db     *db.DB
	clock  *clock.Clock
	seal   op.Sealer

	mu   sync.Mutex
	keys []Key
}

var _ Senders = (*Home)(nil)

// NewHome is the domain that mail.domain names.
func NewHome(domain string, d *db.DB, c *clock.Clock, seal op.Sealer) *Home {
	return &Home{domain: domain, db: d, clock: c, seal: seal}
}

// Default is the address that everybody may send from.
func (h *Home) Default() string { return "no-reply@" + h.domain }

// MaySend reports whether the address is the domain's no-reply.
func (h *Home) MaySend(_ context.Context, _ *db.Tx, _ id.ID, address string) (bool, error) {
	return db.Fold(address) == db.Fold(h.Default()), nil
}

// Two keys: not everybody can verify the shorter one yet (RFC 8463 §5).
var selectors = map[string]func() (crypto.Signer, error){
	"fd-rsa":     func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) },
	"fd-ed25519": func() (crypto.Signer, error) { _, k, err := ed25519.GenerateKey(rand.Reader); return k, err },
}

type mailKey struct {
	Selector string `db:"selector"`
	Sealed   []byte `db:"sealed"`
	Record   string `db:"record"`
}

// Keys are the domain's.
func (h *Home) Keys(ctx context.Context, _ id.ID, _ string) ([]Key, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keys != nil {
		return h.keys, nil
	}
	rows, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	var keys []Key
	for _, r := range rows {
		plain, err := h.seal.Open(r.Sealed, h.place(r.Selector))
		if err != nil {
			return nil, fmt.Errorf("message: the key %s of %s: %w", r.Selector, h.domain, err)
		}
		k, err := x509.ParsePKCS8PrivateKey(plain)
		if err != nil {
			return nil, fmt.Errorf("message: the key %s of %s: %w", r.Selector, h.domain, err)
		}
		signer, ok := k.(crypto.Signer)
		if !ok {
			return nil, fmt.Errorf("message: the key %s of %s cannot sign", r.Selector, h.domain)
		}
		keys = append(keys, Key{h.domain, r.Selector, signer})
	}
	h.keys = keys
	return keys, nil
}

// place is what a sealed key is bound to, as internal/app/rotate.go writes it.
func (h *Home) place(selector string) string { return "mail_keys/" + h.domain + "/" + selector }

// open reads the keys, and makes those that there are not. Of two servers that
// do so at once, the first key stays.
func (h *Home) open(ctx context.Context) (rows []mailKey, err error) {
	read := func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.All[mailKey](ctx, tx, "SELECT selector, sealed, record FROM mail_keys WHERE domain = $1 ORDER BY selector", h.domain)
		return err
	}
	if err := h.db.Read(ctx, read); err != nil || len(rows) == len(selectors) {
		return rows, err
	}
	var made []mailKey
	for selector, generate := range selectors {
		k, err := generate()
		if err != nil {
			return nil, err
		}
		row := mailKey{Selector: selector}
		if row.Record, err = record(k); err != nil {
			return nil, err
		}
		plain, err := x509.MarshalPKCS8PrivateKey(k)
		if err != nil {
			return nil, err
		}
		if row.Sealed, err = h.seal.Seal(plain, h.place(selector)); err != nil {
			return nil, err
		}
		made = append(made, row)
	}
	err = h.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, r := range made {
			_, err := db.Exec(ctx, tx, "INSERT INTO mail_keys (domain, selector, sealed, record, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (domain, selector) DO NOTHING",
				h.domain, r.Selector, r.Sealed, r.Record, h.clock.Now())
			if err != nil {
				return err
			}
		}
		return read(ctx, tx)
	})
	return rows, err
}

// record is a key as DNS publishes it (RFC 6376 §3.6.1, RFC 8463 §4.2).
func record(k crypto.Signer) (string, error) {
	switch public := k.Public().(type) {
	case ed25519.PublicKey:
		return "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public), nil
	case *rsa.PublicKey:
		der, err := x509.MarshalPKIXPublicKey(public)
		return "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(der), err
	}
	return "", errors.New("message: no such kind of key")
}

// Record is a line of DNS that whoever owns a domain publishes.
type Record struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Records are what to publish for the domain, so that its signatures can be
// verified. It makes the keys where there are none.
func (h *Home) Records(ctx context.Context) ([]Record, error) {
	rows, err := h.open(ctx)
	var out []Record
	for _, r := range rows {
		out = append(out, Record{r.Selector + "._domainkey." + strings.TrimSuffix(h.domain, "."), "TXT", r.Record})
	}
	return out, err
}
