// Package message holds mail: what an organization writes, sends and receives,
// with attachments, threads and the contacts it is from or to.
//
// Start reading at Message in this file. An outgoing message is described by a
// caller (draft.go) or by the service itself (post.go), written by
// Messages.insertOutgoing, and queued as a job (transition.go). The job builds
// one letter per mail (letter.go, layout.go) and hands it to the Mailer
// (deliver.go), which records an outcome per recipient (recipient.go).
//
// Incoming mail goes through Messages.FindMailbox, which finds the organization
// behind an address (mailbox.go), then Messages.Receive (receive.go), which
// parses it with package incoming, judges its origin with package origin, and
// stores it (arrival.go) or records it as a bounce (bounce.go). Every message
// belongs to a Thread (thread.go); join.go decides to which one.
//
// Nothing here speaks SMTP, and nothing is sent inside a transaction. Package
// mailhost knows which addresses belong to the organization.
package message

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message/origin"
	"frontdesk/internal/resource/optin"
	"frontdesk/internal/resource/template"

	"golang.org/x/sync/semaphore"
)

// Status is the state of a message. All inbound mail is Received.
type Status string

// The statuses.
const (
	Draft     Status = "draft"
	Scheduled Status = "scheduled"
	Queued    Status = "queued"
	Sending   Status = "sending"
	Sent      Status = "sent"
	Delivered Status = "delivered"
	Bounced   Status = "bounced"
	Failed    Status = "failed"
	Canceled  Status = "canceled"
	Received  Status = "received"
)

// Directions and purposes.
const (
	Inbound  = "inbound"
	Outbound = "outbound"

	Transactional = "transactional"
	Marketing     = "marketing"
)

// Message is one mail. Addresses are kept as written and compared folded.
type Message struct {
	op.Record
	Direction string `json:"direction" enum:"inbound,outbound"`

	Status Status `json:"status" enum:"draft,scheduled,queued,sending,sent,delivered,bounced,failed,canceled,received"`

	Purpose      string      `json:"purpose" enum:"transactional,marketing"`
	ThreadID     id.ID       `json:"threadId" doc:"the same for a message and all its answers"`
	InReplyToID  *id.ID      `json:"inReplyToId" doc:"the message it answers"`
	From         string      `json:"from" db:"from_address"`
	FromName     *string     `json:"fromName" doc:"the name beside from, of what is sent"`
	ReplyTo      *string     `json:"replyTo"`
	To           []string    `json:"to" db:"to_addresses" max:"1000"`
	CC           []string    `json:"cc" db:"cc_addresses" max:"1000"`
	BCC          []string    `json:"bcc" db:"bcc_addresses" max:"1000"`
	Subject      string      `json:"subject" max:"1000"`
	Text         *string     `json:"text" db:"text_body" max:"-1"`
	HTML         *string     `json:"html" db:"html_body" max:"-1" doc:"sanitized: no scripts, forms or frames"`
	TemplateID   *id.ID      `json:"templateId" doc:"the email template it was rendered from"`
	FileIDs      []id.ID     `json:"fileIds" db:"-" max:"1000" doc:"the files of its attachments"`
	InvoiceIDs   []id.ID     `json:"invoiceIds" max:"20" doc:"the invoices it is about; their PDFs are attached"`
	ContactID    *id.ID      `json:"contactId"`
	CustomerID   *id.ID      `json:"customerId"`
	ScheduledAt  *clock.Time `json:"scheduledAt" doc:"when to send it"`
	SentAt       *clock.Time `json:"sentAt" doc:"when it was sent; for a received message, as its headers say"`
	ErrorMessage *string     `json:"errorMessage" max:"10000" doc:"why it was not sent, or not to everybody"`
	// False until a draft is sent: who sends it counts. A received message is
	// auto-submitted if its headers say so; a sent one, if an automation or the
	// service sent it.
	AutoSubmitted bool `json:"autoSubmitted" doc:"true if a machine wrote or sent it, not a person"`

	Authentication *origin.Authentication `json:"authentication" doc:"of received mail: whether to believe from"`

	// What is put around the HTML when the mail is sent: layout.go.
	BusinessID *id.ID           `json:"-" db:"business_id"`
	Layout     bool             `json:"letterhead" db:"layout" doc:"the letterhead of the business surrounds html"`
	Button     *template.Button `json:"-" db:"button"`

	EnclosesInvoices bool    `json:"-" db:"encloses_invoices"` // PDFs of InvoiceIDs are drawn when it is sent
	DueInvoiceIDs    []id.ID `json:"-" db:"due_invoice_ids"`   // those of them that were unpaid when it was written

	Contacts *[]LinkedContact `json:"contacts,omitzero" db:"-" doc:"with include=contacts"`

	Seq         int64    `json:"-" db:"seq"`
	InternetID  string   `json:"-" db:"internet_id"` // Message-ID, without its brackets
	References  []string `json:"-" db:"reference_ids"`
	Chain       []id.ID  `json:"-" db:"chain"` // the mail and automations that led to it, first cause first
	Attachments int      `json:"-" db:"attachment_count"`
	Search      string   `json:"-" db:"search"`
	Size        int64    `json:"-" db:"size_bytes"` // of subject, text and HTML; counts against the storage limit
}

