package db

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
)

// Where collects the conditions of a list, beginning with its organization. It
// also says in which order they should be applied, because SQLite has no
// statistics to find out: see Filter and AmongRows.
type Where struct {
	text           strings.Builder // " AND …" for each condition
	laterFilters   []string        // the filters after the first, see Filter
	hasFirstFilter bool            // Filter has added its first
	args           []any           // $1 is the organization

	among        []amongFilter
	leaderChosen bool // chooseLeader has run
	leader       int  // the entry of among whose index finds the rows, or -1
	fewRows      bool // a condition leaves few rows, and its index finds them
}

// InOrganization begins the conditions with the organization.
func InOrganization(org id.ID) *Where { return &Where{args: []any{org}, leader: -1} }

func (w *Where) organizationID() id.ID { return w.args[0].(id.ID) }

// And adds a condition; each ? stands for the next argument.
func (w *Where) And(condition string, args ...any) *Where {
	w.text.WriteString(" AND " + w.bindArgs(condition, args))
	return w
}

// bindArgs replaces each ? of a condition by the number of its argument, and adds the
// arguments.
func (w *Where) bindArgs(condition string, args []any) string {
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

// Filter adds a condition that an index answers. The filter that leaves the fewest
// rows must come first, a row's id before a status: SQLite cannot tell which that
// is, and is kept from the indexes of the later ones.
func (w *Where) Filter(condition string, args ...any) {
	if w.hasFirstFilter {
		w.laterFilters = append(w.laterFilters, w.bindArgs(condition, args))
		return
	}
	w.hasFirstFilter = true
	w.And(condition, args...)
}

// FilterEqual is Filter for an optional value: a nil pointer adds nothing.
func FilterEqual[V any](w *Where, column string, v *V) {
	if v != nil {
		w.Filter(column+" = ?", *v)
	}
}

// FilterIDs keeps the rows with one of the ids; no ids keep all.
func FilterIDs(w *Where, ids []id.ID) {
	if len(ids) > 0 {
		w.And("id = ANY(?)", ids)
		w.fewRows = true
	}
}

// FilterEqualOrNone is FilterEqual for an optional reference: "none" asks for rows that
// have none. The caller has checked that v is an id or "none".
func FilterEqualOrNone(w *Where, column string, v *string) {
	if v == nil {
		return
	}
	if row, ok := id.Parse(*v); ok {
		w.Filter(column+" = ?", row)
		return
	}
	w.Filter(column + " IS NULL")
}

// FilterOneOf keeps the rows whose column has one of the values; no values keep all.
func FilterOneOf[V ~string](w *Where, column string, values []V) {
	if len(values) == 1 {
		FilterEqual(w, column, &values[0])
	} else if len(values) > 1 {
		w.laterFilters = append(w.laterFilters, w.bindArgs(OneOfCondition(column, values)))
	}
}

// FilterChoice is FilterOneOf for a column that has an index, in which most rows have one
// of the common values. A common value leaves too many rows to lead, so it is
// applied after all other filters; several rare ones are found by the index.
func FilterChoice[V ~string](w *Where, column string, values []V, common ...V) {
	isCommon := func(v V) bool { return slices.Contains(common, v) }
	switch {
	case slices.ContainsFunc(values, isCommon):
		w.laterFilters = append(w.laterFilters, w.bindArgs(OneOfCondition(column, values)))
	case len(values) > 1:
		text, args := OneOfCondition(column, values)
		w.AmongRows(IndexedRows{Where: text + " AND deleted_at IS NULL", Args: args})
	default:
		FilterOneOf(w, column, values)
	}
}

// OneOfCondition is the condition that a column has one of the values.
func OneOfCondition[V ~string](column string, values []V) (condition string, args []any) {
	for _, v := range values {
		args = append(args, v)
	}
	return column + " IN (?" + strings.Repeat(", ?", len(values)-1) + ")", args
}

// FilterAfter keeps the rows whose column is later. Callers know times by the
// millisecond, and the database by the microsecond: what is later within the same
// millisecond is not later for them.
func FilterAfter(w *Where, column string, t *clock.Time) {
	if t != nil {
		w.And(column+" > ?", t.Add(time.Millisecond-time.Microsecond))
	}
}

// FilterBefore keeps the rows whose column is earlier.
func FilterBefore(w *Where, column string, t *clock.Time) {
	if t != nil {
		w.And(column+" < ?", *t)
	}
}

// Fingerprint tells conditions apart: no two that find different rows have the same.
func (w *Where) Fingerprint() (string, error) {
	parts := [][]string{{w.text.String()}, w.laterFilters}
	for _, a := range w.among {
		parts = append(parts, a.conditions)
	}
	text, err := json.Marshal([]any{parts, w.args})
	return string(text), err
}

// organizationSQL is the first condition. The unary + keeps SQLite from the index on
// the organization, by which it would walk the whole list.
func (w *Where) organizationSQL(tx *Tx) string {
	if w.fewRows && tx.Engine() == SQLite {
		return "+organization_id = $1"
	}
	return "organization_id = $1"
}

// conditionsSQL are all that follow the organization. The unary + before a column
// keeps SQLite from its index, for filters that should not lead.
func (w *Where) conditionsSQL(tx *Tx, table string) string {
	text := w.text.String()
	for i, a := range w.among {
		if i == w.leader {
			text += " AND " + a.indexCondition(tx.Engine(), table)
		} else {
			text += " AND " + a.rowCondition(table)
		}
	}
	for i, c := range w.laterFilters {
		if tx.Engine() == SQLite && (w.hasFirstFilter || i > 0) {
			c = "+" + c
		}
		text += " AND " + c
	}
	return text
}

// clone is a copy that can grow on its own. A strings.Builder must not be copied
// by value once it was written to.
func (w *Where) clone() *Where {
	c := *w
	c.text = strings.Builder{}
	c.text.WriteString(w.text.String())
	c.laterFilters, c.among, c.args = slices.Clone(w.laterFilters), slices.Clone(w.among), slices.Clone(w.args)
	return &c
}

// ContainsSQL is the condition that a column of text or JSON contains the text $2.
func (tx *Tx) ContainsSQL(column string) string {
	if tx.Engine() == Postgres {
		return "strpos(CAST(" + column + " AS text), $2) > 0"
	}
	return "instr(" + column + ", $2) > 0"
}

// BytesContainSQL is the condition that a column of bytes contains the text $2.
func (tx *Tx) BytesContainSQL(column string) string {
	if tx.Engine() == Postgres {
		return "position(convert_to($2, 'UTF8') IN " + column + ") > 0"
	}
	return "instr(" + column + ", CAST($2 AS BLOB)) > 0"
}
