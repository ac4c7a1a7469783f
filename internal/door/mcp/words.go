package mcp

// How the words of a text are read, so that what people say meets what tools say.

import (
	"strings"
	"unicode"
)

// stopWords say nothing about which tool is meant. They count only in a phrase.
var stopWords = wordSet(`a an the this that it its of to for in on at by with from as and or but if so than then there
	here i me my mine we us our ours you your am is are was were be been being do does did will would can could shall
	should may might must let please just only also too very really still already now some more most much many any
	every each other another all last next about into up out off over under after before since until while not no don t
	s re ve ll want need like`)

// irregularWords are forms that no ending tells.
var irregularWords = map[string]string{"paid": "pay", "sent": "send", "bought": "buy", "wrote": "write",
	"written": "write", "sold": "sell", "left": "leave", "people": "person", "gave": "give", "given": "give",
	"took": "take", "taken": "take", "made": "make", "got": "get", "kept": "keep", "came": "come", "gone": "go",
	"went": "go", "done": "do", "said": "say", "told": "tell", "threw": "throw", "thrown": "throw", "found": "find",
	"lost": "lose", "has": "have", "had": "have", "spoke": "speak", "shown": "show"}

// verbWords are what people say for the verbs that all nouns share. A word may stand for several.
var verbWords = map[string]string{
	"create":  "add new make put enter save write set start prepare draft insert",
	"list":    "find search which who show any see look where what have",
	"get":     "show read open see view look tell detail exact",
	"update":  "change edit modify rename correct fix set move mark switch replace wrong adjust",
	"delete":  "remove erase drop throw bin trash rid scrap discard away",
	"restore": "back undelete recover accident delete mistake throw",
	"batch":   "bulk once several mass these many everybody ten twelve twenty thirty forty fifty hundred dozen",
}

// askingWords begin a question, which tools that read answer.
var askingWords = wordSet(`who whose what which when where why how is are was do does did has have any show list find
	read check look see tell search`)

// verbsOf are the verbs that a word may stand for, by its stem.
var verbsOf = func() map[string][]string {
	out := map[string][]string{}
	for verb, words := range verbWords {
		for w := range strings.FieldsSeq(words + " " + verb) {
			out[stemWord(w)] = append(out[stemWord(w)], verb)
		}
	}
	return out
}()

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// splitWords are the words of a text as they are written; phoneNumbers are two.
func splitWords(text string) []string {
	var spaced strings.Builder
	lower := false
	for _, r := range text {
		if unicode.IsUpper(r) && lower {
			spaced.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		spaced.WriteRune(r)
	}
	return strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// tellingStems are the stems of those words of a text that say something.
func tellingStems(text string) (out []string) {
	for _, w := range splitWords(text) {
		if w = strings.ToLower(w); !stopWords[w] {
			out = append(out, stemWord(w))
		}
	}
	return out
}

// phraseStems are the stems of all words of a text.
func phraseStems(text string) (out []string) {
	for _, w := range splitWords(text) {
		out = append(out, stemWord(strings.ToLower(w)))
	}
	return out
}

// stemWord cuts the endings of an English word, so that prices, priced and pricing are one. What is left need not be
// a word: it is only compared.
func stemWord(w string) string {
	if base := irregularWords[w]; base != "" {
		w = base
	}
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		w = w[:len(w)-3] + "y"
	case len(w) > 4 && strings.HasSuffix(w, "sses"):
		w = w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		w = w[:len(w)-1]
	}
	w = cutParticiple(w)
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	if base, ok := strings.CutSuffix(w, "y"); ok && len(base) > 2 {
		w = base + "i" // as in replied
	}
	return w
}

// cutParticiple cuts -ing and -ed, and the letter that was doubled before it.
func cutParticiple(w string) string {
	for _, ending := range []string{"ing", "ed"} {
		base, ok := strings.CutSuffix(w, ending)
		if !ok || len(base) < 3 || !strings.ContainsAny(base, "aeiouy") {
			continue
		}
		if n := len(base); base[n-1] == base[n-2] && base[n-1] != 'l' && base[n-1] != 's' { // not call, pass
			base = base[:n-1]
		}
		return base
	}
	return w
}
