package op

import "strings"

// DidYouMean is the end of a sentence about an unknown name: a question with the most similar known name, or otherwise
// when none is similar. A third of the letters may differ, at least two.
func DidYouMean(name string, names []string, otherwise string) string {
	best, fewest := "", max(len(name)/3, 2)+1
	for _, n := range names {
		if len(n)-len(name) < fewest && len(name)-len(n) < fewest {
			if d := editDistance(strings.ToLower(name), n); d < fewest {
				best, fewest = n, d
			}
		}
	}
	if best == "" {
		return otherwise
	}
	return "did you mean " + best + "?"
}

// editDistance is the Levenshtein distance: how many letters to add, drop or replace to get from one name to the other.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // the distance from the letters of a so far to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0] // the entry left of and above the next one
		row[0] = i + 1
		for j := range len(b) {
			kept := left
			if a[i] != b[j] {
				kept++
			}
			left = row[j+1]
			row[j+1] = min(kept, left+1, row[j]+1)
		}
	}
	return row[len(b)]
}
