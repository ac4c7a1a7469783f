package job

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/db"
)

// sweepLoop takes over the jobs of dead processes on a timer, and sees to the rows
// of periodic kinds.
func (q *Queue) sweepLoop() {
	for {
		select {
		case <-q.stopping:
			return
		case <-time.After(q.jittered(q.opts.Sweep)):
		}
		if err := errors.Join(q.sweepLost(q.base, q.statementTexts().lost), q.ensurePeriodicRows(q.base)); err != nil {
			q.log.WarnContext(q.base, "cannot look for lost jobs", "err", err)
		}
	}
}

// reclaimAtStart is the first sweep. One process owns a SQLite file, so whatever is
// running there belonged to a process that is gone. On PostgreSQL the lease
// decides.
func (q *Queue) reclaimAtStart(ctx context.Context) error {
	text := q.statementTexts().lost
	if q.db.Engine() == db.SQLite {
		text = q.statementTexts().lostAll
	}
	return q.sweepLost(ctx, text)
}

// sweepLost makes the jobs ready again that a statement calls lost, a hundred at a time,
// and moves jobs out of unknown lanes.
func (q *Queue) sweepLost(ctx context.Context, lost string, args ...any) error {
	for {
		n := int64(0)
		err := q.db.Write(db.WithoutOutcome(db.WithReservedPool(ctx)),
			func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = db.Exec(ctx, tx, lost, append([]any{q.clock.Now()}, args...)...)
				return err
			})
		if err != nil {
			return err
		}
		if n > 0 {
			q.log.WarnContext(ctx, "jobs of a lost worker are ready again", "jobs", n)
			q.wakeAllLanes()
		}
		if n < 100 {
			return q.adoptStrays(ctx)
		}
	}
}

// wakeAllLanes wakes all dispatchers.
func (q *Queue) wakeAllLanes() {
	for _, l := range q.lanes {
		l.wakeDispatcher()
	}
}

// adoptStrays moves jobs out of lanes that this process does not have, where an
// older release may have put them.
func (q *Queue) adoptStrays(ctx context.Context) error {
	var strays []string
	err := q.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		strays = nil
		for at := ""; ; {
			// Jump from lane to lane through the index, past all their jobs.
			next, err := db.QueryOne[string](ctx, tx, q.statementTexts().strays, at)
			if errors.Is(err, db.ErrNoRow) {
				return nil
			}
			if err != nil {
				return err
			}
			if at = next; q.lanes[at] == nil {
				strays = append(strays, at)
			}
		}
	})
	if err != nil {
		return err
	}
	for _, lane := range strays {
		err := q.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, q.statementTexts().adopt, lane)
			return err
		})
		if err != nil {
			return err
		}
		q.wakeAllLanes()
	}
	return nil
}
