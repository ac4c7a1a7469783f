package notification

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"

	"github.com/go-json-experiment/json"
)

// Web Push is two RFCs and a hundred lines: the message is encrypted for the browser (RFC 8291, in the encoding of RFC
// 8188), so that the push service cannot read it, and the request is signed with a key of this server (VAPID, RFC
// 8292), so that nobody else can use the subscription.

const (
	pushRecordSize = 4096
	maxPushBytes   = 3000 // below what every push service takes, with the overhead of the encryption
	vapidLifetime  = 12 * time.Hour
	pushSaltBytes  = 16
	pushAuthBytes  = 16
)

var base64url = base64.RawURLEncoding

// encryptPush encrypts a message for a browser with the public key and the secret of its subscription.
func encryptPush(message, browserKey, auth []byte) ([]byte, error) {
	if len(message) > maxPushBytes {
		return nil, fmt.Errorf("notification: a push message of %d bytes", len(message))
	}
	theirs, err := ecdh.P256().NewPublicKey(browserKey)
	if err != nil {
		return nil, fmt.Errorf("notification: the browser's key: %w", err)
	}
	ours, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	shared, err := ours.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	ourKey := ours.PublicKey().Bytes()
	salt := make([]byte, pushSaltBytes)
	rand.Read(salt)
	sealer, nonce, err := pushCipher(shared, auth, browserKey, ourKey, salt)
	if err != nil {
		return nil, err
	}
	out := append([]byte{}, salt...)
	out = binary.BigEndian.AppendUint32(out, pushRecordSize)
	out = append(out, byte(len(ourKey)))
	out = append(out, ourKey...)
	const lastRecord = 2 // the delimiter of the only record
	return sealer.Seal(out, nonce, append(append([]byte{}, message...), lastRecord), nil), nil
}

// pushCipher derives the key and the nonce of a message (RFC 8291 section 3.4).
func pushCipher(shared, auth, browserKey, serverKey, salt []byte) (cipher.AEAD, []byte, error) {
	info := "WebPush: info\x00" + string(browserKey) + string(serverKey)
	secret, err := hkdf.Key(sha256.New, shared, auth, info, sha256.Size)
	if err != nil {
		return nil, nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	sealer, err := cipher.NewGCM(block)
	return sealer, nonce, err
}

// vapidKey derives the server's key pair from its secret. Nearly every number is a valid key; the next one is tried
// otherwise.
func vapidKey(derive func(purpose string) []byte) *ecdsa.PrivateKey {
	for i := 0; ; i++ {
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), derive(fmt.Sprintf("web push %d", i))); err == nil {
			return key
		}
	}
}

// publicKey is the server's public key as browsers take it.
func (s *Service) publicKey() string {
	raw, err := vapidKey(s.cfg.PushKey).PublicKey.Bytes()
	if err != nil {
		panic(err) // cannot fail: the curve is P-256
	}
	return base64url.EncodeToString(raw)
}

// vapidHeader is the Authorization header for a request to a push service.
func (s *Service) vapidHeader(endpoint *url.URL, now clock.Time) (string, error) {
	subject := s.cfg.BaseURL
	if !strings.HasPrefix(subject, "https://") {
		subject = "mailto:postmaster@localhost" // what runs without TLS is somebody's own machine
	}
	claims, err := json.Marshal(map[string]any{"aud": endpoint.Scheme + "://" + endpoint.Host,
		"exp": now.Add(vapidLifetime).Std().Unix(), "sub": subject}, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	key := vapidKey(s.cfg.PushKey)
	text := base64url.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + base64url.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	r, v, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	v.FillBytes(signature[32:])
	return "vapid t=" + text + "." + base64url.EncodeToString(signature) + ", k=" + s.publicKey(), nil
}
