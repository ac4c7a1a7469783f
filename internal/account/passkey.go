package account

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/peer"
	"frontdesk/internal/kernel/secret"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Passkeys are WebAuthn credentials that verify their user, by a fingerprint or a
// PIN. A challenge belongs to one session or sign-in and to one purpose, and its
// first use that succeeds deletes it.

const (
	maxPasskeys       = 20 // per user
	challengeLifetime = 5 * time.Minute
)

// What a challenge is for.
const (
	purposeEnroll    = "enroll"
	purposeSignIn    = "sign_in"
	purposeReconfirm = "reconfirm"
)

// newRelyingParty is nil where no browser offers passkeys: they need a host name,
// and https unless it is this machine.
func newRelyingParty(base string) *webauthn.WebAuthn {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil ||
		u.Scheme != "https" && !peer.IsLoopback(u.Hostname()) {
		return nil
	}
	w, err := webauthn.New(&webauthn.Config{
		RPID:          strings.ToLower(u.Hostname()),
		RPDisplayName: "Frontdesk",
		RPOrigins:     []string{u.Scheme + "://" + u.Host},
	})
	if err != nil {
		return nil
	}
	return w
}

// passkeyHolder is a user as the webauthn library sees them.
type passkeyHolder struct {
	user        id.ID
	email, name string
	credentials []webauthn.Credential
}

func (h *passkeyHolder) WebAuthnID() []byte                         { return []byte(h.user) }
func (h *passkeyHolder) WebAuthnName() string                       { return h.email }
func (h *passkeyHolder) WebAuthnDisplayName() string                { return h.name }
func (h *passkeyHolder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

// loadPasskeyHolder reads a user and their passkeys. The column sign_count has the counter: the
// stored credential keeps the one of its registration.
func loadPasskeyHolder(ctx context.Context, tx *db.Tx, user id.ID) (*passkeyHolder, error) {
	type person struct {
		Email string `db:"email"`
		Name  string `db:"name"`
	}
	p, err := db.QueryOne[person](ctx, tx, "SELECT email, name FROM users WHERE id = $1", user)
	if err != nil {
		return nil, err
	}
	type row struct {
		Credential []byte `db:"credential"`
		SignCount  int64  `db:"sign_count"`
	}
	rows, err := db.QueryAll[row](ctx, tx, `
		SELECT credential, sign_count FROM passkeys
		WHERE user_id = $1 ORDER BY seq LIMIT $2`, user, maxPasskeys)
	if err != nil {
		return nil, err
	}
	h := &passkeyHolder{user: user, email: p.Email, name: p.Name}
	for _, r := range rows {
		var k webauthn.Credential
		if err := json.Unmarshal(r.Credential, &k); err != nil {
			return nil, err
		}
		k.Authenticator.SignCount = uint32(r.SignCount)
		h.credentials = append(h.credentials, k)
	}
	return h, nil
}

// PasskeyOptions are what the browser asks the passkey for.
type PasskeyOptions struct {
	Options string `json:"options" max:"100000" doc:"JSON, as the browser's navigator.credentials takes it"`
}

func (a *Accounts) passkeyOperations() []*op.Op {
	const session = `{"token": "fds_0000000000000000000000000000000000000000"`
	const pending = `{"pending": "fdt_0000000000000000000000000000000000000000"`
	return []*op.Op{
		op.Write(op.Spec{
			Name:     "factors.begin_passkey",
			Summary:  "Ask the browser for a new passkey.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Errors:   []*fault.Kind{NotConfirmed, NoPasskeys},
			Example:  session + `}`,
		}, a.beginPasskey),
		op.Write(op.Spec{
			Name:     "factors.add_passkey",
			Summary:  "Add the passkey that the browser made; from then on signing in asks for a second factor.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Secret:   true,
			Events:   []string{"user.factor_added"},
			Errors:   []*fault.Kind{NotConfirmed, NoPasskeys, WrongPasskey},
			Example:  session + `, "name": "Laptop", "credential": "{}"}`,
		}, a.addPasskey),
		op.Write(op.Spec{
			Name:     "sessions.ask_passkey",
			Summary:  "Ask the browser for a passkey that completes a sign-in.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Errors:   []*fault.Kind{SignInExpired, NoPasskeys},
			Example:  pending + `}`,
		}, a.challengeForSignIn),
		op.Flow(op.Spec{
			Name:     "sessions.confirm_passkey",
			Summary:  "Complete a sign-in with a passkey.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   201,
			Secret:   true,
			Events:   []string{"session.created"},
			Errors:   []*fault.Kind{SignInExpired, NoPasskeys, WrongPasskey},
			Example:  pending + `, "credential": "{}", "address": "192.0.2.7"}`,
		}, a.confirmSignInByPasskey),
		op.Write(op.Spec{
			Name:     "sessions.ask_reconfirm",
			Summary:  "Ask the browser for a passkey that confirms that it is still you.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Errors:   []*fault.Kind{NoPasskeys},
			Example:  session + `}`,
		}, a.challengeForReconfirm),
		op.Flow(op.Spec{
			Name:     "sessions.reconfirm_passkey",
			Summary:  "Confirm with a passkey that it is still you.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Status:   204,
			Events:   []string{"session.confirmed"},
			Errors:   []*fault.Kind{NoPasskeys, WrongPasskey},
			Example:  session + `, "credential": "{}", "address": "192.0.2.7"}`,
		}, a.reconfirmByPasskey),
	}
}

// challengeKey is what a challenge is found by.
type challengeKey struct {
	user    id.ID
	token   string // of the session, or of the sign-in that waits for a second factor
	purpose string
}

// storeChallenge stores what the library needs to check the browser's answer, and returns
// the options for the browser. There is one challenge for each token and purpose; a
// new one replaces it.
func storeChallenge(ctx context.Context, c *op.Call, k challengeKey, options any,
	s *webauthn.SessionData) (*PasskeyOptions, error) {
	s.Expires = time.Time{} // the row has the time, by the service's own clock
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM passkey_challenges WHERE expires_at <= $1", c.Now); err != nil {
		return nil, err
	}
	hash := secret.HashToken(k.token)
	_, err = db.Exec(ctx, c.Tx, `
		INSERT INTO passkey_challenges (hash, purpose, user_id, data, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (hash, purpose) DO UPDATE
		SET user_id = excluded.user_id, data = excluded.data, created_at = excluded.created_at,
			expires_at = excluded.expires_at`,
		hash[:], k.purpose, k.user, data, c.Now, c.Now.Add(challengeLifetime))
	return &PasskeyOptions{string(text)}, err
}

