package proposal

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"

	"github.com/go-json-experiment/json"
)

// maxDifferences is how many differences are listed.
const maxDifferences = 20

// listDifferences compares what was shown with what the steps do now. A time that is
// derived from the moment of the call, like a due date, counts as the same if it is
// as far from that moment as before.
func (v *Proposal) listDifferences(now *outcome, at clock.Time) []string {
	c := &comparison{was: v.RehearsedAt, now: at}
	if len(v.Effects) != len(now.effects) {
		c.noteDifference("effects", fmt.Sprintf("there were %d, now there are %d", len(v.Effects), len(now.effects)))
		return c.found
	}
	for i := range v.Effects {
		c.compareEffect(fmt.Sprintf("effects[%d]", i), &v.Effects[i], &now.effects[i])
	}
	// For what goes outside, equal effects are not enough: the rows that it carries must be unchanged as well.
	for i := range now.effects {
		e := &now.effects[i]
		if !e.isOutward() {
			continue
		}
		if e.ResourceID != nil && v.changedByOthers(string(*e.ResourceID), now) {
			c.noteDifference(fmt.Sprintf("effects[%d]", i), "the "+resourceNoun(e.ResourceType)+" was changed since")
		}
		for field, rows := range e.carriedRows() {
			if slices.ContainsFunc(rows, func(row string) bool { return v.changedByOthers(row, now) }) {
				c.noteDifference(fmt.Sprintf("effects[%d].%s", i, field), "what it names was changed since")
			}
		}
	}
	return c.found
}

// changedByOthers reports whether somebody else changed a row since the proposal was shown. A
// change by an earlier step of the same plan does not count.
func (v *Proposal) changedByOthers(row string, now *outcome) bool {
	was, known := v.Versions[row]
	return was != now.versions[row] && (!known || was != ownChangeVersion)
}

// carriedRows lists, by field, the rows that go out with an effect although the effect
// does not show their content: the automation that is run, the invoices whose PDFs
// are attached.
func (e *Effect) carriedRows() map[string][]string {
	var after struct {
		AutomationID *string  `json:"automationId"`
		InvoiceIDs   []string `json:"invoiceIds"`
	}
	if json.Unmarshal(e.After, &after) != nil {
		return nil
	}
	out := map[string][]string{"invoiceIds": after.InvoiceIDs}
	if after.AutomationID != nil {
		out["automationId"] = []string{*after.AutomationID}
	}
	return out
}

type comparison struct {
	was, now clock.Time
	creates  bool // the effect creates what it tells of
	found    []string
}

// randomFields are the fields whose values are random when a row is created, so that two
// rehearsals differ in them.
var randomFields = []string{"recordValue"}

func (c *comparison) noteDifference(path, what string) {
	if len(c.found) < maxDifferences {
		c.found = append(c.found, path+": "+what)
	}
}

// Difference is one thing that is no longer as it was shown: a field of an effect with its
// values, or a sentence.
type Difference struct {
	Effect      int // its place in effects, or -1
	Field       string
	Before, Now any
	Text        string // where it is no field with two values
}

var (
	differentValue = regexp.MustCompile(`^effects\[(\d+)\]\.(?:before|after)\.(\w+)[^:]*: it was (.*), now it is (.*)$`)
	differentPlace = regexp.MustCompile(`^(?:effects|steps)(?:\[\d+\])?[\w.\[\]]*: (.*)$`)
)

// ReadDifference reads a line of Proposal.Difference, as noteDifference writes it, for a page.
func ReadDifference(line string) Difference {
	if m := differentValue.FindStringSubmatch(line); m != nil {
		d := Difference{Field: m[2]}
		d.Effect, _ = strconv.Atoi(m[1])
		if json.Unmarshal([]byte(m[3]), &d.Before) == nil && json.Unmarshal([]byte(m[4]), &d.Now) == nil {
			return d
		}
		return Difference{Effect: d.Effect, Text: "the " + FieldWords(d.Field) + " is another"} // a value was cut
	}
	if m := differentPlace.FindStringSubmatch(line); m != nil {
		return Difference{Effect: -1, Text: m[1]}
	}
	return Difference{Effect: -1, Text: line}
}

func (c *comparison) compareEffect(path string, a, b *Effect) {
	x, y := toPlainJSON(a), toPlainJSON(b)
	delete(x, "summary") // derived from the other fields
	delete(y, "summary")
	c.creates = a.Kind == KindCreate
	c.compareValue(path, x, y)
}

// toPlainJSON converts a value to maps and slices, as JSON has it.
func toPlainJSON(v any) map[string]any {
	out := map[string]any{}
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err) // cannot fail: an Effect has no cycles or functions
	}
	return out
}

// compareValue compares two values of JSON, and notes where they differ.
func (c *comparison) compareValue(path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Sorted(maps.Keys(x))
		for k := range y {
			if _, ok := x[k]; !ok {
				keys = append(keys, k)
			}
		}
		for _, k := range keys {
			if c.creates && slices.Contains(randomFields, k) {
				continue
			}
			c.compareValue(path+"."+k, x[k], y[k])
		}
		return
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			c.compareValue(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])
		}
		return
	default:
		if a == b || c.sameRelativeTime(a, b) {
			return
		}
	}
	c.noteDifference(path, fmt.Sprintf("it was %s, now it is %s", formatValue(a), formatValue(b)))
}

func formatValue(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "something else"
	}
	return cut.Ellipsis(string(text), 200)
}

// sameRelativeTime reports whether two texts are times that are equally far, within five
// seconds, from the moments of their rehearsals.
func (c *comparison) sameRelativeTime(a, b any) bool {
	x, ok := a.(string)
	y, also := b.(string)
	if !ok || !also {
		return false
	}
	s, err := time.Parse(time.RFC3339, x)
	if err != nil {
		return false
	}
	t, err := time.Parse(time.RFC3339, y)
	if err != nil {
		return false
	}
	return (s.Sub(c.was.Std()) - t.Sub(c.now.Std())).Abs() < 5*time.Second
}
