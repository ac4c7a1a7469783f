package account

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what RFC 6238 and all apps use; HMAC does not need it to be free of collisions
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"
)

const (
	codeStep   = 30 * time.Second
	codeDigits = 6
	codeWindow = 1 // steps that a clock may be early or late
)

var plainBase32 = base32.StdEncoding.WithPadding(base32.NoPadding)

// codeAtStep is the one-time code of a time step (RFC 6238, RFC 4226 §5.3).
func codeAtStep(key []byte, step int64) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac := hmac.New(sha1.New, key)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 15
	n := binary.BigEndian.Uint32(sum[at:at+4]) & 0x7fffffff
	return fmt.Sprintf("%0*d", codeDigits, n%1_000_000)
}

// findCodeStep finds the time step, within codeWindow of now, whose code this is. It compares
// with all of them in constant time, so that the duration tells nothing about a match.
func findCodeStep(key []byte, code string, now time.Time) (step int64, ok bool) {
	current := now.Unix() / int64(codeStep.Seconds())
	for i := current - codeWindow; i <= current+codeWindow; i++ {
		if subtle.ConstantTimeCompare([]byte(codeAtStep(key, i)), []byte(code)) == 1 {
			step, ok = i, true
		}
	}
	return step, ok
}

// codeAppURL is what an authenticator app reads from the QR code.
func codeAppURL(issuer, account string, key []byte) string {
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + account}
	// Apps do not read + as a space.
	u.RawQuery = "secret=" + plainBase32.EncodeToString(key) + "&issuer=" + url.PathEscape(issuer)
	return u.String()
}
