package db

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Searchable tables have a column search, the words of a row as SearchText
// makes them, and on SQLite an FTS5 trigram table named TABLE_search whose
// rowid is the row's seq. PostgreSQL indexes the column itself.

type indexRow struct {
	table string
	seq   int64
	text  string // empty removes the row
}

// Index notes that a row's search text changed, or that the row is gone when
// text is empty. On SQLite it is applied once per commit: FTS5 flushes at
// every savepoint, which made a write three times dearer.
func Index(tx *Tx, table string, seq int64, text string) {
	if tx.Engine() == SQLite {
		tx.index = append(tx.index, indexRow{table, seq, text})
	}
}

func (w *writer) applyIndex(ran []*request) error {
	for _, r := range ran {
		if r.err != nil {
			continue
		}
		for _, row := range r.tx.index {
			sql, args := "INSERT OR REPLACE INTO "+row.table+"_search (rowid, search) VALUES ($1, $2)", []any{row.seq, row.text}
			if row.text == "" {
				sql, args = "DELETE FROM "+row.table+"_search WHERE rowid = $1", args[:1]
			}
			if _, err := w.conn.exec(r.ctx, sql, args); err != nil {
				return fmt.Errorf("db: search index: %w", err)
			}
		}
	}
	return nil
}

// Fold makes text comparable without regard to case or to how its letters are
// composed.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
		}
	}
	return strings.ToLower(s)
}

// SearchText joins the words of a row, folded, one space before each, so that
// " ad" finds the beginning of a word.
func SearchText(parts ...*string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == nil {
			continue
		}
		for _, word := range strings.FieldsFunc(Fold(*p), unicode.IsSpace) {
			b.WriteByte(' ')
			b.WriteString(word)
		}
	}
	return b.String()
}

// scanFirst is how many of the newest rows a search looks at one by one
// before it asks the index: a common word is found there a thousand times
// faster (169 ms by the index, 0.1 ms by the scan, at 100,000 rows).
const scanFirst = 2000

// term is a search as the engines want it.
type term struct {
	like string // for LIKE … ESCAPE '\'
	fts  string // an FTS5 phrase, empty when it is too short for trigrams
}

func searchTerm(query string) term {
	text := strings.Join(strings.FieldsFunc(Fold(query), unicode.IsSpace), " ")
	if n := len([]rune(text)); n > 0 && n < 3 {
		text = " " + text // one or two characters: word beginnings
	}
	t := term{like: anywhere(text)}
	if len([]rune(text)) >= 3 {
		t.fts = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return t
}

// anywhere is the pattern of LIKE for a text that contains another.
func anywhere(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// Contains is a filter for tables so small that they need no index: the search
// text contains a part, of one character too. A nil pointer adds nothing.
func Contains(w *Where, part *string) {
	if part != nil {
		w.And(like, anywhere(strings.Join(strings.FieldsFunc(Fold(*part), unicode.IsSpace), " ")))
	}
}

// rareTerm is how many rows of the index a search still starts from. Beyond
// it the word is common, and walking the list finds a page sooner.
const rareTerm = 5000

// Search lists the rows of a table whose search text contains query, in list
// order: first among the newest rows, then, when that is not enough to fill
// the page, by the index. Without a query, or with an empty one, it lists all.
func (t *Table[T]) Search(ctx context.Context, tx *Tx, query *string, w *Where, p Page) ([]T, error) {
	if query == nil {
		return t.List(ctx, tx, w, p)
	}
	want := searchTerm(*query)
	if want.like == "%%" {
		return t.List(ctx, tx, w, p)
	}
	if some, err := w.choose(ctx, tx, t.name); err != nil || !some {
		return []T{}, err
	}
	dir := p.direction()
	head := &Where{args: w.args[:len(w.args):len(w.args)]}
	head.And(like, want.like)
	from := fmt.Sprintf("(SELECT * FROM %s ORDER BY created_at %s, seq %s LIMIT %d) AS head WHERE TRUE", t.live(tx, w), dir, dir, scanFirst)
	rows, err := pageOf[T](ctx, tx, t.columns, from+head.text.String(), head.args, p)
	if err != nil || len(rows) == p.Limit {
		return rows, err
	}
	all := w.clone()
	if tx.Engine() == SQLite && want.fts != "" {
		found, err := One[int](ctx, tx, fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM %s_search WHERE %s_search MATCH $1 LIMIT %d)", t.name, t.name, rareTerm), want.fts)
		if err != nil || found == 0 {
			return []T{}, err
		}
		if found < rareTerm {
			all.few = true
			all.And(fmt.Sprintf("seq IN (SELECT rowid FROM %s_search WHERE %s_search MATCH ?)", t.name, t.name), want.fts)
			return t.List(ctx, tx, all, p)
		}
	}
	all.And(like, want.like)
	return t.List(ctx, tx, all, p)
}

// Containing adds a search in a column that SearchText made. It looks at the
// rows one by one and needs no index: for those of one parent, which are few.
func Containing(w *Where, column string, query *string) {
	if query != nil {
		w.And(column+likeTerm, searchTerm(*query).like)
	}
}

const (
	likeTerm = ` LIKE ? ESCAPE '\'`
	like     = "search" + likeTerm
)
