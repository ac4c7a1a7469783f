// Package message holds mail: what an organization writes, what it sends and
// what it received, with attachments, threads and the contacts that it is from
// or to.
//
// Start reading at Message. Messages.insert is how every outgoing message comes
// to be, draft.go is what a caller may say about one, deliver.go how it leaves, and
// receive.go how mail comes in.
// The mail system is behind the port Mailer; nothing here speaks SMTP, and
// nothing is sent inside of a transaction.
package message

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/optin"
	"frontdesk/internal/resource/template"
)

// What a message can be.
const (
	Inbound  = "inbound"
	Outbound = "outbound"

	Draft     = "draft"
	Scheduled = "scheduled"
	Queued    = "queued"
	Sending   = "sending"
	Sent      = "sent"
	Delivered = "delivered"
	Bounced   = "bounced"
	Failed    = "failed"
	Canceled  = "canceled"
	Received  = "received"

	Transactional = "transactional"
	Marketing     = "marketing"
)

// Message is one mail. Addresses are kept as they were written and compared
// folded.
type Message struct {
	op.Record
	Direction    string      `json:"direction" enum:"inbound,outbound"`
	Status       string      `json:"status" enum:"draft,scheduled,queued,sending,sent,delivered,bounced,failed,canceled,received"`
	Purpose      string      `json:"purpose" enum:"transactional,marketing"`
	ThreadID     id.ID       `json:"threadId" doc:"the same for a message and all that answer it"`
	InReplyToID  *id.ID      `json:"inReplyToId" doc:"the message that it answers"`
	From         string      `json:"from" db:"from_address"`
	ReplyTo      *string     `json:"replyTo"`
	To           []string    `json:"to" db:"to_addresses" max:"1000"`
	CC           []string    `json:"cc" db:"cc_addresses" max:"1000"`
	BCC          []string    `json:"bcc" db:"bcc_addresses" max:"1000"`
	Subject      string      `json:"subject" max:"1000"`
	Text         *string     `json:"text" db:"text_body" max:"-1"`
	HTML         *string     `json:"html" db:"html_body" max:"-1" doc:"sanitized: no scripts, no forms, no frames"`
	TemplateID   *id.ID      `json:"templateId" doc:"the email template that it was made from"`
	FileIDs      []id.ID     `json:"fileIds" db:"-" max:"1000" doc:"the files of its attachments"`
	ContactID    *id.ID      `json:"contactId"`
	CustomerID   *id.ID      `json:"customerId"`
	ScheduledAt  *clock.Time `json:"scheduledAt" doc:"when it is to be sent"`
	SentAt       *clock.Time `json:"sentAt" doc:"when it left; of a received message, when it says that it was sent"`
	ErrorMessage *string     `json:"errorMessage" max:"10000" doc:"why it was not sent, or not to everybody"`
	// False until a draft is sent: who sends it counts.
	AutoSubmitted bool `json:"autoSubmitted" doc:"nobody wrote it: of a received message, that its mail says so; of one that is sent, that an automation or the service sent it"`

	Seq         int64    `json:"-" db:"seq"`
	InternetID  string   `json:"-" db:"internet_id"` // Message-ID, without its brackets
	References  []string `json:"-" db:"reference_ids"`
	Chain       []id.ID  `json:"-" db:"chain"` // what led to it, as its events have it
	Attachments int      `json:"-" db:"attachment_count"`
	Search      string   `json:"-" db:"search"`
	Size        int64    `json:"-" db:"size_bytes"` // of what it says
}

var messages = db.NewTable[Message]("messages", "message")

// The refusals of messages.
var (
	NotDraft          = fault.Define("MESSAGE_NOT_DRAFT", 409, "Only a draft can be changed or deleted.")
	TransitionInvalid = fault.Define("MESSAGE_TRANSITION_INVALID", 409, "The message cannot make this move from its status.")
	OptInRequired     = fault.Define("EMAIL_OPT_IN_REQUIRED", 422, "Marketing mail goes only to addresses that opted in.")
	FileMissing       = fault.Define("MESSAGE_FILE_MISSING", 409, "A file of the message was deleted.")
	TooLarge          = fault.Define("MESSAGE_TOO_LARGE", 422, "The attachments of the message are too large.")
)

// Messages is what outgoing mail needs.
type Messages struct {
	db      *db.DB
	clock   *clock.Clock
	jobs    *job.Queue
	events  *event.Log
	files   *file.Store
	links   *optin.Links
	senders Senders
	mailer  Mailer
}

