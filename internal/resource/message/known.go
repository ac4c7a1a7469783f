package message

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// NeverWrittenTo lists those of the addresses that the organization has never
// sent a message to.
func NeverWrittenTo(ctx context.Context, tx *db.Tx, org id.ID, addresses []string) ([]string, error) {
	return addressesWithoutRecipientRow(ctx, tx, org, addresses, "")
}

// NeverWrittenToByInsiders also lists those who only got messages that are marked
// external, which means that outsiders' text had a part in them: one answer that
// a stranger's mail provoked does not make the stranger a known recipient.
func NeverWrittenToByInsiders(ctx context.Context, tx *db.Tx, org id.ID, addresses []string) ([]string, error) {
	return addressesWithoutRecipientRow(ctx, tx, org, addresses, ` AND EXISTS (SELECT 1 FROM messages m
		WHERE m.organization_id = $1 AND m.id = message_recipients.message_id AND NOT m.external)`)
}

// addressesWithoutRecipientRow lists the addresses without a row in message_recipients. only is a
// further condition on that row, in SQL.
func addressesWithoutRecipientRow(ctx context.Context, tx *db.Tx, org id.ID, addresses []string, only string) ([]string,
	error) {
	folded := make([]string, len(addresses))
	for i, a := range addresses {
		folded[i] = db.FoldText(a)
	}
	known, err := db.QueryAll[string](ctx, tx, `
		SELECT DISTINCT address_folded FROM message_recipients
		WHERE organization_id = $1 AND address_folded = ANY($2)`+only, org, folded)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, a := range addresses {
		if !slices.Contains(known, folded[i]) && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out, nil
}

// NotSendersInThread lists those of the addresses that did not send any of the latest
// hundred messages received in a thread. Answering whoever wrote is not writing
// to a stranger.
func NotSendersInThread(ctx context.Context, tx *db.Tx, org id.ID, thread string, addresses []string) ([]string,
	error) {
	ref, ok := id.Parse(thread)
	if !ok || len(addresses) == 0 {
		return addresses, nil
	}
	senders, err := db.QueryAll[string](ctx, tx, `
		SELECT from_address FROM messages
		WHERE organization_id = $1 AND thread_id = $2 AND direction = 'inbound' AND deleted_at IS NULL
		ORDER BY created_at DESC, seq DESC LIMIT 100`, org, ref)
	if err != nil {
		return nil, err
	}
	for i, s := range senders {
		senders[i] = db.FoldText(s)
	}
	return slices.DeleteFunc(slices.Clone(addresses), func(a string) bool {
		return slices.Contains(senders, db.FoldText(a))
	}), nil
}

// SameAddress reports whether two addresses differ at most in case.
func SameAddress(a, b string) bool { return db.FoldText(a) == db.FoldText(b) }

// ThreadContact is a conversation and whom it is with.
type ThreadContact struct {
	ID        id.ID  `db:"id"`
	ContactID *id.ID `db:"contact_id"`
}

// FindThreadsAmong finds the threads among ids of any kind. It stops at two: callers
// only need to know whether there is exactly one.
func FindThreadsAmong(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID) ([]ThreadContact, error) {
	return db.QueryAll[ThreadContact](ctx, tx, `
		SELECT id, contact_id FROM threads
		WHERE organization_id = $1 AND id = ANY($2) LIMIT 2`, org, ids)
}
