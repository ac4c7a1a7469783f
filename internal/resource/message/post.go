package message

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/template"

	"github.com/go-json-experiment/json"
)

// Outgoing is a message that the service itself writes, for another resource.
type Outgoing struct {
	To         []string
	ReplyTo    *string
	Content    *template.Rendered
	Files      []*file.File // inserted in the same transaction, or before
	InvoiceIDs []id.ID      // that it is about; their PDFs are among Files
	ContactID  *id.ID
	CustomerID *id.ID
	BusinessID *id.ID           // in whose name it is sent; nil for the service's own notices
	Button     *template.Button // below the content; may be nil
	Closed     bool             // no answer is expected: its thread is closed at once

	ScheduledAt *clock.Time // when to send it; nil for at once
}

// CheckScheduledAt refuses a time that no message can be scheduled for.
func CheckScheduledAt(at *clock.Time, now clock.Time) error {
	return addScheduleIssue(nil, at, now).Fault(fault.Invalid)
}

// Post writes a message in the caller's transaction and sends it once that is
// committed:
//
//	content, err := template.ContentForKey(ctx, tx, org, template.Invoice) // on a snapshot
//	mail, err := content.Render(values)                                    // outside transactions
//	saved, err := files.Save(ctx, org, "INV-000001.pdf", pdf)              // the same
//	…
//	f, err := saved.Insert(ctx, tx, now, nil)
//	v, err := messages.Post(ctx, tx, cause, message.Outgoing{To: …, Content: mail, Files: []*file.File{f}})
//
// cause says for whom, when and by whom it is written, as c.Cause or
// event.Event.BySystem give it; message.created is written with it.
func (m *Messages) Post(ctx context.Context, tx *db.Tx, cause event.Event, o Outgoing) (*Message, error) {
	for _, a := range o.To {
		if !op.IsEmailAddress(a) {
			return nil, fmt.Errorf("message: %q is not an address", a)
		}
	}
	if len(o.To) == 0 || len(o.To) > maxRecipients || breaksHeader(o.Content.Subject) {
		return nil, fmt.Errorf("message: %d recipients, subject %q", len(o.To), o.Content.Subject)
	}
	// What a job writes into text columns counts as external, because it usually passes on what outsiders wrote.
	// This text comes from the organization's templates, so it must not.
	if tx.Author() == db.AuthorJob {
		tx.SetAuthor(db.AuthorOrganization)
		defer tx.SetAuthor(db.AuthorJob)
	}
	v := &Message{
		Record: op.Record{
			ID:             id.New(),
			CreatedAt:      cause.At,
			UpdatedAt:      cause.At,
			OrganizationID: cause.Organization,
		},
		Direction:   Outbound,
		Status:      Queued,
		Purpose:     Transactional,
		To:          o.To,
		CC:          []string{},
		BCC:         []string{},
		ReplyTo:     o.ReplyTo,
		Subject:     o.Content.Subject,
		Text:        &o.Content.Text,
		HTML:        &o.Content.HTML,
		InvoiceIDs:  append([]id.ID{}, o.InvoiceIDs...),
		ContactID:   o.ContactID,
		CustomerID:  o.CustomerID,
		Layout:      !o.Content.Own,
		Button:      o.Button,
		ScheduledAt: o.ScheduledAt,
	}
	if o.Button != nil && !o.Button.IsValid() {
		return nil, fmt.Errorf("message: a button to %q", o.Button.URL)
	}
	if err := m.fillAndCheckSender(ctx, tx, v); err != nil {
		return nil, err
	}
	if o.BusinessID != nil {
		if err := v.setBusiness(ctx, tx, *o.BusinessID); err != nil {
			return nil, err
		}
	}
	if err := m.enforceSharedName(ctx, tx, v); err != nil {
		return nil, err
	}
	var err error
	if v.DueInvoiceIDs, err = m.listDueInvoices(ctx, tx, v); err != nil {
		return nil, err
	}
	if err := m.insertOutgoing(ctx, tx, cause, v, o.Files); err != nil {
		return nil, err
	}
	if o.Closed {
		if _, err := db.Exec(ctx, tx, "UPDATE threads SET status = 'closed' WHERE organization_id = $1 AND id = $2",
			v.OrganizationID, v.ThreadID); err != nil {
			return nil, err
		}
	}
	return v, m.appendEvent(ctx, tx, cause.About("message.created", v.ID), v)
}

// appendEvent appends an event about a message or thread, with v, its present state.
func (m *Messages) appendEvent(ctx context.Context, tx *db.Tx, e event.Event, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("message: event %s: %w", e.Type, err)
	}
	e.Data, e.External = data, e.External || op.HoldsExternalText(v)
	return m.events.Append(ctx, tx, e)
}