// takeChallenge deletes a challenge and returns its data, so that it is used once. A
// refusal later in the transaction brings it back.
func takeChallenge(ctx context.Context, c *op.Call, k challengeKey) (s webauthn.SessionData, err error) {
	hash := secret.HashToken(k.token)
	data, err := db.QueryOne[[]byte](ctx, c.Tx, `
		DELETE FROM passkey_challenges
		WHERE hash = $1 AND purpose = $2 AND user_id = $3 AND expires_at > $4
		RETURNING data`, hash[:], k.purpose, k.user, c.Now)
	if errors.Is(err, db.ErrNoRow) {
		return s, WrongPasskey.Say("That took too long. Try again.")
	}
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

func (a *Accounts) beginPasskey(ctx context.Context, c *op.Call, in ofSession) (*PasskeyOptions, error) {
	if a.passkeys == nil {
		return nil, NoPasskeys.New()
	}
	if err := requireConfirmed(ctx, c, in.Token); err != nil {
		return nil, err
	}
	h, err := loadPasskeyHolder(ctx, c.Tx, c.Caller.ID)
	if err != nil {
		return nil, err
	}
	options, s, err := a.passkeys.BeginRegistration(h,
		webauthn.WithExclusions(webauthn.Credentials(h.credentials).CredentialDescriptors()),
		webauthn.WithConveyancePreference(protocol.PreferNoAttestation),
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
			ResidentKey:      protocol.ResidentKeyRequirementPreferred,
			UserVerification: protocol.VerificationRequired,
		}))
	if err != nil {
		return nil, err
	}
	return storeChallenge(ctx, c, challengeKey{c.Caller.ID, in.Token, purposeEnroll}, options.Response, s)
}

type passkeyAdd struct {
	Token      string `json:"token"`
	Name       string `json:"name" min:"1" max:"60"`
	Credential string `json:"credential" max:"100000" doc:"the browser's answer as JSON"`
}

func (a *Accounts) addPasskey(ctx context.Context, c *op.Call, in passkeyAdd) (*RecoveryCodes, error) {
	if a.passkeys == nil {
		return nil, NoPasskeys.New()
	}
	if err := beginFactorChange(ctx, c, in.Token); err != nil {
		return nil, err
	}
	s, err := takeChallenge(ctx, c, challengeKey{c.Caller.ID, in.Token, purposeEnroll})
	if err != nil {
		return nil, err
	}
	h, err := loadPasskeyHolder(ctx, c.Tx, c.Caller.ID)
	if err != nil {
		return nil, err
	}
	if len(h.credentials) >= maxPasskeys {
		return nil, FactorExists.Say("You have %d passkeys, which is the most. Remove one first.", maxPasskeys)
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(in.Credential))
	if err != nil {
		return nil, WrongPasskey.Because(err)
	}
	k, err := a.passkeys.CreateCredential(h, s, parsed)
	if err != nil {
		return nil, WrongPasskey.Because(err)
	}
	k.Attestation = webauthn.CredentialAttestation{} // not asked for
	data, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	others, err := userHasFactor(ctx, c.Tx, c.Caller.ID)
	if err != nil {
		return nil, err
	}
	// An id that another user registered stays theirs (WebAuthn §7.1 step 26).
	n, err := db.Exec(ctx, c.Tx, `
		INSERT INTO passkeys (id, user_id, created_at, name, credential_id, credential, sign_count)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (credential_id) DO NOTHING`,
		c.NewID(), c.Caller.ID, c.Now, in.Name, k.ID, data, int64(k.Authenticator.SignCount))
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, WrongPasskey.Say("This passkey is already in use.")
	}
	codes, err := a.recordFactorAdded(ctx, c,
		addedFactor{ByPasskey, "The passkey \"" + in.Name + "\"", in.Token, !others})
	return &RecoveryCodes{codes}, err
}

