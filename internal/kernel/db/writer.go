package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"frontdesk/internal/kernel/fault"

	"zombiezen.com/go/sqlite"
)

const (
	queueLength = 1024                  // more waiting writes than this are refused
	maxBatch    = 256                   // writes in one commit
	maxBatchAge = 20 * time.Millisecond // after which a commit takes no more writes
	slowWrite   = 50 * time.Millisecond // a write that takes longer is logged: all others wait for it
)

// writer runs every write of SQLite on one goroutine. Writes that wait together
// share one BEGIN IMMEDIATE and one sync to disk, each behind its own savepoint, and
// none gets its result before the sync. So a lone write pays for a sync, and a
// thousand at once pay for a few.
type writer struct {
	db    *DB
	conn  *conn
	queue chan *writeRequest
	wg    sync.WaitGroup
	indexFollower

	mu     sync.RWMutex // held while sending to queue, which stopAndWait closes
	closed bool
}

// writeRequest is one write and its result.
type writeRequest struct {
	ctx    context.Context
	fn     Func
	tx     Tx
	err    error
	queued time.Time
	done   chan struct{} // closed when the result is durable
}

// newWriter starts the goroutine, which owns the connection from then on.
func newWriter(d *DB, c *conn) (*writer, error) {
	w := &writer{db: d, conn: c, queue: make(chan *writeRequest, queueLength)}
	if err := w.findWaitingTables(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	w.wg.Go(w.runLoop)
	return w, nil
}

// submitWrite has the writer run fn, and waits for its commit. It does not give up when ctx
// ends: once queued, only the writer knows whether fn ran. Full queues are refused.
func (w *writer) submitWrite(ctx context.Context, fn Func) error {
	r := &writeRequest{ctx: ctx, fn: fn, queued: time.Now(), done: make(chan struct{})}
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return fault.Unavailable.Say("The service is stopping.")
	}
	select {
	case w.queue <- r:
		w.mu.RUnlock()
	default:
		w.mu.RUnlock()
		w.db.stats.refused.Add(1)
		return fault.Unavailable.Say("Too many writes are waiting. Retry in a moment.")
	}
	<-r.done
	return r.err
}

// stopAndWait takes no more writes, and returns when those in the queue have committed.
func (w *writer) stopAndWait() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	w.wg.Wait()
}

// runLoop is the writer's goroutine. Between commits it indexes new rows for the
// search, and after each one if too many wait.
func (w *writer) runLoop() {
	for {
		select {
		case first, ok := <-w.queue:
			if !ok {
				for range 10 { // what is left then waits for the next start
					w.catchUpIndex()
				}
				return
			}
			w.commitBatch(first)
		case <-w.due.C:
			w.catchUpIndex()
		}
		if w.waitingRows >= maxWaitingRows {
			w.catchUpIndex()
		}
	}
}

// newWriteTx is a new Tx on the writer's connection.
func (w *writer) newWriteTx() *Tx { return &Tx{session: w.conn, db: w.db, writable: true} }

// commitBatch commits first and the requests that join it while it runs. All are answered
// after the sync.
//
// When SQLite itself ends the transaction (for example because the disk is full),
// the write that met the error gets it, and every other one runs again in a new
// transaction: their work is gone, and their results may no longer hold.
func (w *writer) commitBatch(first *writeRequest) {
	began := time.Now()
	var answered, ran []*writeRequest
	todo := []*writeRequest{first}
	open := true // more writes may join
	limit := maxBatch
	for len(todo) > 0 {
		ran = ran[:0]
		if err := w.conn.execSimple("BEGIN IMMEDIATE"); err != nil {
			for _, r := range todo {
				r.err = sqliteUnavailable(err)
			}
			answered = append(answered, todo...)
			break
		}
		lost := false
		for len(todo) > 0 && len(ran) < limit && !lost {
			r := todo[0]
			todo = todo[1:]
			lost = w.runRequest(r)
			if lost {
				answered = append(answered, r)
				todo = append(append([]*writeRequest(nil), ran...), todo...)
				open = false
				break
			}
			ran = append(ran, r)
			// Take one more from the queue, if there is one and it is not too late.
			for open && len(todo) == 0 && len(ran) < maxBatch && time.Since(began) < maxBatchAge {
				select {
				case r, ok := <-w.queue:
					if ok {
						todo = append(todo, r)
						continue
					}
				default:
				}
				break
			}
		}
		if lost {
			continue
		}
		if err := w.commitRequests(ran); err != nil {
			if len(ran) == 1 {
				ran[0].err = sqliteUnavailable(err)
				answered = append(answered, ran[0])
			} else {
				// One of them may be too large for the disk, so each gets its own commit.
				todo = append(append([]*writeRequest(nil), ran...), todo...)
				limit, open = 1, false
			}
			continue
		}
		answered = append(answered, ran...)
		open = false
	}
	w.db.stats.countBatch(len(answered), began)
	for _, r := range answered {
		w.db.stats.countWait(began.Sub(r.queued))
		close(r.done)
	}
}

