package message

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// ThreadMessage is the latest message of a thread, in short.
type ThreadMessage struct {
	ID        id.ID  `json:"id"`
	Direction string `json:"direction" enum:"inbound,outbound"`

	Status Status `json:"status" enum:"draft,scheduled,queued,sending,sent,delivered,bounced,failed,canceled,received"`

	From    string   `json:"from" db:"from_address"`
	To      []string `json:"to" db:"to_addresses" max:"1000"`
	Preview string   `json:"preview" db:"-" max:"200" doc:"the beginning of its text, without what it quotes"`

	op.ExternalMark
}

const (
	includeLastMessage = "lastMessage" // the value of include
	previewBytes       = 600           // of a text, read from the database for a preview
	previewRunes       = 160
)

// fillLastMessages puts the latest message into each thread of a page. One statement
// serves the whole page: for each thread it reads one row of the index.
func fillLastMessages(ctx context.Context, c *op.Call, rows []Thread) error {
	type row struct {
		ThreadMessage
		ThreadID id.ID   `db:"thread_id"`
		Text     *string `db:"text_body"`
	}
	ids := make([]id.ID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	found, err := db.QueryAll[row](ctx, c.Tx, `
		SELECT id, direction, status, from_address, to_addresses, external, thread_id, substr(text_body, 1, $3)
		FROM messages
		WHERE seq IN (
			SELECT (
				SELECT m.seq FROM messages m
				WHERE m.organization_id = $1 AND m.thread_id = t.id AND m.deleted_at IS NULL
				ORDER BY m.created_at DESC, m.seq DESC LIMIT 1)
			FROM threads t
			WHERE t.organization_id = $1 AND t.id = ANY($2))`, c.Org, ids, previewBytes)
	if err != nil {
		return err
	}
	last := map[id.ID]*ThreadMessage{}
	for i := range found {
		m := &found[i].ThreadMessage
		if found[i].Text != nil {
			m.Preview = previewText(*found[i].Text)
		}
		last[found[i].ThreadID] = m
	}
	for i := range rows {
		rows[i].LastMessage = last[rows[i].ID]
	}
	return nil
}

// previewText is the beginning of a text in one line, up to the first quoted line.
func previewText(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, ">") {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	return cut.Ellipsis(strings.ToValidUTF8(strings.Join(words, " "), ""), previewRunes)
}
