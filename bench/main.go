// Command bench measures the service beside its peer and beside the limit, in
// one interleaved run on one machine:
//
//   - bare: a net/http handler that answers with as many bytes and does
//     nothing else, so nothing in Go can be faster;
//   - frontdesk: `frontdesk serve` on the embedded database, every answer to a
//     write given after its sync;
//   - pocketbase: a backend of the same kind, on the same engine.
//
// It runs on Linux, for CPU time and memory come from /proc. Start reading at
// run, which is the whole programme; workload.go says what is asked, load.go
// how it is asked and measured, report.go what is made of it. The bench never
// imports the service: it builds the binary and talks to it as anybody would,
// except that fill.go writes a hundred thousand contacts straight into the file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are what the command line can change.
type options struct {
	seconds  float64
	warm     float64
	rounds   int
	conns    int
	contacts int
	large    int
	only     []string
	servers  []string
	peer     string
	timeout  time.Duration
}

var (
	allParts   = []string{"get", "list", "create", "keyed", "lone", "batch", "start", "large"}
	allServers = []string{"bare", "frontdesk", "postgres", "pocketbase"}
)

func parse() (options, error) {
	var o options
	only, servers := "", ""
	flag.Float64Var(&o.seconds, "seconds", 5, "measured `seconds` of each run")
	flag.Float64Var(&o.warm, "warm", 1, "`seconds` before each run that are not measured")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds; medians over them are reported")
	flag.IntVar(&o.conns, "conns", 32, "keep-alive connections")
	flag.IntVar(&o.contacts, "contacts", 100_000, "contacts in each database")
	flag.IntVar(&o.large, "large", 1_000_000, "contacts in the large database")
	flag.StringVar(&only, "only", strings.Join(allParts, ","), "`parts` to run")
	flag.StringVar(&servers, "servers", strings.Join(allServers, ","), "`servers` to load; frontdesk is always one")
	flag.StringVar(&o.peer, "peer", "superuser",
		"who asks pocketbase: superuser, whom no rule is checked for, or `user`")
	flag.DurationVar(&o.timeout, "timeout", 40*time.Minute, "give up after this `time`")
	flag.Parse()
	var err error
	if o.only, err = choose("only", only, allParts); err != nil {
		return o, err
	}
	if o.servers, err = choose("servers", servers+",frontdesk", allServers); err != nil {
		return o, err
	}
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("bench: takes flags only, not %q", flag.Arg(0))
	case o.seconds < 0.1 || o.warm < 0 || o.rounds < 1 || o.conns < 1:
		err = fmt.Errorf("bench: -seconds, -rounds and -conns must be positive")
	case o.peer != "superuser" && o.peer != "user":
		err = fmt.Errorf("bench: -peer is superuser or user")
	case o.contacts < 100 || o.large < 100:
		err = fmt.Errorf("bench: -contacts and -large must be at least 100")
	}
	return o, err
}

// choose reads a comma separated choice, and keeps the order of all.
func choose(name, given string, all []string) (out []string, err error) {
	asked := strings.Split(given, ",")
	for _, s := range asked {
		if s != "" && !slices.Contains(all, s) {
			return nil, fmt.Errorf("bench: -%s: %q is none of %s", name, s, strings.Join(all, ", "))
		}
	}
	for _, s := range all {
		if slices.Contains(asked, s) {
			out = append(out, s)
		}
	}
	return out, nil
}

func main() {
	o, err := parse()
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		ctx, cancel := context.WithTimeout(ctx, o.timeout)
		err = run(ctx, o)
		cancel()
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var began = time.Now()

// say prints a line of progress.
func say(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}

// run is everything, from building to the report. Whatever way it ends, the
// servers are stopped before their folder is removed.
func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "frontdesk-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bins, err := build(ctx, filepath.Join(dir, "bin"), o)
	if err != nil {
		return err
	}
	rep := newReport(o)
	if err := compare(ctx, o, dir, bins, rep); err != nil {
		return err
	}
	if slices.Contains(o.only, "large") {
		if err := largeLists(ctx, o, dir, bins, rep); err != nil {
			return err
		}
	}
	rep.Targets = rep.targets()
	if err := rep.print(os.Stdout); err != nil {
		return err
	}
	path, err := rep.save("results")
	if err != nil {
		return err
	}
	say("written to %s", path)
	return nil
}

// compare loads the servers in turns: noise that comes and goes on the machine
// then meets all of them.
func compare(ctx context.Context, o options, dir string, bins binaries, rep *report) error {
	loads := workloads(o.only)
	start := slices.Contains(o.only, "start")
	if len(loads) == 0 && !start {
		return nil
	}
	fd, err := setUpFrontdesk(ctx, bins, filepath.Join(dir, "frontdesk"), o.contacts)
	if err != nil {
		return err
	}
	if start {
		if rep.Start, err = startTimes(ctx, fd); err != nil {
			return err
		}
	}
	if len(loads) == 0 {
		return nil
	}
	if err := fd.start(ctx); err != nil {
		return err
	}
	defer fd.stop()
	rep.Synchronous["frontdesk"] = ourSynchronous()
	sides := []side{fd}
	if slices.Contains(o.servers, "bare") {
		bare, err := setUpBare(ctx, bins, fd)
		if err != nil {
			return err
		}
		defer bare.stop()
		sides = append([]side{bare}, sides...)
	}
	switch {
	case !slices.Contains(o.servers, "postgres"):
	case databaseURL() == "":
		say("NOT MEASURED on PostgreSQL: run it under scripts/with-postgres, as make bench does")
	default:
		pg, err := setUpPostgres(ctx, bins, filepath.Join(dir, "postgres"), fd)
		if err != nil {
			return err
		}
		defer pg.stop()
		sides = append(sides, pg)
	}
	if slices.Contains(o.servers, "pocketbase") {
		pb, err := setUpPocketBase(ctx, bins, filepath.Join(dir, "pocketbase"), o.contacts, o.peer)
		if err != nil {
			return err
		}
		defer pb.stop()
		rep.Synchronous["pocketbase"] = pb.synchronous
		sides = append(sides, pb)
	}
	for round := range o.rounds {
		for _, load := range loads {
			for _, s := range sides {
				if load == createBatch && s.name() != "frontdesk" && s.name() != "postgres" {
					continue
				}
				f, err := measure(ctx, o, s, load)
				if err != nil {
					return fmt.Errorf("bench: %s on %s: %w", load, s.name(), err)
				}
				rep.add(load, s.name(), f)
				if s == side(fd) {
					if err := rep.memory(fd); err != nil {
						return err
					}
				}
				say("round %d/%d  %-7s %-11s %8.0f/s  p50 %7.2f ms  p99 %7.2f ms  %6.0f µs CPU each",
					round+1, o.rounds, load, s.name(), f.Throughput, f.P50, f.P99, f.CPU)
			}
		}
	}
	if err := rep.memory(fd); err != nil {
		return err
	}
	for _, s := range sides {
		if err := s.verify(ctx); err != nil {
			return fmt.Errorf("bench: %s: %w", s.name(), err)
		}
	}
	return nil
}
