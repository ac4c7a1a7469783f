// Command chaos runs several processes of the service over one PostgreSQL under
// mixed load. Meanwhile it kills, freezes and restarts them, restarts the
// database, and cuts or swallows the network between. Afterwards it checks that
// nothing acknowledged was lost, nothing was done twice, nothing came out of order,
// and nothing that was refused happened. `make chaos` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

type options struct {
	short                                 bool
	scenes                                string
	processes                             int
	deaths                                int
	kills, freezes, restarts, cuts, holes int
	failovers                             int
	pause, think, longest, hole           time.Duration
	slowest, within, quiet                time.Duration
	skew                                  time.Duration
	seed                                  uint64
	binary                                string
	older, from                           string
	rounds                                int
	clients                               int
	stay, hurry                           time.Duration
}

const allScenes = "faults,upgrade,limits,crowd"

func main() {
	var o options
	flag.BoolVar(&o.short, "short", false, "a minute over one PostgreSQL instead of half an hour over Patroni")
	flag.StringVar(&o.scenes, "scenes", allScenes, "what to play, each with a database of its own")
	flag.IntVar(&o.processes, "processes", 3, "processes of the service")
	flag.IntVar(&o.deaths, "deaths", 5, "SIGKILLs before all other faults, after each of which a process stays dead")
	flag.IntVar(&o.kills, "kills", 60, "SIGKILLs of processes that start again at once")
	flag.IntVar(&o.freezes, "freezes", 20, "SIGSTOPs, each for 5 seconds up to -longest")
	flag.IntVar(&o.restarts, "restarts", 20, "restarts of the database")
	flag.IntVar(&o.cuts, "cuts", 100, "cuts of the network to the database")
	flag.IntVar(&o.holes, "holes", 10, "times that the network to the database swallows everything")
	flag.IntVar(&o.failovers, "failovers", 3, "times that another server takes over; 0: one PostgreSQL, no Patroni")
	flag.DurationVar(&o.pause, "pause", 2*time.Second, "between faults")
	flag.DurationVar(&o.think, "think", 100*time.Millisecond, "between two requests of a caller")
	flag.DurationVar(&o.longest, "longest", 90*time.Second, "the longest freeze")
	flag.DurationVar(&o.hole, "hole", 20*time.Second, "how long the network swallows everything")
	flag.DurationVar(&o.slowest, "slowest", 15*time.Second, "how long a request may take while its process runs")
	flag.DurationVar(&o.within, "within", 20*time.Second, "how soon others go on with the work of a dead process")
	flag.DurationVar(&o.quiet, "quiet", time.Second, "how late a neighbour's webhook may be (p99) when a process dies")
	flag.DurationVar(&o.skew, "skew", time.Minute, "how far the clocks of two processes are off, one either way")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of the order of faults")
	flag.StringVar(&o.binary, "binary", "", "the service; it is built when this is empty")
	flag.StringVar(&o.older, "older", "", "the version to upgrade from; it is built when this is empty")
	flag.StringVar(&o.from, "from", "", "the commit to build it from; by default that before the last migration")
	flag.IntVar(&o.rounds, "rounds", 10, "rolling restarts after the upgrade")
	flag.IntVar(&o.clients, "clients", 2000, "clients of the last scene, at once")
	flag.DurationVar(&o.stay, "stay", 20*time.Second, "how long they stay")
	flag.DurationVar(&o.hurry, "hurry", 5*time.Minute, "how long callers ask for more than their plan allows")
	flag.Parse()
	if o.short {
		if o.scenes == allScenes {
			o.scenes = "faults,limits,crowd"
		}
		o.deaths, o.failovers, o.skew = 0, 0, 0
		o.kills, o.freezes, o.restarts, o.cuts, o.holes = 3, 1, 1, 4, 1
		o.pause, o.longest, o.hole = time.Second, 8*time.Second, 6*time.Second
		o.slowest = time.Minute // other tests may run at the same time
		o.clients, o.stay, o.hurry = 300, 4*time.Second, 10*time.Second
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

// scenes are what can be played.
var scenes = map[string]func(context.Context, *world, *report) error{
	"faults": faults, "upgrade": upgrade, "limits": limits, "crowd": crowd,
}

// run plays the scenes and reports whether one of them went wrong.
func run(ctx context.Context, o options) (failed bool, err error) {
	say("seed %d", o.seed)
	dir, err := os.MkdirTemp("", "frontdesk-chaos")
	if err != nil {
		return false, err
	}
	defer func() {
		if failed || err != nil {
			say("the logs are in %s", dir)
			return
		}
		err = os.RemoveAll(dir)
	}()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the database's user must get through
		return false, err
	}
	if o.binary == "" {
		if o.binary, err = build(ctx, "..", filepath.Join(dir, "frontdesk")); err != nil {
			return false, err
		}
	}
	for name := range strings.SplitSeq(o.scenes, ",") {
		scene, ok := scenes[name]
		if !ok {
			return failed, fmt.Errorf("there is no scene %q; there are faults, upgrade, limits and crowd", name)
		}
		w := &world{options: o, dir: filepath.Join(dir, name),
			random: rand.New(rand.NewPCG(o.seed, 0))} //nolint:gosec // a seed to repeat
		if err := os.Mkdir(w.dir, 0o755); err != nil { //nolint:gosec // as above
			return failed, err
		}
		r := newReport()
		err := scene(ctx, w, r)
		w.stop()
		if err != nil {
			return failed, fmt.Errorf("%s: %w", name, err)
		}
		failed = r.print(name) || failed
	}
	return failed, nil
}

// faults lets everything go wrong under load that can go wrong.
func faults(ctx context.Context, w *world, r *report) (err error) {
	if w.skew > 0 {
		if w.binary, err = buildSkewed(ctx, w.dir); err != nil {
			return err
		}
	}
	l, err := w.begin(ctx, r)
	if err != nil {
		return err
	}
	stop := l.run(ctx)
	defer stop()
	if w.deaths > 0 {
		if err := w.die(ctx, l); err != nil {
			return err
		}
	}
	l.enter("faults")
	r.faults = w.disturb(ctx)
	r.faults["death"] = w.deaths
	stop()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.heal(ctx); err != nil {
		return err
	}
	if err := w.checkSkew(r); err != nil {
		return err
	}
	return l.check(ctx)
}

// die kills one process after the other, and lets each stay dead until the others
// must have taken over its work.
func (w *world) die(ctx context.Context, l *load) error {
	for i := range w.deaths {
		l.enter("deaths")
		p := w.fleet[i%len(w.fleet)]
		calm := p.inTrouble()
		p.away.Store(true)
		p.kill()
		if err := wait(ctx, w.within+2*time.Second); err != nil {
			return err
		}
		err := p.start(ctx)
		p.away.Store(false)
		calm()
		if err != nil {
			return err
		}
	}
	say("%d deaths", w.deaths)
	return wait(ctx, w.within) // what began in this stage is done before the next
}
