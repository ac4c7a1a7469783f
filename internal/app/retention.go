package app

import (
	"context"
	"time"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
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

// declareRetention declares the jobs that remove old rows, and those that act when a
// time has passed, such as invoices that become overdue.
func (a *App) declareRetention() {
	for _, x := range life.ExpiringTables(a.DB) {
		a.declareSweep(x.Table+".expire", time.Hour, x.NewSweep(a.Settings.Retention))
	}
	a.declareSweep("webhooks.forget_secrets", time.Hour,
		func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
			return webhook.PurgeOldSecrets(ctx, tx, now, purgeBatch)
		})
	a.declareSweep("automations.expire", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return automation.ExpireExecutions(ctx, tx, now.Add(-a.Settings.Retention.Executions), purgeBatch)
	})
	a.declareSweep("grants.expire", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return grant.PurgeExpired(ctx, tx, now, purgeBatch)
	})
	a.declareSweep("invoices.overdue", overdueEvery,
		func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
			return invoice.MarkDueOverdue(ctx, tx, a.Events, now, overdueBatch)
		})
	ledger := limit.NewLedger(a.DB)
	a.declareSweep("allowances.purge", time.Hour, func(ctx context.Context, tx *db.Tx, _ clock.Time) (bool, error) {
		return false, ledger.Purge(ctx, tx)
	})
	a.declareSweep("search.refold", time.Minute, db.RefoldSearchTexts)
	purge := life.NewPurge(a.DB)
	a.declareSweep("deleted.purge", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return purge.RemoveBatch(ctx, tx, now.Add(-a.Settings.Retention.Deleted), purgeBatch)
	})
}

// declareSweep declares a periodic job that works in batches, one per transaction, until
// batch reports that nothing is left.
func (a *App) declareSweep(kind string, every time.Duration,
	batch func(context.Context, *db.Tx, clock.Time) (more bool, err error)) {
	job.HandleTx(a.Jobs, kind, func(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
		more, err := batch(ctx, tx, a.Clock.Now())
		if err == nil && more {
			return job.RunAgainAfter(0)
		}
		return err
	}, job.Every(every))
}
