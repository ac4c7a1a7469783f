package rest

import (
	"net/http"
	"strconv"

	"frontdesk/internal/kernel/limit"
)

// headers shows what is left of the allowance. The names are spelled as in the
// specification, not as Go would spell them.
func headers(v limit.Verdict, h http.Header) {
	h["X-RateLimit-Limit"] = []string{strconv.Itoa(v.Limit)}
	h["X-RateLimit-Remaining"] = []string{strconv.Itoa(v.Remaining)}
	h["X-RateLimit-Reset"] = []string{strconv.Itoa(limit.Seconds(v.Reset))}
}
