package file

import (
	"context"
	"sync"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"golang.org/x/sync/singleflight"
)

// LimitReached refuses bytes that the plan has no room for.
var LimitReached = fault.Define("STORAGE_LIMIT_REACHED", 413,
	"The organization stores as much as its plan has room for.")

// How long a measurement is believed, unless a test measures always.
var (
	measureEvery = time.Minute        // by those who have room
	measureAgain = 5 * time.Second    // by those who are refused
	measureShare = time.Duration(100) // and for as long as this many of them take
)

const measureTime = 30 * time.Second

// storage knows how much each organization stores, and holds it to its plan.
// It asks the database now and then, and counts what this process adds in
// between: no row has to be locked for it, and uploads at once cannot exceed
// the limit together. Other processes are noticed at the next measurement.
type storage struct {
	db     *db.DB
	limits map[string]int64 // by plan
	asks   singleflight.Group

	mu   sync.Mutex
	orgs map[id.ID]*use
}

// use is what one organization stores, in bytes.
type use struct {
	limit    int64
	stored   int64     // when it was measured
	settled  int64     // committed since
	open     int64     // on its way
	measured time.Time // zero for never
	took     time.Duration
}

func (s *storage) of(org id.ID) *use {
	u := s.orgs[org]
	if u == nil {
		u = &use{}
		s.orgs[org] = u
	}
	return u
}

// old reports whether what is known of an organization is older than an age.
func (s *storage) old(org id.ID, age time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.of(org)
	return u.measured.IsZero() || time.Since(u.measured) >= max(age, measureShare*u.took)
}

type measurement struct {
	Plan  string `db:"plan"`
	Bytes int64  `db:"bytes"`
}

// measure asks the database, on one snapshot. Deleted rows count until they
// are purged: they are still there.
func (s *storage) measure(ctx context.Context, org id.ID) error {
	_, err, _ := s.asks.Do(string(org), func() (any, error) {
		s.mu.Lock()
		known := s.of(org).settled // committed before, so the snapshot has it
		s.mu.Unlock()
		// Whoever asked first may hang up; the others still wait for the answer.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), measureTime)
		defer cancel()
		begin := time.Now() //nolint:forbidigo // how long it takes, not when
		var m measurement
		err := s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			m, err = db.One[measurement](ctx, tx, `SELECT plan, CAST(
				(SELECT coalesce(sum(size_bytes), 0) FROM files WHERE organization_id = $1)
				+ (SELECT coalesce(sum(size_bytes), 0) FROM messages WHERE organization_id = $1) AS bigint) AS bytes
				FROM organizations WHERE id = $1`, org)
			return err
		})
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		u := s.of(org)
		u.limit, u.stored, u.settled = s.limits[m.Plan], m.Bytes, u.settled-known
		u.measured, u.took = time.Now(), time.Since(begin) //nolint:forbidigo // as above
		return nil, nil
	})
	return err
}

// take counts bytes that are on their way, if there is room for them.
func (s *storage) take(org id.ID, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.of(org)
	// Before the first measurement all is taken, and counted all the same:
	// release and settle take it off again.
	if !u.measured.IsZero() && u.stored+u.settled+u.open+n > u.limit {
		return LimitReached.Say("The organization's files and mail have %d bytes, and its plan has room for %d. "+
			"What was deleted counts until it is removed for good.", u.stored+u.settled, u.limit)
	}
	u.open += n
	return nil
}

// hold is take outside of transactions: it asks the database when that was
// long ago, and before it refuses.
func (s *storage) hold(ctx context.Context, org id.ID, n int64) error {
	for _, age := range []time.Duration{measureEvery, measureAgain} {
		if s.old(org, age) {
			if err := s.measure(ctx, org); err != nil {
				return err
			}
		}
		if err := s.take(org, n); err == nil || age == measureAgain {
			return err
		}
	}
	return nil
}

// settle counts bytes as stored; release, as given up.
func (s *storage) settle(org id.ID, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.of(org)
	u.open, u.settled = u.open-n, u.settled+n
}

func (s *storage) release(org id.ID, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(org).open -= n
}

// Room refuses when the organization has none for a single byte. It reads, so
// it is called outside of transactions.
func (s *Store) Room(ctx context.Context, org id.ID) error {
	err := s.storage.hold(ctx, org, 1)
	if err == nil {
		s.storage.release(org, 1)
	}
	return err
}

// Charge counts bytes that the caller's transaction stores elsewhere than in
// files, in rows whose size_bytes are measured. Inside of a transaction nothing
// is measured, so that nobody waits: what is known decides, and is brought up
// to date for the next.
func (s *Store) Charge(tx *db.Tx, org id.ID, n int64) error {
	err := s.storage.take(org, n)
	age := measureEvery
	if err != nil {
		age = measureAgain
	}
	if s.storage.old(org, age) {
		go s.remeasure(org) // also for a transaction that is rolled back, as it is when there is no room
	}
	if err != nil {
		return err
	}
	s.storage.release(org, n)
	tx.OnCommit(func() {
		s.storage.mu.Lock()
		defer s.storage.mu.Unlock()
		s.storage.of(org).settled += n
	})
	return nil
}

func (s *Store) remeasure(org id.ID) {
	ctx := context.Background() // outside of the transaction
	if err := s.storage.measure(ctx, org); err != nil {
		s.log.WarnContext(ctx, "storage was not measured", "organization", org, "err", err)
	}
}
