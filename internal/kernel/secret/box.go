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
		text, err = makeKeyFile(path)
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

// makeKeyFile writes a file with one new key, durably: what is sealed with a
// key that is lost is lost. Whoever is second reads what the first wrote.
func makeKeyFile(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	var k [32]byte
	rand.Read(k[:])
	text := []byte("1:" + base64.StdEncoding.EncodeToString(k[:]) + "\n")
	_, err = f.Write(text)
	return text, errors.Join(err, f.Sync(), f.Close())
}

// Newest is the number of the key that seals.
func (b *Box) Newest() byte { return b.newest }

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
