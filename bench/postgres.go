package main

import (
	"context"
	"fmt"
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
	for _, args := range [][]string{
		{"backup", copied, "--data", fd.data},
		{"restore", copied, "--data", data, "--database-url", databaseURL()},
	} {
		cmd := exec.CommandContext(ctx, bins.frontdesk, args...)
		cmd.Env = environment()
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("bench: frontdesk %s: %w: %s", args[0], err, out)
		}
	}
	p := &postgres{frontdesk{binary: bins.frontdesk, data: data, filled: fd.filled, api: fd.api}}
	p.serve = []string{"--database-url", databaseURL()}
	return p, p.start(ctx)
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

// verify asks the service itself: whether a row is on the disk is PostgreSQL's word.
func (p *postgres) verify(context.Context) error {
	p.stop()
	return nil
}
