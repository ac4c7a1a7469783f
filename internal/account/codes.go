package account

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// NewCodes is a new secret for an authenticator app. It is shown until a first code
// confirms that the app has it.
type NewCodes struct {
	Secret string `json:"secret" doc:"to be typed where no picture can be read"`
	URL    string `json:"url" max:"2048" doc:"for the picture"`
}

// codeSecretPlace is what a user's secret is sealed for: sealed bytes that are copied into
// another user's row do not open. tables.go declares the same text in SQL.
func codeSecretPlace(user id.ID) string { return "code_secrets/" + string(user) }

// beginCodeApp creates a secret, in place of one that was never confirmed. One that is
// younger than confirmationLifetime stays, so that a page that is loaded again shows
// the same QR code.
func (a *Accounts) beginCodeApp(ctx context.Context, c *op.Call, in ofSession) (*NewCodes, error) {
	if err := beginFactorChange(ctx, c, in.Token); err != nil {
		return nil, err
	}
	key, err := a.loadUnconfirmedSecret(ctx, c)
	if err != nil {
		return nil, err
	}
	if key == nil {
		if key, err = a.insertCodeSecret(ctx, c); err != nil {
			return nil, err
		}
	}
	email, err := db.QueryOne[string](ctx, c.Tx, "SELECT email FROM users WHERE id = $1", c.Caller.ID)
	if err != nil {
		return nil, err
	}
	return &NewCodes{plainBase32.EncodeToString(key), codeAppURL(a.issuerName(), email, key)}, nil
}

// loadUnconfirmedSecret is the secret that the user was shown in the last minutes and has not
// confirmed, or nil.
func (a *Accounts) loadUnconfirmedSecret(ctx context.Context, c *op.Call) ([]byte, error) {
	sealed, err := db.QueryOne[[]byte](ctx, c.Tx, `
		SELECT secret FROM code_secrets
		WHERE user_id = $1 AND confirmed_at IS NULL AND created_at > $2`, c.Caller.ID, c.Now.Add(-confirmationLifetime))
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return a.config.Seal.Open(sealed, codeSecretPlace(c.Caller.ID))
}

// insertCodeSecret stores a new secret. It refuses a user who has a confirmed one.
func (a *Accounts) insertCodeSecret(ctx context.Context, c *op.Call) ([]byte, error) {
	key := make([]byte, 20) // as long as the hash, RFC 4226 §4
	rand.Read(key)
	sealed, err := a.config.Seal.Seal(key, codeSecretPlace(c.Caller.ID))
	if err != nil {
		return nil, err
	}
	n, err := db.Exec(ctx, c.Tx, `
		INSERT INTO code_secrets (user_id, created_at, secret, last_step) VALUES ($1, $2, $3, 0)
		ON CONFLICT (user_id) DO UPDATE SET created_at = excluded.created_at, secret = excluded.secret
		WHERE code_secrets.confirmed_at IS NULL`, c.Caller.ID, c.Now, sealed)
	if err == nil && n == 0 {
		err = FactorExists.New()
	}
	return key, err
}

// issuerName is what apps and authenticators call this server.
func (a *Accounts) issuerName() string {
	u, err := url.Parse(a.config.BaseURL)
	if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" {
		return "Frontdesk"
	}
	return "Frontdesk " + u.Hostname()
}

type codesAdd struct {
	Token string `json:"token"`
	Code  string `json:"code" max:"100"`
}

// RecoveryCodes are codes that stand in for a lost factor, each once. They are shown
// only when they are created.
type RecoveryCodes struct {
	Codes []string `json:"codes" doc:"empty when the user has some already"`
}

// addCodeApp makes the app a factor once it shows the right code. Guessing is
// pointless here: the secret is the caller's own.
func (a *Accounts) addCodeApp(ctx context.Context, c *op.Call, in codesAdd) (*RecoveryCodes, error) {
	if err := beginFactorChange(ctx, c, in.Token); err != nil {
		return nil, err
	}
	ok, err := a.acceptOneTimeCode(ctx, c, c.Caller.ID, normalizeCode(in.Code), "confirmed_at IS NULL")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.Field("code", "This is not the code that the app should show now. Check the clock of the "+
			"device, and type the code while it is shown")
	}
	others, err := userHasFactor(ctx, c.Tx, c.Caller.ID)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, c.Tx, "UPDATE code_secrets SET confirmed_at = $2 WHERE user_id = $1", c.Caller.ID, c.Now)
	if err != nil {
		return nil, err
	}
	codes, err := a.recordFactorAdded(ctx, c, addedFactor{ByCode, "An app for one-time codes", in.Token, !others})
	return &RecoveryCodes{codes}, err
}

