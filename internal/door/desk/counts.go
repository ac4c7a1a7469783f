package desk

import (
	"cmp"
	"strconv"
	"sync"
	"time"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// counts are the numbers in the rail, kept for a few seconds so that a click
// costs no more than a page.
type counts struct {
	sync.Mutex
	kept map[counter]counted
}

// counter is who sees the same numbers: those who may read the same, of one
// organization or business.
type counter struct {
	of  id.ID
	may op.Permissions
}

type counted struct {
	at   time.Time
	text map[string]string
}

const (
	countsFor = 5 * time.Second
	countMost = 50 // more is shown as 50+
	maxCounts = 1000
)

// counters say what an entry of the rail counts: the operation and its input.
var counters = map[string]func(v *Visit) (operation string, input Fields){}

// AddCounter lets an entry of the rail show how many rows an operation lists.
func AddCounter(key string, f func(v *Visit) (operation string, input Fields)) bool {
	counters[key] = f
	return true
}

// Counted is the number beside an entry of the rail, empty when there is nothing.
func (v *Visit) Counted(entry string) string { return v.counted()[entry] }

// counted are the numbers of the rail, by entry.
func (v *Visit) counted() map[string]string {
	who := counter{v.Session.Org, v.Caller.Permissions}
	if b := v.chosen(); b != nil {
		who.of = b.ID
	}
	v.counts.Lock()
	c, ok := v.counts.kept[who]
	v.counts.Unlock()
	if ok && time.Since(c.at) < countsFor {
		return c.text
	}
	c = counted{time.Now(), map[string]string{}}
	for key, f := range counters {
		operation, input := f(v)
		if !v.May(operation) {
			continue
		}
		input = v.Chosen(operation, input)
		input["limit"] = countMost
		rows, page, err := List[struct{}](v, operation, input)
		switch {
		case err != nil:
			v.Log.WarnContext(v.R.Context(), "a count failed", "operation", operation, "trace_id", v.ID, "err", err)
		case page.HasMore:
			c.text[key] = strconv.Itoa(countMost) + "+"
		case len(rows) > 0:
			c.text[key] = strconv.Itoa(len(rows))
		}
	}
	v.counts.Lock()
	defer v.counts.Unlock()
	if v.counts.kept == nil || len(v.counts.kept) > maxCounts {
		v.counts.kept = map[counter]counted{}
	}
	v.counts.kept[who] = c
	return c.text
}

// addCounts is the sum of two numbers of the rail, of which either may be missing.
func addCounts(a, b string) string {
	x, err := strconv.Atoi(cmp.Or(a, "0"))
	y, also := strconv.Atoi(cmp.Or(b, "0"))
	switch n := x + y; {
	case err != nil || also != nil || n > countMost: // one of them stopped counting
		return strconv.Itoa(countMost) + "+"
	case n == 0:
		return ""
	default:
		return strconv.Itoa(n)
	}
}

// EndOfDay is the end of a day of the business's own clock, as the API takes it.
func (v *Visit) EndOfDay(days int) string {
	now := v.Now().Std().In(v.Zone())
	return time.Date(now.Year(), now.Month(), now.Day()+days+1, 0, 0, 0, 0, now.Location()).UTC().
		Format("2006-01-02T15:04:05Z")
}
