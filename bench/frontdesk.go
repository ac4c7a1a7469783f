package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// frontdesk is our server on a data folder of its own.
type frontdesk struct {
	api
	*process
	binary, data string
	filled       int
	serve        []string // further arguments
}

func (*frontdesk) name() string { return "frontdesk" }

func (f *frontdesk) database() string { return filepath.Join(f.data, "frontdesk.db") }

// setUpFrontdesk makes an organization with a key, as an operator would, and
// fills it with n contacts. The server does not run yet.
func setUpFrontdesk(ctx context.Context, bins binaries, data string, n int) (*frontdesk, error) {
	f := &frontdesk{binary: bins.frontdesk, data: data, filled: n,
		api: api{path: "/v1/contacts", listing: "?limit=10", rows: "data", keyed: true}}
	say("setting up frontdesk with %d contacts", n)
	org, err := f.admin(ctx, "org", "create", "--name", "Bench", "--plan", "enterprise")
	if err != nil {
		return nil, err
	}
	const owner = "owner@example.com"
	for _, step := range [][]string{
		{"user", "create", "--org", org["id"], "--email", owner, "--name", "Owner", "--role", "owner",
			"--password-stdin"},
		{"agreement", "accept", "--business", org["businessId"], "--kind", "business", "--by", owner},
	} {
		if _, err := f.admin(ctx, step...); err != nil {
			return nil, err
		}
	}
	key, err := f.admin(ctx, "key", "create", "--business", org["businessId"], "--name", "Bench", "--permissions", "*")
	if err != nil {
		return nil, err
	}
	f.headers = "Authorization: Bearer " + key["key"] + "\r\n"
	f.ids, err = fillFrontdesk(ctx, f.database(), org["id"], n)
	return f, err
}

// admin runs an operator's command and returns the texts of its answer.
func (f *frontdesk) admin(ctx context.Context, args ...string) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, f.binary, append([]string{"--data", f.data, "admin", "--json"}, args...)...)
	cmd.Env = environment()
	cmd.Stdin = strings.NewReader("a password that nobody needs\n") // only a new user reads it
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("bench: frontdesk admin %s: %w: %s", strings.Join(args, " "), err, out)
	}
	var all map[string]any
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("bench: frontdesk admin %s: %w: %s", strings.Join(args, " "), err, out)
	}
	texts := map[string]string{}
	for k, v := range all {
		if s, ok := v.(string); ok {
			texts[k] = s
		}
	}
	return texts, nil
}

// start runs the server and looks whether the fill is found through the API.
func (f *frontdesk) start(ctx context.Context) error {
	if _, err := f.launch(ctx); err != nil {
		return err
	}
	p := personAt(f.filled - 1)
	a, err := f.get(ctx, "?limit=10&query="+strings.ToLower(p.last))
	if err == nil && !strings.Contains(string(a.body), p.last) {
		err = fmt.Errorf("a search for %s does not find it: %.300s", p.last, a.body)
	}
	if err != nil {
		f.stop()
		return fmt.Errorf("bench: after the fill: %w", err)
	}
	return nil
}

// launch runs the server and tells how long it took to be ready.
func (f *frontdesk) launch(ctx context.Context) (time.Duration, error) {
	addr, err := freeAddress()
	if err != nil {
		return 0, err
	}
	// The rate limit counts, but does not refuse: its cost is part of a request.
	p, took, err := launch(ctx, addr, "/readyz", f.binary, append([]string{"serve", "--data", f.data, "--listen", addr,
		"--mcp-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0", "--smtp-listen", "127.0.0.1:0",
		"--rate-limit-enterprise", "60000000"}, f.serve...)...)
	if err != nil {
		return 0, err
	}
	f.addr, f.process = addr, p
	return took, nil
}

// get asks for a list, once.
func (f *frontdesk) get(ctx context.Context, query string) (response, error) {
	return f.once(ctx, f.appendRequest(nil, "GET", query, "", nil))
}

// verify counts what must be there: a contact, an event and a search row for
// each acknowledged create.
func (f *frontdesk) verify(context.Context) error {
	f.stop()
	for _, t := range []struct {
		table string
		want  int
	}{
		{"contacts", f.filled + f.created},
		{"contacts_search_docsize", f.filled + f.created}, // FTS5 keeps a row here for each of its rows
		{"events WHERE type = 'contact.created'", f.created},
	} {
		n, err := countRows(f.database(), t.table)
		if err != nil {
			return err
		}
		if n != t.want {
			return fmt.Errorf("%d rows in %s, want %d", n, t.table, t.want)
		}
	}
	say("frontdesk kept all %d contacts that it acknowledged, with their events and search rows", f.created)
	return nil
}

// ourSynchronous tells what the service asks of SQLite. The pragma belongs to
// a connection inside the server, so its source is asked.
func ourSynchronous() string {
	text, err := os.ReadFile("../internal/kernel/db/sqlite.go")
	if err != nil {
		return "unknown"
	}
	m := regexp.MustCompile(`synchronous\((\d)\)`).FindSubmatch(text)
	if m == nil {
		return "unknown"
	}
	return synchronousName(string(m[1]))
}

// synchronousName gives the number its name: https://sqlite.org/pragma.html#pragma_synchronous
func synchronousName(n string) string {
	i := slices.Index([]string{"0", "1", "2", "3"}, n)
	if i < 0 {
		return "unknown"
	}
	return []string{"OFF", "NORMAL", "FULL", "EXTRA"}[i] + " (" + n + ")"
}
