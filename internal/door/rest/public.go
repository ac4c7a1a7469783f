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

// publicRoutes are the routes of operations that need no key: a token in the path says
// whose data they are about. They are outside /v1, and each IP address has its own
// allowance.
type publicRoutes struct {
	routes  routeNode
	roots   map[string]bool // the first segments of their paths, for OwnsPath
	limiter limit.Limiter[netip.Prefix]
}

func (p *publicRoutes) addRoute(r *route) {
	root, _, _ := strings.Cut(strings.TrimPrefix(r.op.Path, "/"), "/")
	if p.roots == nil {
		p.roots = map[string]bool{}
	}
	p.roots[root] = true
	p.routes.addRoute(r)
}

// OwnsPath reports whether this door answers requests for a path, by its first segment.
func (d *Door) OwnsPath(path string) bool {
	root, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return root == "v1" || d.public.roots[root]
}

// publicCaller is the caller of a public operation. The operation sets the organization from
// its token.
var publicCaller = &op.Caller{Kind: op.SystemActor}

// admitPublic finds a public operation, after taking a request from the address's allowance:
// wrong tokens and unknown paths count too, so that nobody can guess for free.
func (d *Door) admitPublic(w http.ResponseWriter, r *http.Request) (*routeNode, []string, error) {
	v := d.public.limiter.Spend(d.Proxies.Key(r), d.PublicLimit, time.Minute, time.Now())
	if !v.OK {
		setLimitHeaders(v, w.Header())
		f := fault.RateLimited.New()
		f.RetryAfter = v.Retry
		return nil, nil, f
	}
	node, values := d.public.routes.findNode(r.URL.EscapedPath(), nil)
	if node == nil {
		return nil, nil, pathNotFound()
	}
	return node, values, nil
}

func pathNotFound() error { return fault.NotFound.Say("There is no such path.") }

// redactPath is a path as it may be logged. A public one has a token in it, so only its
// first segment is kept.
func redactPath(path string) string {
	if path == "/v1" || strings.HasPrefix(path, "/v1/") {
		return path
	}
	root, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + root + "/…"
}
