package secret

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/crypto/argon2"
)

// HashCost is how much work one guess at a password takes. A stored hash names its
// cost, so that the cost can rise later.
type HashCost struct {
	Memory uint32 // KiB
	Passes uint32
	Lanes  uint8
}

// PasswordCost is what new hashes cost: 64 MiB and 3 passes of argon2id, as
// RFC 9106 §4 recommends for machines with less memory. Only tests that start
// many services set another.
var PasswordCost = HashCost{Memory: 64 * 1024, Passes: 3, Lanes: 4}

// HashesAtOnce bounds how many passwords are hashed at the same time: each takes 64 MiB, and anybody can try to sign
// in.
const HashesAtOnce = 4

// hashSlots has a value for each hash that is being computed.
var hashSlots = make(chan struct{}, HashesAtOnce)

// hashWithCost computes the argon2id hash of a password. It waits while too many others are being computed.
func hashWithCost(ctx context.Context, password string, salt []byte, c HashCost) ([]byte, error) {
	select {
	case hashSlots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		<-hashSlots
		if len(hashSlots) == 0 && c.Memory >= 32*1024 { // less, as in tests, is not worth a garbage collection
			go freeHashMemory()
		}
	}()
	return argon2.IDKey([]byte(password), salt, c.Passes, c.Memory, c.Lanes, 32), nil
}

var freeingMemory sync.Mutex

// freeHashMemory returns the memory that hashing took to the system. Left alone, the garbage collector would take the
// 64 MiB for the normal size of the program, and let it grow to twice that before it collects.
func freeHashMemory() {
	if freeingMemory.TryLock() {
		defer freeingMemory.Unlock()
		debug.FreeOSMemory()
	}
}

// HashPassword makes the text to store for a password: cost, salt and hash.
func HashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, 16)
	rand.Read(salt)
	sum, err := hashWithCost(ctx, password, salt, PasswordCost)
	if err != nil {
		return "", err
	}
	return PasswordCost.encodeHash(salt, sum), nil
}

// encodeHash writes a hash in the usual form of argon2: $argon2id$v=19$m=…,t=…,p=…$salt$hash.
func (c HashCost) encodeHash(salt, sum []byte) string {
	enc := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf(costFormat+"$%s$%s", c.Memory, c.Passes, c.Lanes, enc(salt), enc(sum))
}

const costFormat = "$argon2id$v=19$m=%d,t=%d,p=%d"

// UnmatchableHash is a hash that no password has. Comparing with it takes as long as with any other and never succeeds.
// It is for people who do not exist, so that the time of an answer does not tell who does.
func UnmatchableHash() string { return PasswordCost.encodeHash(make([]byte, 16), make([]byte, 32)) }

// CheckPassword reports whether password is the one that was hashed.
func CheckPassword(ctx context.Context, stored, password string) (bool, error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("secret: not an argon2id hash")
	}
	var c HashCost
	if _, err := fmt.Sscanf(strings.Join(parts[:4], "$"), costFormat, &c.Memory, &c.Passes, &c.Lanes); err != nil {
		return false, fmt.Errorf("secret: the cost of a hash: %w", err)
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("secret: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false, fmt.Errorf("secret: %w", err)
	}
	got, err := hashWithCost(ctx, password, salt, c)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}
