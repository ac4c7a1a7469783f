package limit

import (
	"context"
	"sync"
	"time"

	"frontdesk/internal/kernel/db"
)

// LeasedLimiter is an allowance that all processes share nearly exactly. A process takes a fiftieth of it from the
// ledger at a time and spends that on its own, so that most requests need no query. What it took and does not use is
// lost to the others until it has come back. Without a ledger, and while the database does not answer, it is a Limiter.
type LeasedLimiter[K comparable] struct {
	Name   string // tells its keys from those of other limiters in the ledger
	Ledger *Ledger
	Per    time.Duration // the time that the allowances are for
	local  Limiter[K]    // for when there is no ledger or it does not answer

	mu    sync.Mutex
	held  map[K]*leasedBlock
	swept time.Time
}

// leasedBlock is what a process holds of one key's allowance.
type leasedBlock struct {
	left    int           // how many requests are left of it, until expires
	spent   time.Duration // how much of the whole allowance was spent by all processes, at the time at
	at      time.Time
	expires time.Time
	refused time.Time // the ledger has refused, and is not asked again until then
}

const (
	blocksPerAllowance = 50              // how many blocks an allowance is divided into
	ledgerTimeout      = 2 * time.Second // how long to wait for the ledger
)

// SpendMany takes several requests from the key's allowance of n per time, or none. The order is: the block that the
// process holds, a new block from the ledger, and if the ledger has no whole block left, just what is needed.
func (l *LeasedLimiter[K]) SpendMany(ctx context.Context, k K, times, n int, now time.Time) Verdict {
	if l.Ledger == nil {
		return l.local.SpendMany(k, times, n, l.Per, now)
	}
	if v, known := l.spendFromBlock(k, times, n, now); known {
		return v
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	want, step := max(times, n/blocksPerAllowance), l.stepOf(n)
	spent, ok, err := l.Ledger.spendCost(ctx, allowanceKey(l.Name, k), time.Duration(want)*step, l.Per)
	if err == nil && !ok && want > times {
		want = times
		spent, ok, err = l.Ledger.spendCost(ctx, allowanceKey(l.Name, k), time.Duration(want)*step, l.Per)
	}
	if err != nil { // better a limit per process than none, or than refusing everybody
		return l.local.SpendMany(k, times, n, l.Per, now)
	}
	if !ok {
		want = 0
	}
	return l.keepBlock(k, leasedBlock{left: want, spent: spent, at: now, expires: now.Add(l.Per)}, ok, times, n)
}

// stepOf is the time in which one request of an allowance of n comes back.
func (l *LeasedLimiter[K]) stepOf(n int) time.Duration { return l.Per / time.Duration(max(n, 1)) }

// Peek says what is left of the key's allowance, and spends nothing. What other processes hold of it counts as spent.
func (l *LeasedLimiter[K]) Peek(ctx context.Context, tx *db.Tx, k K, n int, now time.Time) (Verdict, error) {
	if l.Ledger == nil {
		return l.local.Peek(k, n, l.Per, now), nil
	}
	spent, err := readSpent(ctx, tx, allowanceKey(l.Name, k))
	if err != nil {
		return Verdict{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := leasedBlock{spent: spent, at: now}
	if held := l.held[k]; held != nil && now.Before(held.expires) {
		b.left = held.left
	}
	v := b.verdictAfter(0, n, l.stepOf(n), l.Per, now)
	v.OK = v.Remaining > 0
	return v, nil
}

// spendFromBlock spends from the block that the process holds, or refuses without a query when the ledger refused a
// moment ago. known is false when the ledger must be asked.
func (l *LeasedLimiter[K]) spendFromBlock(k K, times, n int, now time.Time) (v Verdict, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.held[k]
	if b == nil {
		return v, false
	}
	if !now.Before(b.expires) {
		b.left = 0
	}
	switch {
	case b.left >= times:
		b.left -= times
		return b.verdictAfter(times, n, l.stepOf(n), l.Per, now), true
	case times == 1 && now.Before(b.refused):
		return Verdict{Limit: n, Reset: b.spentNow(now), Retry: b.refused.Sub(now)}, true
	}
	return v, false
}

// keepBlock adds what the ledger gave to the block that the process holds, and spends from it. If the ledger refused,
// it remembers that for a second at most.
func (l *LeasedLimiter[K]) keepBlock(k K, got leasedBlock, ok bool, times, n int) Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil || got.at.Sub(l.swept) > 10*time.Minute || len(l.held) >= maxKeys {
		l.dropExpiredBlocks(got.at)
	}
	if old := l.held[k]; old != nil && got.at.Before(old.expires) {
		got.left += old.left
	}
	if !ok {
		v := newVerdict(n, time.Duration(times)*l.stepOf(n), l.Per, got.spent, false)
		got.refused = got.at.Add(min(v.Retry, time.Second))
		l.held[k] = &got
		return v
	}
	got.left -= times
	l.held[k] = &got
	return got.verdictAfter(times, n, l.stepOf(n), l.Per, got.at)
}

// dropExpiredBlocks drops expired blocks, and more if there are too many.
func (l *LeasedLimiter[K]) dropExpiredBlocks(now time.Time) {
	kept := map[K]*leasedBlock{}
	for k, b := range l.held {
		if now.Before(b.expires) && len(kept) < maxKeys/2 {
			kept[k] = b
		}
	}
	l.held, l.swept = kept, now
}

// spentNow is how much of the whole allowance is spent now: what the ledger said, less what has come back since.
func (b *leasedBlock) spentNow(now time.Time) time.Duration { return max(b.spent-now.Sub(b.at), 0) }

// verdictAfter says what is left for a caller who has just spent some. What is left of the block counts as not spent.
func (b *leasedBlock) verdictAfter(times, n int, step, per time.Duration, now time.Time) Verdict {
	debt := max(b.spentNow(now)-time.Duration(b.left)*step, time.Duration(times)*step)
	return Verdict{Limit: n, Remaining: min(int((per-debt)/step), n), Reset: debt, OK: true}
}
