package job

import (
	"context"

	"frontdesk/internal/kernel/db"
)

const purgeBatch = 500

// purgeFinished removes finished jobs past their retention, a batch per transaction.
// Every queue runs it as the periodic job jobs.purge.
func (q *Queue) purgeFinished(ctx context.Context, tx *db.Tx, _ Job, _ struct{}) error {
	n, err := db.Exec(ctx, tx, `
		DELETE FROM jobs
		WHERE id IN (SELECT id FROM jobs WHERE finished_at < $1 ORDER BY finished_at LIMIT $2)`,
		q.clock.Now().Add(-q.opts.Retention), purgeBatch)
	if err == nil && n == purgeBatch {
		err = RunAgainAfter(0)
	}
	return err
}
