package app

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// purgeBatch is how many rows one transaction removes: few enough that nobody
// waits for it.
const purgeBatch = 500

// purged are the tables whose soft-deleted rows end after their retention,
// children before their parents.
var purged = []string{"contact_emails", "contact_phone_numbers", "contact_addresses", "contacts", "agents", "payment_methods"}

// retention declares the jobs that remove what has been kept long enough.
func (a *App) retention() {
	a.sweep("idempotency.expire", 10*time.Minute, func(ctx context.Context, tx *db.Tx, now clock.Time) (int64, error) {
		// Rows lie in the order of their age, so the oldest are at the
		// beginning and need no index. Open claims stay until they are settled.
		return db.Exec(ctx, tx, `DELETE FROM idempotency WHERE seq IN (SELECT seq FROM
			(SELECT seq, status, created_at FROM idempotency ORDER BY seq LIMIT 5000) AS oldest
			WHERE status IS NOT NULL AND created_at <= $1 LIMIT $2)`, now.Add(-op.KeyLifetime), purgeBatch)
	})
	a.sweep("events.expire", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (int64, error) {
		return db.Exec(ctx, tx, `DELETE FROM events WHERE seq IN (SELECT seq FROM
			(SELECT seq, created_at FROM events ORDER BY seq LIMIT 5000) AS oldest WHERE created_at <= $1 LIMIT $2)`, now.Add(-a.Settings.Retention.Events), purgeBatch)
	})
	for _, table := range purged {
		a.sweep(table+".purge", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (int64, error) {
			return db.Exec(ctx, tx, "DELETE FROM "+table+" WHERE seq IN (SELECT seq FROM "+table+" WHERE deleted_at <= $1 LIMIT $2)",
				now.Add(-a.Settings.Retention.Deleted), purgeBatch)
		})
	}
}

// sweep declares a periodic job that removes rows in batches until none is left.
func (a *App) sweep(kind string, every time.Duration, remove func(context.Context, *db.Tx, clock.Time) (int64, error)) {
	job.HandleTx(a.Jobs, kind, func(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
		n, err := remove(ctx, tx, a.Clock.Now())
		if err == nil && n == purgeBatch {
			return job.Later(0)
		}
		return err
	}, job.Every(every))
}
