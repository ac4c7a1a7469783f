package shell_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/clients"
	"frontdesk/internal/clients/shell"
	"frontdesk/internal/kernel/db"
)

var api = clients.Describe(app.Describe())

// terminal is a person with a server.
type terminal struct {
	*shell.Shell
	t        *testing.T
	in       string
	out, err bytes.Buffer
	env      map[string]string
}

func newTerminal(t *testing.T, env map[string]string) *terminal {
	return &terminal{t: t, env: env, Shell: &shell.Shell{API: api,
		Credentials: filepath.Join(t.TempDir(), "below", "api.json")}}
}

// run types a command, checks its exit status, and returns what it printed.
func (v *terminal) run(status int, words ...string) string {
	v.t.Helper()
	v.out.Reset()
	v.err.Reset()
	v.In, v.Out, v.Err = strings.NewReader(v.in), &v.out, &v.err
	v.Getenv = func(name string) string { return v.env[name] }
	if got := v.Run(context.Background(), words); got != status {
		v.t.Fatalf("%v: status %d, want %d\n%s%s", words, got, status, &v.out, &v.err)
	}
	return v.out.String()
}

// shows checks that a text has every part.
func shows(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

// second is the line below the headings.
func second(table string) string { return strings.TrimSpace(strings.Split(table, "\n")[1]) }

func TestShell(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		v := newTerminal(t, map[string]string{"FRONTDESK_URL": a.URL, "FRONTDESK_API_KEY": a.Key})
		v.run(0, "contacts", "create", "--first-name", "Ada", "--tags", "vip", "--tags", "old", "--emails",
			`[{"email": "ada@example.com"}]`)
		v.in = `{"firstName": "Grace", "lastName": "=1+1", "notes": "\u001b[2Jgone"}`
		v.run(0, "contacts", "create", "--file", "-", "--first-name", "Hedy")
		v.in = ""
		id := second(v.run(0, "contacts", "list", "--query", "hedy", "--columns", "id"))

		shows(t, v.run(0, "contacts", "list", "--tag", "vip"), "ID", "FIRSTNAME", "Ada")
		shows(t, v.run(0, "contacts", "list", "--all", "--limit", "1", "--output", "csv", "--columns",
			"firstName,lastName"), "firstName,lastName\n", "Ada,\n", "Hedy,'=1+1\n")
		shows(t, v.run(0, "contacts", "list", "--all", "--output", "json"), `"firstName":"Ada"`, "]\n")
		if text := v.run(0, "contacts", "get", id); strings.Contains(text, "\x1b") {
			t.Errorf("strangers steer the terminal: %q", text)
		}
		v.run(0, "contacts", "update", id, "--null", "notes", "--job-title", "Inventor")
		shows(t, v.run(0, "contacts", "get", id, "--output", "json"), `"jobTitle": "Inventor"`, `"notes": null`)

		shows(t, v.run(0, "contacts", "delete", id, "--dry-run", "--output", "json"), `"kind": "delete"`)
		shows(t, v.run(0, "contacts", "delete", id, "--dry-run"), "Delete the contact “Hedy =1+1”.\n")
		v.run(0, "contacts", "get", id)
		shows(t, v.run(0, "proposals", "list", "--output", "json"), `"canceled"`)

		v.run(1, "contacts", "create", "--emails", `[{"email": "none"}]`, "--first-name", "Bob")
		shows(t, v.err.String(), "VALIDATION_ERROR, request ", "emails[0].email: ")
		v.run(1, "contacts", "get", "00000000-0000-4000-8000-000000000000", "--output", "json")
		shows(t, v.err.String(), `"code":"NOT_FOUND"`, `"requestId":"`)

		letter := filepath.Join(t.TempDir(), "letter.txt")
		if err := os.WriteFile(letter, []byte("Dear Ada"), 0o600); err != nil {
			t.Fatal(err)
		}
		v.run(0, "files", "upload", "--file", letter, "--output", "json")
		file := second(v.run(0, "files", "list", "--columns", "id"))
		if text := v.run(0, "files", "download", file); text != "Dear Ada" {
			t.Errorf("the file is %q", text)
		}
		v.run(0, "files", "download", file, "--save", letter+"2")
		if text, err := os.ReadFile(letter + "2"); err != nil || string(text) != "Dear Ada" {
			t.Errorf("the saved file is %q, %v", text, err)
		}
	})
}

