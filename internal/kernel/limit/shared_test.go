package limit_test

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/limit"
)

// each gives fn a database of each engine with the table of allowances.
func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	text, err := os.ReadFile("../../../migrations/0031_machines.sql")
	if err != nil {
		t.Fatal(err)
	}
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		fn(t, dbtest.Open(t, e, fstest.MapFS{"0031_machines.sql": {Data: text}}))
	})
}

// Three processes that spend at the same time spend one allowance, to the last.
func TestExactIsShared(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		processes := make([]limit.ExactLimiter[string], 3)
		if d.Engine() == db.SQLite {
			processes = processes[:1] // one process owns the file
		}
		var ok, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range processes {
			p := &processes[i]
			p.Name, p.Ledger = "test", limit.NewLedger(d)
			for range 20 {
				wg.Go(func() {
					v, err := p.Spend(t.Context(), "ada", 10, time.Hour, time.Now())
					switch {
					case err != nil:
						t.Error(err)
					case v.OK:
						ok.Add(1)
					default:
						refused.Add(1)
						if v.Retry <= 0 || v.Retry > 7*time.Minute || v.Limit != 10 {
							t.Errorf("refused with %+v", v)
						}
					}
				})
			}
		}
		wg.Wait()
		if ok.Load() != 10 || refused.Load() != int64(20*len(processes)-10) {
			t.Errorf("%d spent, %d refused", ok.Load(), refused.Load())
		}
		p := &processes[0]
		if err := p.Refund(t.Context(), "ada", 10, time.Hour); err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{true, false} {
			if v, err := p.Spend(t.Context(), "ada", 10, time.Hour, time.Now()); err != nil || v.OK != want {
				t.Errorf("after one was returned: %+v, %v", v, err)
			}
		}
		if v, err := p.Spend(t.Context(), "grace", 10, time.Hour, time.Now()); err != nil || !v.OK || v.Remaining != 9 {
			t.Errorf("somebody else: %+v, %v", v, err)
		}
	})
}

// Three processes together let through what the plan says, within two percent, and
// none of them keeps the whole allowance for itself.
func TestLeasedIsShared(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		processes := make([]limit.LeasedLimiter[string], 3)
		if d.Engine() == db.SQLite {
			processes = processes[:1]
		}
		const n, per = 1000, 1000 * time.Hour // so that none comes back while the test runs
		var ok atomic.Int64
		var wg sync.WaitGroup
		for i := range processes {
			p := &processes[i]
			p.Name, p.Ledger, p.Per = "test", limit.NewLedger(d), per
			wg.Go(func() {
				mine := 0
				for range n {
					if v := p.SpendMany(t.Context(), "ada", 1, n, time.Now()); v.OK {
						mine++
					}
				}
				ok.Add(int64(mine))
			})
		}
		wg.Wait()
		if got := ok.Load(); got < n*98/100 || got > n*102/100 {
			t.Errorf("%d of %d were let through", got, n)
		}
		v := processes[0].SpendMany(t.Context(), "ada", 100, n, time.Now())
		if v.OK || v.Retry <= 0 {
			t.Errorf("a hundred more: %+v", v)
		}
		looking := []*limit.LeasedLimiter[string]{&processes[0]}
		if d.Engine() == db.Postgres {
			looking = append(looking, &limit.LeasedLimiter[string]{Name: "test", Ledger: limit.NewLedger(d),
				Per: per}) // just started
		}
		for _, p := range looking {
			err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				if v, err := p.Peek(ctx, tx, "ada", n, time.Now()); err != nil || v.OK || v.Remaining > 0 {
					t.Errorf("a look at nothing: %+v %v", v, err)
				}
				v, err := p.Peek(ctx, tx, "bob", n, time.Now())
				if v.Remaining != n {
					t.Errorf("a look at all: %+v", v)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// While the database does not answer, rates are counted by each process.
func TestLeasedFailsOpen(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		p := limit.LeasedLimiter[string]{Name: "test", Ledger: limit.NewLedger(d), Per: time.Hour}
		e := limit.ExactLimiter[string]{Name: "test", Ledger: limit.NewLedger(d)}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // no statement gets an answer
		for i := range 11 {
			if v := p.SpendMany(ctx, "ada", 1, 10, time.Now()); v.OK != (i < 10) {
				t.Errorf("request %d: %+v", i, v)
			}
		}
		v, err := e.Spend(ctx, "ada", 10, time.Hour, time.Now())
		if d.Engine() == db.Postgres && (err == nil || v.OK) {
			t.Errorf("a password was tried without its allowance: %+v, %v", v, err)
		}
	})
}
