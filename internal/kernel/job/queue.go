package job

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// Options say how a queue works. Zero values pick the defaults.
type Options struct {
	DB          *db.DB
	Clock       *clock.Clock
	Log         *slog.Logger
	TxWorkers   int            // jobs at once in the lane "tx"; 8
	FlowWorkers int            // jobs at once in the lane "flow"; 16
	Poll        time.Duration  // how often to look for what other processes enqueued; 1 s
	Sweep       time.Duration  // how often to look for lost leases; 1 s on PostgreSQL, else 3 s
	Lease       time.Duration  // how long a claim outlives the last sign of life of its process; 15 s
	Retention   time.Duration  // how long finished jobs are kept; 7 days
	Random      func() float64 // for jitter, in [0,1); tests fix it
}

// Queue enqueues and runs jobs. Every process declares all handlers, even one
// that only enqueues. Only a process that runs jobs calls Start.
type Queue struct {
	db       *db.DB
	clock    *clock.Clock
	log      *slog.Logger
	opts     Options
	handlers map[string]*handler
	lanes    map[string]*lane

	textsOnce sync.Once // builds texts; afterwards no handler can be declared
	texts     *statements

	base        context.Context // of every handler; cancelled when Stop times out
	abort       context.CancelFunc
	started     bool
	stop        sync.Once
	stopping    chan struct{}
	running     sync.WaitGroup // dispatchers, workers and the sweep: what Stop waits for
	renewing    sync.WaitGroup // what must go on until the last job has ended
	busy        sync.Map       // *Job → until when its lease is renewed
	presence    *db.Presence
	absentSince map[int64]time.Time // numbers of processes that have leases but are not there, and since when

	// What this process has done so far, for ReadGauges.
	ran, errs, panics, locked atomic.Int64
}

// New returns a queue whose only kind is the one that purges its finished jobs.
func New(o Options) *Queue {
	if o.DB == nil || o.Clock == nil {
		panic("job: a queue needs a database and a clock")
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	o.TxWorkers = orDefault(o.TxWorkers, 8)
	o.FlowWorkers = orDefault(o.FlowWorkers, 16)
	o.Poll = orDefault(o.Poll, time.Second)
	if o.DB.Engine() == db.Postgres {
		o.Sweep = orDefault(o.Sweep, time.Second)
	}
	o.Sweep = orDefault(o.Sweep, 3*time.Second)
	o.Lease = orDefault(o.Lease, 15*time.Second)
	o.Retention = orDefault(o.Retention, 7*24*time.Hour)
	q := &Queue{db: o.DB, clock: o.Clock, log: o.Log, opts: o,
		handlers: map[string]*handler{}, lanes: map[string]*lane{}, stopping: make(chan struct{}),
		presence: o.DB.NewPresence()}
	q.base, q.abort = context.WithCancel(context.Background())
	q.openLane(laneTx, o.TxWorkers)
	q.openLane(laneFlow, o.FlowWorkers)
	HandleTx(q, "jobs.purge", q.purgeFinished, Every(time.Hour))
	return q
}

func orDefault[T int | time.Duration](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return v
}

// Start takes over the jobs of dead processes, creates the missing periodic jobs
// and begins to work. Afterwards no kind can be declared.
func (q *Queue) Start(ctx context.Context) error {
	if q.started {
		panic("job: started twice")
	}
	q.started = true
	if err := q.reclaimAtStart(ctx); err != nil {
		return fmt.Errorf("job: start: %w", err)
	}
	if err := q.ensurePeriodicRows(ctx); err != nil {
		return fmt.Errorf("job: start: %w", err)
	}
	if q.presence.IsPossible() {
		if err := q.takeOverAbsent(ctx); err != nil { // first, so that every lease has its holder
			q.log.WarnContext(ctx, "other processes do not see that this one lives", "err", err)
		}
		q.renewing.Go(q.presenceLoop)
	}
	for _, l := range q.lanes {
		q.running.Go(func() { q.dispatchLane(l) })
	}
	q.running.Go(q.sweepLoop)
	if q.db.Engine() == db.Postgres {
		q.renewing.Go(q.renewLoop)
	}
	return nil
}

// Stop claims nothing more and waits for the running jobs. When ctx ends first it
// cancels the handlers and returns. Their jobs run again, in the next process or
// when the lease expires.
func (q *Queue) Stop(ctx context.Context) error {
	q.stop.Do(func() { close(q.stopping) })
	idle := make(chan struct{})
	go func() { q.running.Wait(); close(idle) }()
	select {
	case <-idle:
		q.abort()
		q.renewing.Wait()
		return nil
	case <-ctx.Done():
		q.abort()
		return fmt.Errorf("job: stopped with jobs still running: %w: %s", ctx.Err(),
			strings.Join(q.RunningJobs(), ", "))
	}
}

// RunningJobs names the jobs that this process is running.
func (q *Queue) RunningJobs() (names []string) {
	q.busy.Range(func(key, _ any) bool {
		j := key.(*Job)
		names = append(names, fmt.Sprintf("job %s %d", j.Kind, j.ID))
		return true
	})
	return names
}

// trackRunning records a running job until the returned function is called.
func (q *Queue) trackRunning(j *Job) func() {
	q.busy.Store(j, time.Now().Add(j.handler.timeout+q.opts.Lease))
	return func() { q.busy.Delete(j) }
}

func (q *Queue) isStopping() bool {
	select {
	case <-q.stopping:
		return true
	default:
		return false
	}
}

// jittered varies d by a quarter either way, so that processes do not all act at
// the same moment.
func (q *Queue) jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + q.opts.Random()/2))
}
