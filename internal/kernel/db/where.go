package db

import (
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/id"
)

// Page is a part of a list.
type Page struct {
	Limit, Offset int
	Ascending     bool
}

func (p Page) direction() string {
	if p.Ascending {
		return "ASC"
	}
	return "DESC"
}

// Where collects the conditions of a list, beginning with its organization.
type Where struct {
	text  strings.Builder
	wider []string // further filters, see Equal
	led   bool     // there is a first filter
	args  []any

	among  []among
	chosen bool // choose has run
	leader int  // the one of among by whose index the rows are found, or -1
	few    bool // a condition leaves few rows, and has its own way to them
}

// In begins the conditions with the organization.
func In(org id.ID) *Where { return &Where{args: []any{org}, leader: -1} }

// And adds a condition; each ? stands for the next argument.
func (w *Where) And(condition string, args ...any) *Where {
	w.text.WriteString(" AND " + w.bind(condition, args))
	return w
}

// bind numbers the arguments of a condition.
func (w *Where) bind(condition string, args []any) string {
	var text strings.Builder
	for {
		before, after, ok := strings.Cut(condition, "?")
		text.WriteString(before)
		if !ok {
			return text.String()
		}
		w.args = append(w.args, args[0])
		args = args[1:]
		text.WriteString("$" + strconv.Itoa(len(w.args)))
		condition = after
	}
}

// Filter adds a condition that an index answers. Filters are named in the order
// of how few rows they leave, a row's id before a status: SQLite cannot tell,
// and is kept to the index of the first.
func (w *Where) Filter(condition string, args ...any) {
	if w.led {
		w.wider = append(w.wider, w.bind(condition, args))
		return
	}
	w.led = true
	w.And(condition, args...)
}

// Equal is Filter for what the caller may have given: a nil pointer adds nothing.
func Equal[V any](w *Where, column string, v *V) {
	if v != nil {
		w.Filter(column+" = ?", *v)
	}
}

// Choice is Equal for a column of which most rows have one of the common
// values: such a one comes after all other filters.
func Choice(w *Where, column string, v *string, common ...string) {
	if v != nil && slices.Contains(common, *v) {
		w.wider = append(w.wider, w.bind(column+" = ?", []any{*v}))
		return
	}
	Equal(w, column, v)
}

// organization is the first condition. The + keeps SQLite from walking the
// organization's whole list.
func (w *Where) organization(tx *Tx) string {
	if w.few && tx.Engine() == SQLite {
		return "+organization_id = $1"
	}
	return "organization_id = $1"
}

// conditions are all that follow the organization. The + keeps SQLite from the
// index of a wider filter.
func (w *Where) conditions(tx *Tx, table string) string {
	text := w.text.String()
	for i, a := range w.among {
		if i == w.leader {
			text += " AND " + a.within(tx.Engine(), table)
		} else {
			text += " AND " + a.each(table)
		}
	}
	for i, c := range w.wider {
		if tx.Engine() == SQLite && (w.led || i > 0) {
			c = "+" + c
		}
		text += " AND " + c
	}
	return text
}

func (w *Where) clone() *Where {
	c := *w
	c.text = strings.Builder{}
	c.text.WriteString(w.text.String())
	c.wider, c.among, c.args = slices.Clone(w.wider), slices.Clone(w.among), slices.Clone(w.args)
	return &c
}
