package message

import (
	"context"
	"errors"
	"slices"
	"time"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

var (
	_ = db.Declare("message_recipients", db.Life{
		Parent: db.RefTo("message_id", "messages", db.EndsAtPurge),
		Erase:  life.WholeRow,
	})
	_ = db.Declare("received_mails", db.Life{
		Refs:   []db.Ref{db.RefTo("message_id", "messages", db.Keeps)},
		Expire: db.Expiry{After: func(config.Retention) time.Duration { return RepetitionTime }},
	})
)

// What replaces a person's words and addresses. The domain belongs to nobody
// (RFC 2606).
const (
	erasedSubject = "Message with an erased contact"
	erasedAddress = "erased@erased.invalid"
)

// findMessagesOfPerson finds the messages that are linked to a person or have one of
// their addresses, and the files that came with them. The search text of a
// message contains its addresses, each between spaces. That of older messages
// lacks Reply-To, so the column is checked as well.
func findMessagesOfPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	linked, err := db.QueryAll[int64](ctx, tx, `
		SELECT m.seq FROM message_contacts x
		JOIN messages m ON m.organization_id = x.organization_id AND m.id = x.message_id
		WHERE x.organization_id = $1 AND x.contact_id = $2`, e.Organization, e.Person)
	if err != nil {
		return err
	}
	if err := e.AddRows(ctx, tx, "messages", linked...); err != nil {
		return err
	}
	within := "instr(search || ' ', ' ' || $2 || ' ')"
	if tx.Engine() == db.Postgres {
		within = "strpos(search || ' ', ' ' || $2 || ' ')"
	}
	err = e.ScanEach(ctx, tx, "messages", "organization_id = $1 AND ("+within+" > 0 OR lower(reply_to) = $2)",
		e.Addresses)
	if err != nil {
		return err
	}
	files, err := db.QueryAll[id.ID](ctx, tx, `
		SELECT DISTINCT x.file_id FROM message_attachments x
		JOIN messages m ON m.organization_id = x.organization_id AND m.id = x.message_id
		WHERE x.organization_id = $1 AND x.message_id = ANY($2) AND x.file_id IS NOT NULL AND m.direction = 'inbound'`,
		e.Organization, e.RowIDs("messages"))
	if err != nil {
		return err
	}
	return e.AddRowsByID(ctx, tx, "files", files)
}

// erasableMessage is the part of a message that erasure reads and rewrites.
type erasableMessage struct {
	Seq     int64    `db:"seq"`
	Deleted bool     `db:"deleted"`
	From    string   `db:"from_address"`
	ReplyTo *string  `db:"reply_to"`
	To      []string `db:"to_addresses"`
	CC      []string `db:"cc_addresses"`
	BCC     []string `db:"bcc_addresses"`
}

// eraseMessages removes a person from messages. The messages stay, with their
// dates, thread and other people's addresses, but without content. One that has
// not been sent is canceled.
func eraseMessages(ctx context.Context, tx *db.Tx, e *life.Erasure, rows []int64) (n int64, err error) {
	text := `
		SELECT seq, deleted_at IS NOT NULL AS deleted, from_address, reply_to, to_addresses, cc_addresses, bcc_addresses
		FROM messages
		WHERE organization_id = $1 AND seq = $2`
	if tx.Engine() == db.Postgres {
		text += " FOR UPDATE"
	}
	for _, seq := range rows {
		v, err := db.QueryOne[erasableMessage](ctx, tx, text, e.Organization, seq)
		if errors.Is(err, db.ErrNoRow) {
			continue // purged in the meantime
		}
		if err != nil {
			return n, err
		}
		if err := v.erasePerson(ctx, tx, e); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// replaceAddresses replaces a person's addresses in a list.
func replaceAddresses(list, folded []string) []string {
	for i, a := range list {
		if matchesAnyAddress(a, folded) {
			list[i] = erasedAddress
		}
	}
	return list
}

// matchesAnyAddress reports whether any spelling of an address is among the folded ones.
func matchesAnyAddress(address string, folded []string) bool {
	return slices.ContainsFunc(op.EmailSpellings(address), func(s string) bool { return slices.Contains(folded, s) })
}

// erasePerson rewrites one message: it replaces the person's addresses and drops everything
// that could quote the person.
func (v *erasableMessage) erasePerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	from := replaceAddresses([]string{v.From}, e.Addresses)[0]
	if v.ReplyTo != nil && matchesAnyAddress(*v.ReplyTo, e.Addresses) {
		v.ReplyTo = nil
	}
	subject := erasedSubject
	parts := []*string{&subject, &from, v.ReplyTo}
	var lists [3]db.JSON
	for i, list := range [][]string{replaceAddresses(v.To, e.Addresses), replaceAddresses(v.CC, e.Addresses),
		replaceAddresses(v.BCC, e.Addresses)} {
		var err error
		if lists[i], err = json.Marshal(list); err != nil {
			return err
		}
		for j := range list {
			parts = append(parts, &list[j])
		}
	}
	words := db.SearchText(parts...)
	// Message-IDs of received mail are cleared too: a mail program may put a name or a machine into them.
	_, err := db.Exec(ctx, tx, `
		UPDATE messages
		SET subject = $3, text_body = NULL, html_body = NULL, size_bytes = 0, error_message = NULL,
			from_address = $4, reply_to = $5, to_addresses = $6, cc_addresses = $7, bcc_addresses = $8,
			contact_id = CASE WHEN contact_id = $9 THEN NULL ELSE contact_id END,
			search = $10, updated_at = $11, reference_ids = $12,
			internet_id = CASE WHEN direction = 'inbound' THEN CAST(id AS text) ELSE internet_id END,
			status = CASE WHEN status IN ('draft', 'scheduled', 'queued', 'sending') THEN 'canceled' ELSE status END
		WHERE organization_id = $1 AND seq = $2`,
		e.Organization, v.Seq, subject, from, v.ReplyTo, lists[0], lists[1], lists[2], e.Person,
		words, e.Now, db.JSON("[]"))
	if err == nil && !v.Deleted {
		db.UpdateSearchIndex(tx, "messages", v.Seq, words)
	}
	return err
}
