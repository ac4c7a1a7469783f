package file

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
)

const (
	sweepBatch      = 100
	sweepRetryDelay = time.Hour // after a store fails to delete
)

var _ = db.Declare("stray_blobs", db.Life{})

// Handle registers the job that removes bytes without a file.
func (s *Store) Handle() {
	job.HandleFlow(s.jobs, "files.sweep", func(ctx context.Context, _ job.Job, _ struct{}) (job.Outcome, error) {
		more, err := s.sweepStrays(ctx)
		if err == nil && more {
			err = job.RunAgainAfter(0)
		}
		return nil, err
	}, job.Every(10*time.Minute))
}

// sweepStrays removes one batch of stray blobs that are due.
func (s *Store) sweepStrays(ctx context.Context) (more bool, err error) {
	keys, err := s.claimStrays(ctx,
		fmt.Sprintf("seq IN (SELECT seq FROM stray_blobs WHERE remove_at <= $1 ORDER BY remove_at LIMIT %d)",
			sweepBatch), s.clock.Now())
	if err != nil || len(keys) == 0 {
		return false, err
	}
	n, err := s.removeStrays(ctx, keys)
	if n > 0 {
		s.log.InfoContext(ctx, "bytes without a file removed", "blobs", n)
	}
	return len(keys) == sweepBatch, err
}

// claimStrays marks stray blobs for removal, and returns their keys. Saved.Insert
// refuses a claimed key, so no upload can still become a file while its bytes
// are being deleted. Keys that were claimed before, perhaps by a process that
// died, are claimed again.
func (s *Store) claimStrays(ctx context.Context, where string, arg any) (keys []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		keys, err = db.QueryAll[string](ctx, tx,
			"UPDATE stray_blobs SET claimed = TRUE WHERE "+where+" RETURNING blob_key", arg)
		return err
	})
	return keys, err
}

// removeStrays removes claimed blobs, then their rows. A blob that cannot be
// deleted is tried again later, so that it does not hold up others.
func (s *Store) removeStrays(ctx context.Context, keys []string) (removed int, err error) {
	var gone, kept []string
	for _, key := range keys {
		if e := s.blobs.Delete(ctx, key); e != nil {
			err = errors.Join(err, fmt.Errorf("file: remove bytes: %w", e))
			kept = append(kept, key)
			continue
		}
		gone = append(gone, key)
	}
	e := s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, key := range gone {
			if _, err := db.Exec(ctx, tx, "DELETE FROM stray_blobs WHERE blob_key = $1", key); err != nil {
				return err
			}
		}
		for _, key := range kept {
			if _, err := db.Exec(ctx, tx, "UPDATE stray_blobs SET remove_at = $2 WHERE blob_key = $1", key,
				s.clock.Now().Add(sweepRetryDelay)); err != nil {
				return err
			}
		}
		return nil
	})
	return len(gone), errors.Join(err, e)
}
