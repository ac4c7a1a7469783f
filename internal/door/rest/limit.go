package rest

import (
	"net/http"
	"strconv"

	"frontdesk/internal/kernel/limit"
)

// headers tells what is left of the allowance. The names are written as the
// specification writes them, not as Go would.
func headers(v limit.Verdict, h http.Header) {
	h["X-RateLimit-Limit"] = []string{strconv.Itoa(v.Limit)}
	h["X-RateLimit-Remaining"] = []string{strconv.Itoa(v.Remaining)}
	h["X-RateLimit-Reset"] = []string{strconv.Itoa(limit.Seconds(v.Reset))}
}
