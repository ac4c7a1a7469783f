package job

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
)

// A periodic kind has one row, with periodKey as its key, which its completion
// moves to the next period. Whoever holds the row runs the period, and no second
// process can.
const periodKey = "(every)"

// nextPeriod returns the beginning of the next period after t. Periods are counted from
// 1970.
func nextPeriod(t clock.Time, every time.Duration) clock.Time {
	d := clock.Time(every.Microseconds())
	return t - t%d + d
}

// periodicText adds the row of a periodic kind, or moves one that is due too late.
// A row that is due later than one period from now comes from a release with a
// longer period. A smaller difference may come from two machines' clocks, and
// moving the row would run a period twice. So would moving a row that somebody
// has moved on since it was read.
const periodicText = `
	INSERT INTO jobs (lane, kind, unique_key, args, state, run_at, attempt, max_attempts, fence, created_at)
	VALUES ($1, $2, $3, $4, 'ready', $5, 0, $6, 0, $7)
	ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL AND state IN ('ready', 'running') DO UPDATE
	SET run_at = excluded.run_at WHERE jobs.state = 'ready' AND jobs.run_at = $8`

// ensurePeriodicRows makes sure that every periodic kind has its row, due in time.
// It is repeated because an older release beside this one moves the row by its
// own period. It reads first, because usually there is nothing to do.
func (q *Queue) ensurePeriodicRows(ctx context.Context) error {
	type late struct {
		*handler
		runAt clock.Time // zero when there is no row
	}
	var todo []late
	err := q.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		todo = nil
		for _, h := range q.periodicHandlers() {
			at, err := db.QueryOne[clock.Time](ctx, tx, `
				SELECT run_at FROM jobs
				WHERE kind = $1 AND unique_key = $2 AND state IN ('ready', 'running')`, h.kind, periodKey)
			if errors.Is(err, db.ErrNoRow) || err == nil && at > nextPeriod(q.clock.Now(), h.every).Add(h.every) {
				todo = append(todo, late{h, at})
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(todo) == 0 {
		return err
	}
	return q.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		now := q.clock.Now()
		for _, h := range todo {
			args, err := json.Marshal(reflect.Zero(h.args).Interface())
			if err != nil {
				return err
			}
			if _, err := db.Exec(ctx, tx, periodicText, h.lane, h.kind, periodKey, db.JSON(args),
				nextPeriod(now, h.every), h.attempts, now, h.runAt); err != nil {
				return err
			}
			tx.OnCommit(q.lanes[h.lane].wakeDispatcher)
		}
		return nil
	})
}

// periodicHandlers lists the periodic kinds in a fixed order: processes that start
// together must lock their rows in the same one.
func (q *Queue) periodicHandlers() (out []*handler) {
	for _, h := range q.handlers {
		if h.every > 0 {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *handler) int { return strings.Compare(a.kind, b.kind) })
	return out
}
