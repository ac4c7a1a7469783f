package op

import (
	"cmp"
	"slices"
	"strings"
)

// DidYouMean is the end of a sentence about an unknown name: a question with the most similar known name, or otherwise
// when none is similar.
func DidYouMean(name string, names []string, otherwise string) string {
	if near := NearestNames(name, names, 1); near != nil {
		return "did you mean " + near[0] + "?"
	}
	return otherwise
}

// NearestNames are the names that are the most similar to one, the nearest first. A third of the letters may differ, at
// least two.
func NearestNames(name string, names []string, most int) (near []string) {
	distances := map[string]int{}
	bound := max(len(name)/3, 2)
	for _, n := range names {
		if len(n)-len(name) <= bound && len(name)-len(n) <= bound {
			if d := editDistance(strings.ToLower(name), strings.ToLower(n)); d <= bound {
				distances[n], near = d, append(near, n)
			}
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distances[a], distances[b]) })
	return near[:min(len(near), most)]
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
