// Package frontdesk_test holds the rules about the repository as a whole:
// which package may import which (layers_test.go), and how files, migrations
// and documents look (repo_test.go). Rules about single operations are with
// the operations.
package frontdesk_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "frontdesk"

// layers lists the folders of packages from the lowest to the highest. A
// package may import what an earlier line names, and what shares its folder;
// never what is named on its own line or on a later one.
var layers = [][]string{
	{"clients/*", "judges/*"}, // modules of their own
	{"internal/kernel/cputest", "internal/kernel/cut", "internal/kernel/peer", "internal/kernel/placeholder",
		"internal/kernel/dkimkey", "internal/kernel/locale", "third_party/*"},
	{"migrations", "docs", "internal/kernel/fault", "internal/kernel/listen", "internal/kernel/config",
		"internal/kernel/clock", "internal/kernel/secret", "internal/kernel/id"},
	{"internal/kernel/db"},
	{"internal/kernel/db/backup", "internal/kernel/db/life"},
	{"internal/kernel/job", "internal/kernel/limit", "internal/kernel/outbound"},
	{"internal/kernel/event"},
	{"internal/kernel/op"},
	{"internal/account"},
	{"internal/account/agent", "internal/account/card", "internal/account/grant"},
	{"internal/resource/property"},
	{
		"internal/resource/business", "internal/resource/file",
		"internal/resource/optin", "internal/resource/eventlog", "internal/resource/zone",
		"internal/resource/draft", "internal/resource/view",
	},
	{"internal/resource/template"},
	{"internal/resource/contact"},
	{"internal/resource/customer"},
	{"internal/resource/domain", "internal/resource/transfer"},
	{"internal/resource/mailhost"},
	{"internal/resource/message"},
	{"internal/resource/invoice"},
	{"internal/resource/task", "internal/resource/webhook", "internal/resource/automation", "internal/resource/guard",
		"internal/resource/filetext"},
	{"internal/resource/proposal"},
	{"internal/resource/report", "internal/resource/notification"},
	{"internal/door/desk"},
	{"internal/door/*", "internal/adapter/*"},
	{"internal/clients", "internal/archive"},
	{"internal/app"},
	{"cmd/*", "internal/apptest"},
}

// engine is what only internal/kernel/db knows.
var engine = []string{"database/sql", "github.com/jackc/pgx", "github.com/pressly/goose", "modernc.org/sqlite",
	"zombiezen.com/go/sqlite"}

// group finds the line and the folder that a package belongs to: the nearest
// one that is named. A name of its own comes before a star.
func group(pkg string) (level int, folder string, ok bool) {
	named := false
	for i, line := range layers {
		for _, g := range line {
			parent, star := strings.CutSuffix(g, "/*")
			if star {
				rest, below := strings.CutPrefix(pkg, parent+"/")
				if !below {
					continue
				}
				name, _, _ := strings.Cut(rest, "/")
				g = parent + "/" + name
			}
			if !within(pkg, g) || len(g) < len(folder) || len(g) == len(folder) && named {
				continue
			}
			level, folder, ok, named = i, g, true, !star
		}
	}
	return level, folder, ok
}

func within(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// forTests reports whether a package only serves tests: dbtest, apptest.
func forTests(pkg string) bool {
	return slices.ContainsFunc(strings.Split(pkg, "/"), func(s string) bool { return strings.HasSuffix(s, "test") })
}

// wrongArrow says why pkg must not import target, or nothing. Both are paths
// below the module for our own packages; target is a whole path for others.
func wrongArrow(pkg, target string, ours bool) string {
	level, folder, ok := group(pkg)
	if !ok {
		return "the importer has no place in the layers; give it one in layers_test.go"
	}
	if !ours {
		if slices.ContainsFunc(engine, func(e string) bool { return within(target, e) }) &&
			folder != "internal/kernel/db" {
			return "only internal/kernel/db knows the engine"
		}
		return ""
	}
	toLevel, toFolder, ok := group(target)
	switch {
	case !ok:
		return "it has no place in the layers; give it one in layers_test.go"
	case forTests(target) && !forTests(pkg):
		return "it is for tests"
	case folder == toFolder:
		return ""
	case toLevel > level:
		return "it stands higher"
	case toLevel == level:
		return "it stands on the same line"
	case isOuter(pkg) && isOuter(target):
		return "doors and adapters do not know each other"
	case within(pkg, "internal/door") && within(target, "internal/resource") && folder != "internal/door/desk":
		return "doors for programs know no resource"
	}
	return ""
}

// isOuter reports whether a package is a door or an adapter, where the outside
// world begins.
func isOuter(pkg string) bool { return within(pkg, "internal/door") || within(pkg, "internal/adapter") }

// TestLayers reads the files itself and does not ask go list, so that go test
// sees what the answer depends on and does not repeat an old one. Tests may
// import what they like.
func TestLayers(t *testing.T) {
	seen := 0
	eachFile(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		seen++
		pkg := path.Dir(name)
		f, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			return
		}
		for _, spec := range f.Imports {
			full, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			target, ours := strings.CutPrefix(full, module+"/")
			if why := wrongArrow(pkg, target, ours); why != "" {
				t.Errorf("%s imports %s: %s", name, full, why)
			}
		}
	})
	if seen < 50 {
		t.Errorf("only %d files were read", seen)
	}
}

