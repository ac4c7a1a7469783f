package certificate

import (
	"context"
	"math/rand/v2"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// lockLease is how long a lock outlives its process.
const lockLease = 15 * time.Second

// heldLock is a lock that this process holds. Its row is renewed until it is released.
type heldLock struct {
	holder id.ID
	stop   context.CancelFunc
	done   chan struct{}
}

// Lock waits until nobody else holds the lock of a name, then takes it. A lock that a
// dead process held is free when its lease has run out.
func (s *store) Lock(ctx context.Context, name string) error {
	for {
		ok, err := s.TryLock(ctx, name)
		if ok || err != nil {
			return err
		}
		wait := min(time.Second, s.lease/4)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// TryLock takes the lock of a name if nobody holds it.
func (s *store) TryLock(ctx context.Context, name string) (bool, error) {
	holder, taken := id.New(), false
	err := s.db.Write(db.WithReservedPool(ctx), func(ctx context.Context, tx *db.Tx) error {
		now, err := db.ReadClock(ctx, tx)
		if err != nil {
			return err
		}
		n, err := db.Exec(ctx, tx, `
			INSERT INTO certificate_locks AS l (name, holder, held_until) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
			WHERE l.held_until < $4 OR l.holder = excluded.holder`,
			name, holder, now.Add(s.lease), now)
		taken = n == 1
		return err
	})
	if err != nil || !taken {
		return false, err
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &heldLock{holder: holder, stop: stop, done: make(chan struct{})}
	s.mu.Lock()
	s.held[name] = l
	s.mu.Unlock()
	go s.renewLock(renewing, name, l)
	return true, nil
}

// renewLock keeps a lock until it is released, or until another process took it over
// because this one was away for longer than the lease.
func (s *store) renewLock(ctx context.Context, name string, l *heldLock) {
	defer close(l.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.lease / 4):
		}
		var n int64
		err := s.db.Write(db.WithReservedPool(ctx), func(ctx context.Context, tx *db.Tx) error {
			now, err := db.ReadClock(ctx, tx)
			if err != nil {
				return err
			}
			n, err = db.Exec(ctx, tx, `
				UPDATE certificate_locks SET held_until = $3
				WHERE name = $1 AND holder = $2`, name, l.holder, now.Add(s.lease))
			return err
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.WarnContext(ctx, "cannot renew a lock of the certificates", "lock", name, "err", err)
		case n == 0:
			s.log.WarnContext(ctx, "another process took over a lock of the certificates", "lock", name)
			return
		}
	}
}

// Unlock releases the lock of a name. If another process took the lock over, it stays
// that process's.
func (s *store) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	l := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	l.stop()
	<-l.done
	return s.db.Write(db.WithReservedPool(ctx), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "DELETE FROM certificate_locks WHERE name = $1 AND holder = $2", name, l.holder)
		return err
	})
}
