package frontdesk_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"frontdesk/internal/kernel/secret"
)

// longFiles may have more than maxLines lines, each for a reason.
var longFiles = map[string]string{
	"go.sum":           "written by the go command",
	"api/openapi.json": "written from the declarations by make generate",

	"clients/go/generated.go":               "the same",
	"clients/go/reference.md":               "the same",
	"clients/python/frontdesk/generated.py": "the same",
	"clients/python/reference.md":           "the same",
	"clients/typescript/src/generated.ts":   "the same",
	"clients/typescript/reference.md":       "the same",
}

const maxLines = 600

func TestFileLength(t *testing.T) {
	eachFile(t, func(name string) {
		n := strings.Count(read(t, name), "\n")
		if n > maxLines && longFiles[name] == "" && !strings.HasSuffix(name, ".svg") {
			t.Errorf("%s has %d lines. A file past %d is usually two things; split it, or list it in longFiles with "+
				"a reason",
				name, n, maxLines)
		}
	})
	for name := range longFiles {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("longFiles lists %s, which is gone", name)
		}
	}
}

// The linter of make test-all refuses lines of more than 120 columns, minutes after they were written; this says so
// at once. As there, a tab counts four, and an enum may name all of its values.
func TestLineLength(t *testing.T) {
	eachFile(t, func(name string) {
		text := read(t, name)
		if path.Ext(name) != ".go" || strings.HasPrefix(text, "// Code generated") {
			return
		}
		for i, line := range strings.Split(text, "\n") {
			n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
			if n > 120 && !strings.Contains(line, ` enum:"`) && !strings.HasPrefix(line, "//go:") {
				t.Errorf("%s:%d has %d columns, of at most 120", name, i+1, n)
			}
		}
	})
}

// Every package says what it holds. The comment is that of go doc.
func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	eachFile(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, read(t, name),
			parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Error(err)
			return
		}
		dir := path.Dir(name)
		begins := "Package " + f.Name.Name + " "
		if f.Name.Name == "main" {
			begins = "Command " + path.Base(dir) + " "
		}
		documented[dir] = documented[dir] || f.Doc != nil && strings.HasPrefix(f.Doc.Text(), begins)
	})
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment, \"// Package %s …\": what it holds, never does, and where to start",
				dir, path.Base(dir))
		}
	}
}

var apiKey = regexp.MustCompile(`fd_[0-9A-Za-z]{40}`)

// A key with a valid checksum was made by a server and belongs to somebody.
func TestNoKeys(t *testing.T) {
	eachFile(t, func(name string) {
		for _, s := range apiKey.FindAllString(read(t, name), -1) {
			if secret.IsWellFormed("fd_", s) {
				t.Errorf("%s holds an API key, %s…", name, s[:9])
			}
		}
	})
}

func TestScripts(t *testing.T) {
	names, _ := filepath.Glob("scripts/*")
	for _, name := range append(names, ".ci/run") {
		text := read(t, name)
		if !strings.HasPrefix(text, "#!/usr/bin/env bash\n# ") || !strings.Contains(text, "\nset -euo pipefail\n") {
			t.Errorf("%s: a script begins with #!/usr/bin/env bash and a comment that says what it does, and sets "+
				"-euo pipefail",
				name)
		}
		if info, err := os.Stat(name); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s is not executable", name)
		}
	}
}

func TestMakefile(t *testing.T) {
	text := read(t, "Makefile")
	for _, target := range strings.Fields("help run test race lint generate verify bench check judges") {
		if !regexp.MustCompile(`(?m)^` + target + `:.*## \S`).MatchString(text) {
			t.Errorf("the Makefile has no target %s with a ## description", target)
		}
	}
}

