package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Box seals with AES-256-GCM under keys that live in a file outside the
// database. A sealed text names its key and is bound to its place: moved to
// another row it does not open.
type Box struct {
	keys   map[byte]cipher.AEAD
	newest byte
}

// OpenBox reads the key file, one key per line as "number:base64", and makes
// it with one key when it is not there.
func OpenBox(path string) (*Box, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		var k [32]byte
		rand.Read(k[:])
		text = []byte("1:" + base64.StdEncoding.EncodeToString(k[:]) + "\n")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("secret: %w", err)
		}
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	b := &Box{keys: map[byte]cipher.AEAD{}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var number byte
		var encoded string
		if _, err := fmt.Sscanf(strings.Replace(line, ":", " ", 1), "%d %s", &number, &encoded); err != nil {
			return nil, fmt.Errorf("secret: %s: a line is number:key", path)
		}
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(raw) != 32 {
			return nil, fmt.Errorf("secret: %s: key %d is not 32 bytes in base64", path, number)
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return nil, fmt.Errorf("secret: %w", err)
		}
		if b.keys[number], err = cipher.NewGCM(block); err != nil {
			return nil, fmt.Errorf("secret: %w", err)
		}
		b.newest = max(b.newest, number)
	}
	if len(b.keys) == 0 {
		return nil, fmt.Errorf("secret: %s holds no key", path)
	}
	return b, nil
}

// Seal encrypts plain for one place.
func (b *Box) Seal(plain []byte, place string) ([]byte, error) {
	aead := b.keys[b.newest]
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce)
	out := append([]byte{b.newest}, nonce...)
	return aead.Seal(out, nonce, plain, []byte(place)), nil
}

// Open decrypts what Seal made for the same place.
func (b *Box) Open(sealed []byte, place string) ([]byte, error) {
	if len(sealed) < 1 || b.keys[sealed[0]] == nil {
		return nil, errors.New("secret: sealed with a key that is not in the key file")
	}
	aead := b.keys[sealed[0]]
	n := 1 + aead.NonceSize()
	if len(sealed) < n {
		return nil, errors.New("secret: a sealed text is too short")
	}
	plain, err := aead.Open(nil, sealed[1:n], sealed[n:], []byte(place))
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	return plain, nil
}