var messages = db.NewTable[Message]("messages", db.Life{
	Noun: "message",
	ExternalText: []string{
		"from_address", "from_name", "reply_to", "to_addresses", "cc_addresses", "bcc_addresses", "subject",
		"text_body", "html_body",
	},
	ExternalOnly: []string{"error_message"},
	Refs: []db.Ref{
		db.RefTo("thread_id", "threads", db.Keeps),
		db.RefTo("in_reply_to_id", "messages"),
		db.RefTo("template_id", "email_templates"),
		db.RefTo("contact_id", "contacts"),
		db.RefTo("customer_id", "customers"),
		db.RefTo("business_id", "businesses", db.Keeps),
	},
	Erase:         life.EraseByFunc(eraseMessages).FoundBy("contact_id").AlsoFind(findMessagesOfPerson),
	StorageColumn: "size_bytes",
	Unexported:    []string{"attachment_count"},
})

// The refusals of messages.
var (
	NotDraft          = fault.DefineKind("MESSAGE_NOT_DRAFT", 409, "Only a draft can be changed or deleted.")
	TransitionInvalid = fault.DefineKind("MESSAGE_TRANSITION_INVALID", 409,
		"The message cannot change to this status.")
	OptInRequired = fault.DefineKind("EMAIL_OPT_IN_REQUIRED", 422,
		"Marketing mail goes only to addresses that opted in.")
	FileMissing = fault.DefineKind("MESSAGE_FILE_MISSING", 409, "A file of the message was deleted.")
	TooLarge    = fault.DefineKind("MESSAGE_TOO_LARGE", 422, "The attachments of the message are too large.")
)

// Config is what messages need. All of it but Resolver is required.
type Config struct {
	DB     *db.DB
	Clock  *clock.Clock
	Jobs   *job.Queue
	Events *event.Log
	Files  *file.Store
	Links  *optin.Links
	Hosts  *mailhost.Service
	Mailer Mailer

	Invoices Invoices // not called by New, so it may still be under construction

	Resolver origin.Resolver // for SPF, DKIM and DMARC; nil leaves received mail unjudged
}

// Messages writes, sends and receives mail.
type Messages struct {
	db       *db.DB
	clock    *clock.Clock
	jobs     *job.Queue
	events   *event.Log
	files    *file.Store
	links    *optin.Links
	hosts    *mailhost.Service
	mailer   Mailer
	invoices Invoices
	dns      origin.Resolver
	parsing  *semaphore.Weighted // bounds the bytes of mail that are parsed at once
}

// New makes the service. It panics when a required field is missing.
func New(c Config) *Messages {
	config.RequireFields(c, "DB", "Clock", "Jobs", "Events", "Files", "Links", "Hosts", "Mailer", "Invoices")
	return &Messages{
		db:       c.DB,
		clock:    c.Clock,
		jobs:     c.Jobs,
		events:   c.Events,
		files:    c.Files,
		links:    c.Links,
		hosts:    c.Hosts,
		mailer:   c.Mailer,
		invoices: c.Invoices,
		dns:      c.Resolver,
		parsing:  semaphore.NewWeighted(maxParsingBytes),
	}
}

