package message

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Whoever has a thread open is a row that their page refreshes every few
// seconds. It is in the database rather than in memory because several processes
// may serve one organization.
var _ = db.Declare("thread_viewers", db.Life{
	Parent:     db.RefTo("thread_id", "threads", db.EndsAtPurge),
	Refs:       []db.Ref{db.RefTo("user_id", "users", db.Keeps)},
	Permanent:  true,
	Expire:     db.Expiry{After: func(r config.Retention) time.Duration { return r.Deleted }},
	Unexported: []string{"created_at", "seen_at", "thread_id", "user_id"},
})

// ViewTime is how long somebody counts as looking at a thread after the page
// last said so.
const ViewTime = 25 * time.Second

// ThreadViewer is somebody who looks at a thread.
type ThreadViewer struct {
	UserID id.ID      `json:"userId"`
	SeenAt clock.Time `json:"seenAt"`
}

func threadViewerOperations() []*op.Op {
	return []*op.Op{op.Write(op.Spec{
		Name:     "threads.look",
		Summary:  "Say that you look at a thread, and see who else does.",
		Resource: threadResource,
		Doors:    op.ConsoleDoor,
		Example:  `{` + exampleThread + `}`,
	}, lookAtThread)}
}

type threadLook struct {
	threadRef
	Left bool `json:"left" default:"false" doc:"true: no longer"`
}

// lookAtThread notes that the caller looks at a thread, or has left it, drops
// those who were not seen for ViewTime, and lists the others.
func lookAtThread(ctx context.Context, c *op.Call, in threadLook) (*op.List[ThreadViewer], error) {
	if _, err := threads.Get(ctx, c.Tx, c.Org, in.ID); err != nil {
		return nil, err
	}
	since := c.Now.Add(-ViewTime)
	_, err := db.Exec(ctx, c.Tx, `
		DELETE FROM thread_viewers
		WHERE organization_id = $1 AND thread_id = $2 AND (user_id = $3 OR seen_at < $4)`,
		c.Org, in.ID, c.Caller.ID, since)
	if err != nil {
		return nil, err
	}
	if !in.Left {
		_, err = db.Exec(ctx, c.Tx, `
			INSERT INTO thread_viewers (organization_id, created_at, thread_id, user_id, seen_at)
			VALUES ($1, $2, $3, $4, $2)
			ON CONFLICT (thread_id, user_id) DO UPDATE SET seen_at = excluded.seen_at`,
			c.Org, c.Now, in.ID, c.Caller.ID)
		if err != nil {
			return nil, err
		}
	}
	others, err := db.QueryAll[ThreadViewer](ctx, c.Tx, `
		SELECT user_id, seen_at FROM thread_viewers
		WHERE organization_id = $1 AND thread_id = $2 AND user_id <> $3 AND seen_at >= $4
		ORDER BY seen_at LIMIT 20`, c.Org, in.ID, c.Caller.ID, since)
	return &op.List[ThreadViewer]{Data: others, Pagination: op.Pagination{Limit: 20}}, err
}
