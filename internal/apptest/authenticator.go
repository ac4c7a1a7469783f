package apptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// Authenticator is a passkey in software together with its browser. Its fields say
// what it claims, so that a test can make it lie.
type Authenticator struct {
	Origin    string // where the browser says that it is
	RP        string // the relying party that the passkey says it signs for
	Count     uint32 // of the last signature; a passkey that counts has 1 or more
	Counts    bool
	Verified  bool   // the person proved to the device who they are
	Challenge string // to sign in place of the one asked for
	Type      string // of the ceremony, in place of the right one
	Handle    []byte // the user, in place of the one enrolled for

	id   []byte
	key  *ecdsa.PrivateKey
	user []byte
}

// NewAuthenticator is a passkey for a site.
func NewAuthenticator(t testing.TB, origin string) *Authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, host, _ := strings.Cut(origin, "://")
	host, _, _ = strings.Cut(host, ":")
	id := make([]byte, 32)
	rand.Read(id)
	return &Authenticator{Origin: origin, RP: host, Counts: true, Verified: true, id: id, key: key}
}

func encodeBase64URL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Create answers a request for a new passkey, given as JSON.
func (a *Authenticator) Create(t testing.TB, options string) string {
	t.Helper()
	var o struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		t.Fatal(err)
	}
	var err error
	if a.user, err = base64.RawURLEncoding.DecodeString(o.User.ID); err != nil {
		t.Fatal(err)
	}
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	public, err := webauthncbor.Marshal(webauthncose.EC2PublicKeyData{
		PublicKeyData: webauthncose.PublicKeyData{KeyType: int64(webauthncose.EllipticKey),
			Algorithm: int64(webauthncose.AlgES256)},
		Curve: int64(webauthncose.P256), XCoord: point[1:33], YCoord: point[33:],
	})
	if err != nil {
		t.Fatal(err)
	}
	data := a.authenticatorData(0x40) // has a credential
	data = append(data, make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(append(data, a.id...), public...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	if err != nil {
		t.Fatal(err)
	}
	client := a.clientData(t, "webauthn.create", o.Challenge)
	return a.marshalCredential(t, map[string]any{"clientDataJSON": encodeBase64URL(client),
		"attestationObject": encodeBase64URL(object)})
}

// Get answers a request for a signature, given as JSON.
func (a *Authenticator) Get(t testing.TB, options string) string {
	t.Helper()
	var o struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		t.Fatal(err)
	}
	if a.Counts {
		a.Count++
	}
	data, client := a.authenticatorData(0), a.clientData(t, "webauthn.get", o.Challenge)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	user := a.user
	if a.Handle != nil {
		user = a.Handle
	}
	return a.marshalCredential(t, map[string]any{"clientDataJSON": encodeBase64URL(client),
		"authenticatorData": encodeBase64URL(data),
		"signature":         encodeBase64URL(signature), "userHandle": encodeBase64URL(user)})
}

// Clone clones the passkey, as a thief could who read the secret out of the device.
func (a *Authenticator) Clone() *Authenticator { other := *a; return &other }

// ReplaceSecret replaces the secret by another than the one that was enrolled.
func (a *Authenticator) ReplaceSecret() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	a.key = key
}

// authenticatorData makes the authenticator data (WebAuthn §6.1): relying party, flags, counter.
func (a *Authenticator) authenticatorData(flags byte) []byte {
	rp := sha256.Sum256([]byte(a.RP))
	flags |= 1 // UP: a user is present
	if a.Verified {
		flags |= 4 // UV: the user was verified
	}
	return binary.BigEndian.AppendUint32(append(rp[:], flags), a.Count)
}

// clientData makes the client data, which a browser adds to what the passkey signs.
func (a *Authenticator) clientData(t testing.TB, kind, challenge string) []byte {
	t.Helper()
	if a.Challenge != "" {
		challenge = a.Challenge
	}
	if a.Type != "" {
		kind = a.Type
	}
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin,
		"crossOrigin": false})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (a *Authenticator) marshalCredential(t testing.TB, response map[string]any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"id": encodeBase64URL(a.id), "rawId": encodeBase64URL(a.id),
		"type": "public-key", "clientExtensionResults": map[string]any{}, "response": response})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// OneTimeCode is the code that an authenticator app shows at a time (RFC 6238),
// from the secret that was typed into it.
func OneTimeCode(t testing.TB, secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ReplaceAll(secret, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at.Unix()/30)))
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[19]&15:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1_000_000)
}
