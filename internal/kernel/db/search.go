package db

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/kernel/id"

	"zombiezen.com/go/sqlite"
)

// Tables that can be searched have a column search, the words of a row as SearchText
// makes them, and on SQLite an FTS5 trigram table named TABLE_search whose
// rowid is the row's seq. PostgreSQL indexes the column itself.

// indexChange is a change of a search index.
type indexChange struct {
	Table string `db:"table_name"`
	Seq   int64  `db:"seq"`
	Text  string `db:"text"` // empty removes the row
}

// UpdateSearchIndex records that a row's search text changed, or that the row is gone when
// text is empty. Table's Insert, Save and SoftDelete call it; whoever writes the column by a statement of
// its own calls it too. On SQLite the writer applies it with the commit (follow.go).
// PostgreSQL indexes the column by itself.
func UpdateSearchIndex(tx *Tx, table string, seq int64, text string) {
	if tx.Engine() == SQLite {
		tx.indexChanges = append(tx.indexChanges, indexChange{table, seq, text})
	}
}

// searchSteps are how a search goes on until its page is full. First it compares
// the newest rows one by one. If that does not fill the page, it asks SQLite's
// index for the rows with the words: fewer than the limit are all there are, and
// the page is made from them. Otherwise the next step reads further. Measured at
// 100,000 rows: a common word takes 0.1 ms among the newest rows, 169 ms by the
// index; a rare one 4 ms by reading, 0.4 ms by the index.
var searchSteps = []struct{ newest, fewer int }{{100, 64}, {2000, maxLeaderRows}}

// How many words of a query count, and how many letters of a word the index is asked
// for. The rest of a long word is compared with the row itself; the index needs only
// enough to find few rows.
const (
	maxQueryWords    = 8
	maxPhraseLetters = 16
)

// searchTerms is a query: the words that a text must have, all of them.
type searchTerms struct {
	words   []string // folded; a word of one or two letters has a space before it, and so only begins a word
	oldText string   // what old texts must contain instead, empty if it is the same; see RefoldSearchTexts
}

// parseSearchTerms folds a query and splits it into different words, at most maxQueryWords.
func parseSearchTerms(query string) (t searchTerms) {
	folded := string(appendWords(nil, query))
	for _, word := range strings.Split(folded, " ")[1:] {
		if utf8.RuneCountInString(word) < 3 {
			word = " " + word
		}
		if len(t.words) < maxQueryWords && !slices.Contains(t.words, word) {
			t.words = append(t.words, word)
		}
	}
	if t.oldText = foldOldStyle(query); " "+t.oldText == folded {
		t.oldText = ""
	} else if n := utf8.RuneCountInString(t.oldText); n > 0 && n < 3 {
		t.oldText = " " + t.oldText
	}
	return t
}

// ftsQuery is the query for SQLite's FTS5 index, empty when the index cannot help: it
// finds nothing shorter than three characters. org limits it to one organization.
// With old, texts that an older version wrote are found too.
//
// Every indexed text begins with the code of its organization; without it the
// rows of a large organization would be read in the search of a small one. FTS5
// moves all parts of an AND on to the next candidate before it looks whether they
// meet there. So the code is first joined with three letters of each word, and only
// rows that have these are compared with whole words: five times faster where
// another organization has the word in 300,000 rows. A NOT that never matches keeps
// FTS5 from merging all this into one AND.
func (t searchTerms) ftsQuery(org id.ID, old bool) string {
	narrow, phrases := ftsPhrase(organizationCode(string(org))), []string{}
	rarest := slices.Clone(t.words) // numbers first, which leave less to compare
	slices.SortStableFunc(rarest, func(a, b string) int { return digitRank(b) - digitRank(a) })
	for _, word := range rarest {
		if p := ftsPhrase(word); p != "" {
			phrases = append(phrases, p)
			narrow = "((" + narrow + " AND " + ftsPhrase(string([]rune(word)[:3])) + ") NOT " + neverFound + ")"
		}
	}
	match := strings.Join(phrases, " AND ")
	switch {
	case match == "":
		return ""
	case !old:
		return narrow + " AND " + match
	case t.oldText == "":
		return match // the texts that are to be indexed anew have no code
	}
	if p := ftsPhrase(t.oldText); p != "" {
		return "(" + match + ") OR " + p
	}
	return ""
}

