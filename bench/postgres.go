package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// postgres is our server over PostgreSQL, with the contacts that the other has.
type postgres struct {
	frontdesk
}

func (*postgres) name() string { return "postgres" }

// databaseURL is the server of scripts/with-postgres, which may be written over.
func databaseURL() string { return os.Getenv("FRONTDESK_TEST_POSTGRES") }

// setUpPostgres moves a copy of our contacts as an operator would.
func setUpPostgres(ctx context.Context, bins binaries, data string, fd *frontdesk) (*postgres, error) {
	say("moving frontdesk's contacts to PostgreSQL")
	copied := filepath.Join(filepath.Dir(data), "copy")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(fd.data, "sealing.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "sealing.key"), key, 0o600)
	}
	if err != nil {
		return nil, err
	}
	p := &postgres{frontdesk{binary: bins.frontdesk, data: data, filled: fd.filled, api: fd.api}}
	p.serve, p.created = []string{"--database-url", databaseURL()}, 0
	for _, args := range [][]string{
		{"backup", copied, "--data", fd.data},
		{"restore", copied, "--data", data, "--database-url", databaseURL()},
	} {
		if err := p.run(ctx, args...); err != nil {
			return nil, err
		}
	}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	p.filled += fd.created // the copy has those too
	return p, nil
}

// run runs a command of the operator.
func (p *postgres) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Env = environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("bench: frontdesk %s: %w: %s", args[0], err, out)
	}
	return nil
}

// databaseCPU is that of every process of PostgreSQL on this machine.
func (*postgres) databaseCPU() (sum time.Duration, err error) {
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if comm, err := os.ReadFile(name); err != nil || strings.TrimSpace(string(comm)) != "postgres" {
			continue // or it has just ended
		}
		if d, err := cpuOf(filepath.Base(filepath.Dir(name))); err == nil {
			sum += d
		}
	}
	return sum, nil
}

// verify counts the contacts in a backup: all that were copied or acknowledged since.
func (p *postgres) verify(ctx context.Context) error {
	p.stop()
	path := filepath.Join(p.data, "backup")
	if err := p.run(ctx, "backup", path, "--data", p.data, "--database-url", databaseURL()); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	n, inside := 0, false
	lines := bufio.NewReader(zip)
	for {
		line, err := lines.ReadString('\n')
		switch {
		case errors.Is(err, io.EOF):
			if want := p.filled + p.created; n != want {
				return fmt.Errorf("%d contacts, want %d", n, want)
			}
			say("frontdesk on PostgreSQL kept all %d contacts that it acknowledged", p.created)
			return nil
		case err != nil:
			return err
		case strings.HasPrefix(line, "{"):
			inside = strings.HasPrefix(line, `{"table":"contacts"`)
		case inside:
			n++
		}
	}
}
