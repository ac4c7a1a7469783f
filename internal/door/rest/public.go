package rest

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
)

// public are the routes of operations that need no key: a token in the path says
// whose data they are about. They are outside /v1, and each IP address has its own
// allowance.
type public struct {
	routes  router
	roots   map[string]bool // the first segments of their paths, for OwnsPath
	limiter limit.Limiter[netip.Prefix]
}

func (p *public) add(r *route) {
	root, _, _ := strings.Cut(strings.TrimPrefix(r.op.Path, "/"), "/")
	if p.roots == nil {
		p.roots = map[string]bool{}
	}
	p.roots[root] = true
	p.routes.add(r)
}

// Owns reports whether this door answers requests for a path, by its first segment.
func (d *Door) Owns(path string) bool {
	root, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return root == "v1" || d.public.roots[root]
}

// anyone is the caller of a public operation. The operation sets the organization from
// its token.
var anyone = &op.Caller{Kind: op.SystemActor}

// admit finds a public operation, after taking a request from the address's allowance:
// wrong tokens and unknown paths count too, so that nobody can guess for free.
func (d *Door) admit(w http.ResponseWriter, r *http.Request) (*router, []string, error) {
	v := d.public.limiter.Spend(d.Proxies.Key(r), d.PublicLimit, time.Minute, time.Now())
	if !v.OK {
		headers(v, w.Header())
		f := fault.RateLimited.New()
		f.RetryAfter = v.Retry
		return nil, nil, f
	}
	node, values := d.public.routes.find(r.URL.EscapedPath(), nil)
	if node == nil {
		return nil, nil, noPath()
	}
	return node, values, nil
}

func noPath() error { return fault.NotFound.Say("There is no such path.") }

// redacted is a path as it may be logged. A public one has a token in it, so only its
// first segment is kept.
func redacted(path string) string {
	if path == "/v1" || strings.HasPrefix(path, "/v1/") {
		return path
	}
	root, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + root + "/…"
}
