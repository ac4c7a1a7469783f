package message

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/dkimkey"
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
		signer, err := dkimkey.Parse(plain)
		if err != nil {
			return nil, fmt.Errorf("message: the key %s of %s: %w", r.Selector, h.domain, err)
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
	if err := h.db.Read(ctx, read); err != nil || len(rows) == 2 {
		return rows, err
	}
	pair, err := dkimkey.Pair()
	if err != nil {
		return nil, err
	}
	err = h.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, k := range pair {
			// Sealed in here: a rotation of the sealing key waits for the writes
			// that began before it, and takes the old key out after them.
			sealed, err := h.seal.Seal(k.Private, h.place(k.Selector))
			if err != nil {
				return err
			}
			_, err = db.Exec(ctx, tx, "INSERT INTO mail_keys (domain, selector, sealed, record, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (domain, selector) DO NOTHING",
				h.domain, k.Selector, sealed, k.Record, h.clock.Now())
			if err != nil {
				return err
			}
		}
		return read(ctx, tx)
	})
	return rows, err
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
		out = append(out, Record{dkimkey.Label(r.Selector) + "." + strings.TrimSuffix(h.domain, "."), "TXT", r.Record})
	}
	return out, err
}
