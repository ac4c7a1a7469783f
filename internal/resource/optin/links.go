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
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
)

// Links creates and reads the links by which people unsubscribe. A link holds
// the organization, the row's link id and a signature of both. It never
// expires, because people keep mail. The signing key is created once per
// database and kept sealed there, so links stay valid when the sealing keys are
// rotated. Other packages sign links of their own with the same key, under
// another purpose.
type Links struct {
	base         string
	key          []byte // nil when the sealing key is missing
	visitLimiter limit.Limiter[string]
}

// Config is what links need. All fields but Seal are required.
type Config struct {
	DB      *db.DB
	Clock   *clock.Clock
	Seal    op.Sealer // nil when the sealing key is missing: then there are no links
	BaseURL string    // the start of every link
}

// New reads the signing key, and creates it if there is none. It panics when a
// required field is missing.
func New(ctx context.Context, c Config) (*Links, error) {
	config.RequireFields(c, "DB", "Clock", "BaseURL")
	l := &Links{base: c.BaseURL}
	if c.Seal == nil {
		return l, nil
	}
	var err error
	l.key, err = loadSigningKey(ctx, c)
	return l, err
}

const (
	unsubscribePurpose = "unsubscribe"
	signingKeyTable    = "link_signing_keys"
)

var _ = db.Declare(signingKeyTable, db.Life{
	Sealed: []db.Sealed{{Column: "sealed", Place: "'link_signing_keys/' || purpose"}},
})

// loadSigningKey reads the key that signs links, or creates it at the first start.
func loadSigningKey(ctx context.Context, c Config) (key []byte, err error) {
	const place = signingKeyTable + "/" + unsubscribePurpose // the table's Life repeats it in SQL
	read := func(ctx context.Context, tx *db.Tx) error {
		sealed, err := db.QueryOne[[]byte](ctx, tx, "SELECT sealed FROM link_signing_keys WHERE purpose = $1",
			unsubscribePurpose)
		if err != nil {
			return err
		}
		key, err = c.Seal.Open(sealed, place)
		return err
	}
	if err := c.DB.Read(ctx, read); !errors.Is(err, db.ErrNoRow) {
		return key, err
	}
	var made [32]byte
	rand.Read(made[:])
	sealed, err := c.Seal.Seal(made[:], place)
	if err != nil {
		return nil, err
	}
	err = c.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		// Two servers may start at once: the first key wins.
		_, err := db.Exec(ctx, tx, `
			INSERT INTO link_signing_keys (purpose, sealed, created_at)
			VALUES ($1, $2, $3)
			ON CONFLICT (purpose) DO NOTHING`,
			unsubscribePurpose, sealed, c.Clock.Now())
		if err != nil {
			return err
		}
		return read(ctx, tx)
	})
	return key, err
}

// DeriveKey derives a secret of the server for another purpose, always the same one. Without the sealing key it is
// random.
func (l *Links) DeriveKey(purpose string) []byte {
	if l.key == nil {
		out := make([]byte, sha256.Size)
		rand.Read(out)
		return out
	}
	h := hmac.New(sha256.New, l.key)
	h.Write([]byte("derive " + purpose))
	return h.Sum(nil)
}

// Link is the URL where the holder of an email address unsubscribes. Without an
// opt-in for the address it is a 404.
func (l *Links) Link(ctx context.Context, tx *db.Tx, org id.ID, address string) (string, error) {
	v, err := optIns.Find(ctx, tx, db.InOrganization(org).And("email_folded = ?", db.FoldText(address)))
	if err != nil {
		return "", err
	}
	token, err := l.Token(unsubscribePurpose, org, v.LinkID)
	return l.base + "/unsubscribe/" + token, err
}

// assignLinkID gives a row the link id of its address. The id is derived from the
// address, so that links which were sent work as long as the address has any
// row, even a newer one. Rows from before that rule have random ids: the id of
// the last deleted row of the address is kept.
func (l *Links) assignLinkID(ctx context.Context, c *op.Call, v *EmailOptIn) error {
	before, err := db.QueryAll[id.ID](ctx, c.Tx, `
		SELECT link_id
		FROM email_opt_ins
		WHERE organization_id = $1 AND email_folded = $2 AND deleted_at IS NOT NULL
		ORDER BY seq DESC
		LIMIT 1`,
		c.Org, v.Folded)
	if v.LinkID = l.deriveLinkID(c.Org, v.Folded); len(before) > 0 {
		v.LinkID = before[0]
	}
	return err
}

// deriveLinkID derives the link id of an address: always the same, and without
// revealing the address. Without a key it is random.
func (l *Links) deriveLinkID(org id.ID, folded string) id.ID {
	if l.key == nil {
		return id.New()
	}
	h := hmac.New(sha256.New, l.key)
	h.Write([]byte("address"))
	h.Write(idBytes(org))
	h.Write([]byte(folded))
	return idFromBytes(h.Sum(nil)[:16])
}

// signatureBytes is the length of a signature in bytes. 128 bits cannot be guessed, and
// keep the link short.
const signatureBytes = 16

// BaseURL is the address that links begin with.
func (l *Links) BaseURL() string { return l.base }

// Token makes the signed part of a link that anybody may follow: it names a row
// of an organization. The purpose is signed with it, so that a token for one
// kind of link is not accepted for another.
func (l *Links) Token(purpose string, org, row id.ID) (string, error) {
	if l.key == nil {
		return "", errors.New("optin: there is no key to sign links with")
	}
	named := append(idBytes(org), idBytes(row)...)
	return base64.RawURLEncoding.EncodeToString(append(named, l.signLink(purpose, named)...)), nil
}

func (l *Links) signLink(purpose string, named []byte) []byte {
	h := hmac.New(sha256.New, l.key)
	h.Write([]byte(purpose))
	h.Write(named)
	return h.Sum(nil)[:signatureBytes]
}

// ReadToken returns what a token names. A token that this key did not sign for
// this purpose is a 404.
func (l *Links) ReadToken(purpose, token string) (org, row id.ID, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != 32+signatureBytes || l.key == nil || !hmac.Equal(l.signLink(purpose, b[:32]), b[32:]) {
		return "", "",
			fault.NotFound.Say("This link is not complete. Open it again from the message, or copy all of it.")
	}
	return idFromBytes(b[:16]), idFromBytes(b[16:32]), nil
}

// idBytes is an id's 16 bytes.
func idBytes(v id.ID) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(string(v), "-", ""))
	if err != nil {
		panic(fmt.Sprintf("optin: %q is not an id", v))
	}
	return b
}

// idFromBytes is the id for 16 bytes.
func idFromBytes(b []byte) id.ID {
	return id.ID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}
