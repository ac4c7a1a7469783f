package webhook

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// Attempt is one try to send a delivery, and its outcome. The last one is in
// the delivery's own row and earlier ones are in webhook_attempts, so that a
// delivery that succeeds at once costs no second row.
type Attempt struct {
	AttemptedAt    clock.Time `json:"attemptedAt" doc:"when it began"`
	URL            *string    `json:"url" max:"2048"`
	DurationMs     *int64     `json:"durationMs" doc:"null while under way, and when the service stopped during it"`
	ResponseStatus *int64     `json:"responseStatus"`
	ResponseBody   *string    `json:"responseBody" max:"2048"`
	ErrorMessage   *string    `json:"errorMessage" max:"1000"`
}

const attemptColumns = "attempted_at, url, duration_ms, response_status, response_body, error_message"

// beginAttempt records an attempt before it is made. The outcome of the
// previous one moves to the history.
func (d *Delivery) beginAttempt(ctx context.Context, tx *db.Tx, w *Webhook, now clock.Time) error {
	if d.AttemptedAt != nil {
		if err := d.archiveAttempt(ctx, tx); err != nil {
			return err
		}
	}
	d.Attempts++
	d.URL, d.AttemptedAt, d.UpdatedAt = &w.URL, &now, now
	d.DurationMs, d.ResponseStatus, d.ResponseBody, d.ErrorMessage = nil, nil, nil, nil
	return nil
}

// archiveAttempt adds the last attempt to the history. The history holds as many attempts as
// the retry schedule has waits; with further redeliveries the oldest are dropped.
func (d *Delivery) archiveAttempt(ctx context.Context, tx *db.Tx) error {
	_, err := db.Exec(ctx, tx, "INSERT INTO webhook_attempts (organization_id, delivery_id, "+attemptColumns+
		") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		d.OrganizationID, d.ID, d.AttemptedAt, d.URL, d.DurationMs, d.ResponseStatus, d.ResponseBody, d.ErrorMessage)
	if err != nil || d.Attempts <= int64(len(retryBackoff)) {
		return err
	}
	_, err = db.Exec(ctx, tx, `
		DELETE FROM webhook_attempts WHERE organization_id = $1 AND delivery_id = $2 AND seq <=
			(SELECT seq FROM webhook_attempts WHERE organization_id = $1
			AND delivery_id = $2 ORDER BY seq DESC LIMIT 1 OFFSET $3)`, d.OrganizationID, d.ID, len(retryBackoff))
	return err
}

// recordLateOutcome writes the outcome of an attempt into the history, because a redelivery began the
// next attempt before this one ended.
func (d *Delivery) recordLateOutcome(ctx context.Context, tx *db.Tx, r *attemptResult) error {
	late := *d
	late.setOutcome(r)
	_, err := db.Exec(ctx, tx, `
		UPDATE webhook_attempts
		SET duration_ms = $4, response_status = $5, response_body = $6, error_message = $7
		WHERE organization_id = $1 AND delivery_id = $2 AND attempted_at = $3`, d.OrganizationID, d.ID, r.began,
		late.DurationMs, late.ResponseStatus, late.ResponseBody, late.ErrorMessage)
	return err
}

// loadHistory lists every known attempt, oldest first. The last one is in the delivery's own row.
func (d *Delivery) loadHistory(ctx context.Context, tx *db.Tx) ([]Attempt, error) {
	rows, err := db.QueryAll[Attempt](ctx, tx, "SELECT "+attemptColumns+` FROM webhook_attempts
		WHERE organization_id = $1 AND delivery_id = $2
		ORDER BY seq`, d.OrganizationID, d.ID)
	if d.AttemptedAt != nil {
		rows = append(rows,
			Attempt{*d.AttemptedAt, d.URL, d.DurationMs, d.ResponseStatus, d.ResponseBody, d.ErrorMessage})
	}
	return rows, err
}
