package file

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
)

const (
	sweepBatch = 100
	sweepAgain = time.Hour // after a store refused to delete
)

// Handle declares the job that removes bytes without a file.
func (s *Store) Handle(q *job.Queue) {
	job.HandleFlow(q, "files.sweep", func(ctx context.Context, _ job.Job, _ struct{}) (job.Outcome, error) {
		more, err := s.sweep(ctx)
		if err == nil && more {
			err = job.Later(0)
		}
		return nil, err
	}, job.Every(10*time.Minute))
}

// sweep removes one batch of strays whose time has come.
func (s *Store) sweep(ctx context.Context) (more bool, err error) {
	keys, err := s.claim(ctx, fmt.Sprintf("seq IN (SELECT seq FROM stray_blobs WHERE remove_at <= $1 ORDER BY remove_at LIMIT %d)", sweepBatch), s.clock.Now())
	if err != nil || len(keys) == 0 {
		return false, err
	}
	n, err := s.removeStrays(ctx, keys)
	if n > 0 {
		s.log.InfoContext(ctx, "bytes without a file removed", "blobs", n)
	}
	return len(keys) == sweepBatch, err
}

// claim makes sure that no upload ends with these keys any more. What was
// claimed before, by somebody who may be dead, is claimed again.
func (s *Store) claim(ctx context.Context, where string, arg any) (keys []string, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		keys, err = db.All[string](ctx, tx, "UPDATE stray_blobs SET claimed = TRUE WHERE "+where+" RETURNING blob_key", arg)
		return err
	})
	return keys, err
}

// removeStrays removes claimed blobs, then their rows. What the store refuses
// to delete waits, so that it does not keep others from being removed.
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
			if _, err := db.Exec(ctx, tx, "UPDATE stray_blobs SET remove_at = $2 WHERE blob_key = $1", key, s.clock.Now().Add(sweepAgain)); err != nil {
				return err
			}
		}
		return nil
	})
	return len(gone), errors.Join(err, e)
}

// Purge ends files that were deleted before a moment, with their links, and
// leaves their bytes to the sweep: they go once this is committed. It tells how
// many files it ended.
func Purge(ctx context.Context, tx *db.Tx, before clock.Time, limit int) (int, error) {
	rows, err := db.All[int64](ctx, tx, "SELECT seq FROM files WHERE deleted_at <= $1 ORDER BY deleted_at, seq LIMIT $2", before, limit)
	if err != nil {
		return 0, err
	}
	for _, seq := range rows {
		for _, text := range []string{
			"INSERT INTO stray_blobs (organization_id, blob_key, remove_at, claimed) SELECT organization_id, blob_key, deleted_at, FALSE FROM files WHERE seq = $1 ON CONFLICT DO NOTHING",
			"DELETE FROM file_access_links WHERE file_id = (SELECT id FROM files WHERE seq = $1)",
			"DELETE FROM files WHERE seq = $1",
		} {
			if _, err := db.Exec(ctx, tx, text, seq); err != nil {
				return 0, err
			}
		}
	}
	return len(rows), nil
}
