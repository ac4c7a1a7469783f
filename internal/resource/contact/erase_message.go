package contact

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// What stands where a person's words and addresses were. The domain is nobody's
// (RFC 2606).
const (
	erasedSubject = "Message with an erased contact"
	erasedAddress = "erased@erased.invalid"
)

// messageTrace finds the messages that tell of a person: those that name the
// contact, are linked to it, or have one of its addresses. An address is a
// word of what a message is found by; older ones do not have among these where
// answers go, so that is asked as well.
func messageTrace(e db.Engine) trace {
	named := "$2"
	if e == db.Postgres {
		named = "CAST(CAST($2 AS text) AS uuid)"
	}
	word := "(instr(messages.search || ' ', ' ' || e.email_folded || ' ') > 0 OR lower(messages.reply_to) = e.email_folded)"
	if e == db.Postgres {
		word = "(strpos(messages.search || ' ', ' ' || e.email_folded || ' ') > 0 OR lower(messages.reply_to) = e.email_folded)"
	}
	return trace{key: "seq", table: "messages", where: "organization_id = $1 AND (contact_id = " + named +
		" OR id IN (SELECT message_id FROM message_contacts WHERE organization_id = $1 AND contact_id = " + named + ")" +
		" OR EXISTS (SELECT 1 FROM contact_emails e WHERE e.organization_id = $1 AND e.contact_id = " + named + " AND " + word + "))"}
}

// correspondence is what of a message tells who wrote to whom.
type correspondence struct {
	Seq     int64    `db:"seq"`
	ID      id.ID    `db:"id"`
	Deleted bool     `db:"deleted"`
	From    string   `db:"from_address"`
	ReplyTo *string  `db:"reply_to"`
	To      []string `db:"to_addresses"`
	CC      []string `db:"cc_addresses"`
	BCC     []string `db:"bcc_addresses"`
}

// eraseMessages empties the messages of a person. They stay as a fact, with
// their dates, their thread and the addresses of others; one that has not left
// yet never does. It runs while the contact's addresses are still there.
func eraseMessages(ctx context.Context, c *op.Call, contact id.ID, found *trace, looked []id.ID, out *Erased) error {
	seqs, err := found.all(ctx, c.Tx, c.Org, []id.ID{contact}, looked)
	if err != nil {
		return err
	}
	if _, err := db.Exec(ctx, c.Tx, "DELETE FROM message_contacts WHERE organization_id = $1 AND contact_id = $2", c.Org, contact); err != nil || len(seqs) == 0 {
		return err
	}
	folded, err := db.All[string](ctx, c.Tx, "SELECT email_folded FROM contact_emails WHERE organization_id = $1 AND contact_id = $2", c.Org, contact)
	if err != nil {
		return err
	}
	text := "SELECT seq, id, deleted_at IS NOT NULL AS deleted, from_address, reply_to, to_addresses, cc_addresses, bcc_addresses FROM messages WHERE organization_id = $1 AND seq = $2"
	if c.Tx.Engine() == db.Postgres {
		text += " FOR UPDATE"
	}
	var ids []id.ID
	for _, seq := range seqs {
		v, err := db.One[correspondence](ctx, c.Tx, text, c.Org, seq)
		if errors.Is(err, db.ErrNone) {
			continue // purged meanwhile
		}
		if err != nil {
			return err
		}
		if err := v.erase(ctx, c, contact, folded); err != nil {
			return err
		}
		ids = append(ids, v.ID)
	}
	out.Messages = int64(len(ids))
	if err := eraseReceived(ctx, c, ids); err != nil {
		return err
	}
	return eraseAround(ctx, c, ids, out)
}

// hide takes a person out of addresses.
func hide(list, folded []string) []string {
	for i, a := range list {
		if isOf(a, folded) {
			list[i] = erasedAddress
		}
	}
	return list
}

// isOf reports whether an address is one of a person's, which are folded.
func isOf(address string, folded []string) bool {
	return slices.ContainsFunc(op.Spellings(address), func(s string) bool { return slices.Contains(folded, s) })
}

