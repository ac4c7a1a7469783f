package mcp

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/op"
)

// view is the part of the tools that a client asks for, and the form of their answers, in the
// query of its address or by headers. Every tool it is told of costs its user. Each request says it again, so
// the list does not change by itself within a session.
type view struct {
	compact  bool            // a few tools, and four that lead to all others
	readOnly bool            // only tools that change nothing
	sets     map[string]bool // the resources whose tools are shown; nil for all

	structured bool // the client reads structured content, so that the text of an answer is one line
}

const (
	toolsetsHeader = "X-MCP-Toolsets"
	readOnlyHeader = "X-MCP-Readonly"

	structuredHeader = "X-MCP-Structured"
)

// parseView reads the view that a request asks for. byDefault is the agent's own setting,
// for a request that does not say tools. The error is part of a sentence for the client.
func (d *Door) parseView(r *http.Request, byDefault view) (v view, err error) {
	q := r.URL.Query()
	switch mode := q.Get("tools"); mode {
	case "":
		v = byDefault
	case "all":
	case "compact":
		v.compact = true
	default:
		return v, fmt.Errorf("tools is all or compact, not %q", mode)
	}
	for _, flag := range []struct {
		name, header string
		value        *bool
	}{{"readonly", readOnlyHeader, &v.readOnly}, {"structured", structuredHeader, &v.structured}} {
		if text := firstNonEmpty(q.Get(flag.name), r.Header.Get(flag.header)); text != "" {
			if *flag.value, err = strconv.ParseBool(text); err != nil {
				return v, fmt.Errorf("%s is 1 or 0, not %q", flag.name, text)
			}
		}
	}
	if text := firstNonEmpty(q.Get("toolsets"), r.Header.Get(toolsetsHeader)); text != "" {
		v.sets = map[string]bool{}
		for name := range strings.SplitSeq(text, ",") {
			resources, ok := d.sets[strings.TrimSpace(name)]
			if !ok {
				return v, fmt.Errorf("there is no toolset %q; there are %s", strings.TrimSpace(name),
					strings.Join(slices.Sorted(maps.Keys(d.sets)), ", "))
			}
			for _, resource := range resources {
				v.sets[resource] = true
			}
		}
	}
	return v, nil
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// collectToolsets collects the toolsets: every resource, and the groups of Door.Toolsets. It
// panics when a setting names a resource or a tool that does not exist.
func (d *Door) collectToolsets() {
	d.sets = map[string][]string{}
	for _, t := range d.tools {
		if t.op.Resource != op.Unrestricted { // tools without a resource are in every toolset
			d.sets[t.op.Resource] = []string{t.op.Resource}
		}
	}
	for name, resources := range d.Toolsets {
		for _, resource := range resources {
			if d.sets[resource] == nil {
				panic(fmt.Sprintf("mcp: toolset %s: no tool is for %s", name, resource))
			}
		}
		d.sets[name] = resources
	}
	for _, name := range d.Daily {
		if d.byName[name] == nil {
			panic("mcp: no tool is named " + name)
		}
	}
}

// includesTool reports whether a caller may use a tool in this view, directly or
// through tools_read or tools_write.
func (v view) includesTool(t *tool, c *op.Caller) bool {
	fits := v.sets == nil || v.sets[t.op.Resource] || t.op.Resource == op.Unrestricted
	return fits && t.isVisibleTo(c) && (!v.readOnly || t.reads)
}

// usualToolBytes is about how many bytes a tool takes in the list.
const usualToolBytes = 512

// visibleTools is the list of tools that the caller may use and asked for, in catalog order,
// as JSON.
func (d *Door) visibleTools(v view, c *op.Caller) []byte {
	text := append(make([]byte, 0, usualToolBytes*len(d.tools)), '[')
	add := func(tool []byte) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, tool...)
	}
	for _, t := range d.tools {
		switch {
		case !v.includesTool(t, c):
		case !v.compact && !t.op.AllowedBy(c.Permissions) && t.cardMeta() == nil:
			add(addMember(t.texts().listed, "_meta", cardMeta())) // every call of it becomes a proposal
		case !v.compact:
			add(t.texts().listed)
		case slices.Contains(d.Daily, t.name):
			add(t.texts().short)
		}
	}
	if v.compact {
		add(d.searchToolJSON(v, c))
		add(describeText)
		add(readText)
		if !v.readOnly {
			add(writeText)
		}
	}
	return append(text, ']')
}

// List returns the answer of tools/list, as JSON, for a client with these permissions
// whose address has this query, such as tools=compact. The door need not be mounted.
func (d *Door) List(c *op.Catalog, query string, rights op.Permissions) ([]byte, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%q is not the query of an address: %w", query, err)
	}
	d.metrics = newMetrics()
	d.collectTools(c)
	d.collectToolsets()
	v, err := d.parseView(&http.Request{URL: &url.URL{RawQuery: values.Encode()}}, view{})
	if err != nil {
		return nil, err
	}
	return d.visibleTools(v, &op.Caller{Permissions: rights}), nil
}
