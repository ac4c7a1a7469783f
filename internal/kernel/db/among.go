package db

import (
	"context"
	"strconv"
	"strings"
)

// IndexedRows are the rows that a filter leaves, found by an index that is not in the
// order of the list: rows of the list's own table or, with a Table, those whose
// id is in a Column of it. Where is the condition that the index answers, with a
// ? for each of Args.
type IndexedRows struct {
	Table, Column string
	Where         string
	Args          []any
}

// amongFilter is a filter that leaves the rows found in one of several ways.
type amongFilter struct {
	sources    []IndexedRows
	conditions []string // the conditions of the ways, with numbered arguments
}

// AmongRows adds the condition that a row is one of those found in these ways. They
// may be none, a few, or nearly all of the organization. Few are best found by the
// index and sorted; with many it is faster to walk the list until the page is
// full. No statistics tell which, so chooseLeader counts them first.
func (w *Where) AmongRows(ways ...IndexedRows) *Where {
	a := amongFilter{sources: ways}
	for _, n := range ways {
		a.conditions = append(a.conditions, w.bindArgs(n.Where, n.Args))
	}
	w.among = append(w.among, a)
	return w
}

// maxLeaderRows is the most matches for which a filter's index leads. Beyond it,
// walking the list finds a page sooner.
const maxLeaderRows = 5000

// chooseLeader decides which filter finds the rows: the one with the fewest, if
// they are fewer than maxLeaderRows. It reports whether there can be any rows.
func (w *Where) chooseLeader(ctx context.Context, tx *Tx, table string) (some bool, err error) {
	if w.leaderChosen {
		return true, nil
	}
	least := maxLeaderRows
	for i := range w.among {
		n, err := w.among[i].countRows(ctx, tx, w.args[0], table)
		if err != nil {
			return false, err
		}
		if n < least {
			least, w.leader, w.fewRows = n, i, true
		}
	}
	w.leaderChosen = true
	return least > 0, nil
}

// countRows returns how many rows are found, at most maxLeaderRows. A row that is found
// in two ways counts twice.
func (a *amongFilter) countRows(ctx context.Context, tx *Tx, org any, table string) (int, error) {
	w := &Where{args: []any{org}}
	for _, n := range a.sources {
		if w.text.Len() > 0 {
			w.text.WriteString(" UNION ALL ")
		}
		w.text.WriteString("SELECT 1 FROM " + n.tableOrOwn(table) + " WHERE organization_id = $1 AND " +
			w.bindArgs(n.Where, n.Args))
	}
	return QueryOne[int](ctx, tx,
		"SELECT count(*) FROM (SELECT 1 FROM ("+w.text.String()+") AS named LIMIT "+strconv.Itoa(maxLeaderRows)+
			") AS first", w.args...)
}

// tableOrOwn is the table that the index belongs to.
func (n *IndexedRows) tableOrOwn(table string) string {
	if n.Table == "" {
		return table
	}
	return n.Table
}

// indexCondition is the condition for few rows: the index is read first, and then the rows
// are looked up by what it gave. ARRAY keeps PostgreSQL from turning the subquery
// into a join, for which it would guess how many rows there are.
func (a *amongFilter) indexCondition(e Engine, table string) string {
	key := "seq"
	for _, n := range a.sources {
		if n.Table != "" {
			key = "id"
		}
	}
	queries := make([]string, len(a.sources))
	for i, n := range a.sources {
		column := key
		if n.Table != "" {
			column = n.Column
		}
		queries[i] = "SELECT " + column + " FROM " + n.tableOrOwn(table) + " WHERE organization_id = $1 AND " +
			a.conditions[i]
	}
	text := strings.Join(queries, " UNION ")
	if e == Postgres {
		return key + " = ANY(ARRAY(" + text + "))"
	}
	return key + " IN (" + text + ")"
}

// rowCondition is the condition checked row by row. IS TRUE keeps both engines from the
// index, and PostgreSQL from a join, which would collect and sort all matching rows
// before the first result. OFFSET keeps it from collecting them in a hash.
func (a *amongFilter) rowCondition(table string) string {
	tests := make([]string, len(a.sources))
	for i, n := range a.sources {
		tests[i] = a.conditions[i]
		if n.Table != "" {
			tests[i] = "EXISTS (SELECT 1 FROM " + n.Table + " AS named WHERE named.organization_id = $1 AND named." +
				n.Column +
				" = " + table + ".id AND " + a.conditions[i] + " LIMIT 1 OFFSET 0)"
		}
	}
	return "(" + strings.Join(tests, " OR ") + ") IS TRUE"
}
