package db

import (
	"context"
	"os"
	"sync/atomic"
	"time"
)

// Stats counts what the engines do, for /metrics. PostgreSQL counts each write as
// a batch of one.
type Stats struct {
	Batches, Writes, WaitMicros, BusyMicros atomic.Int64
	refused, slow, retried                  atomic.Int64
	largestBatch, longestHold               atomic.Int64
}

// TakeLongestHold is the longest time for which one commit, with all writes that shared
// it, kept the other writes of SQLite waiting, since the last call.
func (d *DB) TakeLongestHold() time.Duration { return time.Duration(d.stats.longestHold.Swap(0)) }

// raiseTo sets a to n if n is more.
func raiseTo(a *atomic.Int64, n int64) {
	for m := a.Load(); n > m && !a.CompareAndSwap(m, n); m = a.Load() {
	}
}

// countBatch counts a commit of n writes that began at a time.
func (s *Stats) countBatch(n int, began time.Time) {
	s.Batches.Add(1)
	s.Writes.Add(int64(n))
	s.BusyMicros.Add(time.Since(began).Microseconds())
	raiseTo(&s.largestBatch, int64(n))
	raiseTo(&s.longestHold, int64(time.Since(began)))
}

// countWait counts how long a write stood in the queue.
func (s *Stats) countWait(d time.Duration) { s.WaitMicros.Add(max(d.Microseconds(), 0)) }

// Gauges are the engine's figures at one moment.
type Gauges struct {
	Batches, Writes        int64
	WaitSeconds            float64 // summed over all writes: time in the queue
	BusySeconds            float64 // summed over all batches
	LargestBatch           int64
	Refused, Slow, Retried int64
	QueueLength            int
	ReadersIdle, Readers   int
	WALBytes               int64
	PoolAcquired, PoolMax  int
}

// ReadGauges reads the engine's figures.
func (d *DB) ReadGauges() Gauges {
	g := d.engine.readGauges()
	s := &d.stats
	g.Batches, g.Writes, g.LargestBatch = s.Batches.Load(), s.Writes.Load(), s.largestBatch.Load()
	g.WaitSeconds, g.BusySeconds = float64(s.WaitMicros.Load())/1e6, float64(s.BusyMicros.Load())/1e6
	g.Refused, g.Slow, g.Retried = s.refused.Load(), s.slow.Load(), s.retried.Load()
	return g
}

func (e *sqliteEngine) readGauges() Gauges {
	g := Gauges{QueueLength: len(e.writer.queue), ReadersIdle: len(e.readers.slots), Readers: cap(e.readers.slots)}
	if info, err := os.Stat(e.path + "-wal"); err == nil {
		g.WALBytes = info.Size()
	}
	return g
}

func (e *postgresEngine) readGauges() Gauges {
	s := e.pool.Stat()
	return Gauges{PoolAcquired: int(s.AcquiredConns()), PoolMax: int(s.MaxConns())}
}

// VacuumState tells whether PostgreSQL keeps up with removing dead rows: how many there
// are, and how old the oldest snapshot is that still sees some of them. SQLite has
// neither.
type VacuumState struct {
	Dead   int64 `db:"dead"`
	Oldest int64 `db:"oldest"` // in microseconds
}

// ReadVacuumState reads the figures from PostgreSQL's statistics. It is not for SQLite.
func (d *DB) ReadVacuumState(ctx context.Context) (v VacuumState, err error) {
	err = d.Read(WithSingleStatement(ctx), func(ctx context.Context, tx *Tx) error {
		v, err = QueryOne[VacuumState](ctx, tx, `
			SELECT (SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_user_tables
					WHERE schemaname = current_schema()) AS dead,
				(SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)) * 1000000, 0)::bigint
					FROM pg_stat_activity
					WHERE datname = current_database() AND backend_xmin IS NOT NULL
						AND pid <> pg_backend_pid()) AS oldest`)
		return err
	})
	return v, err
}
