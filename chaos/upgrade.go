package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

//go:embed balancer.cfg
var balancerText string

// balancer is HAProxy before the processes. It asks /readyz and repeats nothing.
type balancer struct {
	process // which nobody kills
	status  int
	haproxy *exec.Cmd
}

func (w *world) startBalancer(ctx context.Context) error {
	b := &balancer{}
	port, err := freePort()
	if err != nil {
		return err
	}
	if b.status, err = freePort(); err != nil {
		return err
	}
	b.address = fmt.Sprint("127.0.0.1:", port)
	var fleet []string
	for _, p := range w.fleet {
		fleet = append(fleet, p.address)
	}
	settings := filepath.Join(w.dir, "balancer.cfg")
	err = fill(balancerText, settings, map[string]any{"Port": port, "Status": b.status, "Fleet": fleet})
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(w.dir, "balancer.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	b.haproxy = exec.Command("haproxy", "-f", settings, "-db") //nolint:noctx // ended by us
	b.haproxy.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin"}
	b.haproxy.Stdout, b.haproxy.Stderr = log, log
	b.haproxy.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.haproxy.Start(); err != nil {
		return fmt.Errorf("haproxy: %w (Debian: sudo apt-get install haproxy)", err)
	}
	w.front = b
	for _, p := range w.fleet {
		if err := b.sees(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (b *balancer) stop() {
	b.haproxy.Process.Kill() //nolint:errcheck // it has nothing to lose
	b.haproxy.Wait()         //nolint:errcheck // killed
}

// sees returns once the balancer sends requests to a process.
func (b *balancer) sees(ctx context.Context, p *process) error {
	for range 600 {
		if b.up(ctx, p.address) {
			return nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("the balancer does not see %s after a minute", p.address)
}

func (b *balancer) up(ctx context.Context, name string) bool {
	url := fmt.Sprintf("http://127.0.0.1:%d/;csv", b.status)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	rows, err := csv.NewReader(res.Body).ReadAll()
	if err != nil {
		return false
	}
	const server, status = 1, 17
	for _, row := range rows {
		if row[server] == name {
			return row[status] == "UP"
		}
	}
	return false
}

// roll replaces one process after the other, as an operator would: SIGTERM, the
// other program, and on to the next once the balancer sends requests there.
func (w *world) roll(ctx context.Context, binary string) error {
	for _, p := range w.fleet {
		p.signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(2 * time.Minute):
			return errors.New("a process does not stop in two minutes")
		}
		p.binary = binary
		if err := p.start(ctx); err != nil {
			return err
		}
		if err := w.front.sees(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// upgrade replaces the processes by a newer version under load, goes back, and
// forward again; then it restarts all of them some rounds. Not one request fails.
func upgrade(ctx context.Context, w *world, r *report) error {
	newer := w.binary
	older := w.older
	if older == "" {
		var err error
		if older, err = w.buildOlder(ctx); err != nil {
			return err
		}
	}
	w.binary, w.failovers, w.skew = older, 0, 0
	l, err := w.begin(ctx, r)
	if err != nil {
		return err
	}
	if err := w.startBalancer(ctx); err != nil {
		return err
	}
	stop := l.run(ctx)
	defer stop()
	r.faults = map[string]int{}
	step := func(what, binary string) error {
		if err := w.roll(ctx, binary); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		schema, err := w.ask(ctx, "SELECT count(*) FROM goose_db_version WHERE version_id > 0")
		say("%s: all processes replaced; the schema has %s migrations", what, schema)
		r.faults[what]++
		return err
	}
	for _, s := range []struct{ what, binary string }{{"upgrade", newer}, {"way back", older}, {"upgrade", newer}} {
		if err := step(s.what, s.binary); err != nil {
			return err
		}
	}
	for range w.rounds {
		if err := step("rolling restart", newer); err != nil {
			return err
		}
	}
	stop()
	return l.check(ctx)
}

// buildOlder builds the version before the schema last changed.
func (w *world) buildOlder(ctx context.Context) (string, error) {
	git := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = ".."
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		return bytes.TrimSpace(out), nil
	}
	commit := w.from
	if commit == "" {
		last, err := git("log", "-1", "--format=%H", "--", "migrations/*.sql")
		if err != nil {
			return "", err
		}
		commit = string(last) + "^"
	}
	name, err := git("log", "-1", "--format=%h %s", commit)
	if err != nil {
		return "", err
	}
	say("building the older version: %s", name)
	source := filepath.Join(w.dir, "older")
	if err := os.Mkdir(source, 0o700); err != nil {
		return "", err
	}
	archive := filepath.Join(w.dir, "older.tar")
	if _, err := git("archive", "--output", archive, commit); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, "tar", "-xf", archive, "-C", source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("tar: %w: %s", err, out)
	}
	return build(ctx, source, filepath.Join(w.dir, "frontdesk-older"))
}
