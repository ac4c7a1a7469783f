package job

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// The default lanes. They are separate so that slow providers never hold up
// jobs that only use the database.
const (
	laneTx   = "tx"
	laneFlow = "flow"
)

// lane is a bounded set of workers with their own dispatcher.
type lane struct {
	name  string
	slots chan struct{} // has one for each worker that runs, and for a look
	wake  chan struct{} // has one when there may be work

	mu             sync.Mutex
	resting        map[id.ID]time.Time // organizations whose jobs met a locked row, and until when they rest
	recentlyServed map[id.ID]time.Time // organizations that were just served, and until when fair claims skip them

	behind atomic.Bool  // jobs are due for longer than behindTime
	claims atomic.Int64 // while behind; every eighth is a fair one
}

// laneName also makes a name safe in SQL (sql.go).
var laneName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// openLane returns the lane of a name, and makes it the first time.
func (q *Queue) openLane(name string, workers int) *lane {
	if !laneName.MatchString(name) || workers <= 0 {
		panic("job: lane " + name + " needs a simple name and workers")
	}
	l := q.lanes[name]
	if l == nil {
		l = &lane{name: name, slots: make(chan struct{}, workers), wake: make(chan struct{}, 1)}
		q.lanes[name] = l
	}
	if cap(l.slots) != workers {
		panic("job: lane " + name + " is declared with different numbers of workers")
	}
	return l
}

// wakeDispatcher wakes the dispatcher, because there may be work. It never waits.
func (l *lane) wakeDispatcher() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// A Tx job that meets a row which another transaction has locked waits a moment
// and gives up. Its organization then rests in this lane, so that the workers are
// there for the others whatever holds the lock, and for how long.
const (
	lockWait = 200 * time.Millisecond
	restTime = 200 * time.Millisecond
)

// restOrganization leaves an organization out of the next claims, and looks again when its rest
// is over.
func (l *lane) restOrganization(org id.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.resting == nil {
		l.resting = map[id.ID]time.Time{}
	}
	l.resting[org] = time.Now().Add(restTime)
	time.AfterFunc(restTime, l.wakeDispatcher)
}

// restingOrganizations lists the organizations that rest.
func (l *lane) restingOrganizations() (out []id.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return stillWaiting(l.resting)
}

// stillWaiting lists the organizations whose time is to come, and forgets the others. The
// lane's mutex is held.
func stillWaiting(times map[id.ID]time.Time) (out []id.ID) {
	for org, end := range times {
		if time.Now().Before(end) {
			out = append(out, org)
		} else {
			delete(times, org)
		}
	}
	return out
}

// While a lane is behind, the jobs that are due for longest may all belong to one
// organization's burst. So every eighth claim is for an organization that was not
// served lately, found among the newest jobs.
const (
	behindTime = 200 * time.Millisecond
	servedTime = 100 * time.Millisecond
	fairClaims = 8
)

// noteServed notes that an organization gets a worker, while the lane is behind.
func (l *lane) noteServed(r row) {
	if r.OrganizationID == nil || !l.behind.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.recentlyServed == nil {
		l.recentlyServed = map[id.ID]time.Time{}
	}
	l.recentlyServed[*r.OrganizationID] = time.Now().Add(servedTime)
}

// organizationsToSkip lists the organizations that this claim passes over, if it is a fair one.
// Usually it is not, and there are none.
func (l *lane) organizationsToSkip() []id.ID {
	if !l.behind.Load() || l.claims.Add(1)%fairClaims != 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return stillWaiting(l.recentlyServed)
}

// dispatchLane adds a worker to the lane whenever a job is due and a slot is free.
// Each claim wakes it again, so a burst soon has all workers, and each worker
// stays until it finds no job.
func (q *Queue) dispatchLane(l *lane) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-q.stopping:
			return
		case <-l.wake:
		case <-timer.C:
		}
		select {
		case <-q.stopping:
			return
		case l.slots <- struct{}{}:
		}
		due, wait := q.peekDueJob(l)
		timer.Reset(wait)
		if !due {
			<-l.slots
			continue
		}
		q.running.Go(func() {
			defer func() { <-l.slots }()
			q.runWorker(l)
		})
	}
}

// peekDueJob reports whether a job is due, and when to look again. It only reads, so
// that an idle process does not write.
func (q *Queue) peekDueJob(l *lane) (due bool, wait time.Duration) {
	wait = q.jittered(q.opts.Poll)
	err := q.db.Read(q.base, func(ctx context.Context, tx *db.Tx) error {
		at, err := db.QueryOne[int64](ctx, tx, q.statementTexts().peek, l.name)
		if err != nil {
			return err
		}
		if left := time.Duration(at-int64(q.clock.Now())) * time.Microsecond; left > 0 {
			wait = min(wait, left)
		} else {
			due = true
		}
		return nil
	})
	if err != nil && !errors.Is(err, db.ErrNoRow) {
		q.log.WarnContext(q.base, "cannot look for due jobs", "lane", l.name, "err", err)
	}
	return due, wait
}

// runWorker runs jobs until none is due.
func (q *Queue) runWorker(l *lane) {
	for !q.isStopping() {
		found, err := q.runNextJob(l)
		if err != nil {
			// The database is in trouble. The worker keeps its slot while it
			// waits, so that the lane does not spin.
			q.log.ErrorContext(q.base, "a job could not be claimed or completed", "lane", l.name, "err", err)
			select {
			case <-q.stopping:
			case <-time.After(q.jittered(q.opts.Poll)):
			}
			continue
		}
		if !found {
			return
		}
	}
}
