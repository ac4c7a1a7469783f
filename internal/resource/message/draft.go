package message

import (
	"context"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"
	"frontdesk/internal/resource/template"

	"github.com/go-json-experiment/json/jsontext"
)

// maxTimeAhead is how far ahead a message can be scheduled, or a thread snoozed.
const maxTimeAhead = 366 * 24 * time.Hour

// messageCreate is what a caller says about a new message. to, cc and bcc take a
// string or an array, so they are parsed by hand.
type messageCreate struct {
	To          jsontext.Value  `json:"to,omitempty" kinds:"string,array" doc:"up to 50; whom it answers, if left out"`
	CC          *jsontext.Value `json:"cc" kinds:"string,array"`
	BCC         *jsontext.Value `json:"bcc" kinds:"string,array"`
	From        *string         `json:"from" max:"500" doc:"with or without a name; no-reply@ the service's by default"`
	ReplyTo     *string         `json:"replyTo" format:"email"`
	Subject     *string         `json:"subject" min:"1" doc:"required unless it answers, or a template has one"`
	Text        *string         `json:"text" max:"500000"`
	HTML        *string         `json:"html" max:"500000" doc:"sanitized; also becomes the text if there is none"`
	TemplateID  *id.ID          `json:"templateId" ref:"email_templates" doc:"renders instead of text and html"`
	Variables   jsontext.Value  `json:"variables,omitempty" kinds:"object" doc:"values for the template, may be nested"`
	FileIDs     []id.ID         `json:"fileIds,omitempty" ref:"files" doc:"files to attach"`
	InvoiceIDs  []id.ID         `json:"invoiceIds,omitempty" ref:"invoices" max:"20" doc:"invoices to attach as PDF"`
	Purpose     string          `json:"purpose" default:"transactional" enum:"transactional,marketing"`
	ScheduledAt *clock.Time     `json:"scheduledAt" doc:"when to send it; within a year"`
	InReplyToID *id.ID          `json:"inReplyToId" ref:"messages" doc:"the message it answers"`
	ContactID   *id.ID          `json:"contactId" ref:"contacts"`
	CustomerID  *id.ID          `json:"customerId" ref:"customers"`
	Draft       bool            `json:"draft" default:"false" doc:"true keeps it unsent"`
	Letterhead  bool            `json:"letterhead" default:"false" doc:"also send text as HTML, in the letterhead"`
	Answer      *bool           `json:"answer" doc:"also mark the thread read and waiting; true for agents"`
	Markdown    bool            `json:"markdown" default:"false" doc:"text is Markdown"`

	message Message // built by Prepare, completed and written by createMessage
}

// Prepare does the slow work before the transaction opens: it parses addresses,
// renders the template and sanitizes HTML.
func (in *messageCreate) Prepare(ctx context.Context, c *op.Call) error {
	v := &in.message
	if err := in.fillReply(ctx, c); err != nil {
		return err
	}
	v.Purpose, v.ReplyTo, v.ScheduledAt = in.Purpose, in.ReplyTo, in.ScheduledAt
	v.InvoiceIDs = append([]id.ID{}, in.InvoiceIDs...)
	v.InReplyToID, v.ContactID, v.CustomerID, v.TemplateID = in.InReplyToID, in.ContactID, in.CustomerID, in.TemplateID
	var tree *fault.Tree
	for _, f := range []struct {
		name string
		raw  *jsontext.Value
		to   *[]string
	}{{"to", &in.To, &v.To}, {"cc", in.CC, &v.CC}, {"bcc", in.BCC, &v.BCC}} {
		if f.name == "to" && len(in.To) == 0 && in.InReplyToID != nil {
			continue // filled in
		}
		var issues *fault.Tree
		if f.name == "to" && len(in.To) == 0 {
			tree = tree.At([]any{"to"}, fault.MissingIssue)
		} else if *f.to, issues = parseOptionalRecipients(f.raw); issues != nil {
			tree = tree.SetField(f.name, issues)
		} else if f.name == "to" && len(v.To) == 0 {
			tree = tree.At([]any{"to"}, recipientRequired)
		}
	}
	w := contentInput{Subject: in.Subject, Text: in.Text, HTML: in.HTML, TemplateID: in.TemplateID,
		Variables: in.Variables, Letterhead: in.Letterhead, Markdown: in.Markdown}
	tree = w.addIssues(tree)
	tree = addScheduleIssue(tree, in.ScheduledAt, c.Now)
	if in.From != nil {
		issue := ""
		if v.FromName, v.From, issue = splitSender(*in.From); issue != "" {
			tree = tree.At([]any{"from"}, issue)
		}
	}
	if in.TemplateID == nil && in.Subject == nil {
		tree = tree.At([]any{"subject"}, "Required, unless a template has one")
	}
	if err := tree.Fault(fault.Invalid); err != nil {
		return err
	}
	return w.buildContent(ctx, c, v)
}

