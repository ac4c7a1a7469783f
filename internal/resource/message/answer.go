package message

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Answers are how the mail of some time was answered.
type Answers struct {
	Received int // mails of people, not of machines
	Waiting  int // open threads whose latest mail is somebody else's, now
	Sent     []Answer
}

// Answer is a mail that answered one or several.
type Answer struct {
	MessageID id.ID
	Answered  int        // how many mails it answered
	Since     clock.Time // when the first of them came
	At        clock.Time
}

// answerTime is how much later an answer still counts as one.
const answerTime = 31 * 24 * time.Hour

// SumAnswers finds how mail that came from one time until before another was answered, by
// whatever was sent next in the same thread, at most a month later.
func SumAnswers(ctx context.Context, tx *db.Tx, org id.ID, from, to clock.Time) (*Answers, error) {
	rows, err := db.QueryAll[struct {
		ID        id.ID      `db:"id"`
		ThreadID  id.ID      `db:"thread_id"`
		Direction string     `db:"direction"`
		At        clock.Time `db:"at"`
	}](ctx, tx, `
		SELECT id, thread_id, direction, COALESCE(sent_at, created_at) AS at FROM messages
		WHERE organization_id = $1 AND deleted_at IS NULL AND created_at >= $2 AND NOT auto_submitted
			AND (direction = 'inbound' AND created_at < $3 OR direction = 'outbound' AND sent_at IS NOT NULL
				AND created_at < $4)
		ORDER BY thread_id, 4, seq`, org, from, to, to.Add(answerTime))
	if err != nil {
		return nil, err
	}
	out := &Answers{}
	var open Answer
	var thread id.ID
	for _, r := range rows {
		if r.ThreadID != thread {
			thread, open = r.ThreadID, Answer{}
		}
		switch {
		case r.Direction == Inbound:
			out.Received++
			if open.Answered++; open.Answered == 1 {
				open.Since = r.At
			}
		case open.Answered > 0:
			open.MessageID, open.At = r.ID, r.At
			out.Sent, open = append(out.Sent, open), Answer{}
		}
	}
	out.Waiting, err = db.QueryOne[int](ctx, tx, `
		SELECT count(*) FROM threads t
		WHERE t.organization_id = $1 AND t.status = 'open' AND t.deleted_at IS NULL AND (
			SELECT m.direction FROM messages m
			WHERE m.organization_id = $1 AND m.thread_id = t.id AND m.deleted_at IS NULL
			ORDER BY m.created_at DESC, m.seq DESC LIMIT 1) = 'inbound'`, org)
	return out, err
}