// InvalidID refuses a message id that is none.
var InvalidID = fault.DefineKind("INVALID_MESSAGE_ID", 400, "The message id is not a UUID.")

// Operations lists everything that can be done with messages.
func (m *Messages) Operations() []*op.Op {
	return slices.Concat(m.messageOperations(), m.writingOperations(), m.transitionOperations(),
		m.attachmentOperations(), messageContactOperations(), threadOperations(), threadNoteOperations(),
		threadViewerOperations())
}

const exampleID = `"id": "5e0b7d1c-6a2f-4b93-9c48-2f7d1e8a3b60"`

func (m *Messages) messageOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:      "messages.list",
			NounWords: "mail, email, letter",
			Words:     "what write, said, talk, write us, about, find mail, mention, correspondence",
			Route:     "GET /v1/messages",
			Summary:   "List messages, newest first.",
			Example:   `{"direction": ["outbound"], "status": ["sent"], "limit": 20}`,
		}, listMessages),
		op.Write(op.Spec{
			Name: "messages.create",
			Words: "answer, reply, respond, write, inform, newsletter, campaign, drop a line, invite, thank, " +
				"everybody, schedule, forward, copy, apologise, congratulate, compose, let know, send on, " +
				"send mail",
			Outward: true,
			Route:   "POST /v1/messages",
			Summary: "Write a message, and send it unless it is a draft.",

			// The row has none of them: status replaces draft, answer is of the thread, and the others are rendered
			// into text and HTML.
			FieldExceptions: []string{"draft", "markdown", "variables", "answer"},

			Description: "It is sent at scheduledAt, otherwise at once; a draft waits for messages.send. " +
				"to, cc and bcc take one address or an array, without names. from may have a name: " +
				"\"Business name\" <name@example.com>; without one it is the business's. A message needs a subject, " +
				"or a template that has one; without text, it is derived from the HTML. With inReplyToId, to and " +
				"subject may be left out. Marketing mail goes to each " +
				"recipient alone, and only to addresses that opted in.",
			Errors: []*fault.Kind{
				OptInRequired, TooLarge, template.VariableMissing, template.Archived, Loop, file.LimitReached,
			},
			Events: []string{"message.created", threadUpdatedEvent},
			Example: `{"to": "ada@example.com", "subject": "Your drawings", "text": "Dear Ada, here they are.", ` +
				`"draft": true}`,
		}, m.createMessage),
		op.Read(op.Spec{
			Name:    "messages.get",
			Words:   "read letter, read mail, what it says",
			Route:   "GET /v1/messages/{id}",
			Summary: "Get a message.",
			Example: `{` + exampleID + `}`,
		}, getMessage),
		op.Read(op.Spec{
			Name:     "messages.preview_stored",
			Summary:  "Show a message that was not sent yet as its readers will get it.",
			Resource: "messages",
			Doors:    op.ConsoleDoor,
			Example:  `{` + exampleID + `}`,
		}, previewStored),
		op.Write(op.Spec{
			Name:            "messages.update",
			Words:           "wording, text, rewrite, subject, rephrase",
			Route:           "PATCH /v1/messages/{id}",
			Summary:         "Change fields of a draft.",
			FieldExceptions: []string{"markdown", "variables"}, // rendered into text and HTML
			Description:     "fileIds replaces all attachments. A templateId renders again, with variables.",
			Errors: []*fault.Kind{
				NotDraft, TooLarge, template.VariableMissing, template.Archived, file.LimitReached,
			},
			Events:  []string{"message.updated"},
			Example: `{` + exampleID + `, "subject": "Your new drawings", "cc": ["charles@example.com"]}`,
		}, m.updateMessage),
		op.Write(op.Spec{
			Name:    "messages.delete",
			Words:   "discard",
			Route:   "DELETE /v1/messages/{id}",
			Summary: "Delete a draft.",
			Errors:  []*fault.Kind{NotDraft},
			Events:  []string{"message.deleted"},
			Example: `{` + exampleID + `}`,
		}, deleteMessage),
	}
}

type messageRef struct {
	ID id.ID `path:"id" doc:"the message"`
}