const recipientRequired = "Too few: expected at least 1"

// parseOptionalRecipients parses cc or bcc, which may be absent.
func parseOptionalRecipients(raw *jsontext.Value) ([]string, *fault.Tree) {
	if raw == nil {
		return []string{}, nil
	}
	return parseRecipients(*raw)
}

func addScheduleIssue(tree *fault.Tree, at *clock.Time, now clock.Time) *fault.Tree {
	if at != nil && *at > now.Add(maxTimeAhead) {
		return tree.At([]any{"scheduledAt"}, "Too far ahead: expected a time within a year")
	}
	return tree
}

// contentInput is what a caller says about the content of a message: create and
// update share its rules.
type contentInput struct {
	Subject, Text, HTML *string
	TemplateID          *id.ID
	Variables           jsontext.Value
	Letterhead          bool
	Markdown            bool
}

// addIssues adds the issues of fields that do not go together.
func (w *contentInput) addIssues(tree *fault.Tree) *fault.Tree {
	if w.Subject != nil && breaksHeader(*w.Subject) {
		tree = tree.At([]any{"subject"}, "Line ends and control characters are not allowed in a subject")
	}
	if w.TemplateID != nil && (w.Text != nil || w.HTML != nil) {
		tree = tree.At([]any{"templateId"}, "Give either a template, or text and html")
	}
	if w.TemplateID == nil && len(w.Variables) > 0 {
		tree = tree.At([]any{"variables"}, "Variables need a templateId")
	}
	if w.Letterhead && (w.Text == nil || w.HTML != nil || w.TemplateID != nil) {
		tree = tree.At([]any{"letterhead"}, "It surrounds a text: send it with text alone. A template has one anyway")
	}
	if w.Markdown && (w.Text == nil || w.HTML != nil || w.TemplateID != nil) {
		tree = tree.At([]any{"markdown"}, "It formats a text: send it with text alone, without html or a template")
	}
	return tree
}

// buildContent builds the content of v: from the template, from HTML, or from text that is
// Markdown or goes into the letterhead. A subject that the caller gives wins over the template's.
func (w *contentInput) buildContent(ctx context.Context, c *op.Call, v *Message) error {
	switch {
	case w.TemplateID != nil:
		made, err := w.renderTemplate(ctx, c)
		if err != nil {
			return err
		}
		if w.Subject == nil && strings.TrimSpace(made.Subject) == "" {
			return fault.Field("subject", "Required: with these variables the template's subject is empty")
		}
		v.Subject, v.Text, v.HTML, v.Layout = made.Subject, &made.Text, &made.HTML, !made.Own
	case w.HTML != nil:
		made, err := template.CleanHTML(*w.HTML)
		if err != nil {
			return fault.Field("html", template.IntricateHTML)
		}
		v.HTML, v.Text = &made.HTML, &made.Text
	case w.Letterhead || w.Markdown:
		made, formatted := "", false
		if w.Markdown {
			made, formatted = template.MarkdownToHTML(*w.Text)
		}
		if !formatted {
			made = template.TextToHTML(*w.Text)
		}
		if formatted || w.Letterhead { // a text without marks is sent as text alone
			v.HTML, v.Layout = &made, w.Letterhead
		}
	}
	if w.Text != nil {
		v.Text = w.Text
	}
	if w.Subject != nil {
		v.Subject = strings.TrimSpace(*w.Subject)
	}
	return nil
}

func (w *contentInput) renderTemplate(ctx context.Context, c *op.Call) (*template.Rendered, error) {
	values, err := placeholder.LookupInJSON(w.Variables)
	if err != nil {
		return nil, fault.Field("variables", "Must be an object")
	}
	var content template.Content
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		content, err = template.FindSendable(ctx, tx, c.Org, *w.TemplateID)
		return err
	})
	if fault.IsKind(err, fault.NotFound) {
		return nil, op.NoSuchReference("templateId")
	}
	if err != nil {
		return nil, err
	}
	return content.Render(values)
}

