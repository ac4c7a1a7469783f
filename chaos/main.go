// Command chaos runs several processes of the service over one PostgreSQL under
// mixed load. Meanwhile it kills, freezes and restarts them, restarts the
// database, and cuts or swallows the network between. Afterwards it checks that
// nothing acknowledged was lost, nothing was done twice, nothing came out of order,
// and nothing that was refused happened. `make chaos` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type options struct {
	short                                 bool
	processes                             int
	kills, freezes, restarts, cuts, holes int
	failovers                             int
	pause, longest, slowest               time.Duration
	seed                                  uint64
	binary                                string
	clients                               int
}

func main() {
	var o options
	flag.BoolVar(&o.short, "short", false, "a minute instead of half an hour")
	flag.IntVar(&o.processes, "processes", 3, "processes of the service")
	flag.IntVar(&o.kills, "kills", 60, "SIGKILLs")
	flag.IntVar(&o.freezes, "freezes", 20, "SIGSTOPs, each for 5 seconds up to -longest")
	flag.IntVar(&o.restarts, "restarts", 20, "restarts of the database")
	flag.IntVar(&o.cuts, "cuts", 100, "cuts of the network to the database")
	flag.IntVar(&o.holes, "holes", 10, "times that the network to the database swallows everything for 20 seconds")
	flag.IntVar(&o.failovers, "failovers", 3, "times that another server takes over; with 0 there is one, without Patroni")
	flag.DurationVar(&o.pause, "pause", 2*time.Second, "between faults")
	flag.DurationVar(&o.longest, "longest", 90*time.Second, "the longest freeze")
	flag.DurationVar(&o.slowest, "slowest", 15*time.Second, "how long a request may take while its process runs")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of the order of faults")
	flag.StringVar(&o.binary, "binary", "", "the service; it is built when this is empty")
	flag.IntVar(&o.clients, "clients", 2000, "clients of the last scene, at once")
	flag.Parse()
	if o.short {
		o.kills, o.freezes, o.restarts, o.cuts, o.holes, o.longest = 6, 2, 2, 8, 1, 20*time.Second
		o.failovers = 0
		o.slowest = 40 * time.Second // other tests may run at the same time
		o.clients = 500
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func say(format string, args ...any) {
	fmt.Printf(time.Now().Format("15:04:05 ")+format+"\n", args...)
}

// run plays all scenes and reports whether one of them went wrong.
func run(ctx context.Context, o options) (failed bool, err error) {
	say("seed %d", o.seed)
	dir, err := os.MkdirTemp("", "frontdesk-chaos")
	if err != nil {
		return false, err
	}
	defer func() {
		if failed {
			say("the logs are in %s", dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	if o.binary == "" {
		if o.binary, err = build(ctx, dir); err != nil {
			return false, err
		}
	}
	w := &world{options: o, dir: dir, random: rand.New(rand.NewPCG(o.seed, 0))} //nolint:gosec // a seed to repeat
	defer w.stop()
	if err := w.start(ctx); err != nil {
		return false, err
	}
	r := newReport()
	l := newLoad(w, r)
	if err := l.prepare(ctx); err != nil {
		return false, err
	}
	working, cancel := context.WithCancel(ctx)
	wait := l.run(working)
	faults := w.disturb(ctx)
	cancel()
	wait()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := w.heal(ctx); err != nil {
		return false, err
	}
	r.faults = faults
	if err := l.check(ctx); err != nil {
		return false, err
	}
	if err := w.crowd(ctx, l.keys[0], r); err != nil {
		return false, err
	}
	return r.print(), nil
}
