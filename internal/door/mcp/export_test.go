package mcp

import (
	"testing"
	"time"

	"frontdesk/internal/kernel/op"
)

// What the tests of this package look at from outside.
const MaxAnswer = maxAnswer

// WritePart is a part of a body.
var WritePart = writePart

// PartLength is how much of a body one part shows.
const PartLength = partLength

// DescribeAll is every tool as the full list, a compact one and tools_describe show it, by name.
func DescribeAll(c *op.Catalog) map[string][3][]byte {
	d := &Door{metrics: newMetrics()}
	d.collectTools(c)
	out := map[string][3][]byte{}
	for _, t := range d.tools {
		x := t.texts()
		out[t.name] = [3][]byte{x.listed, x.short, x.whole}
	}
	return out
}

// NewSearch is tools_search for a caller who may do everything: the names of the tools that a query finds, and the
// answer.
func NewSearch(c *op.Catalog) func(query string) (names []string, answer []byte) {
	d := &Door{metrics: newMetrics()}
	d.buildTools(c)
	all := &op.Caller{Permissions: op.Everything()}
	return func(query string) (names []string, answer []byte) {
		found := d.findByWords(view{compact: true}, all, query, maxFound)
		for _, t := range found {
			names = append(names, t.name)
		}
		return names, foundJSON(found)
	}
}

// ProgressEvery makes calls tell sooner that they go on, for one test.
func ProgressEvery(t testing.TB, every time.Duration) {
	before := progressEvery
	progressEvery = every
	t.Cleanup(func() { progressEvery = before })
}
