package mcp_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/door/mcp"
)

// People find the tool they ask for. The questions of the second file were written before the search, and it was not
// made to fit them.
func TestQuestionsOfPeople(t *testing.T) {
	catalog := app.Describe()
	search := mcp.NewSearch(catalog)
	known := mcp.DescribeAll(catalog)
	for _, list := range []struct {
		file          string
		among, atOnce int // of a hundred: the right tool is one of five, or the first
	}{{"questions.txt", 95, 70}, {"questions_heldout.txt", 0, 0}} {
		text, err := os.ReadFile("testdata/" + list.file)
		if err != nil {
			t.Fatal(err)
		}
		among, atOnce, longest := 0, 0, 0
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for _, line := range lines {
			question, right, _ := strings.Cut(line, "\t")
			tools := strings.Split(right, ",")
			for _, name := range tools {
				if _, ok := known[name]; !ok {
					t.Errorf("%s: %q: there is no tool %s", list.file, question, name)
				}
			}
			found, answer := search(question)
			longest = max(longest, len(answer))
			at := slices.IndexFunc(found, func(name string) bool { return slices.Contains(tools, name) })
			if at == 0 {
				atOnce++
			}
			if at >= 0 {
				among++
			}
			if os.Getenv("ZZ") == list.file && at != 0 {
				t.Logf("%d %q wants %s, finds %v", at, question, right, found)
			}
			if dir := os.Getenv("ZZDIR"); dir != "" && list.file == "questions.txt" {
				os.WriteFile(dir+"/"+strings.ReplaceAll(question, " ", "_")+".json", answer, 0o644)
			}
		}
		t.Logf("%s: of %d questions, %d find their tool among five and %d at once; the longest answer has %d bytes",
			list.file, len(lines), among, atOnce, longest)
		if len(lines) != 100 || among < list.among || atOnce < list.atOnce {
			t.Errorf("%s: want %d and %d", list.file, list.among, list.atOnce)
		}
	}
}