type passkeyRemove struct {
	Token string `json:"token"`
	ID    id.ID  `json:"id"`
}

func (a *Accounts) removePasskey(ctx context.Context, c *op.Call, in passkeyRemove) (*Factors, error) {
	if err := beginFactorChange(ctx, c, in.Token); err != nil {
		return nil, err
	}
	name, err := db.QueryOne[string](ctx, c.Tx, "DELETE FROM passkeys WHERE id = $1 AND user_id = $2 RETURNING name",
		in.ID, c.Caller.ID)
	if err != nil {
		return nil, db.AsNotFound(err, "passkey")
	}
	return a.recordFactorRemoved(ctx, c, ByPasskey, "The passkey \""+name+"\"")
}

type passkeyAsk struct {
	Pending string `json:"pending"`
}

func (a *Accounts) challengeForSignIn(ctx context.Context, c *op.Call, in passkeyAsk) (*PasskeyOptions, error) {
	p, err := loadPendingSignIn(ctx, c.Tx, in.Pending, c.Now)
	if err != nil {
		return nil, err
	}
	return a.createPasskeyChallenge(ctx, c, challengeKey{p.User, in.Pending, purposeSignIn})
}

func (a *Accounts) challengeForReconfirm(ctx context.Context, c *op.Call, in ofSession) (*PasskeyOptions, error) {
	return a.createPasskeyChallenge(ctx, c, challengeKey{c.Caller.ID, in.Token, purposeReconfirm})
}

// createPasskeyChallenge creates a challenge that any of a user's passkeys can sign.
func (a *Accounts) createPasskeyChallenge(ctx context.Context, c *op.Call, k challengeKey) (*PasskeyOptions,
	error) {
	h, err := loadPasskeyHolder(ctx, c.Tx, k.user)
	if err != nil {
		return nil, err
	}
	if a.passkeys == nil || len(h.credentials) == 0 {
		return nil, NoPasskeys.New()
	}
	options, s, err := a.passkeys.BeginLogin(h, webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, err
	}
	return storeChallenge(ctx, c, k, options.Response, s)
}

type passkeyConfirm struct {
	Pending    string `json:"pending"`
	Credential string `json:"credential" max:"100000"`
	Origin
}

func (a *Accounts) confirmSignInByPasskey(ctx context.Context, c *op.Call, in passkeyConfirm) (*NewSession, error) {
	return a.completeSecondStep(ctx, c, in.Pending, in.Origin, func(ctx context.Context, user id.ID) (Factor, error) {
		return ByPasskey, a.acceptPasskey(ctx, c, challengeKey{user, in.Pending, purposeSignIn}, in.Credential)
	})
}

type passkeyReconfirm struct {
	Token      string `json:"token"`
	Credential string `json:"credential" max:"100000"`
	Origin
}

func (a *Accounts) reconfirmByPasskey(ctx context.Context, c *op.Call, in passkeyReconfirm) (op.Nothing, error) {
	return a.reconfirmByFactor(ctx, c, in.Token, in.Origin, func(ctx context.Context) error {
		return a.acceptPasskey(ctx, c, challengeKey{c.Caller.ID, in.Token, purposeReconfirm}, in.Credential)
	})
}

// acceptPasskey accepts what a passkey signed for a user, who is locked. The counter of a
// passkey that has one must grow, because a cloned passkey would repeat a value
// (WebAuthn §6.1.1). Most passkeys have none and always send zero.
func (a *Accounts) acceptPasskey(ctx context.Context, c *op.Call, asked challengeKey, answer string) error {
	if a.passkeys == nil {
		return NoPasskeys.New()
	}
	s, err := takeChallenge(ctx, c, asked)
	if err != nil {
		return err
	}
	h, err := loadPasskeyHolder(ctx, c.Tx, asked.user)
	if err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return WrongPasskey.Because(err)
	}
	k, err := a.passkeys.ValidateLogin(h, s, parsed)
	if err != nil {
		return WrongPasskey.Because(err)
	}
	count := int64(k.Authenticator.SignCount)
	n, err := db.Exec(ctx, c.Tx, `
		UPDATE passkeys SET sign_count = $3, used_at = $4
		WHERE user_id = $1 AND credential_id = $2 AND (sign_count < $3 OR sign_count = 0 AND $3 = 0)`,
		asked.user, k.ID, count, c.Now)
	if err == nil && (n == 0 || k.Authenticator.CloneWarning) {
		return WrongPasskey.Say("This passkey may have been copied, so it was not accepted. Use another way, and " +
			"remove it.")
	}
	return err
}
