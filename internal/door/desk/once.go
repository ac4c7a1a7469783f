package desk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// A form that is sent twice, by a double click without scripts or by Back and a
// second press, is carried out once. Every page has a token that nobody can guess,
// and every form on it sends it along. The token, the address and what was typed make
// the idempotency key of each operation that the form runs, so the second time each of
// them answers what it answered before. Whoever changes what they typed does something
// else, and that is carried out.

const onceField = "once"

// postForm is how the forms begin that write.
var postForm = []byte(` method="post"`)

// addTokens puts the page's token into every form that writes.
func addTokens(page []byte) []byte {
	field := []byte(`<input type="hidden" name="` + onceField + `" value="` + string(id.New()) + `">`)
	out := make([]byte, 0, len(page)+4*len(field))
	for {
		i := bytes.Index(page, []byte("<form"))
		if i < 0 {
			return append(out, page...)
		}
		end := i + bytes.IndexByte(page[i:], '>') + 1
		out = append(out, page[:end]...)
		if bytes.Contains(page[i:end], postForm) {
			out = append(out, field...)
		}
		page = page[end:]
	}
}

// onceKey is the idempotency key of the next operation that the form runs, or nothing.
func (v *Visit) onceKey() string {
	token, ok := id.Parse(v.R.PostForm.Get(onceField))
	if !ok {
		return ""
	}
	v.writes++
	typed := sha256.Sum256([]byte(v.R.URL.Path + "?" + v.R.PostForm.Encode()))
	return "form/" + string(token) + "/" + hex.EncodeToString(typed[:8]) + "/" + strconv.Itoa(v.writes)
}

// inFlight is how long a form waits for its twin, which is being carried out.
const inFlight = 10 * time.Second

// doOnce runs an operation, and waits while another request with its key is at it.
func (v *Visit) doOnce(o *op.Op, q op.Request) (op.Answer, error) {
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		answer, err := v.Runner.Do(v.R.Context(), o, q)
		if !fault.IsKind(err, fault.KeyInFlight) || time.Since(began) > inFlight || v.R.Context().Err() != nil {
			return answer, err
		}
	}
}
