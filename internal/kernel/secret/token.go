// Package secret makes and keeps secrets, each in the way that fits it:
//
//   - token.go makes tokens (API keys, links, sessions) and hashes them. Only the hash is stored.
//   - password.go hashes passwords with argon2id, which is slow on purpose.
//   - box.go seals (encrypts) what must be read back, such as the secret of a webhook, with keys from a file outside
//     the database. The file can hold several keys, so that they can be rotated.
//
// It knows no table and no resource. It never logs a secret, and errors do not contain one.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const (
	randomLength   = 34 // 202 bits
	checksumLength = 6
)

// NewToken returns prefix and 40 base62 characters. The last 6 are a checksum of everything before them, so that a
// scanner for leaked secrets can recognize a token, and the server a typo, without a lookup.
func NewToken(prefix string) string {
	var b strings.Builder
	b.WriteString(prefix)
	size := big.NewInt(int64(len(base62)))
	for range randomLength {
		n, err := rand.Int(rand.Reader, size)
		if err != nil {
			panic(err) // nothing is safe without randomness
		}
		b.WriteByte(base62[n.Int64()])
	}
	return b.String() + checksum(b.String())
}

// IsWellFormed reports whether s has the form and the checksum of a token that NewToken made with the prefix.
func IsWellFormed(prefix, s string) bool {
	if len(s) != len(prefix)+randomLength+checksumLength || !strings.HasPrefix(s, prefix) {
		return false
	}
	cut := len(s) - checksumLength
	return s[cut:] == checksum(s[:cut])
}

// checksum is CRC-32 in base62. It finds typos; it is no protection.
func checksum(s string) string {
	n := crc32.ChecksumIEEE([]byte(s))
	var out [checksumLength]byte
	for i := checksumLength - 1; i >= 0; i-- {
		out[i] = base62[n%62]
		n /= 62
	}
	return string(out[:])
}

// HashToken is what is stored of a token. A fast hash without salt is enough, because a token has more random bits than
// anyone can try.
func HashToken(token string) [32]byte { return sha256.Sum256([]byte(token)) }
