package message

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/optin"
)

// recipient is one address of a message that is being sent, and its outcome.
type recipient struct {
	ID             id.ID       `db:"id"`
	OrganizationID id.ID       `db:"organization_id"`
	MessageID      id.ID       `db:"message_id"`
	Address        string      `db:"address"`
	Status         Status      `db:"status"`
	ErrorMessage   *string     `db:"error_message"`
	AnsweredAt     *clock.Time `db:"answered_at"`
}

// waiting is the status of a recipient whose mail was not handed over yet. It
// becomes Sent, Bounced or Failed.
const waiting Status = "waiting"

const recipientColumns = "id, organization_id, message_id, address, status, error_message, answered_at"

// listRecipients lists the recipients of a message and their outcomes, in the
// order of its addresses. Until the first attempt there are none.
func listRecipients(ctx context.Context, tx *db.Tx, org, message id.ID) ([]recipient, error) {
	return db.QueryAll[recipient](ctx, tx, `
		SELECT `+recipientColumns+`
		FROM message_recipients
		WHERE organization_id = $1 AND message_id = $2
		ORDER BY seq`,
		org, message)
}

// prepareWaitingRecipients makes a row for each recipient that has none, and lists
// those who are still waiting. Recipients of marketing mail who have opted out
// since it was written fail here and never get it.
func prepareWaitingRecipients(ctx context.Context, tx *db.Tx, v *Message, now clock.Time) ([]recipient, error) {
	for _, a := range v.uniqueRecipients() {
		_, err := db.Exec(ctx, tx, `
			INSERT INTO message_recipients (id, organization_id, message_id, address, address_folded, status)
			VALUES ($1, $2, $3, $4, $5, 'waiting')
			ON CONFLICT (organization_id, message_id, address_folded) DO NOTHING`,
			id.New(), v.OrganizationID, v.ID, a, db.FoldText(a))
		if err != nil {
			return nil, err
		}
	}
	rows, err := db.QueryAll[recipient](ctx, tx, `
		SELECT `+recipientColumns+`
		FROM message_recipients
		WHERE organization_id = $1 AND message_id = $2 AND status = 'waiting'
		ORDER BY seq`,
		v.OrganizationID, v.ID)
	if err != nil || v.Purpose != Marketing {
		return rows, err
	}
	var addresses []string
	for _, r := range rows {
		addresses = append(addresses, r.Address)
	}
	refused, err := optin.NotOptedIn(ctx, tx, v.OrganizationID, addresses)
	if err != nil {
		return nil, err
	}
	var wanted []recipient
	for _, r := range rows {
		if !slices.Contains(refused, r.Address) {
			wanted = append(wanted, r)
			continue
		}
		r.setOutcome(Failed, "The address is no longer opted in.", now)
		if err := r.saveOutcome(ctx, tx); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// setOutcome records the outcome for a recipient. reason may be empty.
func (r *recipient) setOutcome(status Status, reason string, now clock.Time) {
	r.Status, r.ErrorMessage, r.AnsweredAt = status, nil, &now
	if reason != "" {
		r.ErrorMessage = &reason
	}
}

// saveOutcome writes the outcome for a recipient. A bounce is final: a report may
// arrive before the mail system's own answer is recorded, which must not
// overwrite it.
func (r *recipient) saveOutcome(ctx context.Context, tx *db.Tx) error {
	_, err := db.Exec(ctx, tx, `
		UPDATE message_recipients
		SET status = $3, error_message = $4, answered_at = $5
		WHERE organization_id = $1 AND id = $2 AND status <> 'bounced'`,
		r.OrganizationID, r.ID, r.Status, r.ErrorMessage, r.AnsweredAt)
	return err
}

const maxReasonBytes = 5000 // bytes

// formatReasons says who did not get the message, and why.
func formatReasons(rows []recipient) string {
	var lines []string
	for _, r := range rows {
		if r.ErrorMessage != nil {
			lines = append(lines, fmt.Sprintf("%s: %s", r.Address, *r.ErrorMessage))
		}
	}
	return strings.Join(lines, "\n")
}