type messageList struct {
	op.Browse
	SortBy    string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt"`
	Direction []string `query:"direction" enum:"inbound,outbound"`

	Status []Status `query:"status" enum:"draft,scheduled,queued,sending,sent,delivered,bounced,failed,canceled,received"`

	ThreadID   *id.ID   `query:"threadId"`
	ContactID  *id.ID   `query:"contactId" doc:"a contact that the message names, or is from or to"`
	CustomerID *id.ID   `query:"customerId"`
	Query      *string  `query:"query" max:"200" doc:"part of subject, address or text; 1-2 letters match word starts"`
	Include    []string `query:"include" enum:"contacts" doc:"contacts: also show those linked, at most 50 of each"`
}

func listMessages(ctx context.Context, c *op.Call, in messageList) (*op.List[Message], error) {
	w := db.InOrganization(c.Org)
	db.FilterEqual(w, "thread_id", in.ThreadID)
	db.FilterEqual(w, "customer_id", in.CustomerID)
	db.FilterChoice(w, "status", in.Status, Sent, Delivered, Received)
	db.FilterOneOf(w, "direction", in.Direction)
	if in.ContactID != nil {
		named := db.IndexedRows{Where: "contact_id = ?", Args: []any{*in.ContactID}}
		linked := db.IndexedRows{
			Table:  messageContacts.Rows.Name(),
			Column: "message_id",
			Where:  "contact_id = ? AND deleted_at IS NULL",
			Args:   []any{*in.ContactID},
		}
		w.AmongRows(named, linked)
	}
	q := op.ListQuery{Browse: in.Browse, SortBy: in.SortBy, Query: in.Query}
	list, err := op.BrowseRows(ctx, c, messages, q, w)
	if err != nil {
		return nil, err
	}
	if err := fillFileIDs(ctx, c.Tx, c.Org, list.Data); err != nil {
		return nil, err
	}
	if len(in.Include) == 0 {
		return list, nil
	}
	return list, fillLinkedContacts(ctx, c, list.Data)
}

func getMessage(ctx context.Context, c *op.Call, in messageRef) (*Message, error) {
	return Get(ctx, c.Tx, c.Org, in.ID)
}