// runRequest executes one write behind a savepoint, so that its error undoes only its own
// work. It reports whether SQLite ended the whole transaction, which shows in
// autocommit being on again.
func (w *writer) runRequest(r *writeRequest) (lost bool) {
	if r.err = r.ctx.Err(); r.err != nil {
		return false
	}
	if r.err = w.conn.execSimple("SAVEPOINT r"); r.err != nil {
		return w.conn.AutocommitEnabled()
	}
	start := time.Now()
	r.tx = *w.newWriteTx()
	end := func() bool { return false }
	if h := holdBudgetOf(r.ctx); h != nil {
		end = h.startTimer(w.conn)
	}
	// The work must not end halfway because a client hung up: see conn.
	r.err = callRecovering(markInTransaction(context.WithoutCancel(r.ctx)), r.fn, &r.tx)
	if tooLong := end(); tooLong {
		r.err = ErrHeldTooLong
	}
	if d := time.Since(start); d > slowWrite {
		w.db.stats.slow.Add(1)
		w.db.opts.Log.WarnContext(r.ctx, "a slow write held up all others", "took", d, "operation", LabelOf(r.ctx))
	}
	if w.conn.AutocommitEnabled() {
		if errors.Is(r.err, ErrHeldTooLong) {
			return true // an interrupted statement may end the whole transaction
		}
		if r.err == nil {
			r.err = sqliteUnavailable(fmt.Errorf("db: the transaction ended inside a closure"))
		} else {
			r.err = sqliteUnavailable(r.err)
		}
		return true
	}
	if r.err != nil {
		if err := w.conn.execSimple("ROLLBACK TO r"); err != nil {
			w.failFatally(fmt.Errorf("db: cannot undo a closure: %w", err))
		}
	}
	if err := w.conn.execSimple("RELEASE r"); err != nil {
		w.failFatally(fmt.Errorf("db: release: %w", err))
	}
	return false
}

// commitRequests updates the search index for the requests, syncs, and runs their OnCommit
// functions. An error means that nothing was kept.
func (w *writer) commitRequests(ran []*writeRequest) error {
	err := w.applyIndexChanges(ran)
	if err == nil {
		err = w.conn.execSimple("COMMIT")
	}
	if err != nil {
		if !w.conn.AutocommitEnabled() {
			if undo := w.conn.execSimple("ROLLBACK"); undo != nil {
				w.failFatally(fmt.Errorf("db: cannot roll back: %w", undo))
			}
		}
		switch sqlite.ErrCode(err).ToPrimary() {
		case sqlite.ResultFull, sqlite.ResultBusy:
			return err
		}
		// A failed sync may have lost what the operating system had already
		// accepted, so nothing may be acknowledged after it.
		w.failFatally(fmt.Errorf("db: commit: %w", err))
		return err
	}
	for _, r := range ran {
		if r.err == nil {
			for _, fn := range r.tx.afterCommit {
				fn()
			}
		}
	}
	return nil
}

// failFatally ends the process, unless a test wants otherwise. The next start recovers
// from the log.
func (w *writer) failFatally(err error) {
	if w.db.opts.OnFatal != nil {
		w.db.opts.OnFatal(err)
		return
	}
	w.db.opts.Log.Error("the database can no longer be trusted; stopping", "err", err)
	os.Exit(3)
}

// sqliteUnavailable answers 503 for a temporary failure of SQLite: a busy or full
// database. Other errors stay as they are.
func sqliteUnavailable(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultBusy, sqlite.ResultFull, sqlite.ResultLocked, sqlite.ResultInterrupt, sqlite.ResultIOErr:
		return fault.Unavailable.Because(err)
	}
	return err
}

type labelKey struct{}

// WithLabel names the work that ctx does, for logs of slow writes.
func WithLabel(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, labelKey{}, name)
}

// LabelOf returns the name that WithLabel set.
func LabelOf(ctx context.Context) string {
	s, _ := ctx.Value(labelKey{}).(string)
	return s
}
