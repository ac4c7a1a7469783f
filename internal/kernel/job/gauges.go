package job

import (
	"context"
	"errors"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
)

// Gauges are the queue's figures at one moment, for /metrics. Counts of rows
// stop at 10,000, so that reading them takes a few milliseconds at most.
type Gauges struct {
	Lanes   []LaneGauges
	Running int // flows with a lease, in all processes
	Failed  int // failed for good, and still kept

	// Of this process, since it started.
	Ran, Errors, Panics int64
	Locked              int64 // runs that gave up at once because a row was locked
}

// LaneGauges are the figures of one lane.
type LaneGauges struct {
	Name       string
	Ready      int     // due and not claimed
	LagSeconds float64 // how long the oldest of them has been due
	Busy       int     // places taken in this process
	Workers    int
}

// ReadGauges reads the queue's figures.
func (q *Queue) ReadGauges(ctx context.Context) (Gauges, error) {
	var g Gauges
	err := q.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		g = Gauges{Ran: q.ran.Load(), Errors: q.errs.Load(), Panics: q.panics.Load(),
			Locked: q.locked.Load()}
		now := q.clock.Now()
		for _, l := range q.lanes {
			of := LaneGauges{Name: l.name, Busy: len(l.slots), Workers: cap(l.slots)}
			if of.Ready, err = db.QueryOne[int](ctx, tx, q.statementTexts().countDue, l.name, now); err != nil {
				return err
			}
			oldest, err := db.QueryOne[int64](ctx, tx, q.statementTexts().peek, l.name)
			if err != nil && !errors.Is(err, db.ErrNoRow) {
				return err
			}
			if err == nil {
				of.LagSeconds = max(float64(int64(now)-oldest)/1e6, 0)
			}
			g.Lanes = append(g.Lanes, of)
		}
		slices.SortFunc(g.Lanes, func(a, b LaneGauges) int { return strings.Compare(a.Name, b.Name) })
		if g.Running, err = db.QueryOne[int](ctx, tx, q.statementTexts().countRunning); err != nil {
			return err
		}
		g.Failed, err = db.QueryOne[int](ctx, tx, q.statementTexts().countFailed)
		return err
	})
	return g, err
}
