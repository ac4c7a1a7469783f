package message

import (
	"context"
	"fmt"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/optin"
	"frontdesk/internal/resource/template"

	"github.com/go-json-experiment/json"
)

func (m *Messages) moveOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{Name: "messages.send", Outward: true, Route: "POST /v1/messages/{id}/send", Summary: "Send a draft.", Status: 200,
			Description: "It is sent at its scheduledAt when that lies ahead, else at once.",
			Errors:      []*fault.Kind{TransitionInvalid, OptInRequired, Loop, FileMissing}, Events: []string{"message.queued", "message.scheduled"},
			Example: `{` + exampleID + `}`}, m.sendMessage),
		op.Write(op.Spec{Name: "messages.cancel", Route: "POST /v1/messages/{id}/cancel", Summary: "Keep a message from being sent.", Status: 200,
			Description: "It works while the message is scheduled or queued, and nobody has got it yet.",
			Errors:      []*fault.Kind{TransitionInvalid}, Events: []string{"message.canceled"},
			Example: `{` + exampleID + `}`}, m.cancelMessage),
	}
}

func (m *Messages) sendMessage(ctx context.Context, c *op.Call, in messageRef) (*Message, error) {
	v, err := messages.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != Draft {
		return nil, TransitionInvalid.Say("The message is %s; only a draft can be sent.", v.Status)
	}
	if err := m.maySend(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := v.hasFiles(ctx, c); err != nil {
		return nil, err
	}
	if err := m.queue(ctx, c.Tx, c.Cause(), v); err != nil {
		return nil, err
	}
	return v, m.moved(ctx, c, v, "message."+v.Status)
}

func (m *Messages) cancelMessage(ctx context.Context, c *op.Call, in messageRef) (*Message, error) {
	v, err := messages.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != Scheduled && v.Status != Queued {
		return nil, TransitionInvalid.Say("The message is %s; only one that is scheduled or queued can be canceled.", v.Status)
	}
	if _, err := m.jobs.CancelKey(ctx, c.Tx, deliverKind, string(v.ID)); err != nil {
		return nil, err
	}
	v.Status = Canceled
	return v, m.moved(ctx, c, v, "message.canceled")
}

func (m *Messages) moved(ctx context.Context, c *op.Call, v *Message, kind string) error {
	v.UpdatedAt = c.Now
	if err := messages.Save(ctx, c.Tx, v); err != nil {
		return err
	}
	if err := fillFile(ctx, c.Tx, v); err != nil {
		return err
	}
	return c.Emit(kind, v.ID, v)
}

// queue sees to it that a message leaves, now or when it is due. The job
// exists exactly when the change does.
func (m *Messages) queue(ctx context.Context, tx *db.Tx, cause event.Event, v *Message) error {
	if err := agreed(ctx, tx, v); err != nil {
		return err
	}
	if err := v.automatic(ctx, tx, cause); err != nil {
		return err
	}
	at := cause.At
	if v.Status = Queued; v.ScheduledAt != nil && *v.ScheduledAt > cause.At {
		v.Status, at = Scheduled, *v.ScheduledAt
	}
	_, err := m.jobs.Enqueue(ctx, tx, deliverKind, delivery{v.OrganizationID, v.ID}, job.For(v.OrganizationID), job.Key(string(v.ID)), job.At(at))
	return err
}

// agreed refuses marketing mail to those who did not ask for it.
func agreed(ctx context.Context, tx *db.Tx, v *Message) error {
	if v.Purpose != Marketing {
		return nil
	}
	refused, err := optin.Refused(ctx, tx, v.OrganizationID, v.recipients())
	if err != nil || len(refused) == 0 {
		return err
	}
	f := OptInRequired.Say("Marketing mail goes only to addresses that opted in, and these did not: %s.", strings.Join(refused, ", "))
	f.Details = map[string][]string{"addresses": refused}
	return f
}

// Outgoing is a message that the service itself writes, for another resource.
type Outgoing struct {
	To         []string
	ReplyTo    *string
	Content    *template.Rendered
	Files      []*file.File // inserted in the same transaction, or before
	ContactID  *id.ID
	CustomerID *id.ID
}

// Post writes a message in the caller's transaction and sends it once that is
// committed:
//
//	content, err := template.ForKey(ctx, tx, org, template.Invoice) // on a snapshot
//	mail, err := content.Render(values)                             // outside of transactions
//	saved, err := files.Save(ctx, org, "INV-000001.pdf", pdf)       // the same
//	…
//	f, err := saved.Insert(ctx, tx, now, nil)
//	v, err := messages.Post(ctx, tx, cause, message.Outgoing{To: …, Content: mail, Files: []*file.File{f}})
//
// cause says for whom, when and by whom it is written, as c.Cause or
// event.Event.BySystem give it; message.created is written with it.
func (m *Messages) Post(ctx context.Context, tx *db.Tx, cause event.Event, o Outgoing) (*Message, error) {
	for _, a := range o.To {
		if !op.IsEmail(a) {
			return nil, fmt.Errorf("message: %q is no address", a)
		}
	}
	if len(o.To) == 0 || len(o.To) > maxRecipients || unseen(o.Content.Subject) {
		return nil, fmt.Errorf("message: %d recipients, subject %q", len(o.To), o.Content.Subject)
	}
	v := &Message{Record: op.Record{ID: id.New(), CreatedAt: cause.At, UpdatedAt: cause.At, OrganizationID: cause.Organization},
		Direction: Outbound, Status: Queued, Purpose: Transactional, To: o.To, CC: []string{}, BCC: []string{}, ReplyTo: o.ReplyTo,
		Subject: o.Content.Subject, Text: &o.Content.Text, HTML: &o.Content.HTML, ContactID: o.ContactID, CustomerID: o.CustomerID}
	if err := m.maySend(ctx, tx, v); err != nil {
		return nil, err
	}
	if err := m.insert(ctx, tx, cause, v, o.Files); err != nil {
		return nil, err
	}
	return v, m.Tell(ctx, tx, cause, "message.created", v)
}

// Tell writes an event about a message as it is now.
func (m *Messages) Tell(ctx context.Context, tx *db.Tx, cause event.Event, kind string, v *Message) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("message: event %s: %w", kind, err)
	}
	cause.Type, cause.ResourceID, cause.Data = kind, v.ID, data
	return m.events.Append(ctx, tx, cause)
}