func TestChangelog(t *testing.T) {
	text := read(t, "CHANGELOG.md")
	if !strings.Contains(text, "\n## [Unreleased]\n") {
		t.Error("CHANGELOG.md has no section ## [Unreleased]")
	}
	version := regexp.MustCompile(`^## (\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d)$`)
	kind := regexp.MustCompile(`^### (Added|Changed|Deprecated|Removed|Fixed|Security)$`)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "## ") && !version.MatchString(line) || strings.HasPrefix(line, "### ") &&
			!kind.MatchString(line) {
			t.Errorf("CHANGELOG.md: %q is not a heading of Keep a Changelog", line)
		}
	}
}

func TestDecisionRecords(t *testing.T) {
	names, _ := filepath.Glob("docs/adr/*.md")
	if len(names) == 0 {
		t.Fatal("there are none")
	}
	for i, name := range names {
		if !strings.HasPrefix(path.Base(name), fmt.Sprintf("%04d-", i+1)) {
			t.Errorf("%s: records are numbered without a gap; %04d is next", name, i+1)
		}
		text := read(t, name)
		at := -1
		for _, part := range []string{"# ", "\nStatus: ", "\n## Context\n", "\n## Decision\n", "\n## Consequences\n"} {
			next := strings.Index(text, part)
			if next <= at {
				t.Errorf("%s: %q is missing or out of order", name, strings.TrimSpace(part))
			}
			at = next
		}
		if n := strings.Count(text, "\n"); n > 70 {
			t.Errorf("%s has %d lines; a record is one page", name, n)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

// Links between documents lead somewhere.
func TestLinks(t *testing.T) {
	eachFile(t, func(name string) {
		if !strings.HasSuffix(name, ".md") {
			return
		}
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	})
}

// The guide's list of pages has each of them once, numbered as they stand.
func TestGuide(t *testing.T) {
	var listed []string
	for i, m := range regexp.MustCompile(`(?m)^(?:-|(\d+)\.) \[[^\]]+\]\(([^)]+)\)$`).FindAllStringSubmatch(read(t,
		"docs/guide/README.md"), -1) {
		if m[1] != fmt.Sprint(i+1) {
			t.Errorf("docs/guide/README.md: %s is number %q, and stands in place %d", m[2], m[1], i+1)
		}
		listed = append(listed, "docs/guide/"+m[2])
	}
	slices.Sort(listed)
	pages, _ := filepath.Glob("docs/guide/*.md")
	pages = slices.DeleteFunc(pages, func(name string) bool { return path.Base(name) == "README.md" })
	if !slices.Equal(listed, pages) {
		t.Errorf("docs/guide/README.md lists %v, and there are %v", listed, pages)
	}
}

// The tables that are not an organization's, and the indexes that do not lead
// with one. Every other statement names its organization, so every other
// index begins with it.
var (
	freeTables = map[string]string{
		"organizations":     "it is the organization",
		"users":             "a user may belong to several organizations",
		"sealing_keys":      "the key file is the server's",
		"setup_links":       "there is no organization yet",
		"search_refolds":    "the upgrade of the whole database",
		"schema_window":     "the schema is the same for every organization",
		"processes":         "the processes serve every organization",
		"write_probes":      "its one row tells whether there is room",
		"allowances":        "callers have them before anybody knows who they are",
		"certificate_store": "the server has one name, for every organization",
		"certificate_locks": "processes hold them, whomever they serve",
		"password_links":    "a user may belong to several organizations",
		"known_browsers":    "a user may belong to several organizations",

		"passkeys":           "a user may belong to several organizations",
		"code_secrets":       "a user may belong to several organizations",
		"recovery_codes":     "a user may belong to several organizations",
		"sign_ins":           "a user may belong to several organizations",
		"passkey_challenges": "a user may belong to several organizations",
		"identities":         "a user may belong to several organizations",
		"provider_visits":    "nobody is signed in yet",

		"link_signing_keys": "the links are the server's",
		"mail_keys":         "the domain is the server's",
		"oauth_clients":     "a client registers before it knows any user",
		"oauth_requests":    "a client asks before anybody signs in",

		"dnsserver_zones":   "a provider's own data; whose a zone is says the domain",
		"dnsserver_records": "a provider's own data; they are found by their zone",

		"sandbox_registrations": "the sandbox stands for a registrar outside, whose customers are names",
		"sandbox_renewals":      "the sandbox registrar's books",
		"sandbox_charges":       "the sandbox stands for a payment provider outside; its ledger",
		"sandbox_refunds":       "the sandbox payment provider's ledger",
	}
	freeIndexes = map[string]string{
		"proposals_open": "the end of what nobody decided serves every organization",
		"proposals_age":  "the purge of proposals serves every organization",
		"agent_use_age":  "the purge of agents' use serves every organization",

		"thread_viewers_age": "the purge of viewers serves every organization",
		"drafts_age":         "the purge of drafts serves every organization",
		"notifications_age":  "the purge of notifications serves every organization",

		"push_subscriptions_endpoint": "a browser is one, in whatever organizations",

		"allowances_spent_until": "the purge of allowances serves every organization",

		"memberships_user": "finds the organizations of a user who signs in",
		"jobs_ready":       "jobs are claimed by lane, before any caller is known",
		"jobs_running":     "the sweep for dead workers serves every organization",
		"jobs_failed":      "the operator's gauges span every organization",
		"jobs_finished":    "the purge serves every organization",
		"jobs_live":        "a unique key belongs to a kind of job",

		"sessions_user":    "a user's sessions end with the user, in every organization",
		"sessions_expired": "the purge of sessions serves every organization",

		"password_links_user": "a user has one, in whatever organizations",

		"passkeys_user":              "a user's passkeys, in every organization",
		"recovery_codes_user":        "a user's codes, in every organization",
		"sign_ins_user":              "a user's sign-ins end with the password, in every organization",
		"sign_ins_expired":           "each new one sweeps the expired ones of all users",
		"passkey_challenges_hash":    "a challenge is found by the session or sign-in that asked",
		"passkey_challenges_expired": "each new one sweeps the expired ones of all users",
		"identities_subject":         "a person at the provider is one user, in whatever organizations",
		"identities_user":            "a user is one person at a provider, in whatever organizations",
		"provider_visits_expired":    "each new one sweeps the expired ones",

		"known_browsers_hash":    "a browser belongs to the users who signed in with it",
		"known_browsers_user":    "a user's browsers are forgotten with the password, in every organization",
		"known_browsers_expired": "the purge of browsers serves every organization",

		"domain_holds_name": "a name belongs to one organization of all",
		"domains_expiring":  "the sweep of expired and renewable domains serves every organization",
		"domains_leaving":   "the watch over transfers serves every organization",
		"domains_proof":     "the daily look at proofs serves every organization",

		"oauth_clients_idle":     "the purge of clients serves every organization",
		"oauth_requests_expired": "the purge of requests serves every organization",
		"agent_grants_user":      "a user's grants end with the password, in every organization",
		"agent_grants_expired":   "the purge of grants serves every organization",
		"agent_grants_client":    "the purge asks whether any organization uses a client",
		"grant_tokens_expired":   "the purge of tokens serves every organization",
		"agent_sessions_idle":    "the purge of sessions serves every organization",

		"stray_blobs_due":          "the sweep of bytes without a file serves every organization",
		"invoices_due":             "the clock moves everybody's invoices",
		"dnsserver_records_record": "the records of a zone belong to the zone",

		"webhooks_rotated":          "the purge of previous secrets serves every organization",
		"automation_executions_age": "the purge of executions serves every organization",
	}
)

// docs/codes.md lists every code that an answer may have.
func TestCodes(t *testing.T) {
	listed := read(t, "docs/codes.md")
	define := regexp.MustCompile(`DefineKind\("([A-Z_]+)"`)
	found := 0
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || forTests(strings.TrimSuffix(name, ".go")) ||
			strings.HasPrefix(name, "internal/apptest") {
			return err
		}
		for _, m := range define.FindAllStringSubmatch(read(t, name), -1) {
			if found++; !strings.Contains(listed, "| `"+m[1]+"` |") {
				t.Errorf("%s: docs/codes.md lacks %s", name, m[1])
			}
		}
		return nil
	})
	if err != nil || found < 50 {
		t.Errorf("%d codes found, %v", found, err)
	}
}

func TestMigrations(t *testing.T) {
	names, _ := filepath.Glob("migrations/*.sql")
	if len(names) == 0 {
		t.Fatal("there are none")
	}
	numbers := map[string]string{}
	for _, name := range names {
		number := path.Base(name)[:4]
		if other := numbers[number]; other != "" {
			t.Errorf("%s and %s have the same number", other, name)
		}
		numbers[number] = name
		for _, issue := range migrationIssues(path.Base(name), read(t, name)) {
			t.Errorf("%s: %s", name, issue)
		}
	}
}

var (
	migrationName = regexp.MustCompile(`^\d{4}_[a-z0-9_]+\.sql$`)
	createTable   = regexp.MustCompile(`^CREATE TABLE (\w+) \($`)
	createIndex   = regexp.MustCompile(`^CREATE (?:UNIQUE )?INDEX (\w+) ON \w+ (?:USING \w+ )?\((\w+)`)
	engineType    = regexp.MustCompile(`(?i)\b(uuid|bigint|integer|boolean|jsonb|blob|bytea|serial|timestamptz?|` +
		`varchar|real|numeric)\b`)
	takesAway = regexp.MustCompile(`(?i)\b(DROP|RENAME|TRUNCATE|DELETE FROM)\b`)
)

// migrationIssues checks one migration against the rules that
// internal/kernel/db/migrate.go and docs/adr/0002 rely on.
func migrationIssues(name, text string) (issues []string) {
	note := func(format string, args ...any) { issues = append(issues, fmt.Sprintf(format, args...)) }
	if !migrationName.MatchString(name) {
		note("a migration is named like 0001_account.sql")
	}
	if !strings.HasPrefix(text, "-- ") {
		note("begins with a comment that says what it is for")
	}
	only, table, columns := "", "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if e, ok := strings.CutPrefix(line, "-- only "); ok {
			if e != "sqlite" && e != "postgres" {
				note("%q names no engine", line)
			}
			only = e
			continue
		}
		if line == "-- both" {
			if only == "" {
				note("a \"-- both\" without \"-- only\" before it")
			}
			only = ""
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "--") {
			continue
		}
		if w := engineType.FindString(line); w != "" && only == "" {
			note("%q is one engine's type; use ID, TIME, INT, BOOL, JSON, BYTES, TEXT or SEQ", w)
		}
		// An index may go: the older version is slower without it, not wrong.
		if w := takesAway.FindString(strings.Replace(line, "DROP INDEX", "", 1)); w != "" {
			note("%s: a release only adds, so that two versions can run side by side", w)
		}
		if strings.HasPrefix(line, "CREATE INDEX") && strings.Contains(line, " DESC") && name > "0041" {
			note("new rows come first in a descending index, which is dear on SQLite; read an ascending one backwards")
		}
		if strings.Contains(line, "DEFERR") {
			note("deferred constraints would fail at the commit of a whole batch")
		}
		// The purge of old soft-deleted rows serves every organization; its indexes are NAME_deleted,
		// and NAME_parent for the foreign keys that it checks.
		if m := createIndex.FindStringSubmatch(line); m != nil && m[2] != "organization_id" &&
			freeIndexes[m[1]] == "" &&
			(m[2] != "deleted_at" || !strings.HasSuffix(m[1], "_deleted")) && !strings.HasSuffix(m[1], "_parent") {
			note("the index %s does not lead with organization_id; if it cannot, say why in freeIndexes", m[1])
		}
		switch m := createTable.FindStringSubmatch(line); {
		case m != nil:
			table, columns = m[1], ""
		case strings.HasPrefix(line, "CREATE TABLE"):
			note("%q: write CREATE TABLE name ( on a line of its own", line)
		case table != "" && strings.HasPrefix(line, ")"):
			if line != ");" {
				note("the table %s must end with \");\", where SQLite gets STRICT", table)
			}
			if !regexp.MustCompile(`(?m)^  organization_id ID\b`).MatchString(columns) && freeTables[table] == "" {
				note("the table %s has no organization_id", table)
			}
			if !regexp.MustCompile(`(?m)^  (seq|id) SEQ,$`).MatchString(columns) {
				note("the table %s has no seq SEQ, which orders rows of equal creation time", table)
			}
			if strings.Contains(columns, "  deleted_at ") != strings.Contains(columns, "  updated_at ") {
				note("the table %s has only one of updated_at and deleted_at", table)
			}
			table = ""
		case table != "":
			columns += line + "\n"
		}
	}
	if only != "" {
		note("\"-- only %s\" is not ended by \"-- both\"", only)
	}
	return issues
}