// New joins messages to what they need.
func New(d *db.DB, c *clock.Clock, jobs *job.Queue, events *event.Log, files *file.Store, links *optin.Links, senders Senders, mailer Mailer) *Messages {
	return &Messages{db: d, clock: c, jobs: jobs, events: events, files: files, links: links, senders: senders, mailer: mailer}
}

// Operations lists everything that can be done with messages.
func (m *Messages) Operations() []*op.Op {
	return slices.Concat(m.messageOperations(), m.moveOperations(), m.attachmentOperations(), contactOperations())
}

const exampleID = `"id": "5e0b7d1c-6a2f-4b93-9c48-2f7d1e8a3b60"`

func (m *Messages) messageOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{Name: "messages.list", Route: "GET /v1/messages", Summary: "List messages, newest first.",
			Example: `{"direction": "outbound", "status": "sent", "limit": 20}`}, listMessages),
		op.Write(op.Spec{Name: "messages.create", Outward: true, Route: "POST /v1/messages", Summary: "Write a message, and send it unless it is a draft.",
			Description: "to, cc and bcc take one address or an array, without names. A message needs a subject, or a template that gives one; the text is made from the HTML when it is absent. " +
				"With scheduledAt it is sent then, else at once; a draft waits for messages.send. Marketing mail goes to each recipient alone, and only to addresses that opted in.",
			Errors: []*fault.Kind{OptInRequired, TooLarge, template.VariableMissing, template.Archived, Loop, file.LimitReached}, Events: []string{"message.created"},
			Example: `{"to": "ada@example.com", "subject": "Your drawings", "text": "Dear Ada, here they are.", "draft": true}`}, m.createMessage),
		op.Read(op.Spec{Name: "messages.get", Route: "GET /v1/messages/{id}", Summary: "Get a message.",
			Example: `{` + exampleID + `}`}, getMessage),
		op.Write(op.Spec{Name: "messages.update", Route: "PATCH /v1/messages/{id}", Summary: "Change fields of a draft.",
			Description: "fileIds takes the place of all attachments. A templateId renders anew, with variables.",
			Errors:      []*fault.Kind{NotDraft, TooLarge, template.VariableMissing, template.Archived, file.LimitReached}, Events: []string{"message.updated"},
			Example: `{` + exampleID + `, "subject": "Your new drawings", "cc": ["charles@example.com"]}`}, m.updateMessage),
		op.Write(op.Spec{Name: "messages.delete", Route: "DELETE /v1/messages/{id}", Summary: "Delete a draft.",
			Errors: []*fault.Kind{NotDraft}, Events: []string{"message.deleted"},
			Example: `{` + exampleID + `}`}, deleteMessage),
	}
}

type messageRef struct {
	ID id.ID `path:"id" doc:"the message"`
}

type messageList struct {
	op.Page
	Direction  *string `query:"direction" enum:"inbound,outbound"`
	Status     *string `query:"status" enum:"draft,scheduled,queued,sending,sent,delivered,bounced,failed,canceled,received"`
	ThreadID   *id.ID  `query:"threadId"`
	ContactID  *id.ID  `query:"contactId" doc:"a contact that the message names, is from or to"`
	CustomerID *id.ID  `query:"customerId"`
	Query      *string `query:"query" max:"200" doc:"part of the subject, of an address or of the beginning of the text; one or two characters match word beginnings"`
}

func listMessages(ctx context.Context, c *op.Call, in messageList) (*op.List[Message], error) {
	w := db.In(c.Org)
	db.Equal(w, "thread_id", in.ThreadID)
	db.Equal(w, "customer_id", in.CustomerID)
	db.Choice(w, "status", in.Status, Sent, Delivered, Received)
	db.Equal(w, "direction", in.Direction)
	if in.ContactID != nil {
		w.Among(db.Named{Where: "contact_id = ?", Args: []any{*in.ContactID}},
			db.Named{Table: contacts.Rows.Name(), Column: "message_id", Where: "contact_id = ? AND deleted_at IS NULL", Args: []any{*in.ContactID}})
	}
	rows, err := messages.Search(ctx, c.Tx, in.Query, w, in.DB())
	if err != nil {
		return nil, err
	}
	return op.ListOf(in.Page, rows), fillFiles(ctx, c.Tx, c.Org, rows)
}

func getMessage(ctx context.Context, c *op.Call, in messageRef) (*Message, error) {
	return Get(ctx, c.Tx, c.Org, in.ID)
}

