package mcp

// Which tools are the best for the words of a job. The words of people are declared with the operations (Words and
// NounWords of op.Spec); verbs that all nouns share are in words.go.

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/op"
)

// How much a word of a query counts, by where it is found in a tool.
const (
	weightInName    = 4.0
	weightInWords   = 4.0
	weightInNoun    = 3.5 // what people call the noun
	weightInSummary = 2.5
	weightInParent  = 1.5 // what people call the noun above
	weightInField   = 1.0
	weightInText    = 0.7

	verbShare = 0.4 // of its weight, for a verb of a sentence that all nouns share
)

// What else counts.
const (
	weightOfVerb     = 3.0 // each word for the tool's verb, of at most maxVerbWords
	maxVerbWords     = 3.0
	weightOfPhrase   = 4.0 // a phrase of which the query has all words, and more for each of them
	weightInPhrase   = 4.0
	weightOfStopWord = 1.5

	otherNoun     = 0.5 // for a noun below another, of which the query says nothing
	answersAsking = 1.3 // for a tool that reads, where the query asks
	doesTelling   = 1.1 // for a tool that writes, where it does not

	// A word that few tools have counts more (inverse document frequency), but a single one does not decide.
	fewTools = 8
)

// verbPreference is for equal hits: what people want more often comes first.
var verbPreference = map[string]float64{"list": 1, "create": 1, "get": 0.9, "delete": 0.85, "restore": 0.7,
	"batch": 0.7}

const otherVerb = 0.95

// What a query is taken to say where it has the name of somebody, an email address or a domain.
var (
	namedStem      = stemWord("named")
	wordsOfAddress = phraseStems("email address person")
	wordsOfDomain  = phraseStems("domain")
)

// searchIndex has the words of every tool, in the order of Door.tools.
type searchIndex struct {
	tools         []toolWords
	toolsWithWord map[string]int // in how many tools a word occurs
}

// toolWords are the words of one tool, by their stems.
type toolWords struct {
	weights map[string]float64
	phrases [][]string
	verb    string          // if it is one of verbWords
	ofChild map[string]bool // words of its own noun, if that is below another; else nil
}

func (d *Door) buildSearchIndex() *searchIndex {
	nouns := map[string]string{}
	for _, t := range d.tools {
		if words := t.op.NounWords; words != "" {
			nouns[nounOf(t.op.Name)] = words
		}
	}
	x := &searchIndex{toolsWithWord: map[string]int{}}
	for _, t := range d.tools {
		noun := nounOf(t.op.Name)
		words := indexTool(t.op, nouns[noun], nouns[nounOf(noun)])
		x.tools = append(x.tools, words)
		for w := range words.weights {
			x.toolsWithWord[w]++
		}
	}
	return x
}

// nounOf is contacts.notes for contacts.notes.list, and contacts for contacts.notes.
func nounOf(name string) string {
	before, _, _ := cutLast(name)
	return before
}

// cutLast splits a name at its last dot.
func cutLast(name string) (before, last string, found bool) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return "", name, false
	}
	return name[:at], name[at+1:], true
}

// indexTool collects the words of a tool. noun and parent are what people call its noun, and the one above.
func indexTool(o *op.Op, noun, parent string) toolWords {
	t := toolWords{weights: map[string]float64{}}
	name, verb, _ := cutLast(o.Name)
	if verbWords[verb] != "" {
		t.verb = verb
	} else {
		name = o.Name
	}
	t.addText(name, weightInName)
	t.addText(o.Summary, weightInSummary)
	t.addText(o.Description, weightInText)
	for field := range o.InputSchema().Properties {
		t.addText(field, weightInField)
	}
	t.addList(o.Words, weightInWords)
	t.addList(noun, weightInNoun)
	t.addList(parent, weightInParent)
	if _, below, nested := strings.Cut(o.Name, "."); nested && strings.Contains(below, ".") {
		t.ofChild = map[string]bool{}
		for _, w := range tellingStems(below + " " + noun + " " + o.Words) {
			t.ofChild[w] = true
		}
	}
	return t
}

// addText adds the words of a name or a sentence.
func (t *toolWords) addText(text string, weight float64) {
	for _, w := range tellingStems(text) {
		here := weight
		if verbsOf[w] != nil {
			here *= verbShare
		}
		t.weights[w] = max(t.weights[w], here)
	}
}