// The checker itself: every kind of wrong arrow, and the right ones.
func TestWrongArrow(t *testing.T) {
	for _, c := range []struct {
		pkg, target string
		wrong       bool
	}{
		{"internal/kernel/db", "internal/kernel/fault", false},
		{"internal/kernel/op", "internal/kernel/job", false},
		{"internal/kernel/db/backup", "internal/kernel/db", false},
		{"internal/kernel/job", "internal/kernel/db/life", false},
		{"internal/kernel/event", "internal/kernel/db", false},
		{"internal/resource/contact", "internal/kernel/op", false},
		{"internal/resource/customer", "internal/resource/contact", false},
		{"internal/resource/automation", "internal/resource/message", false},
		{"internal/resource/domain/domaintest", "internal/resource/domain", false},
		{"internal/resource/domain", "internal/resource/zone", false},
		{"internal/door/rest", "internal/account", false},
		{"internal/account/grant", "internal/account", false},
		{"internal/account/card", "internal/account", false},
		{"internal/resource/proposal", "internal/account/agent", false},
		{"internal/door/oauth", "internal/account/grant", false},
		{"internal/door/desk", "internal/resource/webhook", false},
		{"internal/door/desk", "internal/resource/automation", false},
		{"internal/door/desk", "internal/account/grant", false},
		{"internal/adapter/stripe", "internal/resource/domain", false},
		{"internal/app", "internal/door/desk", false},
		{"internal/app", "internal/door/rest", false},
		{"internal/apptest", "internal/kernel/db/dbtest", false},
		{"cmd/frontdesk", "internal/app", false},
		{"cmd/frontdesk", "internal/clients/shell", false},
		{"internal/clients", "internal/door/docs", false},

		{"internal/kernel/fault", "internal/kernel/db", true},
		{"internal/kernel/clock", "internal/kernel/fault", true}, // neighbours
		{"internal/kernel/db", "internal/kernel/job", true},
		{"internal/kernel/db", "internal/kernel/db/backup", true},
		{"internal/kernel/db", "internal/kernel/db/life", true},
		{"internal/kernel/db/life", "internal/kernel/db/backup", true},
		{"internal/kernel/job", "internal/kernel/event", true},
		{"internal/kernel/event", "internal/kernel/op", true},
		{"internal/kernel/op", "internal/account", true},
		{"internal/account", "internal/resource/contact", true},
		{"internal/account", "internal/account/grant", true},
		{"internal/account", "internal/account/card", true},
		{"internal/account", "internal/account/agent", true},
		{"internal/account/grant", "internal/account/card", true},
		{"internal/resource/contact", "internal/resource/customer", true},
		{"internal/resource/contact", "internal/door/rest", true},
		{"internal/resource/zone", "internal/resource/domain", true},
		{"internal/resource/property", "internal/resource/business", true},
		{"internal/resource/task", "internal/resource/webhook", true},
		{"internal/resource/message", "internal/resource/invoice", true},
		{"internal/door/rest", "internal/resource/contact", true},
		{"internal/door/mcp", "internal/resource/automation", true},
		{"internal/door/admin", "internal/resource/domain", true},
		{"internal/door/rest", "internal/door/mcp", true},
		{"internal/door/rest", "internal/door/desk", true},
		{"internal/door/desk", "internal/door/rest", true},
		{"internal/door/desk", "internal/adapter/smtp", true},
		{"internal/adapter/smtp", "internal/door/desk", true},
		{"internal/resource/webhook", "internal/door/desk", true},
		{"internal/door/rest", "internal/adapter/smtp", true},
		{"internal/adapter/stripe", "internal/app", true},
		{"internal/app", "cmd/frontdesk", true},
		{"internal/clients", "internal/app", true},
		{"internal/door/rest", "internal/clients", true},
		{"clients/go", "internal/kernel/id", true},
		{"cmd/frontdesk", "internal/apptest", true},
		{"internal/app", "internal/kernel/db/dbtest", true},
		{"internal/resource/nobody", "internal/kernel/op", true},
		{"internal/app", "internal/utils", true},
	} {
		if why := wrongArrow(c.pkg, c.target, true); (why != "") != c.wrong {
			t.Errorf("%s imports %s: %q, want wrong = %t", c.pkg, c.target, why, c.wrong)
		}
	}
	if wrongArrow("internal/resource/contact", "github.com/jackc/pgx/v5", false) == "" {
		t.Error("a resource may know PostgreSQL's driver")
	}
	if wrongArrow("internal/kernel/db/backup", "github.com/jackc/pgx/v5", false) == "" {
		t.Error("a backup may know PostgreSQL's driver")
	}
	if why := wrongArrow("internal/kernel/db/dbtest", "github.com/jackc/pgx/v5", false); why != "" {
		t.Errorf("dbtest %s", why)
	}
}

// skipped are folders that hold nothing of ours, or another module.
var skipped = []string{".git", "data", "bin", "bench", "chaos", "third_party", "node_modules", "testdata",
	"__pycache__", "dist"}

// built is the binary that README has people build here.
const built = "frontdesk"

// eachFile visits every file of the repository by its path below the root.
func eachFile(t *testing.T, fn func(name string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case d.Type().IsRegular() && name != built:
			fn(filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(fmt.Errorf("the repository: %w", err))
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
