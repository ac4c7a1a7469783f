package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Box seals (encrypts) with AES-256-GCM, with keys from a file outside the database. A sealed text begins with the
// number of its key, then the nonce. It is bound to a place, such as a table and a row: copied to another row, it does
// not open.
type Box struct {
	keys   map[byte]boxKey // by number
	newest byte            // the number of the key that seals; all keys open
}

type boxKey struct {
	raw [32]byte
	cipher.AEAD
}

// OpenOrCreateBox reads the key file, and creates it with one key if it is missing.
func OpenOrCreateBox(path string) (*Box, error) {
	b, err := ReadBox(path)
	if !errors.Is(err, os.ErrNotExist) {
		return b, err
	}
	if err := createKeyFile(path); err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	return ReadBox(path)
}

// ReadBox reads the key file, one key per line as "number:base64".
func ReadBox(path string) (*Box, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	b := &Box{keys: map[byte]boxKey{}}
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
		if err := b.addKey(number, [32]byte(raw)); err != nil {
			return nil, err
		}
	}
	if len(b.keys) == 0 {
		return nil, fmt.Errorf("secret: %s holds no key", path)
	}
	return b, nil
}

// addKey adds a key to the box, in memory only.
func (b *Box) addKey(number byte, raw [32]byte) error {
	block, err := aes.NewCipher(raw[:])
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	b.keys[number] = boxKey{raw, aead}
	b.newest = max(b.newest, number)
	return nil
}

func newRandomKey() (k [32]byte) {
	rand.Read(k[:])
	return k
}

// createKeyFile creates a file with one new key. When two processes do so at the same time, one wins and both use its
// file: os.Link, unlike os.Rename, does not replace a file that exists.
func createKeyFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	b := &Box{keys: map[byte]boxKey{}}
	if err := b.addKey(1, newRandomKey()); err != nil {
		return err
	}
	temp, err := b.writeTempFile(path)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := os.Link(temp, path); err != nil && !errors.Is(err, os.ErrExist) {
		// A file system without hard links.
		if err := os.Rename(temp, path); err != nil {
			return err
		}
	}
	return syncFolder(path)
}

// AddKey adds a new key to the file, which seals from then on, and returns a box with it.
func AddKey(path string) (*Box, error) {
	return changeKeyFile(path, func(b *Box) error {
		if b.newest == 255 {
			return errors.New("secret: the key file has had 255 keys, so there is no number left")
		}
		return b.addKey(b.newest+1, newRandomKey())
	})
}

// RemoveKey removes a key from the file. What is still sealed with it is lost.
func RemoveKey(path string, number byte) (*Box, error) {
	return changeKeyFile(path, func(b *Box) error {
		if number == b.newest {
			return errors.New("secret: the newest key is in use and cannot be removed")
		}
		delete(b.keys, number)
		return nil
	})
}

// changeKeyFile replaces the key file in one durable step: after a crash there is either the old file or the new one,
// because what is sealed with a lost key is lost.
func changeKeyFile(path string, fn func(*Box) error) (*Box, error) {
	// Two concurrent commands would each write what they read, and lose a key.
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("secret: %s: %w", lock.Name(), err)
	}
	b, err := ReadBox(path)
	if err != nil {
		return nil, err
	}
	if err := fn(b); err != nil {
		return nil, err
	}
	temp, err := b.writeTempFile(path)
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, errors.Join(fmt.Errorf("secret: %w", err), os.Remove(temp))
	}
	return b, syncFolder(path)
}

// writeTempFile creates a new file with the keys beside path, and returns its name.
func (b *Box) writeTempFile(path string) (string, error) {
	var text []byte
	for _, n := range b.KeyNumbers() {
		raw := b.keys[n].raw
		text = fmt.Appendf(text, "%d:%s\n", n, base64.StdEncoding.EncodeToString(raw[:]))
	}
	temp := path + "." + rand.Text()[:8] + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	return temp, nil
}

// syncFolder makes a new name in the folder of path durable.
func syncFolder(path string) error {
	f, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// KeyNumbers lists the numbers of the keys, the oldest first.
func (b *Box) KeyNumbers() []byte { return slices.Sorted(maps.Keys(b.keys)) }

// DescendsFrom reports whether b can be what became of old after keys were added or removed: they share at least one
// key, and no number has two different keys.
func (b *Box) DescendsFrom(old *Box) bool {
	shared := false
	for n, k := range b.keys {
		if o, ok := old.keys[n]; ok {
			if o.raw != k.raw {
				return false
			}
			shared = true
		}
	}
	return shared
}

// ErrUnknownKey says that the key file lacks the key of a sealed text.
var ErrUnknownKey = errors.New("secret: sealed with a key that is not in the key file")

// NewestKey is the number of the key that seals new secrets.
func (b *Box) NewestKey() byte { return b.newest }

// Seal encrypts plain and binds it to a place.
func (b *Box) Seal(plain []byte, place string) ([]byte, error) {
	aead := b.keys[b.newest]
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce)
	out := append([]byte{b.newest}, nonce...)
	return aead.Seal(out, nonce, plain, []byte(place)), nil
}

// Open decrypts what Seal made for the same place.
func (b *Box) Open(sealed []byte, place string) ([]byte, error) {
	if len(sealed) < 1 || b.keys[sealed[0]].AEAD == nil {
		return nil, ErrUnknownKey
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
