package file

import (
	"context"
	"sync"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"golang.org/x/sync/singleflight"
)

// LimitReached refuses bytes that exceed the plan's storage.
var LimitReached = fault.DefineKind("STORAGE_LIMIT_REACHED", 413,
	"The organization has used all the storage of its plan.")

// How long a measurement stays valid. Tests may set these to zero.
var (
	measureEvery         = time.Minute        // while there is room
	measureBeforeRefusal = 5 * time.Second    // before a refusal
	measureCostFactor    = time.Duration(100) // a factor: at least this many times as long as measuring took
)

const measureTimeout = 30 * time.Second

// storage tracks how much each organization stores and enforces its plan. It
// asks the database now and then, and counts in memory what this process adds in
// between. So no row is locked, and concurrent uploads of one process cannot
// exceed the limit together. What other processes add is seen at the next
// measurement.
type storage struct {
	db        *db.DB
	limits    map[string]int64   // by plan
	measuring singleflight.Group // one measurement at a time for each organization

	mu   sync.Mutex
	orgs map[id.ID]*usage
}

// usage is what one organization stores, in bytes.
type usage struct {
	limit     int64
	stored    int64     // at the last measurement
	committed int64     // committed since then
	reserved  int64     // reserved by uploads under way
	measured  time.Time // zero if never
	took      time.Duration
}

// usageEntry returns the entry of an organization, new if there is none. The caller
// holds mu.
func (s *storage) usageEntry(org id.ID) *usage {
	u := s.orgs[org]
	if u == nil {
		u = &usage{}
		s.orgs[org] = u
	}
	return u
}

// isStale reports whether the last measurement is older than age.
func (s *storage) isStale(org id.ID, age time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.usageEntry(org)
	return u.measured.IsZero() || time.Since(u.measured) >= max(age, measureCostFactor*u.took)
}

// measureUsage reads limit and usage from the database, in one snapshot. Deleted rows
// count until they are purged, because their bytes are still there.
func (s *storage) measureUsage(ctx context.Context, org id.ID) error {
	_, err, _ := s.measuring.Do(string(org), func() (any, error) {
		s.mu.Lock()
		known := s.usageEntry(org).committed // committed before the snapshot, so it will be included in stored
		s.mu.Unlock()
		// The first caller may hang up; the others still wait for the answer.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), measureTimeout)
		defer cancel()
		begin := time.Now() //nolint:forbidigo // a duration, not a time
		var plan string
		var stored int64
		err := s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			o, err := account.LoadOrganization(ctx, tx, org)
			if err != nil {
				return err
			}
			plan = o.Plan
			stored, err = db.QueryOne[int64](ctx, tx, "SELECT "+db.StoredBytes("$1"), org)
			return err
		})
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		u := s.usageEntry(org)
		u.limit, u.stored, u.committed = s.limits[plan], stored, u.committed-known
		u.measured, u.took = time.Now(), time.Since(begin) //nolint:forbidigo // as above
		return nil, nil
	})
	return err
}

// tryReserve counts bytes of an upload under way, if there is room for them.
func (s *storage) tryReserve(org id.ID, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.usageEntry(org)
	// Before the first measurement everything is accepted, and still counted:
	// release and settle subtract it again.
	if !u.measured.IsZero() && u.stored+u.committed+u.reserved+n > u.limit {
		return LimitReached.Say("The organization's files and mail take %d bytes; its plan allows %d. "+
			"Deleted items count until they are purged.", u.stored+u.committed, u.limit)
	}
	u.reserved += n
	return nil
}

// reserveMeasured is tryReserve outside transactions: it measures again when the last
// measurement is old, and before it refuses.
func (s *storage) reserveMeasured(ctx context.Context, org id.ID, n int64) error {
	for _, age := range []time.Duration{measureEvery, measureBeforeRefusal} {
		if s.isStale(org, age) {
			if err := s.measureUsage(ctx, org); err != nil {
				return err
			}
		}
		if err := s.tryReserve(org, n); err == nil || age == measureBeforeRefusal {
			return err
		}
	}
	return nil
}

// settleReserved counts reserved bytes as stored.
func (s *storage) settleReserved(org id.ID, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.usageEntry(org)
	u.reserved, u.committed = u.reserved-n, u.committed+n
}

// releaseReserved gives reserved bytes back.
func (s *storage) releaseReserved(org id.ID, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usageEntry(org).reserved -= n
}

// CheckRoom refuses when the organization has no room for a single byte. It reads
// the database, so it is called outside transactions.
func (s *Store) CheckRoom(ctx context.Context, org id.ID) error {
	err := s.storage.reserveMeasured(ctx, org, 1)
	if err == nil {
		s.storage.releaseReserved(org, 1)
	}
	return err
}

// ChargeBytes counts bytes that the caller's transaction stores outside files, in
// tables whose Life names a column of bytes. Measuring inside a transaction would
// keep others waiting, so the last measurement decides. If that is old, it is
// refreshed in the background for the next call.
func (s *Store) ChargeBytes(tx *db.Tx, org id.ID, n int64) error {
	err := s.storage.tryReserve(org, n)
	age := measureEvery
	if err != nil {
		age = measureBeforeRefusal
	}
	if s.storage.isStale(org, age) {
		go s.measureInBackground(org) // even if the transaction rolls back, as it does when there is no room
	}
	if err != nil {
		return err
	}
	s.storage.releaseReserved(org, n)
	tx.OnCommit(func() {
		s.storage.mu.Lock()
		defer s.storage.mu.Unlock()
		s.storage.usageEntry(org).committed += n
	})
	return nil
}

func (s *Store) measureInBackground(org id.ID) {
	ctx := context.Background() // outside the transaction
	if err := s.storage.measureUsage(ctx, org); err != nil {
		s.log.WarnContext(ctx, "storage could not be measured", "organization", org, "err", err)
	}
}
