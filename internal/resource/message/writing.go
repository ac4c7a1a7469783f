package message

import (
	"context"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/mailhost"

	"github.com/go-json-experiment/json/jsontext"
)

// What a person needs while writing a mail: the addresses it can be from, and how its reader will see it.

// Sender is an address that mail can be sent from, with the name beside it.
type Sender struct {
	Address string  `json:"address"`
	Name    *string `json:"name"`
}

// Preview is a mail as its reader gets it.
type Preview struct {
	HTML *string `json:"html" max:"-1" doc:"in its letterhead, whose logo is named by its file; null for text alone"`
	Text *string `json:"text" max:"-1"`
}

func (m *Messages) writingOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "messages.senders",
			Resource: "messages",
			Doors:    op.ConsoleDoor,
			Summary:  "List the addresses that the caller can send from, the usual one first.",
			Example:  `{}`,
		}, m.listSenders),
		op.Read(op.Spec{
			Name:     "messages.preview",
			Resource: "messages",
			Doors:    op.ConsoleDoor,
			Summary:  "Show a message as its reader would get it.",
			Example:  `{"subject": "Your drawings", "text": "Dear **Ada**,", "markdown": true}`,
		}, previewMessage),
	}
}

// listSenders lists the address of the business, the caller's own, those that were written from lately, the one that
// all organizations share, and those that were written to: of these, the ones on active domains. A stranger chooses
// where to write, and so does not choose what is usual.
func (m *Messages) listSenders(ctx context.Context, c *op.Call, _ struct{}) (*op.List[Sender], error) {
	known, err := listKnownAddresses(ctx, c)
	if err != nil {
		return nil, err
	}
	used, reached, err := listUsedAddresses(ctx, c)
	if err != nil {
		return nil, err
	}
	used = slices.DeleteFunc(used, m.hosts.IsDefault) // it is not chosen for having been used by a machine
	usual := Message{Record: op.Record{OrganizationID: c.Org}}
	if err := usual.setBusiness(ctx, c.Tx, c.Caller.Business); err != nil {
		return nil, err
	}
	out, seen := []Sender{}, map[string]bool{}
	for _, address := range slices.Concat(known, used, []string{m.hosts.DefaultAddress()}, reached) {
		ok, err := m.hosts.MaySendFrom(ctx, c.Tx, c.Org, address)
		if err != nil {
			return nil, err
		}
		if !ok || seen[db.FoldText(address)] {
			continue
		}
		seen[db.FoldText(address)] = true
		v := usual
		v.From = address
		if err := m.enforceSharedName(ctx, c.Tx, &v); err != nil {
			return nil, err
		}
		out = append(out, Sender{Address: address, Name: v.FromName})
	}
	return &op.List[Sender]{Data: out, Pagination: op.Pagination{Limit: len(out)}}, nil
}

// listKnownAddresses lists the address of the business, those of others of the organization, and the caller's own.
func listKnownAddresses(ctx context.Context, c *op.Call) ([]string, error) {
	out, err := business.ListEmails(ctx, c.Tx, c.Org, c.Caller.Business)
	if err != nil {
		return nil, err
	}
	me, err := account.FindActiveMember(ctx, c.Tx, c.Org, c.Caller.User)
	if me != nil {
		out = append(out, me.Email)
	}
	return out, err
}

// How many of the newest messages tell which addresses are used, and how many of those that were written to count.
const (
	recentMail = 100
	maxReached = 10
)

// listUsedAddresses lists the addresses that mail was lately written from and to, the last one first.
func listUsedAddresses(ctx context.Context, c *op.Call) (used, reached []string, err error) {
	type row struct {
		Direction string   `db:"direction"`
		From      string   `db:"from_address"`
		To        []string `db:"to_addresses"`
	}
	newest, err := db.QueryAll[row](ctx, c.Tx, `
		SELECT direction, from_address, to_addresses FROM messages
		WHERE organization_id = $1 AND deleted_at IS NULL ORDER BY created_at DESC, seq DESC LIMIT $2`,
		c.Org, recentMail)
	for _, m := range newest {
		if m.Direction == Outbound && !slices.Contains(used, m.From) {
			used = append(used, m.From)
		}
		for _, address := range m.To {
			if m.Direction == Inbound && len(reached) < maxReached && !mailhost.IsMessageAddress(address) &&
				!slices.Contains(reached, address) {
				reached = append(reached, address)
			}
		}
	}
	return used, reached, err
}

type previewInput struct {
	Subject    *string        `json:"subject"`
	Text       *string        `json:"text" max:"500000"`
	TemplateID *id.ID         `json:"templateId" ref:"email_templates"`
	Variables  jsontext.Value `json:"variables,omitempty" kinds:"object"`
	Letterhead bool           `json:"letterhead" default:"false"`
	Markdown   bool           `json:"markdown" default:"false"`

	message Message // built by Prepare
}

// Prepare renders the content, which is slow, before the transaction.
func (in *previewInput) Prepare(ctx context.Context, c *op.Call) error {
	w := contentInput{Subject: in.Subject, Text: in.Text, TemplateID: in.TemplateID, Variables: in.Variables,
		Letterhead: in.Letterhead, Markdown: in.Markdown}
	if err := w.addIssues(nil).Fault(fault.Invalid); err != nil {
		return err
	}
	return w.buildContent(ctx, c, &in.message)
}

func previewMessage(ctx context.Context, c *op.Call, in previewInput) (*Preview, error) {
	v := &in.message
	v.OrganizationID = c.Org
	if err := v.setBusiness(ctx, c.Tx, c.Caller.Business); err != nil {
		return nil, err
	}
	if v.HTML == nil || !v.Layout || v.BusinessID == nil {
		return &Preview{HTML: v.HTML, Text: v.Text}, nil
	}
	html, text, err := v.asSent(ctx, c.Tx)
	return &Preview{HTML: html, Text: text}, err
}