type messageUpdate struct {
	messageRef
	To          op.Optional[jsontext.Value] `json:"to" kinds:"string,array"`
	CC          op.Nullable[jsontext.Value] `json:"cc" kinds:"string,array"`
	BCC         op.Nullable[jsontext.Value] `json:"bcc" kinds:"string,array"`
	From        op.Optional[string]         `json:"from" max:"500" doc:"an address, with or without a name"`
	ReplyTo     op.Nullable[string]         `json:"replyTo" format:"email"`
	Subject     op.Optional[string]         `json:"subject" min:"1"`
	Text        op.Nullable[string]         `json:"text" max:"500000"`
	HTML        op.Nullable[string]         `json:"html" max:"500000"`
	TemplateID  op.Nullable[id.ID]          `json:"templateId" ref:"email_templates"`
	Variables   jsontext.Value              `json:"variables,omitempty" kinds:"object"`
	FileIDs     op.Nullable[[]id.ID]        `json:"fileIds" ref:"files"`
	InvoiceIDs  op.Nullable[[]id.ID]        `json:"invoiceIds" ref:"invoices" max:"20"`
	Purpose     op.Optional[string]         `json:"purpose" enum:"transactional,marketing"`
	ScheduledAt op.Nullable[clock.Time]     `json:"scheduledAt"`
	InReplyToID op.Nullable[id.ID]          `json:"inReplyToId" ref:"messages"`
	ContactID   op.Nullable[id.ID]          `json:"contactId" ref:"contacts"`
	CustomerID  op.Nullable[id.ID]          `json:"customerId" ref:"customers"`
	Letterhead  bool                        `json:"letterhead" default:"false" doc:"also send text in the letterhead"`
	Markdown    bool                        `json:"markdown" default:"false" doc:"text is Markdown"`

	content Message     // the new content, built by Prepare
	patch   patchFields // what op.Apply copies into the row, filled by Prepare
}

// patchFields holds the parsed and rendered values of a PATCH, under the names of
// the row's fields, so that op.Apply can copy them.
type patchFields struct {
	To          op.Optional[[]string]   `json:"to"`
	CC          op.Optional[[]string]   `json:"cc"`
	BCC         op.Optional[[]string]   `json:"bcc"`
	From        op.Optional[string]     `json:"from"`
	FromName    op.Nullable[string]     `json:"fromName"`
	ReplyTo     op.Nullable[string]     `json:"replyTo"`
	Subject     op.Optional[string]     `json:"subject"`
	Text        op.Nullable[string]     `json:"text"`
	HTML        op.Nullable[string]     `json:"html"`
	TemplateID  op.Nullable[id.ID]      `json:"templateId"`
	Purpose     op.Optional[string]     `json:"purpose"`
	ScheduledAt op.Nullable[clock.Time] `json:"scheduledAt"`
	InReplyToID op.Nullable[id.ID]      `json:"inReplyToId"`
	ContactID   op.Nullable[id.ID]      `json:"contactId"`
	CustomerID  op.Nullable[id.ID]      `json:"customerId"`
	FileIDs     op.Optional[[]id.ID]    `json:"fileIds"`
	InvoiceIDs  op.Optional[[]id.ID]    `json:"invoiceIds"`
}

// Prepare turns the input into the values to store, before the transaction.
func (in *messageUpdate) Prepare(ctx context.Context, c *op.Call) error {
	p := &in.patch
	*p = patchFields{
		ReplyTo:     in.ReplyTo,
		Text:        in.Text,
		HTML:        in.HTML,
		TemplateID:  in.TemplateID,
		Purpose:     in.Purpose,
		ScheduledAt: in.ScheduledAt,
		InReplyToID: in.InReplyToID,
		ContactID:   in.ContactID,
		CustomerID:  in.CustomerID,
	}
	var tree *fault.Tree
	for _, f := range []struct {
		name string
		set  bool
		raw  jsontext.Value
		to   *op.Optional[[]string]
	}{
		{"to", in.To.Set, in.To.Value, &p.To},
		{"cc", in.CC.Set, in.CC.Value, &p.CC},
		{"bcc", in.BCC.Set, in.BCC.Value, &p.BCC},
	} {
		if !f.set {
			continue
		}
		list, issues := parseRecipients(f.raw)
		tree = tree.SetField(f.name, issues)
		if f.name == "to" && issues == nil && len(list) == 0 {
			tree = tree.At([]any{"to"}, recipientRequired)
		}
		*f.to = op.Optional[[]string]{Set: true, Value: list}
	}
	if in.FileIDs.Set {
		p.FileIDs = op.Optional[[]id.ID]{Set: true, Value: append([]id.ID{}, in.FileIDs.Value...)}
	}
	if in.InvoiceIDs.Set {
		p.InvoiceIDs = op.Optional[[]id.ID]{Set: true, Value: append([]id.ID{}, in.InvoiceIDs.Value...)}
	}
	if in.From.Set {
		name, address, issue := splitSender(in.From.Value)
		if issue != "" {
			tree = tree.At([]any{"from"}, issue)
		}
		p.From = op.Optional[string]{Set: true, Value: address}
		if p.FromName = (op.Nullable[string]{Set: true, Null: name == nil}); name != nil {
			p.FromName.Value = *name
		}
	}
	w := contentInput{Text: in.Text.PtrOrNil(), HTML: in.HTML.PtrOrNil(), TemplateID: in.TemplateID.PtrOrNil(),
		Variables: in.Variables, Letterhead: in.Letterhead, Markdown: in.Markdown}
	if in.Subject.Set {
		w.Subject = &in.Subject.Value
	}
	tree = w.addIssues(tree)
	tree = addScheduleIssue(tree, in.ScheduledAt.PtrOrNil(), c.Now)
	if err := tree.Fault(fault.Invalid); err != nil {
		return err
	}
	v := &in.content
	if err := w.buildContent(ctx, c, v); err != nil {
		return err
	}
	if v.HTML != nil || in.Markdown {
		p.HTML = op.Nullable[string]{Set: true, Null: v.HTML == nil}
	}
	if v.HTML != nil {
		p.HTML.Value = *v.HTML
	}
	if v.Text != nil {
		p.Text = op.Nullable[string]{Set: true, Value: *v.Text}
	}
	if v.Subject != "" {
		p.Subject = op.Optional[string]{Set: true, Value: v.Subject}
	}
	return nil
}