func (v *correspondence) erase(ctx context.Context, c *op.Call, contact id.ID, folded []string) error {
	from := hide([]string{v.From}, folded)[0]
	if v.ReplyTo != nil && isOf(*v.ReplyTo, folded) {
		v.ReplyTo = nil
	}
	subject := erasedSubject
	parts := []*string{&subject, &from, v.ReplyTo}
	var lists [3]db.JSON
	for i, list := range [][]string{hide(v.To, folded), hide(v.CC, folded), hide(v.BCC, folded)} {
		var err error
		if lists[i], err = json.Marshal(list); err != nil {
			return err
		}
		for j := range list {
			parts = append(parts, &list[j])
		}
	}
	words := db.SearchText(parts...)
	_, err := db.Exec(ctx, c.Tx, `UPDATE messages SET subject = $3, text_body = NULL, html_body = NULL, size_bytes = 0, from_address = $4, reply_to = $5, to_addresses = $6, cc_addresses = $7, bcc_addresses = $8,
		contact_id = CASE WHEN contact_id = $9 THEN NULL ELSE contact_id END, error_message = NULL, search = $10, updated_at = $11,
		status = CASE WHEN status IN ('draft', 'scheduled', 'queued', 'sending') THEN 'canceled' ELSE status END
		WHERE organization_id = $1 AND seq = $2`, c.Org, v.Seq, subject, from, v.ReplyTo, lists[0], lists[1], lists[2], contact, words, c.Now)
	if err == nil && !v.Deleted {
		db.Index(c.Tx, "messages", v.Seq, words)
	}
	return err
}

// eraseAround ends what else tells of messages: who got them, what was kept of
// them for a look, their events, answers and jobs.
func eraseAround(ctx context.Context, c *op.Call, ids []id.ID, out *Erased) error {
	messageOf, inBody := "json_extract(data, '$.messageId')", "instr(i.body, CAST(m.id AS BLOB)) > 0"
	if c.Tx.Engine() == db.Postgres {
		messageOf, inBody = "CAST(data ->> 'messageId' AS uuid)", "position(convert_to(CAST(m.id AS text), 'UTF8') IN i.body) > 0"
	}
	keys := make([]string, len(ids))
	for i, v := range ids {
		keys[i] = string(v)
	}
	for _, s := range []struct {
		text  string
		args  []any
		count *int64
	}{
		{"DELETE FROM message_recipients WHERE organization_id = $1 AND message_id = ANY($2)", []any{c.Org, ids}, nil},
		{"DELETE FROM mailbox_mails WHERE organization_id = $1 AND message_id = ANY($2)", []any{c.Org, ids}, nil},
		{"UPDATE message_attachments SET file_name = 'attachment' WHERE organization_id = $1 AND message_id = ANY($2)", []any{c.Org, ids}, nil},
		{"UPDATE events SET data = NULL WHERE organization_id = $1 AND data IS NOT NULL AND resource_type = 'message' AND resource_id = ANY($2)", []any{c.Org, ids}, &out.Events},
		// What hangs under a message. The types are named so that their index finds the few there are.
		{"UPDATE events SET data = NULL WHERE organization_id = $1 AND data IS NOT NULL AND type IN ('message.attachment.created', 'message.attachment.deleted', 'message.contact.created', 'message.contact.deleted') AND " +
			messageOf + " = ANY($2)", []any{c.Org, ids}, &out.Events},
		{"DELETE FROM idempotency WHERE organization_id = $1 AND seq IN (SELECT i.seq FROM idempotency i JOIN messages m ON m.organization_id = i.organization_id AND m.id = ANY($2)" +
			" WHERE i.organization_id = $1 AND i.status IS NOT NULL AND i.operation LIKE 'messages.%' AND " + inBody + ")", []any{c.Org, ids}, &out.Answers},
		{"DELETE FROM jobs WHERE organization_id = $1 AND kind = 'message.deliver' AND unique_key = ANY($2)", []any{c.Org, keys}, &out.Jobs},
	} {
		n, err := db.Exec(ctx, c.Tx, s.text, s.args...)
		if err != nil {
			return err
		}
		if s.count != nil {
			*s.count += n
		}
	}
	return nil
}
