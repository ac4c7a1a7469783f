package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

var papers = fstest.MapFS{"0001_papers.sql": {Data: []byte(`
CREATE TABLE papers (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  number INT NOT NULL,
  search TEXT NOT NULL
);
CREATE INDEX papers_list ON papers (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- only sqlite
CREATE VIRTUAL TABLE papers_search USING fts5 (search, content = '', contentless_delete = 1,
	tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE INDEX papers_search ON papers USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

CREATE TABLE search_refolds (
  seq SEQ,
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  last_seq INT NOT NULL,
  walk INT NOT NULL,
  due_at TIME NOT NULL
);
`)}}

type paper struct {
	Seq       int64       `db:"seq"`
	ID        id.ID       `db:"id"`
	Org       id.ID       `db:"organization_id"`
	CreatedAt clock.Time  `db:"created_at"`
	UpdatedAt clock.Time  `db:"updated_at"`
	DeletedAt *clock.Time `db:"deleted_at"`
	Number    int         `db:"number"`
	Search    string      `db:"search"`
}

var paperTable = db.NewTable[paper]("papers", db.Life{Noun: "paper"})

// fillPapers adds papers with search texts, numbered from 0.
func fillPapers(t *testing.T, d *db.DB, org id.ID, texts []string) {
	t.Helper()
	err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for i, text := range texts {
			v := &paper{ID: id.New(), Org: org, CreatedAt: clock.Time(i), Number: i, Search: text}
			if err := paperTable.Insert(ctx, tx, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// findPapers searches, and returns the numbers in ascending order.
func findPapers(t *testing.T, d *db.DB, org id.ID, query string) []int {
	t.Helper()
	found := []int{}
	began := time.Now()
	err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		rows, err := paperTable.Search(ctx, tx, &query, db.InOrganization(org), db.Page{Limit: 2200, Ascending: true})
		for _, r := range rows {
			found = append(found, r.Number)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	if took := time.Since(began); took > 20*time.Second { // of milliseconds
		t.Errorf("%q took %v", query, took)
	}
	return found
}

func searchTexts(texts ...string) []string {
	out := make([]string, len(texts))
	for i := range texts {
		out[i] = db.SearchText(&texts[i])
	}
	return out
}

// beyond is more papers than a search reads before it asks the index.
var beyond = slices.Repeat([]string{" filler"}, 2100)

func TestSearch(t *testing.T) {
	texts := []string{"Ada Lovelace", "Zoë Müller", "Łukasz Straße Ørsted", "O’Brien – Ltd “Best”", "東京都 株式会社",
		"김철수 서울", "ガス会社", "Иван Ёлкин", "שָׁלוֹם", "مُحَمَّد", "😀 party ❤️", "100% _real_ C:\\dir", "İstanbul ILICA",
		"Nguyễn Thị Ánh", "Æsir Þór Ðorđe", "ﬁne Ⅷ ｆｕｌｌ", "हिन्दी", "co\u200bop", "नमस्ते", "ラーメン"}
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d, org, other := dbtest.Open(t, e, papers), id.New(), id.New()
		fillPapers(t, d, other, searchTexts(texts...))
		fillPapers(t, d, org, append(searchTexts(texts...), beyond...))
		for query, want := range map[string]string{
			"lovelace ada":  "[0]",
			`"love" ad`:     "[0]",
			"ace da":        "[]", // da begins no word
			"ada babbage":   "[]",
			"zoe":           "[1]",
			"ZOË":           "[1]",
			"zoe\u0308":     "[1]",
			"muller":        "[1]",
			"mul zo":        "[1]",
			"lukasz":        "[2]",
			"strasse":       "[2]",
			"STRASSE orst":  "[2]",
			"o'brien":       "[3]",
			"be":            "[3]",
			"-":             "[3]",
			"東京":            "[4]",
			"京都":            "[4]",
			"京":             "[4]",
			"式会":            "[4]",
			"会社":            "[4 6]",
			"会社 東":          "[4]",
			"都株":            "[]",
			"철수":            "[5]",
			"울":             "[5]",
			"\u110e\u1165":  "[]", // 처, not 철
			"ガス":            "[6]",
			"カス":            "[]",
			"ｶﾞｽ":           "[6]",
			"елкин иван":    "[7]",
			"שלום":          "[8]",
			"محمد":          "[9]",
			"😀":             "[10]",
			"❤":             "[10]",
			"100%":          "[11]",
			"%":             "[]",
			"_real":         "[11]",
			"_":             "[11]",
			`c:\d`:          "[11]",
			`\`:             "[]",
			"istanbul":      "[12]",
			"ılıca":         "[12]",
			"nguyen anh":    "[13]",
			"aesir thor":    "[14]",
			"dorde":         "[14]",
			"fine viii":     "[15]",
			"full":          "[15]",
			"हुन्दी":        "[]", // another vowel
			"coop":          "[17]",
			"नमस्ते":        "[18]",
			"ーメ":            "[19]",
			"ada\x00":       "[0]",
			"a b c d e f":   "[]",
			"'":             "[]",
			"ꟷ東ꟷ":           "[4]",
			"ada\u202egone": "[]",
			"ada ada ada ada ada ada ada ada ada ada ada": "[0]",
			"lovelace ada l lo lov love lovel lovela x":   "[0]", // the ninth word does not count
		} {
			if got := fmt.Sprint(findPapers(t, d, org, query)); got != want {
				t.Errorf("%q finds %s, not %s", query, got, want)
			}
		}
		// Without a word there is nothing to look for.
		for _, query := range []string{"", "  ", `"`, `""" "`, "\u0301", "“”", "\u200b", "\x00", "ꟷ"} {
			if got := findPapers(t, d, org, query); len(got) != len(texts)+len(beyond) {
				t.Errorf("%q finds %d", query, len(got))
			}
		}
	})
}

// Texts of one letter, and queries that nearly match everywhere, take no longer.
func TestSearchOfOneLetter(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d, org := dbtest.Open(t, e, papers), id.New()
		fillPapers(t, d, org, slices.Repeat([]string{" " + strings.Repeat("a", 2000)}, 50))
		for _, query := range []string{strings.Repeat("a", 200), strings.Repeat("a", 199) + "b", "aaaab aaaac aaaad",
			strings.Repeat("%a", 100), strings.Repeat("a ", 100), strings.Repeat("a\u0301", 100),
			strings.Repeat("東", 200), strings.Repeat(`"`, 200), strings.Repeat("\u0301", 200)} {
			findPapers(t, d, org, query)
		}
	})
}

