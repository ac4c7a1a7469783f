package mcp_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/door/mcp"
)

// People find the tool they ask for. The questions of the second file were written before the search, and nothing was
// changed to fit them.
func TestQuestionsOfPeople(t *testing.T) {
	catalog := app.Describe()
	search, known := mcp.NewSearch(catalog), mcp.DescribeAll(catalog)
	for _, list := range []struct {
		file          string
		among, atOnce int // of a hundred: the right tool is one of five, or the first
	}{{"questions.txt", 95, 70}, {"questions_heldout.txt", 95, 74}} {
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
			if len(found) > 5 || bytes.Contains(answer, []byte("outputSchema")) {
				t.Errorf("%q is answered with %s", question, answer)
			}
			at := slices.IndexFunc(found, func(name string) bool { return slices.Contains(tools, name) })
			if at == 0 {
				atOnce++
			}
			if at >= 0 {
				among++
			} else if testing.Verbose() && list.file == "questions.txt" { // the other file stays unseen
				t.Logf("%q finds %v, not %s", question, found, right)
			}
		}
		t.Logf("%s: of %d questions, %d find their tool among five and %d at once; the longest answer has %d bytes",
			list.file, len(lines), among, atOnce, longest)
		// About four bytes are one token (o200k), and an answer has at most 700.
		if len(lines) != 100 || among < list.among || atOnce < list.atOnce || longest > 2_600 {
			t.Errorf("%s: want %d, %d and at most 2600 bytes", list.file, list.among, list.atOnce)
		}
	}
}

// The description of tools_search names every tool: contacts lcgu merge; _notes lcud.
func TestSearchNamesAllTools(t *testing.T) {
	list, err := app.DescribeTools("tools=compact", "all")
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct{ Name, Description string }
	if err := json.Unmarshal(list, &tools); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(tools, func(v struct{ Name, Description string }) bool { return v.Name == "tools_search" })
	_, nouns, _ := strings.Cut(tools[at].Description, "): ")
	letters := map[rune]string{'l': "list", 'c': "create", 'g': "get", 'u': "update", 'd': "delete", 'r': "restore",
		'b': "batch"}
	var named []string
	above := ""
	for noun := range strings.SplitSeq(nouns, "; ") {
		words := strings.Fields(noun)
		name := words[0]
		if strings.HasPrefix(name, "_") {
			name = above + name
		} else {
			above = name
		}
		for i, word := range words[1:] {
			if i == 0 && strings.Trim(word, "lcgudrb") == "" {
				for _, letter := range word {
					named = append(named, name+"_"+letters[letter])
				}
				continue
			}
			named = append(named, name+"_"+word)
		}
	}
	slices.Sort(named)
	if want := slices.Sorted(maps.Keys(mcp.DescribeAll(app.Describe()))); !slices.Equal(named, want) {
		t.Errorf("tools_search names\n%v, want\n%v", named, want)
	}
	t.Logf("%d tools in %d bytes", len(named), len(tools[at].Description))
}