func TestLogin(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	v := newTerminal(t, nil)
	v.run(2, "me", "get")
	shows(t, v.err.String(), "frontdesk api login")

	v.run(2, "login", "--base-url", "127.0.0.1:8080")
	shows(t, v.err.String(), "begins with https:// or http://")

	v.in = "fd_wrong\n"
	v.run(1, "login", "--base-url", a.URL+"/")
	shows(t, v.err.String(), "UNAUTHORIZED")
	if _, err := os.Stat(v.Credentials); err == nil {
		t.Error("a key that does not work is kept")
	}
	v.in = a.URL + "\n" + a.Key + "\n"
	v.run(0, "login")
	info, err := os.Stat(v.Credentials)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file: %v, %v", info.Mode(), err)
	}
	if strings.Contains(v.out.String()+v.err.String(), a.Key) {
		t.Error("the key is printed")
	}
	v.run(0, "me", "get")
	v.run(2, "me", "get", "--base-url", "http://127.0.0.1:1") // which gets no key of another server
	v.run(0, "logout")
	v.run(2, "me", "get")
}

func TestUsage(t *testing.T) {
	v := newTerminal(t, map[string]string{"FRONTDESK_URL": "http://127.0.0.1:1", "FRONTDESK_API_KEY": "fd_x"})
	for _, c := range []struct{ words, want string }{
		{"contcts list", "did you mean contacts?"},
		{"contacts lst", "did you mean list?"},
		{"contacts list --querry x", "did you mean query?"},
		{"contacts list --limit many", "--limit is a number"},
		{"contacts list --output xml", "--output is table, json or csv"},
		{"contacts get", "takes ID"},
		{"contacts get a b", "takes ID"},
		{"tasks create", "--title is required"},
		{"contacts create --emails none", "--emails is JSON"},
		{"contacts create --null nope", "no such field"},
		{"completion tcsh", "bash, zsh or fish"},
		{"contacts list --limit", "needs a value"},
	} {
		v.run(2, strings.Fields(c.words)...)
		shows(t, v.err.String(), c.want)
	}
	shows(t, v.run(0), "frontdesk api contacts ", "frontdesk api login")
	shows(t, v.run(0, "contacts"), "frontdesk api contacts merge ID", "Merge")
}

// Every operation explains itself, and its example can be typed.
func TestHelp(t *testing.T) {
	v := newTerminal(t, map[string]string{"FRONTDESK_URL": "http://127.0.0.1:1", "FRONTDESK_API_KEY": "fd_x"})
	for _, o := range api.All() {
		var words []string
		for _, n := range strings.Split(o.Noun.Full+"."+o.Verb, ".") {
			words = append(words, clients.KebabCase(n))
		}
		text := v.run(0, append(words, "--help")...)
		shows(t, text, o.Summary, o.Method+" "+o.Path, "Example:\n")
		if o.Form {
			continue // its example needs a file
		}
		_, example, _ := strings.Cut(text, "Example:\n  frontdesk api ")
		example, _, _ = strings.Cut(example, "\n\nREST:")
		typed, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s\\0' "+example).Output()
		if err != nil {
			t.Fatalf("%s: %v", example, err)
		}
		args := strings.Split(strings.TrimRight(string(typed), "\x00"), "\x00")
		v.run(1, append(args, "--max-retries", "0")...) // there is no server
		shows(t, v.err.String(), "the connection failed")
	}
}

func TestCompletion(t *testing.T) {
	v := newTerminal(t, nil)
	for _, c := range []struct{ words, want string }{
		{"cust", "customers\n"},
		{"contacts phone", "phone-numbers\n"},
		{"contacts list --sort-o", "--sort-order\n"},
		{"contacts list --sort-order ", "asc\ndesc\n"},
		{"contacts list --output j", "json\n"},
		{"completion z", "zsh\n"},
		{"contacts get x --outp", "--output\n"},
		{"nonsense x", ""},
	} {
		if got := v.run(0, append([]string{"__complete"}, strings.Split(c.words, " ")...)...); got != c.want {
			t.Errorf("%q completes to %q, want %q", c.words, got, c.want)
		}
	}
	for _, name := range []string{"bash", "zsh", "fish"} {
		script := v.run(0, "completion", name)
		path, err := exec.LookPath(name)
		if err != nil {
			t.Logf("there is no %s here; its script is not read", name)
			continue
		}
		file := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), path, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s does not read its script: %s", name, out)
		}
	}
}

// In bash, the words of a line reach the program as they were typed.
func TestBash(t *testing.T) {
	v := newTerminal(t, nil)
	folder := t.TempDir()
	script := v.run(0, "completion", "bash")
	fake := "#!/bin/sh\nshift 2\nprintf '%s\\n' \"$#\" \"$@\"\n"
	if err := os.WriteFile(filepath.Join(folder, "frontdesk"), []byte(fake), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script+`
COMP_WORDS=(`+folder+`/frontdesk api contacts list "")
COMP_CWORD=4
_frontdesk_api
printf '%s|' "${COMPREPLY[@]}"`)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "3|contacts|list||" && string(out) != "3|contacts|list|" {
		t.Errorf("bash completes with %q, %v", out, err)
	}
}
