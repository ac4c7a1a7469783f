package invoice

import (
	"bytes"
	"context"
	"slices"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	store "frontdesk/internal/resource/file"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/template"

	"github.com/go-json-experiment/json"
)

const (
	remindEvery = 10 * time.Minute
	// remindWithin is how late a reminder may be sent, after the service was
	// down or while a template is wrong. Later it would only confuse.
	remindWithin = 3 * 24 * time.Hour
	remindBatch  = 50
	// remindTimeout bounds one run. What it does not reach is left for the next.
	remindTimeout = 5 * time.Minute
)

// A row records that a rule's reminder of an invoice was sent. It is written in the transaction of the
// message, so no reminder goes out twice.
var _ = db.Declare("invoice_reminders", db.Life{
	Parent:    db.RefTo("invoice_id", "invoices", db.EndsAtPurge),
	Refs:      []db.Ref{db.RefTo("rule_id", "invoice_reminder_rules", db.Keeps)},
	Permanent: true,
})

// Handle declares the job that sends reminders.
func (s *Service) Handle() {
	job.HandleFlow(s.jobs, "invoices.remind", func(ctx context.Context, _ job.Job, _ struct{}) (job.Outcome, error) {
		return nil, s.SendDueReminders(ctx)
	}, job.Every(remindEvery), job.RunTimeout(remindTimeout))
}

// dueReminder is a reminder that is due: an invoice, and the rule that asks for it. Seq is the
// invoice's, for paging.
type dueReminder struct {
	RuleID         id.ID `db:"rule_id"`
	InvoiceID      id.ID `db:"invoice_id"`
	OrganizationID id.ID `db:"organization_id"`
	Seq            int64 `db:"seq"`
}

// findDueReminders finds a page of the reminders that are due, after the given one, in the order
// of their invoices. A rule counts only for days that come after it was created; otherwise the
// first rule would remind of everything at once.
func findDueReminders(ctx context.Context, tx *db.Tx, now clock.Time, after dueReminder) ([]dueReminder, error) {
	const day = "r.days_after_due * 86400000000" // in microseconds, like all times of the database
	return db.QueryAll[dueReminder](ctx, tx, `
		SELECT r.id AS rule_id, i.id AS invoice_id, i.organization_id, i.seq
		FROM invoice_reminder_rules r
		JOIN invoices i ON i.organization_id = r.organization_id AND i.business_id = r.business_id
			AND i.due_at > $2 - `+day+` AND i.due_at <= $1 - `+day+` AND i.due_at IS NOT NULL AND i.deleted_at IS NULL
		WHERE r.deleted_at IS NULL AND i.due_at + `+day+` >= r.created_at
		AND i.status IN ('issued', 'sent', 'partially_paid', 'overdue') AND i.bill_to_email IS NOT NULL
		AND (i.seq > $3 OR i.seq = $3 AND r.id > $4)
		AND NOT EXISTS (SELECT 1 FROM invoice_reminders s
			WHERE s.organization_id = i.organization_id AND s.invoice_id = i.id AND s.rule_id = r.id)
		AND `+account.ActiveOrganizationSQL("i.organization_id")+`
		ORDER BY i.seq, r.id LIMIT $5`, now, now.Add(-remindWithin), after.Seq, after.RuleID, remindBatch)
}

// SendDueReminders sends the reminders that are due. One that cannot be sent, because its template lacks
// a value, is tried again at the next run and does not hold up the others.
func (s *Service) SendDueReminders(ctx context.Context) error {
	after := dueReminder{RuleID: "00000000-0000-0000-0000-000000000000"}
	for {
		var due []dueReminder
		err := s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			due, err = findDueReminders(ctx, tx, s.clock.Now(), after)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		for _, r := range due {
			if err := s.sendReminder(ctx, r); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "a reminder was not sent", "organization", r.OrganizationID, "invoice",
					r.InvoiceID, "err", err)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		after = due[len(due)-1]
	}
}

// sendReminder draws and stores the PDF first, like sendInvoice. If a payment arrives in between,
// the invoice has changed: then nothing is sent, and the next run looks again.
func (s *Service) sendReminder(ctx context.Context, r dueReminder) error {
	l, err := s.composeWithPDF(ctx, s.db.Read, r.OrganizationID,
		invoiceSend{ID: r.InvoiceID, TemplateKey: template.InvoiceReminder})
	if err != nil {
		return err
	}
	if strange, err := s.goesToUnknownAddress(ctx, l); err != nil || strange {
		return err
	}
	saved, err := s.files.Save(ctx, r.OrganizationID, l.invoice.pdfFileName(), bytes.NewReader(l.pdf))
	if err != nil {
		return err
	}
	sent := false
	err = s.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		sent, err = s.postReminder(ctx, tx, r, l, saved)
		return err
	})
	if err != nil || !sent {
		saved.Discard(ctx)
	}
	return err
}

// goesToUnknownAddress reports whether a reminder would go to an address that nobody of the
// organization entered. That is possible when an agent created the invoice after it had read
// text of people outside. Such a reminder is not sent; a person can send it.
func (s *Service) goesToUnknownAddress(ctx context.Context, l *invoiceMail) (strange bool, err error) {
	if !l.invoice.External {
		return false, nil
	}
	err = s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		own, err := OwnAddresses(ctx, tx, l.invoice.OrganizationID, l.invoice.ID)
		strange = !slices.ContainsFunc(own, func(a string) bool { return message.SameAddress(a, l.to) })
		return err
	})
	return strange, err
}

// postReminder writes the reminder's row, its message and its event. It reports false, and
// writes nothing, if the invoice changed since the PDF was drawn, or if another process was
// first.
func (s *Service) postReminder(ctx context.Context, tx *db.Tx, r dueReminder, l *invoiceMail, saved *store.Saved) (bool,
	error) {
	v, err := readInvoice(ctx, tx, r.OrganizationID, r.InvoiceID, invoices.Lock)
	if fault.IsKind(err, fault.NotFound) || err == nil && v.UpdatedAt != l.invoice.UpdatedAt {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now := s.clock.Now()
	n, err := db.Exec(ctx, tx, `
		INSERT INTO invoice_reminders (organization_id, created_at, invoice_id, rule_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (organization_id, invoice_id, rule_id) DO NOTHING`, r.OrganizationID, now, r.InvoiceID, r.RuleID)
	if err != nil || n == 0 {
		return false, err
	}
	attached, err := saved.Insert(ctx, tx, now, nil)
	if err != nil {
		return false, err
	}
	cause := event.Event{Organization: r.OrganizationID, At: now}.BySystem()
	if _, err := s.messages.Post(ctx, tx, cause, l.toMessage(attached)); err != nil {
		return false, err
	}
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return false, err
	}
	cause.Type, cause.ResourceID, cause.Data = "invoice.reminded", v.ID, data
	return true, s.events.Append(ctx, tx, cause)
}

// toMessage is the mail as the package message sends it.
func (l *invoiceMail) toMessage(pdf *store.File) message.Outgoing {
	out := message.Outgoing{
		To:          []string{l.to},
		ReplyTo:     l.from.Email,
		Content:     l.mail,
		Files:       []*store.File{pdf},
		InvoiceIDs:  []id.ID{l.invoice.ID},
		CustomerID:  l.invoice.CustomerID,
		BusinessID:  &l.invoice.BusinessID,
		ScheduledAt: l.at,
	}
	if l.link != "" {
		out.Button = &template.Button{Label: template.InvoiceButtonLabel, URL: l.link}
	}
	return out
}