// acceptOneTimeCode reports whether a code is the right one. last_step only grows: a code works
// once, and one of an earlier step no longer works after it. which is the SQL condition
// for a confirmed or an unconfirmed secret.
func (a *Accounts) acceptOneTimeCode(ctx context.Context, c *op.Call, user id.ID, code, which string) (bool, error) {
	sealed, err := db.QueryOne[[]byte](ctx, c.Tx, "SELECT secret FROM code_secrets WHERE user_id = $1 AND "+which, user)
	if errors.Is(err, db.ErrNoRow) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	key, err := a.config.Seal.Open(sealed, codeSecretPlace(user))
	if err != nil {
		return false, err
	}
	step, ok := findCodeStep(key, code, c.Now.Std())
	if !ok {
		return false, nil
	}
	n, err := db.Exec(ctx, c.Tx, `
		UPDATE code_secrets SET last_step = $2, used_at = $3
		WHERE user_id = $1 AND last_step < $2`, user, step, c.Now)
	return n == 1, err
}

// normalizeCode drops what people type between the digits and letters of a code.
func normalizeCode(code string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\u00a0' {
			return -1
		}
		return r
	}, code))
}

// acceptAnyCode accepts a one-time code or a recovery code of a user, who is locked. The
// length tells them apart.
func (a *Accounts) acceptAnyCode(ctx context.Context, c *op.Call, user id.ID, code string) (Factor, error) {
	code = normalizeCode(code)
	if len(code) != codeDigits {
		return ByRecovery, a.acceptRecoveryCode(ctx, c, user, code)
	}
	ok, err := a.acceptOneTimeCode(ctx, c, user, code, "confirmed_at IS NOT NULL")
	if err == nil && !ok {
		err = WrongFactor.New()
	}
	return ByCode, err
}

func (a *Accounts) removeCodeApp(ctx context.Context, c *op.Call, in ofSession) (*Factors, error) {
	if err := beginFactorChange(ctx, c, in.Token); err != nil {
		return nil, err
	}
	n, err := db.Exec(ctx, c.Tx, "DELETE FROM code_secrets WHERE user_id = $1", c.Caller.ID)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fault.NotFound.Say("You have no app for one-time codes.")
	}
	return a.recordFactorRemoved(ctx, c, ByCode, "The app for one-time codes")
}

// A recovery code is 80 random bits: 16 letters of base32, in four groups of four.
const (
	recoveryCodeCount  = 10
	recoveryCodeLength = 16
)

// newRecoveryCodes replaces a user's recovery codes.
func newRecoveryCodes(ctx context.Context, c *op.Call, user id.ID) ([]string, error) {
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM recovery_codes WHERE user_id = $1", user); err != nil {
		return nil, err
	}
	out := make([]string, recoveryCodeCount)
	for i := range out {
		text := rand.Text()[:recoveryCodeLength] // base32, 5 bits each
		hash := secret.HashToken(text)
		if _, err := db.Exec(ctx, c.Tx, `
			INSERT INTO recovery_codes (user_id, created_at, hash) VALUES ($1, $2, $3)`,
			user, c.Now, hash[:]); err != nil {
			return nil, err
		}
		out[i] = text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
	}
	return out, nil
}

func (a *Accounts) renewRecoveryCodes(ctx context.Context, c *op.Call, in ofSession) (*RecoveryCodes, error) {
	if err := beginFactorChange(ctx, c, in.Token); err != nil {
		return nil, err
	}
	has, err := userHasFactor(ctx, c.Tx, c.Caller.ID)
	if err != nil {
		return nil, err
	}
	if !has {
		return nil, fault.NotFound.Say("You have no second factor, so you need no recovery codes.")
	}
	codes, err := newRecoveryCodes(ctx, c, c.Caller.ID)
	if err != nil {
		return nil, err
	}
	what := accountChange{"user.recovery_codes_created", c.Caller.ID, ByRecovery}
	return &RecoveryCodes{codes}, a.announceAccountChange(ctx, c, what, Notice{
		Subject: "New recovery codes were created for your account",
		Text:    []string{"Ten new recovery codes were created. The earlier ones do not work any more."},
	})
}

// acceptRecoveryCode accepts a recovery code. Removing it from those that work and the
// mail about it are one transaction.
func (a *Accounts) acceptRecoveryCode(ctx context.Context, c *op.Call, user id.ID, code string) error {
	hash := secret.HashToken(code)
	n, err := db.Exec(ctx, c.Tx, `
		UPDATE recovery_codes SET used_at = $3
		WHERE user_id = $1 AND hash = $2 AND used_at IS NULL`, user, hash[:], c.Now)
	if err != nil {
		return err
	}
	has := n == 1
	if has { // without a factor left, recovery codes are worth nothing
		if has, err = userHasFactor(ctx, c.Tx, user); err != nil {
			return err
		}
	}
	if !has {
		return WrongFactor.New()
	}
	return a.announceAccountChange(ctx, c, accountChange{"user.recovery_code_used", user, ByRecovery}, Notice{
		Subject: "A recovery code was used for your account",
		Text: []string{"Somebody used one of your recovery codes to show that they are you. " +
			"It does not work again."},
	})
}
