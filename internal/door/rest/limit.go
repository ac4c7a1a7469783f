package rest

import (
	"net/http"
	"strconv"

	"frontdesk/internal/kernel/limit"
)

// setLimitHeaders sets the headers that show what is left of an allowance. It writes to the map
// directly: Set would spell the names X-Ratelimit-….
func setLimitHeaders(v limit.Verdict, h http.Header) {
	h["X-RateLimit-Limit"] = []string{strconv.Itoa(v.Limit)}
	h["X-RateLimit-Remaining"] = []string{strconv.Itoa(v.Remaining)}
	h["X-RateLimit-Reset"] = []string{strconv.Itoa(limit.CeilSeconds(v.Reset))}
}