// Get is a message as callers see it, or a 404.
func Get(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Message, error) {
	v, err := messages.Get(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	return v, fillFile(ctx, tx, v)
}

func (m *Messages) createMessage(ctx context.Context, c *op.Call, in messageCreate) (*Message, error) {
	v := in.message
	v.Record, v.Direction, v.Status = c.NewRecord(), Outbound, Queued
	if in.Draft {
		v.Status = Draft
	}
	if err := op.References(ctx, c, v.references(&Message{})...); err != nil {
		return nil, err
	}
	if err := m.maySend(ctx, c.Tx, &v); err != nil {
		return nil, err
	}
	files, err := findFiles(ctx, c, in.FileIDs)
	if err != nil {
		return nil, err
	}
	// What the service itself writes is not refused: a full organization could
	// not be told, nor lose a domain that it no longer has.
	if err := m.files.Charge(c.Tx, c.Org, v.size()); err != nil {
		return nil, err
	}
	if err := m.insert(ctx, c.Tx, c.Cause(), &v, files); err != nil {
		return nil, err
	}
	return &v, c.Emit("message.created", v.ID, &v)
}

// references are the rows that a message names; what it named before may stay.
// The template was looked for when it was rendered.
func (v *Message) references(before *Message) []op.Ref {
	return []op.Ref{
		{Field: "contactId", Table: "contacts", ID: v.ContactID, Was: before.ContactID},
		{Field: "customerId", Table: "customers", ID: v.CustomerID, Was: before.CustomerID},
		{Field: "inReplyToId", Table: messages.Name(), ID: v.InReplyToID, Was: before.InReplyToID},
	}
}

// insert writes an outgoing message with all that hangs under it. One that is
// queued leaves once the transaction is committed.
func (m *Messages) insert(ctx context.Context, tx *db.Tx, cause event.Event, v *Message, files []*file.File) error {
	v.InternetID = internetID(v)
	if err := v.join(ctx, tx); err != nil {
		return err
	}
	v.Attachments, v.Search, v.Size = len(files), v.words(), v.size()
	if v.Status == Queued {
		if err := m.queue(ctx, tx, cause, v); err != nil {
			return err
		}
	}
	if err := messages.Insert(ctx, tx, v); err != nil {
		return err
	}
	db.Index(tx, messages.Name(), v.Seq, v.Search)
	if err := attach(ctx, tx, v, files); err != nil {
		return err
	}
	return Link(ctx, tx, v)
}

// recipients are all addresses that a message goes to, each once: the mail
// system knows a domain in one spelling only.
func (v *Message) recipients() []string {
	var out []string
	seen := map[string]bool{}
	for _, a := range slices.Concat(v.To, v.CC, v.BCC) {
		if f := db.Fold(onTheWire(a)); !seen[f] {
			seen[f] = true
			out = append(out, a)
		}
	}
	return out
}

// size is how many bytes the message says.
func (v *Message) size() int64 {
	n := len(v.Subject)
	for _, s := range []*string{v.Text, v.HTML} {
		if s != nil {
			n += len(*s)
		}
	}
	return int64(n)
}

// foundBy is how much of a text a message is found by, in bytes.
const foundBy = 2000

// words are what a message is found by.
func (v *Message) words() string {
	parts := []*string{&v.Subject, &v.From, v.ReplyTo}
	for _, list := range [][]string{v.To, v.CC, v.BCC} {
		for i := range list {
			parts = append(parts, &list[i])
		}
	}
	if v.Text != nil {
		begin := clip(*v.Text, foundBy)
		parts = append(parts, &begin)
	}
	return db.SearchText(parts...)
}

func deleteMessage(ctx context.Context, c *op.Call, in messageRef) (op.Nothing, error) {
	if _, err := lockDraft(ctx, c, in.ID); err != nil {
		return op.Nothing{}, err
	}
	v, err := messages.Remove(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := fillFile(ctx, c.Tx, v); err != nil {
		return op.Nothing{}, err
	}
	db.Index(c.Tx, messages.Name(), v.Seq, "")
	return op.Nothing{}, c.Emit("message.deleted", v.ID, v)
}

// lockDraft holds a message that may still be changed.
func lockDraft(ctx context.Context, c *op.Call, ref id.ID) (*Message, error) {
	v, err := messages.Lock(ctx, c.Tx, c.Org, ref)
	if err != nil {
		return nil, err
	}
	if v.Status != Draft {
		return nil, NotDraft.Say("The message is %s; only a draft can be changed or deleted.", v.Status)
	}
	return v, fillFile(ctx, c.Tx, v)
}
