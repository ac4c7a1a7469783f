package job

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/db"
)

// leaseMicros returns how long a flow's claim holds, in microseconds. On PostgreSQL the
// process renews its claims while it lives (renewLoop), so that others take over
// soon after it died. One process owns a SQLite file: nobody else could take over,
// and only a handler that hangs past its deadline loses its claim.
func (q *Queue) leaseMicros(h *handler) int64 {
	if q.db.Engine() == db.SQLite {
		return (h.timeout + q.opts.Lease).Microseconds()
	}
	return q.opts.Lease.Microseconds()
}

// renewLoop renews the leases of the flows that this process is running. It ends
// when they have: a process that is stopping still runs some.
func (q *Queue) renewLoop() {
	for {
		select {
		case <-q.base.Done():
			return
		case <-time.After(q.jittered(q.opts.Lease / 4)):
		}
		if err := q.renewLeases(q.base); err != nil && q.base.Err() == nil {
			q.log.WarnContext(q.base, "cannot renew the leases of running jobs", "err", err)
		}
	}
}

// renewLeases extends the leases of all running flows by one statement, which skips rows
// that are locked: their jobs are just being settled. A handler that hangs past its
// deadline is not renewed, so that its job is taken over.
func (q *Queue) renewLeases(ctx context.Context) error {
	var ids, fences []int64
	now := time.Now()
	q.busy.Range(func(key, until any) bool {
		if j := key.(*Job); j.handler.flow != nil && until.(time.Time).After(now) {
			ids, fences = append(ids, int64(j.ID)), append(fences, j.fence)
		}
		return true
	})
	if len(ids) == 0 {
		return nil
	}
	return q.db.Write(db.WithReservedPool(ctx), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, q.statementTexts().renew, ids, fences, q.opts.Lease.Microseconds(),
			q.presence.HeldNumber())
		return err
	})
}

// giveBackFlow makes a leased flow ready at once when this process does not know whether
// the commit was kept that leased it or that wrote its outcome. If that fails too,
// the lease runs out.
func (q *Queue) giveBackFlow(j *Job) {
	err := q.db.Write(db.WithReservedPool(context.WithoutCancel(q.base)), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			UPDATE jobs SET state = 'ready', fence = fence + 1, attempt = attempt - 1, leased_until = NULL,
				holder = NULL
			WHERE id = $1 AND fence = $2 AND state = 'running'`, j.ID, j.fence)
		return err
	})
	if err != nil {
		q.log.WarnContext(q.base, "a job waits until its lease runs out", "kind", j.Kind, "job", j.ID, "err", err)
	}
}

const (
	lookTime       = 200 * time.Millisecond // how often to look for processes that died
	goneTime       = 500 * time.Millisecond // a process that is absent for this long is taken for dead
	maxFailedLooks = 50                     // failed looks after which this process looks less often
)

// presenceLoop shows that this process lives, and takes over the jobs of others soon
// after they died, before their leases run out. It warns once when it cannot see
// them, until it can again.
func (q *Queue) presenceLoop() {
	defer q.presence.ReleaseNumber()
	for failed := 0; ; {
		err := q.takeOverAbsent(q.base)
		switch {
		case err == nil:
			failed = 0
		case q.base.Err() == nil:
			if failed++; failed == 1 {
				q.log.WarnContext(q.base, "cannot see which other processes live", "err", err)
			}
		}
		wait := lookTime
		if failed > maxFailedLooks {
			wait = q.opts.Lease / 4
		}
		select {
		case <-q.base.Done():
			return
		case <-time.After(q.jittered(wait)):
		}
	}
}

// takeOverAbsent takes over the jobs of processes that are gone. A process whose connection
// broke holds its number again after its next look. If it does not, and still lives,
// the fence keeps it from completing what others took over.
func (q *Queue) takeOverAbsent(ctx context.Context) error {
	absent, err := q.presence.FindAbsent(ctx, q.statementTexts().holders)
	before, now := q.absentSince, time.Now()
	q.absentSince = map[int64]time.Time{}
	for _, holder := range absent {
		since, known := before[holder]
		if !known {
			since = now
		}
		q.absentSince[holder] = since
		if now.Sub(since) >= goneTime {
			err = errors.Join(err, q.sweepLost(ctx, q.statementTexts().lostBy, holder))
		}
	}
	return err
}
