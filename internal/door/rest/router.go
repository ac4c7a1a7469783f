package rest

import (
	"net/http"
	"slices"
	"strings"

	"frontdesk/internal/kernel/op"
)

// routeNode is a node of a tree of path segments, at whose end are the operations of a
// path by method. It takes paths literally: "//" and ".." are segments that no route
// has.
type routeNode struct {
	literal map[string]*routeNode // by segment; it wins over param
	param   *routeNode            // a segment like {id}
	methods map[string]*route     // nil where no path ends
	allow   string                // the header Allow
}

// addRoute puts a route into the tree and computes the header Allow of its path anew.
func (n *routeNode) addRoute(r *route) {
	for _, segment := range strings.Split(r.op.Path, "/")[1:] {
		if strings.HasPrefix(segment, "{") {
			if n.param == nil {
				n.param = &routeNode{}
			}
			n = n.param
			continue
		}
		if n.literal == nil {
			n.literal = map[string]*routeNode{}
		}
		if n.literal[segment] == nil {
			n.literal[segment] = &routeNode{}
		}
		n = n.literal[segment]
	}
	if n.methods == nil {
		n.methods = map[string]*route{}
	}
	n.methods[r.op.Method] = r
	names := []string{}
	for m := range n.methods {
		names = append(names, m)
		if m == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	n.allow = strings.Join(names, ", ")
}

// findNode walks the path and appends the values of its parameters, still escaped, to
// values. A nil node means that there is no such path.
func (n *routeNode) findNode(path string, values []string) (*routeNode, []string) {
	path = strings.TrimPrefix(path, "/")
	for {
		segment, rest, more := strings.Cut(path, "/")
		if next := n.literal[segment]; next != nil {
			n = next
		} else if n.param != nil && segment != "" {
			n = n.param
			values = append(values, segment)
		} else {
			return nil, nil
		}
		if !more {
			break
		}
		path = rest
	}
	if n.methods == nil {
		return nil, nil
	}
	return n, values
}

// route is an operation with its metrics.
type route struct {
	op *op.Op
	*operationMetrics
}
