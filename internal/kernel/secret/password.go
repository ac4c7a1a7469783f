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

// Cost is how much work one guess at a password takes. A stored hash names its
// cost, so that the cost can rise later.
type Cost struct {
	Memory uint32 // KiB
	Passes uint32
	Lanes  uint8
}

// PasswordCost is what new hashes cost: 64 MiB and 3 passes of argon2id, as
// RFC 9106 §4 recommends for machines with less memory. Only tests that start
// many services set another.
var PasswordCost = Cost{Memory: 64 * 1024, Passes: 3, Lanes: 4}

// HashesAtOnce bounds how many passwords are hashed at once: each takes 64 MiB.
const HashesAtOnce = 4

var hashing = make(chan struct{}, HashesAtOnce)

func derive(ctx context.Context, password string, salt []byte, c Cost) ([]byte, error) {
	select {
	case hashing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		<-hashing
		if len(hashing) == 0 && c.Memory >= 32*1024 { // less is not worth it
			go giveBack()
		}
	}()
	return argon2.IDKey([]byte(password), salt, c.Passes, c.Memory, c.Lanes, 32), nil
}

var givingBack sync.Mutex

// giveBack frees what hashing took. Left alone, the garbage collector would see
// the 64 MiB as the new size of the program, and let it grow to twice as much.
func giveBack() {
	if givingBack.TryLock() {
		defer givingBack.Unlock()
		debug.FreeOSMemory()
	}
}

// HashPassword makes the text to store for a password.
func HashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, 16)
	rand.Read(salt)
	sum, err := derive(ctx, password, salt, PasswordCost)
	if err != nil {
		return "", err
	}
	return PasswordCost.text(salt, sum), nil
}

func (c Cost) text(salt, sum []byte) string {
	enc := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf(costFormat+"$%s$%s", c.Memory, c.Passes, c.Lanes, enc(salt), enc(sum))
}

const costFormat = "$argon2id$v=19$m=%d,t=%d,p=%d"

// Nobody is the hash of no password. Comparing with it takes as much work as with
// any other hash, and never succeeds.
func Nobody() string { return PasswordCost.text(make([]byte, 16), make([]byte, 32)) }

// CheckPassword reports whether password is the one that was hashed.
func CheckPassword(ctx context.Context, stored, password string) (bool, error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("secret: not an argon2id hash")
	}
	var c Cost
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
	got, err := derive(ctx, password, salt, c)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}
