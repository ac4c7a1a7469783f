package notification

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/task"

	"github.com/go-json-experiment/json"
)

// facts are the fields of events' data that decide whom to tell what.
type facts struct {
	Body       *string `json:"body"`
	ContactID  id.ID   `json:"contactId"`
	ThreadID   id.ID   `json:"threadId"`
	TaskID     id.ID   `json:"taskId"`
	UserID     id.ID   `json:"userId"`
	AssigneeID *id.ID  `json:"assigneeId"`

	Subject string `json:"subject"`
	Title   string `json:"title"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	URL     string `json:"url"`

	From          string  `json:"from"`
	Text          *string `json:"text"`
	AutoSubmitted bool    `json:"autoSubmitted"`
	ErrorMessage  *string `json:"errorMessage"`

	BusinessID       id.ID   `json:"businessId"`
	InvoiceNumber    *string `json:"invoiceNumber"`
	BillToName       *string `json:"billToName"`
	TotalAmountCents int64   `json:"totalAmountCents"`
	Currency         string  `json:"currency"`
	DomainName       string  `json:"domainName"`
}

// parseFacts reads an event's data, as far as it is there: an erased event has none.
func parseFacts(data db.JSON) (f facts, err error) {
	if len(data) > 0 && data[0] == '{' {
		err = json.Unmarshal(data, &f)
	}
	return f, err
}

// concernsPeople tells which events somebody may be told of. It decides quickly and too generously: hear looks closer.
func concernsPeople(e *event.Event) bool {
	switch e.Type {
	case "contact.note.created", "contact.note.updated", "thread.note.created", "task.activity.created":
		return bytes.ContainsRune(e.Data, '@')
	case "thread.updated":
		return bytes.Contains(e.Previous, []byte(`"assigneeId"`))
	case "proposal.created", "proposal.updated":
		return bytes.Contains(e.Data, []byte(`"pending"`))
	case "task.assignee.created", "message.received", "message.failed", "message.bounced", "invoice.paid",
		"operation.failed", "webhook.disabled", "user.password_changed", "user.password_reset":
		return true
	}
	return false
}

// hearing is one event, while it is decided whom to tell.
type hearing struct {
	*Service
	tx      *db.Tx
	e       event.Event
	f       facts
	members []account.Colleague
}

// hear tells people of an event. It runs in the transaction of the event's fan-out, which takes effect once.
func (s *Service) hear(ctx context.Context, tx *db.Tx, e event.Event) error {
	if e.Type == "user.password_changed" || e.Type == "user.password_reset" {
		// Whoever had the old password may have subscribed a browser of their own.
		_, err := db.Exec(ctx, tx, "DELETE FROM push_subscriptions WHERE organization_id = $1 AND user_id = $2",
			e.Organization, e.ResourceID)
		return err
	}
	f, err := parseFacts(e.Data)
	if err != nil {
		// Another attempt would fail too, and webhooks wait for this one.
		s.cfg.Log.ErrorContext(ctx, "nobody is told of an event", "type", e.Type, "event", e.ID, "err", err)
		return nil
	}
	h := &hearing{Service: s, tx: tx, e: e, f: f}
	if h.members, err = account.ActiveMembers(ctx, tx, e.Organization); err != nil {
		return err
	}
	n, to, err := h.decide(ctx)
	if fault.IsKind(err, fault.NotFound) {
		return nil // what it is about was deleted meanwhile
	}
	if err != nil || len(to) == 0 {
		return err
	}
	n.Cause, n.External = e, n.External || e.External
	_, err = s.tell(ctx, tx, n, to)
	return err
}

// decide finds out what to tell whom.
func (h *hearing) decide(ctx context.Context) (News, []account.Colleague, error) {
	switch h.e.Type {
	case "contact.note.created", "contact.note.updated", "thread.note.created", "task.activity.created":
		return h.aboutMention(ctx)
	case "thread.updated":
		return News{Kind: Assigned, ResourceType: "thread", ResourceID: h.e.ResourceID, Subject: h.f.Subject,
			Permission: "messages"}, h.among(h.f.AssigneeID), nil
	case "task.assignee.created":
		n, err := h.aboutTask(ctx, Assigned)
		return n, h.among(&h.f.UserID), err
	case "message.received":
		return h.aboutAnswer(ctx)
	case "message.failed", "message.bounced":
		return h.aboutFailedMail(ctx)
	case "proposal.created", "proposal.updated":
		return h.aboutProposal()
	case "invoice.paid":
		n, err := h.aboutPaidInvoice(ctx)
		return n, h.members, err
	case "operation.failed":
		text := ""
		if h.f.ErrorMessage != nil {
			text = *h.f.ErrorMessage
		}
		return News{Kind: PaymentFailed, ResourceType: "operation", ResourceID: h.e.ResourceID, Text: text,
			Subject: strings.TrimSpace("The order of " + h.f.DomainName + " failed")}, h.owners(), nil
	case "webhook.disabled":
		return News{Kind: WebhookDead, ResourceType: "webhook", ResourceID: h.e.ResourceID, Subject: h.f.URL},
			h.owners(), nil
	}
	return News{}, nil, nil
}

// among is the members with these ids.
func (h *hearing) among(ids ...*id.ID) (out []account.Colleague) {
	for _, m := range h.members {
		if slices.ContainsFunc(ids, func(v *id.ID) bool { return v != nil && *v == m.ID }) {
			out = append(out, m)
		}
	}
	return out
}

func (h *hearing) owners() (out []account.Colleague) {
	return slices.DeleteFunc(slices.Clone(h.members), func(m account.Colleague) bool { return m.Role != "owner" })
}

// aboutMention is a note or a comment that names somebody. A note that was changed is told only to those whom it did
// not name before.
func (h *hearing) aboutMention(ctx context.Context) (n News, to []account.Colleague, err error) {
	if h.f.Body == nil {
		return n, nil, nil
	}
	was, err := parseFacts(h.e.Previous)
	if err != nil {
		return n, nil, nil //nolint:nilerr // another attempt would fail too, and webhooks wait for this one
	}
	before := []id.ID{}
	if was.Body != nil {
		before = mentioned(*was.Body, h.members)
	}
	for _, m := range mentioned(*h.f.Body, h.members) {
		if !slices.Contains(before, m) {
			to = append(to, h.among(&m)...)
		}
	}
	if len(to) == 0 {
		return n, nil, nil
	}
	switch event.ResourceType(h.e.Type) {
	case "contact.note":
		n = News{Kind: Mentioned, ResourceType: "contact", ResourceID: h.f.ContactID, Permission: "contacts"}
		n.Subject, err = contact.NameOf(ctx, h.tx, h.e.Organization, h.f.ContactID)
	case "thread.note":
		n, _, err = h.aboutThread(ctx, Mentioned)
	default:
		n, err = h.aboutTask(ctx, Mentioned)
	}
	n.Text = *h.f.Body
	return n, to, err
}

func (h *hearing) aboutTask(ctx context.Context, kind Kind) (News, error) {
	t, err := task.Get(ctx, h.tx, h.e.Organization, h.f.TaskID)
	if err != nil {
		return News{}, err
	}
	return News{Kind: kind, ResourceType: "task", ResourceID: t.ID, Subject: t.Title, Permission: "tasks",
		External: t.External}, nil
}

func (h *hearing) aboutThread(ctx context.Context, kind Kind) (News, *message.Thread, error) {
	t, err := message.GetThread(ctx, h.tx, h.e.Organization, h.f.ThreadID)
	if err != nil {
		return News{}, nil, err
	}
	return News{Kind: kind, ResourceType: "thread", ResourceID: t.ID, Subject: t.Subject, Permission: "messages",
		External: t.External}, t, nil
}

// aboutAnswer is a mail that came in for a thread which is somebody's. What a machine answered is not told.
func (h *hearing) aboutAnswer(ctx context.Context) (News, []account.Colleague, error) {
	n, t, err := h.aboutThread(ctx, Answered)
	if err != nil || t.AssigneeID == nil || h.f.AutoSubmitted {
		return News{}, nil, err
	}
	n.External, n.ActorName = true, h.f.From
	if h.f.Text != nil {
		n.Text = strings.Join(strings.Fields(*h.f.Text), " ")
	}
	return n, h.among(t.AssigneeID), nil
}

// aboutFailedMail is told to whoever takes care of the thread and whoever sent the mail, and to the owners if there is
// neither. The service's own mail, notifications among it, is told to the desk alone: another mail would fail too.
func (h *hearing) aboutFailedMail(ctx context.Context) (News, []account.Colleague, error) {
	n, t, err := h.aboutThread(ctx, MailFailed)
	if err != nil {
		return n, nil, err
	}
	n.Subject, n.External = h.f.Subject, true // the reason is what another server said
	if h.f.ErrorMessage != nil {
		n.Text = *h.f.ErrorMessage
	}
	sent, err := event.ListWhere(ctx, h.tx, h.e.Organization,
		event.Condition{SQL: "resource_id = $2 AND actor_kind = 'user'", Args: []any{h.e.ResourceID}}, 1)
	if err != nil {
		return n, nil, err
	}
	people := []*id.ID{t.AssigneeID}
	if len(sent) > 0 {
		people = append(people, sent[0].ActorID)
	}
	to := h.among(people...)
	if len(to) == 0 {
		n.Mailed, to = true, h.owners()
	}
	return n, to, nil
}

// aboutProposal is told to those who may decide. A proposal that waits anew is a new one to them.
func (h *hearing) aboutProposal() (News, []account.Colleague, error) {
	was, err := parseFacts(h.e.Previous)
	if err != nil || h.f.Status != "pending" || h.e.Type == "proposal.updated" && was.Status == "" {
		return News{}, nil, nil //nolint:nilerr // as above
	}
	to := slices.DeleteFunc(slices.Clone(h.members), func(m account.Colleague) bool { return !m.MayApprove })
	// Its mail is the review mail, which is written with the proposal.
	return News{Kind: Proposed, ResourceType: "proposal", ResourceID: h.e.ResourceID, Subject: h.f.Title,
		Mailed: true}, to, nil
}

func (h *hearing) aboutPaidInvoice(ctx context.Context) (News, error) {
	b, err := account.LoadBusinessEvenDeleted(ctx, h.tx, h.e.Organization, h.f.BusinessID)
	if err != nil {
		return News{}, err
	}
	n := News{Kind: InvoicePaid, ResourceType: "invoice", ResourceID: h.e.ResourceID,
		Text: locale.New(b.Locale, b.Timezone).Money(h.f.TotalAmountCents, h.f.Currency)}
	if h.f.InvoiceNumber != nil {
		n.Subject = *h.f.InvoiceNumber
	}
	if h.f.BillToName != nil {
		n.Text += ", " + *h.f.BillToName
	}
	return n, nil
}

// tellTest sends a person a notification about nothing, so that they see how it comes.
func (s *Service) tellTest(ctx context.Context, c *op.Call, _ struct{}) (*Unread, error) {
	row := &Notification{Record: c.NewRecord(), Kind: Mentioned, ResourceType: "user", ResourceID: c.Caller.User,
		ActorKind: string(op.SystemActor), Subject: "a test", UserID: c.Caller.User, Permission: op.Unrestricted,
		InDesk: true, Text: textOrNil("This is how notices reach you.")}
	if err := notifications.Insert(ctx, c.Tx, row); err != nil {
		return nil, err
	}
	if err := s.enqueuePushes(ctx, c.Tx, row); err != nil {
		return nil, err
	}
	return CountUnread(ctx, c.Tx, c.Caller)
}
