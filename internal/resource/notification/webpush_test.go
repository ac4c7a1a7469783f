package notification

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/big"
	"net/url"
	"strings"
	"testing"

	"frontdesk/internal/kernel/clock"
)

// decryptPush is what a browser does with a message.
func decryptPush(body []byte, browser *ecdh.PrivateKey, auth []byte) ([]byte, error) {
	if len(body) < 21 || binary.BigEndian.Uint32(body[16:20]) < 18 || body[20] != 65 {
		return nil, errors.New("not a header of aes128gcm")
	}
	serverKey, record := body[21:86], body[86:]
	theirs, err := ecdh.P256().NewPublicKey(serverKey)
	if err != nil {
		return nil, err
	}
	shared, err := browser.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	opener, nonce, err := pushCipher(shared, auth, browser.PublicKey().Bytes(), serverKey, body[:16])
	if err != nil {
		return nil, err
	}
	plain, err := opener.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	text, ok := bytes.CutSuffix(bytes.TrimRight(plain, "\x00"), []byte{2})
	if !ok {
		return nil, errors.New("not the last record")
	}
	return text, nil
}

// The example of RFC 8291, section 5, which others wrote.
func TestPushExampleOfTheRFC(t *testing.T) {
	decode := func(s string) []byte {
		b, err := base64url.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	browser, err := ecdh.P256().NewPrivateKey(decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := decryptPush(
		decode("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"+
			"InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSg"+
			"Sxsj_Qulcy4a-fN"),
		browser, decode("BTBZMqHH6r4Tts7J_aSIgg"))
	if err != nil || string(text) != "When I grow up, I want to be a watermelon" {
		t.Errorf("%q %v", text, err)
	}
}

func TestPushRoundTrip(t *testing.T) {
	browser, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth := []byte("sixteen bytes ok")
	for _, n := range []int{0, 1, 100, maxPushBytes} {
		text := bytes.Repeat([]byte("ü"), n)[:n]
		body, err := encryptPush(text, browser.PublicKey().Bytes(), auth)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := encryptPush(text, browser.PublicKey().Bytes(), auth)
		if bytes.Equal(body, again) {
			t.Error("two messages have one key")
		}
		got, err := decryptPush(body, browser, auth)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if _, err := decryptPush(body, browser, []byte("another secret..")); err == nil {
			t.Error("another secret opens it")
		}
	}
	if _, err := encryptPush(make([]byte, maxPushBytes+1), browser.PublicKey().Bytes(), auth); err == nil {
		t.Error("a message that is too long was encrypted")
	}
}

func TestVAPID(t *testing.T) {
	s := &Service{cfg: Config{BaseURL: "https://desk.example",
		PushKey: func(purpose string) []byte { sum := sha256.Sum256([]byte(purpose)); return sum[:] }}}
	now := clock.Time(1_800_000_000_000_000)
	endpoint := &url.URL{Scheme: "https", Host: "push.example:8443", Path: "/secret"}
	header, err := s.vapidHeader(endpoint, now)
	if err != nil {
		t.Fatal(err)
	}
	token, key, ok := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if !ok || len(parts) != 3 || key != s.publicKey() {
		t.Fatal(header)
	}
	raw, _ := base64url.DecodeString(key)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		t.Fatal(err)
	}
	signature, _ := base64url.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, v := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if len(signature) != 64 || !ecdsa.Verify(public, sum[:], r, v) {
		t.Error("the signature is wrong")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	text, _ := base64url.DecodeString(parts[1])
	if err := json.Unmarshal(text, &claims); err != nil || claims.Aud != "https://push.example:8443" ||
		claims.Sub != "https://desk.example" || claims.Exp-now.Std().Unix() > 24*3600 || claims.Exp <= now.Std().
		Unix() {
		t.Errorf("%s %v", text, err)
	}
}
