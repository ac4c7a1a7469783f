// Package id makes and reads identifiers. Every row has a UUID v4 and every request a UUID v7, which begins with its
// time. Both are kept as the lower-case text that callers see, and not as bytes: SQLite stores text, so a request never
// has to convert an id.
package id

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"sync"
	"time"
)

// ID is a UUID in its canonical lower-case form. The zero value is no id.
type ID string

// New returns a random UUID v4. The first 32 bits are the same for some ids in a row (see prefixRun); the other 90
// random bits are its own, so that it cannot be guessed.
func New() ID {
	var b [16]byte
	rand.Read(b[4:])
	sharedPrefix.fillPrefix(b[:4])
	return formatUUID(b, 0x40)
}

// NewRequestID returns a UUID v7 for a request. It begins with the time in milliseconds, so that the events of a
// request are found in the log by their time, without an index of requests.
func NewRequestID() ID {
	var b [16]byte
	rand.Read(b[6:])
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16|uint64(binary.BigEndian.Uint16(b[6:])))
	return formatUUID(b, 0x70)
}

// Time is when the id of a request was made; false for an id that is no UUID v7.
func (v ID) Time() (time.Time, bool) {
	if _, ok := Parse(string(v)); !ok || v[14] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(string(v[:8]+v[9:13]), 16, 64)
	return time.UnixMilli(ms), err == nil
}

// formatUUID sets the bits for version and variant (RFC 9562 §4) and writes the text form.
func formatUUID(b [16]byte, version byte) ID {
	b[6], b[8] = b[6]&0x0f|version, b[8]&0x3f|0x80
	var out [36]byte
	hex.Encode(out[:8], b[:4])
	hex.Encode(out[9:13], b[4:6])
	hex.Encode(out[14:18], b[6:8])
	hex.Encode(out[19:23], b[8:10])
	hex.Encode(out[24:], b[10:])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return ID(out[:])
}

// prefixRun gives consecutive ids the same random beginning. An index then grows in one place for a while instead of in
// a new place for every row, which halves the cost of a write (ADR 0011).
type prefixRun struct {
	mu   sync.Mutex
	left int // how many more ids get these bits
	bits [4]byte
}

// runLength is how many ids share a beginning.
const runLength = 256

var sharedPrefix prefixRun

// fillPrefix writes the current beginning to out, and chooses a new one after runLength ids.
func (r *prefixRun) fillPrefix(out []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 {
		rand.Read(r.bits[:])
		r.left = runLength
	}
	r.left--
	copy(out, r.bits[:])
}

// Parse reads a UUID of any version in its form of 36 characters, upper or lower case, and returns it in lower case.
func Parse(s string) (ID, bool) {
	if len(s) != 36 {
		return "", false
	}
	upper := false
	for i := range len(s) {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return "", false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		case c >= 'A' && c <= 'F':
			upper = true
		default:
			return "", false
		}
	}
	if !upper {
		return ID(s), true
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'F' {
			b[i] = c + 'a' - 'A'
		}
	}
	return ID(b), true
}