// updateMessage changes a draft. What depends on a field is brought up to date only if
// the field changed: the sender and its Message-ID, the thread, attachments, invoices,
// search text and links to contacts.
func (m *Messages) updateMessage(ctx context.Context, c *op.Call, in messageUpdate) (*Message, error) {
	v, err := lockDraft(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	before := *v
	if name := &in.patch.FromName; name.Set {
		named := Message{Record: v.Record, BusinessID: v.BusinessID, From: in.patch.From.Value,
			FromName: name.PtrOrNil()}
		if err := named.fillSenderName(ctx, c.Tx); err != nil { // an address without a name gets the business's name
			return nil, err
		}
		if err := m.enforceSharedName(ctx, c.Tx, &named); err != nil {
			return nil, err
		}
		if name.Null = named.FromName == nil; !name.Null {
			name.Value = *named.FromName
		}
	}
	if !op.Apply(v, &in.patch) {
		return v, nil
	}
	if in.content.HTML != nil {
		v.Layout, v.Button = in.content.Layout, nil
	}
	if err := op.LockReferences(ctx, c, v.listReferences(&before)...); err != nil {
		return nil, err
	}
	if v.From != before.From {
		if err := m.fillAndCheckSender(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		v.InternetID = newInternetID(v)
	}
	if equalIDs(v.InReplyToID, &v.ID) {
		return nil, fault.Field("inReplyToId", "A message cannot answer itself")
	}
	if in.patch.InReplyToID.Set && !equalIDs(v.InReplyToID, before.InReplyToID) {
		if err := v.assignThread(ctx, c.Tx); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(v.FileIDs, before.FileIDs) {
		if err := replaceAttachments(ctx, c, v); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(v.InvoiceIDs, before.InvoiceIDs) {
		if err := m.encloseInvoices(ctx, c, v); err != nil {
			return nil, err
		}
	}
	v.UpdatedAt, v.Size = c.Now, v.contentBytes()
	if v.Size > before.Size {
		if err := m.files.ChargeBytes(c.Tx, c.Org, v.Size-before.Size); err != nil {
			return nil, err
		}
	}
	v.Search = v.buildSearchText()
	readdressed := !slices.Equal(v.To, before.To) || !slices.Equal(v.CC, before.CC) || !slices.Equal(v.BCC, before.BCC)
	// Whoever changes the recipients sends the attachments to other people, so they need the right to read files
	// and invoices even if somebody else attached them.
	if readdressed && len(before.FileIDs) > 0 {
		if err := c.PermitReference("fileIds", "files"); err != nil {
			return nil, err
		}
	}
	if readdressed && len(before.InvoiceIDs) > 0 {
		if err := c.PermitReference("invoiceIds", "invoices"); err != nil {
			return nil, err
		}
	}
	if err := messages.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	with := v.ContactID
	if readdressed {
		if with, err = relinkContacts(ctx, c, v); err != nil {
			return nil, err
		}
	}
	if err := v.updateDraftThreads(ctx, c.Tx, &before, with); err != nil {
		return nil, err
	}
	return v, c.Emit("message.updated", v.ID, v)
}

func equalIDs(a, b *id.ID) bool { return a == b || a != nil && b != nil && *a == *b }