// Get loads a message as callers see it, with its fileIds, or answers 404.
func Get(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Message, error) {
	v, err := messages.Get(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	return v, fillMessageFileIDs(ctx, tx, v)
}

// createMessage completes what Prepare built, and writes it as a draft or queues it.
// References are checked, and so locked, before the message is written: that is the
// order of locks for everybody.
func (m *Messages) createMessage(ctx context.Context, c *op.Call, in messageCreate) (*Message, error) {
	answers, err := in.marksAnswered(c)
	if err != nil {
		return nil, err
	}
	v := in.message
	v.Record, v.Direction, v.Status = c.NewRecord(), Outbound, Queued
	if in.Draft {
		v.Status = Draft
	}
	if !in.Draft {
		if err := v.lockAddressed(ctx, c.Tx); err != nil {
			return nil, err
		}
	}
	if err := op.LockReferences(ctx, c, v.listReferences(&Message{})...); err != nil {
		return nil, err
	}
	if err := m.fillAndCheckSender(ctx, c.Tx, &v); err != nil {
		return nil, err
	}
	if err := v.setBusiness(ctx, c.Tx, c.Caller.Business); err != nil {
		return nil, err
	}
	if err := m.enforceSharedName(ctx, c.Tx, &v); err != nil {
		return nil, err
	}
	if err := m.encloseInvoices(ctx, c, &v); err != nil {
		return nil, err
	}
	files, err := findNamedFiles(ctx, c, in.FileIDs)
	if err != nil {
		return nil, err
	}
	// Only callers are charged. Messages that the service writes (Post) are not:
	// an organization whose storage is full must still get its notices, and the
	// removal of a lost domain, which sends one, must not fail.
	if err := m.files.ChargeBytes(c.Tx, c.Org, v.contentBytes()); err != nil {
		return nil, err
	}
	if err := m.insertOutgoing(ctx, c.Tx, c.EventCause(), &v, files); err != nil {
		return nil, err
	}
	if err := c.Emit("message.created", v.ID, &v); err != nil || !answers {
		return &v, err
	}
	return &v, markAnswered(ctx, c, v.ThreadID)
}

// listReferences lists the rows that a message names, for op.LockReferences to check.
// A reference that it had before may stay even if the row is gone. The template
// is not among them: it was looked up when the text was rendered.
func (v *Message) listReferences(before *Message) []op.FieldRef {
	return []op.FieldRef{
		{Field: "contactId", Table: "contacts", ID: v.ContactID, Stored: before.ContactID},
		{Field: "customerId", Table: "customers", ID: v.CustomerID, Stored: before.CustomerID},
		{Field: "inReplyToId", Table: messages.Name(), ID: v.InReplyToID, Stored: before.InReplyToID},
	}
}

// insertOutgoing writes an outgoing message with its thread, attachments and links to
// contacts. A queued one is sent once the transaction is committed.
func (m *Messages) insertOutgoing(ctx context.Context, tx *db.Tx, cause event.Event, v *Message,
	files []*file.File) error {
	v.InternetID = newInternetID(v)
	if err := v.assignThread(ctx, tx); err != nil {
		return err
	}
	v.Attachments, v.Search, v.Size = len(files), v.buildSearchText(), v.contentBytes()
	if v.Status == Queued {
		if err := m.queueDelivery(ctx, tx, cause, v); err != nil {
			return err
		}
	}
	if err := messages.Insert(ctx, tx, v); err != nil {
		return err
	}
	if err := insertAttachments(ctx, tx, v, files); err != nil {
		return err
	}
	with, err := linkContacts(ctx, tx, v)
	if err != nil {
		return err
	}
	_, _, err = v.addToThread(ctx, tx, with)
	return err
}

// uniqueRecipients lists all addresses that a message goes to, each once. They are
// compared in ASCII: a domain in Unicode and in Punycode is the same recipient
// to a mail system, which must not get it twice.
func (v *Message) uniqueRecipients() []string {
	var out []string
	seen := map[string]bool{}
	for _, a := range slices.Concat(v.To, v.CC, v.BCC) {
		if f := db.FoldText(mailhost.ToASCII(a)); !seen[f] {
			seen[f] = true
			out = append(out, a)
		}
	}
	return out
}

// contentBytes counts the bytes of subject, text and HTML.
func (v *Message) contentBytes() int64 {
	n := len(v.Subject)
	for _, s := range []*string{v.Text, v.HTML} {
		if s != nil {
			n += len(*s)
		}
	}
	return int64(n)
}

// searchedBytes is how much of a message's text is put into the search index.
const searchedBytes = 2000

// buildSearchText is the text that a search finds a message by. Erasure relies on it
// too: every address of the message must be in it (erase.go).
func (v *Message) buildSearchText() string {
	parts := []*string{&v.Subject, &v.From, v.ReplyTo}
	for _, list := range [][]string{v.To, v.CC, v.BCC} {
		for i := range list {
			parts = append(parts, &list[i])
		}
	}
	if v.Text != nil {
		begin := cut.Bytes(*v.Text, searchedBytes)
		parts = append(parts, &begin)
	}
	return db.SearchText(parts...)
}

// deleteMessage deletes a draft, and its thread if it was the last message there.
func deleteMessage(ctx context.Context, c *op.Call, in messageRef) (op.Nothing, error) {
	if _, err := lockDraft(ctx, c, in.ID); err != nil {
		return op.Nothing{}, err
	}
	v, err := messages.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := removeFromThread(ctx, c.Tx, c.Org, v.ThreadID, c.Now); err != nil {
		return op.Nothing{}, err
	}
	if err := fillMessageFileIDs(ctx, c.Tx, v); err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("message.deleted", v.ID, v)
}

// lockDraft locks a message and refuses one that is no longer a draft.
func lockDraft(ctx context.Context, c *op.Call, ref id.ID) (*Message, error) {
	v, err := messages.Lock(ctx, c.Tx, c.Org, ref)
	if err != nil {
		return nil, err
	}
	if v.Status != Draft {
		return nil, NotDraft.Say("The message is %s; only a draft can be changed or deleted.", v.Status)
	}
	return v, fillMessageFileIDs(ctx, c.Tx, v)
}
