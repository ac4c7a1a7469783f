package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// pocketbase is the peer: its own binary with its own settings, one
// collection with our fields, a rule that wants somebody signed in, and its
// request log as it comes.
type pocketbase struct {
	api
	*process
	data        string
	filled      int
	synchronous string
}

func (*pocketbase) name() string { return "pocketbase" }

func setUpPocketBase(ctx context.Context, bins binaries, data string, n int, as string) (*pocketbase, error) {
	say("setting up pocketbase with %d contacts, asked by a %s", n, as)
	cmd := exec.CommandContext(ctx, bins.pocketbase, "prepare", "--dir", data, "--dev=false")
	cmd.Env = environment()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("bench: pocketbase prepare: %w: %s", err, out)
	}
	var made map[string]string
	if err := json.Unmarshal(out, &made); err != nil || made[as] == "" {
		return nil, fmt.Errorf("bench: pocketbase prepare: no token for %s: %s", as, out)
	}
	p := &pocketbase{data: data, filled: n, synchronous: synchronousName(made["synchronous"])}
	// The order is ours, with an index for it. Counting the total, which the
	// peer does unless told not to and we never do, would take it milliseconds.
	p.api = api{path: "/api/collections/contacts/records", listing: "?perPage=10&sort=-created&skipTotal=1",
		rows:    "items",
		headers: "Authorization: " + made[as] + "\r\n"}
	if p.ids, err = fillPocketBase(ctx, p.database(), n); err != nil {
		return nil, err
	}
	if p.addr, err = freeAddress(); err != nil {
		return nil, err
	}
	p.process, _, err = launch(ctx, p.addr, "/api/health", bins.pocketbase, "serve", "--dir", data, "--dev=false",
		"--http", p.addr)
	return p, err
}

func (p *pocketbase) database() string { return filepath.Join(p.data, "data.db") }

// verify counts the contacts.
func (p *pocketbase) verify(context.Context) error {
	p.stop()
	n, err := countRows(p.database(), "contacts")
	if err == nil && n != p.filled+p.created {
		err = fmt.Errorf("%d contacts, want %d", n, p.filled+p.created)
	}
	return err
}
