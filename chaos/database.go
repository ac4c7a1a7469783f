package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// server is PostgreSQL's programs, and the user that may run them.
type server struct {
	bin string
	who *syscall.Credential // root may not
}

// database is one PostgreSQL of our own, which can be restarted.
type database struct {
	*server
	data string
	port int
}

func newServer() (*server, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("PostgreSQL is not installed (Debian: sudo apt-get install postgresql)")
	}
	slices.Sort(found)
	s := &server{bin: found[len(found)-1]}
	if os.Getuid() != 0 {
		return s, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	s.who = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return s, nil
}

// own makes a folder of the server's user.
func (s *server) own(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if s.who == nil {
		return nil
	}
	return os.Chown(dir, int(s.who.Uid), int(s.who.Gid))
}

func startDatabase(ctx context.Context, dir string) (*database, error) {
	s, err := newServer()
	if err != nil {
		return nil, err
	}
	d := &database{server: s, data: filepath.Join(dir, "postgres")}
	if err := d.own(d.data); err != nil {
		return nil, err
	}
	err = d.run(ctx, "initdb", "-D", d.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--locale-provider=icu", "--icu-locale=en-US-u-ka-shifted")
	if err != nil {
		return nil, err
	}
	if d.port, err = freePort(); err != nil {
		return nil, err
	}
	return d, d.start(ctx)
}

func (s *server) output(ctx context.Context, command string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, command), args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", command, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

func (s *server) run(ctx context.Context, command string, args ...string) error {
	_, err := s.output(ctx, command, args...)
	return err
}

// ask asks the database itself.
func (w *world) ask(ctx context.Context, query string) (string, error) {
	port := strconv.Itoa(w.database.entrance())
	return w.database.output(ctx, "psql", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-Atqc", query)
}

func (d *database) entrance() int { return d.port }

// start runs the server with full syncs, as a business would.
func (d *database) start(ctx context.Context) error {
	return d.run(ctx, "pg_ctl", "-D", d.data, "-w", "-l", filepath.Join(d.data, "log"), "-o",
		fmt.Sprintf("-c listen_addresses=127.0.0.1 -p %d -k '' -c max_connections=200", d.port), "start")
}

// restart ends the server as a power cut would, or politely, and starts it again.
func (d *database) restart(ctx context.Context, how string) error {
	if err := d.run(ctx, "pg_ctl", "-D", d.data, "-m", how, "-w", "stop"); err != nil {
		return err
	}
	return d.start(ctx)
}

func (d *database) stop() {
	//nolint:errcheck // it goes with its folder
	d.run(context.Background(), "pg_ctl", "-D", d.data, "-m", "immediate", "stop")
}