// addList adds words and phrases with commas between.
func (t *toolWords) addList(list string, weight float64) {
	for entry := range strings.SplitSeq(list, ",") {
		switch stems := phraseStems(entry); {
		case len(stems) == 1:
			t.weights[stems[0]] = max(t.weights[stems[0]], weight)
		case len(stems) > 1 && weight > weightInParent:
			t.phrases = append(t.phrases, stems)
		}
	}
}

// searchQuery is what somebody searches for.
type searchQuery struct {
	words []string           // those that say something, each once
	all   map[string]bool    // stop words too
	verbs map[string]float64 // how many words stand for a verb
	asks  bool               // it begins like a question
}

// readQuery reads a query. A name that no tool knows is somebody's; an email address and a domain stand for theirs,
// and a number says that there are several.
func (x *searchIndex) readQuery(text string) (q searchQuery) {
	q.all, q.verbs = map[string]bool{}, map[string]float64{}
	for i, part := range strings.Fields(text) {
		part = strings.Trim(part, `.,:;!?"'()`)
		switch {
		case strings.Contains(part, "@"):
			q.addWords(wordsOfAddress...)
		case looksLikeDomain(part):
			q.addWords(wordsOfDomain...)
		default:
			for j, w := range splitWords(part) {
				x.readWord(&q, w, i+j == 0)
			}
		}
	}
	return q
}

func (x *searchIndex) readWord(q *searchQuery, word string, first bool) {
	lower := strings.ToLower(word)
	stem := stemWord(lower)
	q.asks = q.asks || first && askingWords[lower]
	for _, verb := range verbsOf[stem] {
		q.verbs[verb]++
	}
	initial, _ := utf8.DecodeRuneInString(word)
	switch {
	case unicode.IsDigit(initial):
		q.verbs["batch"]++
	case stopWords[lower]:
		q.all[stem] = true
	default:
		q.addWords(stem)
		if unicode.IsUpper(initial) && x.toolsWithWord[stem] == 0 && verbsOf[stem] == nil && !askingWords[lower] {
			q.addWords(namedStem)
		}
	}
}

func (q *searchQuery) addWords(stems ...string) {
	for _, w := range stems {
		if !q.all[w] {
			q.all[w] = true
			q.words = append(q.words, w)
		}
	}
}

// looksLikeDomain reports whether a word is like example.com; files that people name end otherwise.
func looksLikeDomain(word string) bool {
	_, ending, found := cutLast(word)
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	return found && len(ending) > 1 && !strings.ContainsFunc(ending, notLetter) &&
		!slices.Contains([]string{"pdf", "csv", "doc", "docx", "xlsx", "jpg", "png", "txt", "vcf", "zip"}, ending)
}

// findByWords are the best tools for the words of a job, the best first.
func (d *Door) findByWords(v view, c *op.Caller, query string, most int) (found []*tool) {
	type hit struct {
		t     *tool
		score float64
	}
	var hits []hit
	index := d.index()
	q := index.readQuery(query)
	for i, t := range d.tools {
		if !v.includesTool(t, c) {
			continue
		}
		score := index.scoreWords(&index.tools[i], &q)
		if q.asks && t.reads {
			score *= answersAsking
		} else if !q.asks && !t.reads {
			score *= doesTelling
		}
		if score > 0 { // of two equal hits, the tool with the shorter name comes first
			hits = append(hits, hit{t, score / (1 + 0.01*float64(len(t.name)))})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	for _, h := range hits[:min(len(hits), most)] {
		found = append(found, h.t)
	}
	return found
}

// scoreWords is how well the words of a tool fit a query; 0 for not at all.
func (x *searchIndex) scoreWords(t *toolWords, q *searchQuery) (score float64) {
	ofChild := t.ofChild == nil
	for _, w := range q.words {
		if weight := t.weights[w]; weight > 0 {
			score += weight * math.Log(float64(len(x.tools))/float64(max(x.toolsWithWord[w], fewTools)))
		}
		ofChild = ofChild || t.ofChild[w]
	}
	for _, phrase := range t.phrases {
		if slices.ContainsFunc(phrase, func(w string) bool { return !q.all[w] }) {
			continue
		}
		ofChild, score = true, score+weightOfPhrase
		for _, w := range phrase {
			if slices.Contains(q.words, w) {
				score += weightInPhrase
			} else {
				score += weightOfStopWord
			}
		}
	}
	if score <= 0 {
		return 0
	}
	if !ofChild {
		score *= otherNoun
	}
	preference, shared := verbPreference[t.verb]
	if !shared {
		preference = otherVerb
	}
	return preference * (score + weightOfVerb*min(q.verbs[t.verb], maxVerbWords))
}
