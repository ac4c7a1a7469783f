package automation

import (
	"strings"
	"testing"

	"frontdesk/internal/kernel/cputest"
)

// Shapes of conditions that make parsers slow.
var conditionShapes = []cputest.Shape{
	{Name: "parens", Open: "(", Before: "", Close: ")"},
	{Name: "open parens", Open: "("},
	{Name: "lists", Open: "[", Close: "]"},
	{Name: "open lists", Open: "["},
	{Name: "maps", Open: "{1:", Close: "}"},
	{Name: "open maps", Open: "{"},
	{Name: "not", Open: "!", After: "true"},
	{Name: "minus", Open: "-", After: "1"},
	{Name: "choices", Open: "true?true:", After: "true"},
	{Name: "open choices", Open: "a?"},
	{Name: "and", Open: "true&&", After: "true"},
	{Name: "or", Open: "a||", After: "a"},
	{Name: "fields", Before: "event", Open: ".a"},
	{Name: "indexes", Before: "event", Open: "[0]"},
	{Name: "calls", Before: "event", Open: ".a()"},
	{Name: "sums", Open: "1+", After: "1"},
	{Name: "texts", Before: `"`, Open: `\u0041`, After: `" == ""`},
	{Name: "open texts", Open: `"`},
	{Name: "raw texts", Open: `r"`},
	{Name: "numbers", Open: "1"},
	{Name: "exponents", Open: "1e"},
	{Name: "wrong letters", Open: "$"},
	{Name: "equals", Open: "="},
	{Name: "dots", Open: "."},
	{Name: "commas", Before: "[", Open: "1,", After: "1]"},
	{Name: "comprehensions", Before: "[1]", Open: ".map(x, [1]", Close: ")"},
	{Name: "nested all", Open: "[1,2,3,4,5,6,7,8,9].all(x, ", Close: ")", After: "true"},
	{Name: "chains of map", Before: "[1,2,3,4,5,6,7,8]", Open: ".map(x, x)", After: ".size() > 0"},
	{Name: "chains of filter", Before: "input.list", Open: ".filter(x, true)", After: ".size() > 0"},
	{Name: "growing texts", Before: "'xxxxxxxx'", Open: ".replace('x','xx')"},
	{Name: "joined texts", Before: "'x'", Open: "+'x'", After: " == ''"},
	{Name: "patterns", Before: `input.text.matches("`, Open: "(a*)*", After: `")`},
	{Name: "counted patterns", Before: `input.text.matches("`, Open: "(a{1,9}){1,9}", After: `")`},
	{Name: "has", Open: "has(event.a) && ", After: "true"},
	{Name: "types", Open: "type(", Close: ")"},
	{Name: "comments", Open: "//"},
	{Name: "lines", Open: "\n"},
	{Name: "names", Open: "a b "},
	{Name: "in", Open: "1 in [", Close: "]"},
	{Name: "compared", Open: "1<", After: "1"},
	{Name: "messages", Open: "A{a:", Close: "}"},
	{Name: "dates", Before: `timestamp("`, Open: "9", After: `") == event`},
}

// Conditions of a kilobyte, over data of a kilobyte and of a megabyte: three
// nested comprehensions, and patterns, over all of it.
func TestAttackConditions(t *testing.T) {
	values := func(n int) map[string]any {
		list := make([]any, n/20)
		for i := range list {
			list[i] = strings.Repeat("a", 18)
		}
		return map[string]any{"event": map[string]any{"data": map[string]any{"a": "b"}},
			"input": map[string]any{"list": list, "text": strings.Repeat("a", n)}}
	}
	evaluate := func(t *testing.T, text string) {
		for _, n := range cputest.Sizes {
			v := values(n)
			cputest.CheckWithin(t, n, func() {
				if c, issue := parseCondition(text[:min(len(text), maxCondition)]); issue == "" {
					c.evaluateFully(t.Context(), v)
					c.evaluateQuickly(t.Context(), v)
				}
			})
		}
	}
	for _, s := range conditionShapes {
		t.Run(s.Name, func(t *testing.T) { evaluate(t, s.Text(1<<10)) })
	}
	for _, text := range []string{
		"input.list.all(x, input.list.all(y, input.list.all(z, x == y && y == z)))",
		"input.list.map(x, input.list.map(y, x + y)).size() > 0",
		"input.list.exists(x, input.list.exists(y, x + y == 'b'))",
		"input.list == input.list && input.list == input.list && input == input",
		"input.text + input.text + input.text == input.text",
		"input.list.all(x, input.text.contains(x + 'b'))",
		"input.list.all(x, input.text.matches(x))",
		"input.list.all(x, x in input.list)",
		`input.text.matches("(a|b|c|d|e)*(a|b|c|d|e)*(a|b|c|d|e)*x")`,
		"input.list.map(x, input.text).size() > 0 && input.list.map(x, input.text + x) == []",
		"(input.list + input.list + input.list + input.list).all(x, x != 'b')",
		"input.text.contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab') || input.text.endsWith('b')",
		"bytes(input.text) == bytes(input.text + 'b')",
		"string(bytes(input.text)) == input.text && size(input.text) == 3",
	} {
		t.Run(text[:30], func(t *testing.T) { evaluate(t, text) })
	}
}

func FuzzCondition(f *testing.F) {
	for _, s := range conditionShapes {
		f.Add(s.Text(200))
	}
	f.Add("input.list.all(x, input.list.exists(y, x + y == event.data.a))")
	f.Fuzz(func(t *testing.T, text string) {
		v := map[string]any{"event": map[string]any{"data": map[string]any{"a": "b"}},
			"input": map[string]any{"list": []any{"a", "b", "c"}, "text": "text"}}
		cputest.CheckWithin(t, 1<<10, func() {
			if len(text) > maxCondition {
				return
			}
			if c, issue := parseCondition(text); issue == "" {
				c.evaluateFully(t.Context(), v)
				c.evaluateQuickly(t.Context(), v)
			}
		})
	})
}
