package frontdesk_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	tableMade    = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)
	declareTable = regexp.MustCompile(`(?:NewTable\[\w+\]|NewNested\[\w+\]|Declare)\((?:\w+\()?"(\w+)"`)
	namesTable   = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|INTO|UPDATE)\s+"?(\w+)`)
)

// A table belongs to the package that declares it, and only that package and
// those below its folder name it in SQL. The rest ask the package.
func TestNoPackageNamesATableOfAnother(t *testing.T) {
	tables := map[string]bool{}
	owner := map[string]string{}
	var sources []string
	eachFile(t, func(name string) {
		switch {
		case strings.HasPrefix(name, "migrations/") && strings.HasSuffix(name, ".sql"):
			for _, m := range tableMade.FindAllStringSubmatch(read(t, name), -1) {
				tables[m[1]] = true
			}
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || forTests(path.Dir(name)):
		case strings.HasPrefix(name, "internal/"):
			sources = append(sources, name)
			for _, m := range declareTable.FindAllStringSubmatch(read(t, name), -1) {
				owner[m[1]] = path.Dir(name)
			}
		}
	})
	owner["link_signing_keys"] = "internal/resource/optin" // declared by a constant
	seen := 0
	for _, name := range sources {
		for _, text := range literals(t, name) {
			for _, m := range namesTable.FindAllStringSubmatch(text, -1) {
				table := m[1]
				if !tables[table] {
					continue
				}
				seen++
				switch {
				case owner[table] == "":
					t.Errorf("%s names %s, which nobody declares", name, table)
				case within(path.Dir(name), owner[table]):
				case path.Dir(name) == "internal/kernel/db" &&
					slices.Contains([]string{"organizations", "cleared_references"}, table):
				default:
					t.Errorf("%s names %s, a table of %s", name, table, owner[table])
				}
			}
		}
	}
	if len(tables) < 60 || seen < 200 {
		t.Errorf("only %d tables and %d uses were seen", len(tables), seen)
	}
}

// literals are the texts in a file.
func literals(t *testing.T, name string) (out []string) {
	f, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, err := strconv.Unquote(l.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
		}
		return true
	})
	return out
}
