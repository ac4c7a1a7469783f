package automation

import (
	"context"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/cputest"
)

func TestConditions(t *testing.T) {
	values := func(text string) map[string]any {
		v, err := DecodeJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v.(map[string]any)
	}
	small := values(`{"event": {"type": "invoice.paid", "data": {"totalAmountCents": 1250, "rate": 0.5, "name": ` +
		`"Ada", ` +
		`"note": null, "tags": ["a", "b"]}}, "input": {"n": 3}}`)
	for text, want := range map[string]bool{
		`event.data.totalAmountCents > 1000`:                                    true,
		`event.data.totalAmountCents == 1250 && input.n < 3.5`:                  true,
		`event.data.rate * 2.0 == 1.0`:                                          true,
		`event.data.note == null && 'b' in event.data.tags`:                     true,
		`has(event.data.nothing)`:                                               false,
		`event.data.name.matches('^A[a-z]+$')`:                                  true,
		`matches(event.data.name, 'd')`:                                         true,
		`event.data.tags.exists(x, x == 'z')`:                                   false,
		`timestamp('2026-01-01T00:00:00Z') > timestamp('2025-01-01T00:00:00Z')`: true,
	} {
		c, issue := compileCondition(text)
		if issue != "" {
			t.Errorf("%s: %s", text, issue)
			continue
		}
		if got, issue := c.evaluateFully(t.Context(), small); got != want || issue != "" {
			t.Errorf("%s: %t, %s", text, got, issue)
		}
		if got, issue, known := quickly(c, small); known == strings.Contains(text, "matches") ||
			known &&
				(got != want || issue != "") {
			t.Errorf("%s, quickly: %t, %s, known %t", text, got, issue, known)
		}
	}
	for text, want := range map[string]string{
		`event.data.nothing == 1`:  "no such key",
		`event.data.name`:          "returned a string",
		`event.data.name + 1 == 2`: "no such overload",
		// The data in an error does not change what the error says.
		`event.data.interrupted == true`:   "no such key: interrupted",
		`event.data["cost limit"] == true`: "no such key: cost limit",
	} {
		c, issue := compileCondition(text)
		if issue != "" {
			t.Errorf("%s: %s", text, issue)
			continue
		}
		if got, issue := c.evaluateFully(t.Context(), small); got || !strings.Contains(issue, want) {
			t.Errorf("%s: %t, %q", text, got, issue)
		}
		if got, issue, known := quickly(c, small); !known || got || !strings.Contains(issue, want) {
			t.Errorf("%s, quickly: %t, %q, known %t", text, got, issue, known)
		}
	}
}

// quickly is holdsQuickly, asked again: a busy machine may take its few milliseconds away.
func quickly(c *condition, values map[string]any) (holds bool, issue string, known bool) {
	for try := 0; try < 100 && !known; try++ {
		holds, issue, known = c.evaluateQuickly(context.Background(), values)
	}
	return holds, issue, known
}

// A condition that would take long is refused, or stops soon.
func TestConditionBombs(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 1000), ",") + "]"
	v, err := DecodeJSON([]byte(`{"event": {"data": {"list": ` + list + `, "few": ` + list[:2*90] + `], "note": "` +
		strings.Repeat("a", 10_000) + `", "text": "` + strings.Repeat("a", 1<<20) + `", "pattern": "` +
		strings.Repeat("(a*)*", 200) + `", "slow": "` + strings.Repeat("(?:a?){500}", 100) + `b", "huge": "` +
		strings.Repeat(".{0,1000}", 222) + `"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	values := v.(map[string]any)
	v, err = DecodeJSON([]byte(`{"event": {"data": {"list": ` + list + `, "text": "` +
		strings.Repeat("a", quickData-len(list)) + `", "pattern": "a"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	within := v.(map[string]any) // within a transaction
	grow := "event.data.text"
	for range 8 {
		grow = "(" + grow + "+" + grow + ")"
	}
	compiled := 0
	for name, text := range map[string]string{
		"nested": `event.data.list.all(a, event.data.list.all(b, event.data.list.all(c, a + b + c > 0)))`,
		"nested deeper": `event.data.list.all(a, event.data.list.all(b, event.data.list.all(c, ` +
			`event.data.list.all(d, ` +
			`true))))`,
		"large strings": `event.data.list.all(x, (event.data.text + event.data.text).size() > 0)`,
		"growing":       grow + `.size() > 0`,
		"regex":         `event.data.list.all(x, !event.data.text.matches('(a|b)*c'))`,
		"regex of data": `event.data.list.all(x, event.data.text.matches(event.data.pattern))`,
		"slow regex":    `event.data.text.matches('` + strings.Repeat("(?:a?){60}", 4) + `b$')`,
		"slow pattern":  `event.data.list.exists(x, event.data.text.matches(event.data.slow))`,
		"long pattern":  `event.data.text.matches(event.data.text)`,
		"regex program": `event.data.text.matches('((a{1,100}){1,10}){1,10}')`,
		"some regexes":  `event.data.few.exists(x, event.data.note.matches('(a{9}){80}b'))`,
		"regex by hand": strings.TrimSuffix(strings.Repeat("event.data.note.matches('(a{9}){80}b')||", 48), "||"),
		"huge pattern":  strings.TrimSuffix(strings.Repeat(`"a".matches(event.data.huge)||`, 60), "||"),
		"huge regex":    `event.data.text.matches('` + strings.Repeat(".{0,1000}", 215) + `')`,
		"parentheses":   strings.Repeat("(", 900) + "true" + strings.Repeat(")", 900),
		"operators":     strings.Repeat("!", 1500) + "!!false",
		"map of maps":   `event.data.list.map(a, event.data.list.map(b, event.data.list)).size() > 0`,
	} {
		holds, issue := false, ""
		took := cputest.CPUTimeOf(t, func() {
			var c *condition
			if c, issue = compileCondition(text); issue != "" {
				return
			}
			compiled++
			if took := cputest.CPUTimeOf(t, func() {
				c.evaluateQuickly(t.Context(),
					within)
			}); took > 500*time.Millisecond {
				t.Errorf("%s holds a transaction up for %v", name, took)
			}
			holds, issue = c.evaluateFully(t.Context(), values)
		})
		if issue == "" && holds {
			t.Errorf("%s passes", name)
		}
		if took > 1500*time.Millisecond {
			t.Errorf("%s takes %v", name, took)
		}
		t.Logf("%s: %v, %.100s", name, took.Round(time.Microsecond), issue)
	}
	if compiled == 0 {
		t.Error("none was tried")
	}
}

// Issues with a condition are worded for whoever wrote it.
func TestConditionIssues(t *testing.T) {
	for text, want := range map[string]string{
		"1 +":              "Line 1, column 4: something is missing at the end",
		"(true":            `Line 1, column 6: ")" is missing`,
		"true)":            `Line 1, column 5: ")" does not belong here`,
		"event.type = 'a'": `Line 1, column 12: to compare, write "=="; Line 1, column 14: "'a'" does not belong here`,
		"true &&& false":   `Line 1, column 8: "&" does not belong here`,
		"event..data":      `Line 1, column 7: ".." does not belong here`,
		"contact.name":     `Line 1, column 1: there is no "contact"; a condition sees event and input`,
		"input.n + 1":      "A condition must be true or false; this one has type int",
	} {
		if _, got := compileCondition(text); got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}