// letters is what random texts are made of, and how each is compared.
var letters = map[string]string{"a": "a", "b": "b", "A": "a", "é": "e", "E": "e", "ß": "ss", "s": "s", "Ł": "l",
	"l": "l",
	"ø": "o", "o\u0308": "o", "1": "1", "%": "%", "_": "_", `\`: `\`, "'": "'", "’": "'", "д": "д", "Й": "и", "ё": "е",
	"東": "東", "京": "京", "か": "か", "が": "が", "カ\u3099": "ガ", "ー": "ー", "한": "한", "\u1112\u1161": "하", "ا": "ا",
	"بَ": "ب", "שׁ": "ש", "ก": "ก", "กิ": "กิ", "😀": "😀", "\u200d": "", "@": "@", "Σ": "σ", "ς": "σ"}

// manyQueries is enough for all kinds of them; 2,000 were tried.
const manyQueries = 250

// wordsOf are the words of a text as they are compared.
func wordsOf(text []string) []string {
	folded := ""
	for _, l := range text {
		if as, ok := letters[l]; ok {
			folded += as
		} else {
			folded += " " // or a quote
		}
	}
	return strings.Fields(folded)
}

// finds is what a search shall find, said simply.
func finds(text, query []string) bool {
	var seen []string
	for _, q := range query {
		if slices.Contains(seen, q) || len(seen) == 8 {
			continue
		}
		seen = append(seen, q)
		anywhere := utf8.RuneCountInString(q) >= 3 || strings.ContainsAny(q, "東京かがガー한하")
		if !slices.ContainsFunc(text, func(w string) bool {
			return strings.HasPrefix(w, q) || anywhere && strings.Contains(w, q)
		}) {
			return false
		}
	}
	return true
}

// Both engines find in random texts what the simple search finds.
func TestSearchAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 25))
	var all []string
	for l := range letters {
		all = append(all, l)
	}
	slices.Sort(all)
	random := func(n int) (out []string) {
		few := make([]string, 4)
		for i := range few {
			few[i] = all[r.IntN(len(all))]
		}
		for range n {
			switch r.IntN(8) {
			case 0:
				out = append(out, " ")
			case 1:
				out = append(out, all[r.IntN(len(all))])
			default:
				out = append(out, few[r.IntN(len(few))])
			}
		}
		return out
	}
	texts, stored, words := make([][]string, 2000), make([]string, 2000), make([][]string, 2000)
	for i := range texts {
		texts[i] = random(2 + r.IntN(30))
		text := strings.Join(texts[i], "")
		words[i] = wordsOf(texts[i])
		stored[i] = db.SearchText(&text)
		if again := db.SearchText(&stored[i]); again != stored[i] {
			t.Fatalf("%q is folded to %q, and that to %q", text, stored[i], again)
		}
	}
	queries := make([][]string, manyQueries)
	for i := range queries {
		if r.IntN(4) == 0 {
			queries[i] = random(1 + r.IntN(6))
		}
		for range r.IntN(4) {
			from := texts[r.IntN(len(texts))]
			at := r.IntN(len(from))
			part := from[at:min(len(from), at+1+r.IntN(5))]
			queries[i] = append(append(queries[i], []string{" ", `"`, "”"}[r.IntN(3)]), part...)
		}
	}
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		d, org := dbtest.Open(t, e, papers), id.New()
		fillPapers(t, d, org, append(slices.Clone(stored), beyond...))
		hits := 0
		for _, q := range queries {
			query, asked, want := strings.Join(q, ""), wordsOf(q), []int{}
			if len(asked) == 0 {
				continue
			}
			for i := range words {
				if finds(words[i], asked) {
					want = append(want, i)
				}
			}
			got := findPapers(t, d, org, query)
			hits += len(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%q finds %d, not %d: %v, %v", query, len(got), len(want), got[:min(9, len(got))],
					want[:min(9, len(want))])
			}
		}
		if hits < 5*manyQueries {
			t.Errorf("only %d hits", hits)
		}
	})
}
