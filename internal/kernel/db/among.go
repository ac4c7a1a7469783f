package db

import (
	"context"
	"strconv"
	"strings"
)

// Named are the rows that a filter leaves, found by an index that is not in the
// order of the list: rows of the list's own table or, with a Table, those whose
// id is in a Column of it. Where is the condition that the index answers, with a
// ? for each of Args.
type Named struct {
	Table, Column string
	Where         string
	Args          []any
}

// among is a filter that leaves the rows found in one of several ways.
type among struct {
	ways  []Named
	bound []string // the conditions of the ways, with numbered arguments
}

// Among adds the condition that a row is one of those found in these ways. They
// may be none, a few, or nearly all of the organization. Few are best found by the
// index and sorted; with many it is faster to walk the list until the page is
// full. No statistics tell which, so chooseLeader counts them first.
func (w *Where) Among(ways ...Named) *Where {
	a := among{ways: ways}
	for _, n := range ways {
		a.bound = append(a.bound, w.bind(n.Where, n.Args))
	}
	w.among = append(w.among, a)
	return w
}

// maxLeader is the most matches for which a filter's index leads. Beyond it,
// walking the list finds a page sooner.
const maxLeader = 5000

// chooseLeader decides which filter finds the rows: the one with the fewest, if
// they are fewer than maxLeaderRows. It reports whether there can be any rows.
func (w *Where) chooseLeader(ctx context.Context, tx *Tx, table string) (some bool, err error) {
	if w.chosen {
		return true, nil
	}
	least := maxLeader
	for i := range w.among {
		n, err := w.among[i].count(ctx, tx, w.args[0], table)
		if err != nil {
			return false, err
		}
		if n < least {
			least, w.leader, w.few = n, i, true
		}
	}
	w.chosen = true
	return least > 0, nil
}

// count returns how many rows are found, at most maxLeaderRows. A row that is found
// in two ways counts twice.
func (a *among) count(ctx context.Context, tx *Tx, org any, table string) (int, error) {
	w := &Where{args: []any{org}}
	for _, n := range a.ways {
		if w.text.Len() > 0 {
			w.text.WriteString(" UNION ALL ")
		}
		w.text.WriteString("SELECT 1 FROM " + n.from(table) + " WHERE organization_id = $1 AND " +
			w.bind(n.Where, n.Args))
	}
	return One[int](ctx, tx,
		"SELECT count(*) FROM (SELECT 1 FROM ("+w.text.String()+") AS named LIMIT "+strconv.Itoa(maxLeader)+
			") AS first", w.args...)
}

// from is the table that the index belongs to.
func (n *Named) from(table string) string {
	if n.Table == "" {
		return table
	}
	return n.Table
}

// byIndex is the condition for few rows: the index is read first, and then the rows
// are looked up by what it gave. ARRAY keeps PostgreSQL from turning the subquery
// into a join, for which it would guess how many rows there are.
func (a *among) byIndex(e Engine, table string) string {
	key := "seq"
	for _, n := range a.ways {
		if n.Table != "" {
			key = "id"
		}
	}
	queries := make([]string, len(a.ways))
	for i, n := range a.ways {
		column := key
		if n.Table != "" {
			column = n.Column
		}
		queries[i] = "SELECT " + column + " FROM " + n.from(table) + " WHERE organization_id = $1 AND " + a.bound[i]
	}
	text := strings.Join(queries, " UNION ")
	if e == Postgres {
		return key + " = ANY(ARRAY(" + text + "))"
	}
	return key + " IN (" + text + ")"
}

// byRow is the condition checked row by row. IS TRUE keeps both engines from the
// index, and PostgreSQL from a join, which would collect and sort all matching rows
// before the first result. OFFSET keeps it from collecting them in a hash.
func (a *among) byRow(table string) string {
	tests := make([]string, len(a.ways))
	for i, n := range a.ways {
		tests[i] = a.bound[i]
		if n.Table != "" {
			tests[i] = "EXISTS (SELECT 1 FROM " + n.Table + " AS named WHERE named.organization_id = $1 AND named." +
				n.Column +
				" = " + table + ".id AND " + a.bound[i] + " LIMIT 1 OFFSET 0)"
		}
	}
	return "(" + strings.Join(tests, " OR ") + ") IS TRUE"
}
