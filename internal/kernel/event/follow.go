package event

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Notice says that something happened to a row. It has no data: whoever gets one reads what it may.
type Notice struct {
	Seq          int64  `db:"seq"`
	Organization id.ID  `db:"organization_id"`
	Type         string `db:"type"`
	ResourceID   id.ID  `db:"resource_id"`
}

// Follower tells subscribers what happens in their organization, whichever process wrote it. It reads the log a few
// times a second, once for all subscribers of the process, and only while there are any. It is for open pages, which
// then read anew: a notice may come twice and, after a long stall, be missed. Work that must be done belongs to a
// listener.
type Follower struct {
	db  *db.DB
	log *slog.Logger

	mu      sync.Mutex
	subs    map[*Subscription]bool
	running bool
	closed  bool
}

// Subscription gets the notices of one organization.
type Subscription struct {
	C   chan Notice // closed when the process stops
	org id.ID
	// Missed gets a value when C was full and a notice was dropped: the subscriber should read everything anew.
	Missed chan struct{}
}

const (
	pollInterval = 250 * time.Millisecond
	// On PostgreSQL a transaction may commit after one that has a higher seq. A gap below the highest seq is read
	// again for so long.
	lateCommitWindow = 3 * time.Second
	maxPollRows      = 1000 // the most that one query reads
)

// NewFollower returns a follower of a database's log. It reads nothing until somebody subscribes.
func NewFollower(d *db.DB, log *slog.Logger) *Follower {
	return &Follower{db: d, log: log, subs: map[*Subscription]bool{}}
}

// Subscribe returns a subscription to the notices of an organization from now on, or nil when the process is stopping
// or has as many subscribers as most.
func (f *Follower) Subscribe(org id.ID, most int) *Subscription {
	s := &Subscription{C: make(chan Notice, 64), Missed: make(chan struct{}, 1), org: org}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.subs) >= most {
		return nil
	}
	f.subs[s] = true
	if !f.running {
		f.running = true
		go f.pollLog()
	}
	return s
}

// Unsubscribe ends a subscription.
func (f *Follower) Unsubscribe(s *Subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, s)
}

// Stop ends all subscriptions. It does not wait.
func (f *Follower) Stop(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for s := range f.subs {
		close(s.C)
	}
	clear(f.subs)
	return nil
}

// pollLog reads the log until there are no subscribers left. A failure is logged once, until reading works again.
func (f *Follower) pollLog() {
	t := logTail{hasLateCommits: f.db.Engine() == db.Postgres, seen: map[int64]time.Time{}}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for failed := false; ; <-tick.C {
		f.mu.Lock()
		if len(f.subs) == 0 {
			f.running = false
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		// No request's context: the follower serves all subscribers.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		news, err := t.readNew(ctx, f.db)
		cancel()
		if err != nil && !failed {
			f.log.WarnContext(ctx, "the event log cannot be followed; open pages are not updated", "err", err)
		}
		failed = err != nil
		f.sendNotices(news)
	}
}

// sendNotices sends notices to the subscribers of their organization. It never waits: a subscriber whose channel is
// full misses the notice and is told so.
func (f *Follower) sendNotices(news []Notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range news {
		for s := range f.subs {
			if s.org != n.Organization {
				continue
			}
			select {
			case s.C <- n:
			default: // C is full; Missed holds one value, which is enough
				select {
				case s.Missed <- struct{}{}:
				default:
				}
			}
		}
	}
}

// logTail is how far the log was read.
type logTail struct {
	begun          bool
	hasLateCommits bool                // events can commit in another order than that of seq
	floor          int64               // up to here nothing new is expected
	seen           map[int64]time.Time // the events above the floor that were read, and when
}

// readNew returns the events that were not read before. The first call returns none and only finds the end of the log.
// Later calls read everything above the floor, which rises past an event only when it was seen lateCommitWindow ago:
// until then, one with a lower seq may still commit.
func (t *logTail) readNew(ctx context.Context, d *db.DB) (news []Notice, err error) {
	err = d.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		if !t.begun {
			last, err := db.QueryOne[*int64](ctx, tx, "SELECT max(seq) FROM events")
			if err == nil && last != nil {
				t.floor = *last
			}
			t.begun = err == nil
			return err
		}
		news, err = db.QueryAll[Notice](ctx, tx, `
			SELECT seq, organization_id, type, resource_id FROM events
			WHERE seq > $1 ORDER BY seq LIMIT $2`, t.floor, maxPollRows)
		return err
	})
	if err != nil {
		return nil, err
	}
	now, full := time.Now(), len(news) == maxPollRows
	fresh := news[:0]
	for _, n := range news {
		if _, known := t.seen[n.Seq]; !known {
			t.seen[n.Seq] = now
			fresh = append(fresh, n)
		}
	}
	// A full page means that there is more to read, so the floor rises at once rather than reading the page again.
	for seq, at := range maps.Clone(t.seen) {
		if !t.hasLateCommits || full || now.Sub(at) > lateCommitWindow {
			t.floor = max(t.floor, seq)
		}
	}
	for seq := range t.seen {
		if seq <= t.floor {
			delete(t.seen, seq)
		}
	}
	return fresh, nil
}