// The checker itself: one broken rule each.
func TestMigrationIssues(t *testing.T) {
	const good = "-- Things.\n\nCREATE TABLE things (\n  seq SEQ,\n  id ID NOT NULL UNIQUE,\n  organization_id ID " +
		"NOT " +
		"NULL,\n  name TEXT NOT NULL\n);\n" +
		"CREATE INDEX things_list ON things (organization_id, seq);\n"
	if issues := migrationIssues("0009_things.sql", good); len(issues) > 0 {
		t.Errorf("a good migration: %v", issues)
	}
	for _, c := range []struct{ old, new, want string }{
		{"-- Things.\n", "", "begins with a comment"},
		{"name TEXT", "name varchar", "varchar"},
		{");\n", ") WITHOUT ROWID;\n", "STRICT"},
		{"  organization_id ID NOT NULL,\n", "", "no organization_id"},
		{"  seq SEQ,\n", "", "no seq SEQ"},
		{"(organization_id, seq)", "(seq)", "does not lead"},
		{"  name TEXT", "  deleted_at TIME,\n  name TEXT", "only one of"},
		{"CREATE INDEX", "-- only mysql\nCREATE INDEX", "names no engine"},
		{"CREATE INDEX", "-- only sqlite\nCREATE INDEX", "not ended"},
		{"CREATE INDEX", "DROP TABLE others;\nCREATE INDEX", "only adds"},
		{"CREATE INDEX", "-- both\nCREATE INDEX", "without"},
	} {
		issues := migrationIssues("0009_things.sql", strings.Replace(good, c.old, c.new, 1))
		if !slices.ContainsFunc(issues, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("with %q for %q: %q, want one about %q", c.new, c.old, issues, c.want)
		}
	}
	descending := strings.Replace(good, ", seq)", ", seq DESC)", 1)
	if len(migrationIssues("0042_a.sql", descending)) == 0 {
		t.Error("a descending index passes")
	}
	if len(migrationIssues("9_Things.sql", good)) == 0 {
		t.Error("a wrong name passes")
	}
}

// Two versions serve side by side during an upgrade, so a migration says whether the
// older one can work with what it did.
func TestMigrationsSayWhoCanReadThem(t *testing.T) {
	names, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d migrations, %v", len(names), err)
	}
	for _, name := range names {
		first, _, _ := strings.Cut(read(t, name), "\n")
		if path.Base(name) >= "0032" && first != "-- expand" && first != "-- contract" {
			t.Errorf("%s begins with %q, not with \"-- expand\" or \"-- contract\"", name, first)
		}
	}
}

// The schema is frozen for 1.0: a file that migrations/FROZEN lists never
// changes again, and what comes later is a new file. `sha256sum *.sql` in that
// folder writes the list; a release adds its own files to it.
func TestFrozenMigrations(t *testing.T) {
	listed := 0
	for line := range strings.Lines(read(t, "migrations/FROZEN")) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed++
		sum := sha256.Sum256([]byte(read(t, "migrations/"+name)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("migrations/%s changed after it was frozen; add a migration instead", name)
		}
	}
	if listed < 19 {
		t.Errorf("only %d migrations are listed", listed)
	}
}
