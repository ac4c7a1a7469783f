package optin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
)

// Links makes and reads the links by which people unsubscribe. A link holds
// the organization, the row's link id and a signature of both; it never
// expires, for people keep mail, and it works for no other purpose. The key
// that signs is made once per database and kept sealed there, so that links
// outlive the sealing keys.
type Links struct {
	base string
	key  []byte // nil where the sealing key is missing
	from limit.Limiter[string]
}

// NewLinks makes links below the address of the service, without a key yet.
func NewLinks(base string) *Links { return &Links{base: base} }

const (
	purpose = "unsubscribe"
	keyRows = "link_signing_keys"
)

// Open reads the key, and makes it where there is none.
func (l *Links) Open(ctx context.Context, d *db.DB, seal op.Sealer, now clock.Time) error {
	const place = keyRows + "/" + purpose // as internal/app/rotate.go writes it
	read := func(ctx context.Context, tx *db.Tx) error {
		sealed, err := db.One[[]byte](ctx, tx, "SELECT sealed FROM link_signing_keys WHERE purpose = $1", purpose)
		if err != nil {
			return err
		}
		l.key, err = seal.Open(sealed, place)
		return err
	}
	if err := d.Read(ctx, read); !errors.Is(err, db.ErrNone) {
		return err
	}
	var key [32]byte
	rand.Read(key[:])
	sealed, err := seal.Seal(key[:], place)
	if err != nil {
		return err
	}
	return d.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		// Two servers may start at once: the first key stays.
		_, err := db.Exec(ctx, tx, "INSERT INTO link_signing_keys (purpose, sealed, created_at) VALUES ($1, $2, $3) ON CONFLICT (purpose) DO NOTHING", purpose, sealed, now)
		if err != nil {
			return err
		}
		return read(ctx, tx)
	})
}

// Link is the address under which the holder of an email address unsubscribes.
// The address has an opt-in, or it is a 404.
func (l *Links) Link(ctx context.Context, tx *db.Tx, org id.ID, address string) (string, error) {
	v, err := optIns.Find(ctx, tx, db.In(org).And("email_folded = ?", db.Fold(address)))
	if err != nil {
		return "", err
	}
	token, err := l.token(org, v.LinkID)
	return l.base + "/unsubscribe/" + token, err
}

// give gives a row the link of its address. Links that went out for it work
// for as long as it has a row, whatever became of the row that it had then;
// those of another address never do. Older rows have links of their own.
func (l *Links) give(ctx context.Context, c *op.Call, v *EmailOptIn) error {
	before, err := db.All[id.ID](ctx, c.Tx, "SELECT link_id FROM email_opt_ins WHERE organization_id = $1 AND email_folded = $2 AND deleted_at IS NOT NULL ORDER BY seq DESC LIMIT 1", c.Org, v.Folded)
	if v.LinkID = l.linkOf(c.Org, v.Folded); len(before) > 0 {
		v.LinkID = before[0]
	}
	return err
}

// linkOf is always the same for an address, and tells nobody which it is.
func (l *Links) linkOf(org id.ID, folded string) id.ID {
	if l.key == nil {
		return id.New()
	}
	h := hmac.New(sha256.New, l.key)
	h.Write([]byte("address"))
	h.Write(raw(org))
	h.Write([]byte(folded))
	return readable(h.Sum(nil)[:16])
}

// macSize is 128 bits: nobody guesses one, and a link stays short.
const macSize = 16

func (l *Links) token(org, link id.ID) (string, error) {
	if l.key == nil {
		return "", errors.New("optin: no key to sign links with")
	}
	named := append(raw(org), raw(link)...)
	return base64.RawURLEncoding.EncodeToString(append(named, l.sign(named)...)), nil
}

func (l *Links) sign(named []byte) []byte {
	h := hmac.New(sha256.New, l.key)
	h.Write([]byte(purpose))
	h.Write(named)
	return h.Sum(nil)[:macSize]
}

// read is what a token names. One that was not made here is a 404.
func (l *Links) read(token string) (org, link id.ID, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != 32+macSize || l.key == nil || !hmac.Equal(l.sign(b[:32]), b[32:]) {
		return "", "", fault.NotFound.Say("This link is not complete. Open it again from the message, or copy all of it.")
	}
	return readable(b[:16]), readable(b[16:32]), nil
}

// raw is an id's 16 bytes.
func raw(v id.ID) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(string(v), "-", ""))
	if err != nil {
		panic(fmt.Sprintf("optin: %q is no id", v))
	}
	return b
}

// readable is the id of 16 bytes.
func readable(b []byte) id.ID {
	return id.ID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}
