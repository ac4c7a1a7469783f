package message

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// replyRecipients is whom an answer to a message goes to: whoever wrote it, at the address that they ask for, or
// those whom we wrote to.
func (v *Message) replyRecipients() []string {
	switch {
	case v.Direction == Outbound:
		return v.To
	case v.ReplyTo != nil:
		return []string{*v.ReplyTo}
	}
	return []string{v.From}
}

// ReplySubject is the subject of an answer.
func ReplySubject(subject string) string {
	subject = strings.TrimSpace(subject)
	if len(subject) >= 3 && strings.EqualFold(subject[:3], "re:") {
		return subject
	}
	return strings.TrimSpace("Re: " + subject)
}

// fillReply fills in what an answer need not say: to whom it goes and what it is about. Without a message that it
// answers, it must say both.
func (in *messageCreate) fillReply(ctx context.Context, c *op.Call) error {
	missesSubject := in.Subject == nil && in.TemplateID == nil
	if in.InReplyToID == nil || len(in.To) > 0 && !missesSubject {
		return nil
	}
	var parent *Message
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		parent, err = messages.Get(ctx, tx, c.Org, *in.InReplyToID)
		return err
	})
	if fault.IsKind(err, fault.NotFound) {
		return op.NoSuchReference("inReplyToId")
	}
	if err != nil {
		return err
	}
	if len(in.To) == 0 {
		in.message.To = parent.replyRecipients()
	}
	if missesSubject {
		subject := ReplySubject(parent.Subject)
		in.Subject = &subject
	}
	return nil
}

// marksAnswered reports whether a message closes the matter for now. An agent that answers means so unless it says
// otherwise, as far as it may change threads.
func (in *messageCreate) marksAnswered(c *op.Call) (bool, error) {
	switch {
	case in.InReplyToID == nil || in.Draft:
		return false, nil
	case in.Answer == nil:
		return c.Door == op.AgentDoor && c.Caller.Permissions.Allow(threadResource, op.ActionUpdate), nil
	case *in.Answer:
		return true, c.RequirePermission(threadResource, op.ActionUpdate, "Marking the thread as answered")
	}
	return false, nil
}

// markAnswered marks a thread as read, and as waiting for the other side.
func markAnswered(ctx context.Context, c *op.Call, thread id.ID) error {
	t, err := threads.Lock(ctx, c.Tx, c.Org, thread)
	if err != nil || t.Status == threadWaiting && !t.Unread {
		return err
	}
	t.Status, t.Unread, t.UpdatedAt = threadWaiting, false, c.Now
	if err := threads.Save(ctx, c.Tx, t); err != nil {
		return err
	}
	return c.Emit(threadUpdatedEvent, t.ID, t)
}