// digitRank is 1 for a word with a digit in it, else 0, to sort by.
func digitRank(word string) int {
	if strings.ContainsAny(word, "0123456789") {
		return 1
	}
	return 0
}

// neverFound is a phrase that no text has: marks always have a letter between them.
const neverFound = `"` + string(cjkMark) + string(cjkMark) + string(cjkMark) + `"`

// ftsPhrase is the beginning of a text, quoted for FTS5, or empty when it is shorter
// than the three characters that a trigram index can find.
func ftsPhrase(text string) string {
	letters := []rune(text)
	if len(letters) < 3 {
		return ""
	}
	return `"` + strings.ReplaceAll(string(letters[:min(len(letters), maxPhraseLetters)]), `"`, `""`) + `"`
}

// organizationCode is three characters of Unicode's private use area, which nobody
// writes, made from the id. If two organizations have the same code, their searches
// read more rows, but find only their own.
func organizationCode(org string) string {
	h := fnv.New64a()
	h.Write([]byte(org))
	n := h.Sum64()
	code := make([]rune, 3)
	for i := range code {
		code[i] = rune(0xe000 + n%6400)
		n /= 6400
	}
	return string(code)
}

// registerSearchCode makes organizationCode known to SQL as search_code().
func (c *conn) registerSearchCode() error {
	return c.CreateFunction("search_code", &sqlite.FunctionImpl{
		NArgs:         1,
		Deterministic: true,
		Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			return sqlite.TextValue(organizationCode(args[0].Text())), nil
		},
	})
}

// addConditions adds the condition that a column has the words. With old, a text in the
// form of an older version matches too.
func (t searchTerms) addConditions(w *Where, e Engine, column string, old bool) {
	has := func(text string) (string, any) {
		if e == SQLite && t.totalBytes() > maxLikeBytes {
			return "instr(" + column + ", ?) > 0", text
		}
		return column + ` LIKE ? ESCAPE '\'`, likePattern(text)
	}
	var conditions []string
	var args []any
	for _, word := range t.words {
		c, arg := has(word)
		conditions, args = append(conditions, c), append(args, arg)
	}
	all := strings.Join(conditions, " AND ")
	if old && t.oldText != "" {
		c, arg := has(t.oldText)
		all, args = "("+all+" OR "+c+")", append(args, arg)
	}
	w.And(all, args...)
}

// maxLikeBytes is up to how many bytes of words SQLite compares by LIKE. LIKE is twice as
// fast as instr for words, but 30 times slower for 200 letters in a text that
// repeats them.
const maxLikeBytes = 24

// totalBytes is how many bytes the words have together.
func (t searchTerms) totalBytes() (n int) {
	for _, word := range t.words {
		n += len(word)
	}
	return n
}

// likePattern is the LIKE pattern for texts that contain text.
func likePattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// FilterByPart is a filter for tables so small that they need no index: the search
// text contains part, even one character. A nil pointer adds nothing.
func FilterByPart(w *Where, part *string) {
	if part == nil {
		return
	}
	if text := strings.TrimPrefix(string(appendWords(nil, *part)), " "); text != "" {
		searchTerms{words: []string{text}, oldText: foldOldStyle(*part)}.addPortableConditions(w, "search")
	}
}

// Search lists the live rows that match w and whose search text has all words of
// query, in list order. Without a query, or with an empty one, it lists all. See
// searchSteps for how it proceeds.
func (t *Table[T]) Search(ctx context.Context, tx *Tx, query *string, w *Where, p Page) ([]T, error) {
	rows := []T{}
	err := t.search(ctx, tx, query, w, p, func(q listQuery) (n int, err error) {
		rows, err = queryPage[T](ctx, tx, q, p)
		return len(rows), err
	})
	return rows, err
}

