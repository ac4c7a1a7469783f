package op

import "strings"

// DidYouMean ends a sentence about an unknown name: with the closest known name,
// or with another hint.
func DidYouMean(name string, names []string, otherwise string) string {
	best, fewest := "", max(len(name)/3, 2)+1
	for _, n := range names {
		if len(n)-len(name) < fewest && len(name)-len(n) < fewest {
			if d := edits(strings.ToLower(name), n); d < fewest {
				best, fewest = n, d
			}
		}
	}
	if best == "" {
		return otherwise
	}
	return "did you mean " + best + "?"
}

// edits counts the letters to add, drop or replace between two names.
func edits(a, b string) int {
	row := make([]int, len(b)+1) // from the letters of a so far to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0] // of the row before
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
