package oauth

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/outbound"
)

// Bounds of a client metadata document.
const (
	maxDocumentBytes     = 5 << 10
	documentTimeout      = 5 * time.Second
	maxFetchesAtOnce     = 16
	defaultCacheLifetime = 5 * time.Minute
	maxCacheLifetime     = 24 * time.Hour
)

// documentFetcher fetches client metadata documents.
type documentFetcher struct{ client *outbound.Client }

var _ grant.Documents = (*documentFetcher)(nil)

// NewDocuments returns a fetcher of client metadata documents. It connects to public
// addresses only, so that a client's id cannot make the server read its own network;
// insecure permits http and this machine.
func NewDocuments(insecure bool) grant.Documents {
	return &documentFetcher{outbound.New(outbound.Options{Timeout: documentTimeout, MaxBytes: maxDocumentBytes,
		MaxConcurrent: maxFetchesAtOnce,
		AllowInsecure: insecure})}
}

// Fetch reads one document.
func (d *documentFetcher) Fetch(ctx context.Context, address string) ([]byte, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept", "application/json")
	a, err := d.client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	if a.Status != http.StatusOK {
		return nil, 0, fmt.Errorf("the document answered %d", a.Status)
	}
	return a.Body, cacheLifetime(a.Header, time.Now()), nil
}

// cacheLifetime is how long an answer may be cached according to its headers (RFC 9111
// §5.2.2 and §5.3).
func cacheLifetime(h http.Header, now time.Time) time.Duration {
	age := time.Duration(-1)
	for word := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(word)), "=")
		switch name {
		case "no-store", "no-cache": // in any position
			return 0
		case "max-age":
			n, err := strconv.Atoi(strings.Trim(value, `"`))
			if err != nil || n < 0 {
				return 0
			}
			age = min(time.Duration(min(n, 1<<30))*time.Second, maxCacheLifetime)
		}
	}
	if age >= 0 {
		return age
	}
	if text := h.Get("Expires"); text != "" {
		at, err := http.ParseTime(text)
		if err != nil {
			return 0
		}
		return min(max(at.Sub(now), 0), maxCacheLifetime)
	}
	return defaultCacheLifetime
}
