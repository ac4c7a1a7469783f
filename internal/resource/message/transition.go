package message

import (
	"context"
	"fmt"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/optin"
)

func (m *Messages) transitionOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{
			Name:        "messages.send",
			Words:       "send off, send draft, go out",
			Outward:     true,
			Route:       "POST /v1/messages/{id}/send",
			Summary:     "Send a draft.",
			Status:      200,
			Description: "It is sent at scheduledAt if that is in the future, otherwise at once.",
			Errors:      []*fault.Kind{TransitionInvalid, OptInRequired, Loop, FileMissing},
			Events:      []string{"message.queued", "message.scheduled"},
			Example:     `{` + exampleID + `}`,
		}, m.sendMessage),
		op.Write(op.Spec{
			Name:        "messages.cancel",
			Words:       "stop, hold, goes out, recall, prevent, unsend, do not send",
			Route:       "POST /v1/messages/{id}/cancel",
			Summary:     "Cancel a message before it is sent.",
			Status:      200,
			Description: "Works while the message is scheduled or queued and nobody has received it.",
			Errors:      []*fault.Kind{TransitionInvalid},
			Events:      []string{"message.canceled"},
			Example:     `{` + exampleID + `}`,
		}, m.cancelMessage),
		op.Write(op.Spec{
			Name:        "messages.unschedule",
			Words:       "wait, hold, postpone, send yet, send later, not yet",
			Route:       "POST /v1/messages/{id}/unschedule",
			Summary:     "Make a scheduled message a draft again.",
			Status:      200,
			Description: "Works until its time has come. It can then be changed and sent.",
			Errors:      []*fault.Kind{TransitionInvalid},
			Events:      []string{"message.updated"},
			Example:     `{` + exampleID + `}`,
		}, m.unscheduleMessage),
	}
}

// fillAndCheckSender fills in the shared address for a message that has no From, and
// refuses an address that the organization may not send from.
func (m *Messages) fillAndCheckSender(ctx context.Context, tx *db.Tx, v *Message) error {
	if v.From == "" {
		v.From = m.hosts.DefaultAddress()
	}
	ok, err := m.hosts.MaySendFrom(ctx, tx, v.OrganizationID, v.From)
	if err == nil && !ok {
		return fault.Field("from", fmt.Sprintf("The organization cannot send from this address; "+
			"use one on an active domain of its own, or %s", m.hosts.DefaultAddress()))
	}
	return err
}

// sendMessage queues a draft. What may have changed since it was written is checked
// again: the sender's address and name, and the files.
func (m *Messages) sendMessage(ctx context.Context, c *op.Call, in messageRef) (*Message, error) {
	to, err := lockLinkedContacts(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	v, err := messages.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != Draft {
		return nil, TransitionInvalid.Say("The message is %s; only a draft can be sent.", v.Status)
	}
	if err := m.fillAndCheckSender(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := m.enforceSharedName(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := v.checkFilesExist(ctx, c); err != nil {
		return nil, err
	}
	if err := m.queueDelivery(ctx, c.Tx, c.EventCause(), v); err != nil {
		return nil, err
	}
	if err := m.saveTransition(ctx, c, v, "message."+string(v.Status)); err != nil {
		return nil, err
	}
	if v.reachesContacts() {
		if err := contact.NoteMessage(ctx, c.Tx, c.Org, to, false, c.Now); err != nil {
			return nil, err
		}
	}
	return v, v.updateDraftThreads(ctx, c.Tx, v, v.ContactID)
}

// cancelMessage takes a message out of the queue. While an attempt is under way the
// message is sending, which is too late; after an attempt that reached nobody it is
// queued again.
func (m *Messages) cancelMessage(ctx context.Context, c *op.Call, in messageRef) (*Message, error) {
	to, err := lockLinkedContacts(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	v, err := messages.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != Scheduled && v.Status != Queued {
		return nil, TransitionInvalid.Say("The message is %s; only one that is scheduled or queued can be canceled.",
			v.Status)
	}
	if _, err := m.jobs.CancelByKey(ctx, c.Tx, deliverKind, string(v.ID)); err != nil {
		return nil, err
	}
	v.Status = Canceled
	if err := m.saveTransition(ctx, c, v, "message.canceled"); err != nil {
		return nil, err
	}
	return v, recountMessages(ctx, c.Tx, c.Org, to...)
}

// unscheduleMessage makes a message a draft again that nobody has tried to send. What was attempted has recipients of
// its own, who would get the draft too; and the service's own mail is not the organization's to rewrite.
func (m *Messages) unscheduleMessage(ctx context.Context, c *op.Call, in messageRef) (*Message, error) {
	v, err := messages.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Status != Scheduled {
		return nil, TransitionInvalid.Say("The message is %s; only a scheduled one can become a draft again.", v.Status)
	}
	if v.BusinessID == nil {
		return nil, TransitionInvalid.Say("The service wrote this message, so it can only be canceled.")
	}
	if _, err := m.jobs.CancelByKey(ctx, c.Tx, deliverKind, string(v.ID)); err != nil {
		return nil, err
	}
	v.Status, v.ScheduledAt = Draft, nil
	return v, m.saveTransition(ctx, c, v, "message.updated")
}

// saveTransition writes a message that changed its status, and emits the event.
func (m *Messages) saveTransition(ctx context.Context, c *op.Call, v *Message, kind string) error {
	v.UpdatedAt = c.Now
	if err := messages.Save(ctx, c.Tx, v); err != nil {
		return err
	}
	if err := fillMessageFileIDs(ctx, c.Tx, v); err != nil {
		return err
	}
	return c.Emit(kind, v.ID, v)
}

// queueDelivery enqueues the job that sends a message, now or at scheduledAt. The job is
// written in the same transaction, so it exists if and only if the change does.
func (m *Messages) queueDelivery(ctx context.Context, tx *db.Tx, cause event.Event, v *Message) error {
	if err := checkOptIns(ctx, tx, v); err != nil {
		return err
	}
	if err := v.markAutomatic(ctx, tx, cause); err != nil {
		return err
	}
	at := cause.At
	if v.Status = Queued; v.ScheduledAt != nil && *v.ScheduledAt > cause.At {
		v.Status, at = Scheduled, *v.ScheduledAt
	}
	_, err := m.jobs.Enqueue(ctx, tx, deliverKind, deliveryArgs{v.OrganizationID, v.ID},
		job.ForOrganization(v.OrganizationID), job.UniqueKey(string(v.ID)), job.RunAt(at))
	return err
}

// checkOptIns refuses marketing mail to those who have not opted in.
func checkOptIns(ctx context.Context, tx *db.Tx, v *Message) error {
	if v.Purpose != Marketing {
		return nil
	}
	refused, err := optin.NotOptedIn(ctx, tx, v.OrganizationID, v.uniqueRecipients())
	if err != nil || len(refused) == 0 {
		return err
	}
	f := OptInRequired.Say("Marketing mail goes only to addresses that opted in, and these did not: %s.",
		strings.Join(refused, ", "))
	f.Details = map[string][]string{"addresses": refused}
	return f
}