// search asks read for one list after the other. The last one that read was asked for counts.
func (t *layout) search(
	ctx context.Context, tx *Tx, query *string, w *Where, p Page, read func(listQuery) (int, error),
) error {
	list := func(w *Where) error {
		q, some, err := t.listQuery(ctx, tx, w, p)
		if err == nil && some {
			_, err = read(q)
		}
		return err
	}
	if query == nil {
		return list(w)
	}
	want := parseSearchTerms(*query)
	if len(want.words) == 0 {
		return list(w)
	}
	old, err := hasOldTexts(ctx, tx)
	if err != nil {
		return err
	}
	if some, err := w.chooseLeader(ctx, tx, t.name); err != nil || !some {
		return err
	}
	all := w.clone()
	want.addConditions(all, tx.Engine(), "search", old)
	// The same conditions once more, for the subquery of the newest rows.
	head := &Where{args: w.args[:len(w.args):len(w.args)]}
	want.addConditions(head, tx.Engine(), "search", old)
	order := t.sortOrderBy(tx.Engine(), p.Sort).orderBySQL(p)
	match := want.ftsQuery(w.organizationID(), old)
	steps := searchSteps
	if tx.Engine() == Postgres {
		steps = steps[1:] // each is a round trip, and its planner knows which words are rare
	}
	for _, step := range steps {
		newest := fmt.Sprintf("FROM %s%s LIMIT %d) AS head WHERE TRUE%s",
			t.liveRowsSQL(tx, w), order, step.newest, head.text.String())
		from := "(SELECT * " + newest
		if tx.Engine() == SQLite { // it would read every column of all the newest rows
			from = "(SELECT seq AS found FROM (SELECT seq, search " + newest + ") CROSS JOIN " + t.name +
				" ON seq = found"
		}
		n, err := read(listQuery{t.columns, from, order, head.args})
		if err != nil || n == p.Limit {
			return err
		}
		if few, err := t.narrowByIndex(ctx, tx, match, all, step.fewer); err != nil {
			return err
		} else if few {
			break
		}
	}
	return list(all)
}

// filterByIndex adds a search for words, by the index if few rows have them.
func (t *layout) filterByIndex(ctx context.Context, tx *Tx, query string, w *Where) error {
	want := parseSearchTerms(query)
	if len(want.words) == 0 {
		return nil
	}
	old, err := hasOldTexts(ctx, tx)
	if err != nil {
		return err
	}
	want.addConditions(w, tx.Engine(), "search", old)
	_, err = t.narrowByIndex(ctx, tx, want.ftsQuery(w.organizationID(), old), w, maxLeaderRows)
	return err
}

// narrowByIndex narrows w down to the rows that SQLite's index finds for match, if these are fewer
// than limit, and reports whether they are. Rows that wait for the index are added,
// whether they have the words or not: w compares those too.
func (t *layout) narrowByIndex(ctx context.Context, tx *Tx, match string, w *Where, limit int) (bool, error) {
	if tx.Engine() != SQLite || match == "" {
		return false, nil
	}
	found, err := QueryAll[int64](ctx, tx, fmt.Sprintf(`
		SELECT rowid FROM %[1]s_search WHERE %[1]s_search MATCH $1
		UNION ALL SELECT seq FROM %[1]s WHERE seq > `+lastIndexedSQL+` AND organization_id = $2
		LIMIT %[2]d`, t.name, limit), match, w.organizationID())
	if err != nil || len(found) >= limit {
		return false, err
	}
	w.fewRows = true
	w.And("seq = ANY(?)", found)
	return true, nil
}

// FilterByWords adds a search in a column that SearchText filled. It reads the rows
// one by one, without an index, so it is for the few rows of one parent.
func FilterByWords(w *Where, column string, query *string) {
	if query == nil {
		return
	}
	if t := parseSearchTerms(*query); len(t.words) > 0 {
		t.addPortableConditions(w, column)
	}
}

// addPortableConditions is addConditions for few rows on any engine. It always accepts old texts too:
// a text in the new form that has the old words also has the new ones.
func (t searchTerms) addPortableConditions(w *Where, column string) {
	t.addConditions(w, Postgres, column, true)
}
