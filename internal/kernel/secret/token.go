// Package secret makes tokens, hashes them, and seals what must be read back.
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

// NewToken returns prefix and 40 base62 characters. The last 6 are a checksum of
// everything before them, so that a scanner and the server can recognize a typo
// without a lookup.
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

// WellFormed reports whether s can be a token that NewToken made.
func WellFormed(prefix, s string) bool {
	if len(s) != len(prefix)+randomLength+checksumLength || !strings.HasPrefix(s, prefix) {
		return false
	}
	cut := len(s) - checksumLength
	return s[cut:] == checksum(s[:cut])
}

func checksum(s string) string {
	n := crc32.ChecksumIEEE([]byte(s))
	var out [checksumLength]byte
	for i := checksumLength - 1; i >= 0; i-- {
		out[i] = base62[n%62]
		n /= 62
	}
	return string(out[:])
}

// Hash is what is stored of a token. A fast hash is enough, because a token has
// more random bits than anyone can try.
func Hash(token string) [32]byte { return sha256.Sum256([]byte(token)) }
