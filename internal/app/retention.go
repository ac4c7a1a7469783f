package app

import (
	"context"
	"time"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/webhook"
)

// How many rows one transaction changes: few enough that nobody has to wait.
const (
	purgeBatch   = 500
	overdueBatch = 100
)

// overdueEvery is how often invoices are checked for being overdue.
const overdueEvery = 10 * time.Second

// retention declares the jobs that remove old rows, and those that act when a
// time has passed, such as invoices that become overdue.
func (a *App) retention() {
	for _, x := range a.DB.Expiries() {
		a.sweep(x.Table+".expire", time.Hour, x.Sweep(a.Settings.Retention))
	}
	a.sweep("webhooks.forget_secrets", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return webhook.Purge(ctx, tx, now, purgeBatch)
	})
	a.sweep("automations.expire", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return automation.Expire(ctx, tx, now.Add(-a.Settings.Retention.Executions), purgeBatch)
	})
	a.sweep("grants.expire", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return grant.Purge(ctx, tx, now, purgeBatch)
	})
	a.sweep("invoices.overdue", overdueEvery, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return invoice.MakeOverdue(ctx, tx, a.Events, now, overdueBatch)
	})
	ledger := limit.Share(a.DB)
	a.sweep("allowances.purge", time.Hour, func(ctx context.Context, tx *db.Tx, _ clock.Time) (bool, error) {
		return false, ledger.Purge(ctx, tx)
	})
	a.sweep("search.refold", time.Minute, db.Refold)
	a.sweep("deleted.purge", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return db.Purge(ctx, tx, now.Add(-a.Settings.Retention.Deleted), purgeBatch)
	})
}

// sweep declares a periodic job that works in batches, one per transaction, until
// batch reports that nothing is left.
func (a *App) sweep(kind string, every time.Duration,
	batch func(context.Context, *db.Tx, clock.Time) (more bool, err error)) {
	job.HandleTx(a.Jobs, kind, func(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
		more, err := batch(ctx, tx, a.Clock.Now())
		if err == nil && more {
			return job.Later(0)
		}
		return err
	}, job.Every(every))
}
