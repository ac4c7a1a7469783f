package guard

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/message"

	"github.com/go-json-experiment/json"
)

// Check refuses what an agent may not do after it has read text of people outside. told is
// what the transaction told of: events, and events announced before a call to the outside
// world. It goes by these and not by the operation, so a batch, a restore or an undo that
// creates a webhook is refused like its creation.
func Check(ctx context.Context, c *op.Call, told []any) error {
	if !c.Caller.Guarded || c.Caller.ApprovedBy != "" {
		return nil
	}
	for _, t := range told {
		why := ""
		switch t := t.(type) {
		case op.AnnouncedEvent:
			why = exitReason(event.Event{Type: t.Type})
		case event.Event:
			if c.HasAnnounced(t) {
				continue
			}
			if why = exitReason(t); why != "" {
				break
			}
			other, err := billsUnknownAddress(ctx, c, t)
			if err != nil {
				return err
			}
			if other {
				why = "an invoice is addressed to somebody who is not its customer."
				break
			}
			m, err := parseOutgoingMail(t)
			if err != nil {
				return err
			}
			if m != nil {
				if why, err = m.leakReason(ctx, c, mailsInvoice(told)); err != nil {
					return err
				}
			}
		}
		if why != "" {
			return guardedFault(c.Caller, why)
		}
	}
	return nil
}

// guardedFault says why a person must decide, until when, and what the person can do.
func guardedFault(c *op.Caller, why string) error {
	f := op.AgentGuarded.Say("The agent has just read what strangers wrote, so a person must allow this: %s", why)
	until := c.Reading.At.Add(account.GuardDuration)
	f.Details = map[string]any{
		"until": until,
		"remedy": "A person can do this themselves, approve it where the agent may propose (askMode), or let the " +
			"agent try again after until.",
	}
	return f
}

// billsUnknownAddress reports whether an invoice gets an address that its customer does not have.
// The event alone sends nothing, but reminders and the next person who sends the invoice would
// use the address.
func billsUnknownAddress(ctx context.Context, c *op.Call, e event.Event) (bool, error) {
	if e.Type != "invoice.created" && e.Type != "invoice.updated" {
		return false, nil
	}
	var v struct {
		BillToEmail *string `json:"billToEmail"`
		CustomerID  *id.ID  `json:"customerId"`
	}
	if err := json.Unmarshal(e.Data, &v); err != nil || v.BillToEmail == nil || v.CustomerID == nil {
		return false, err
	}
	list, err := customer.EmailAddresses(ctx, c.Tx, c.Org, *v.CustomerID)
	return !slices.ContainsFunc(list, func(a string) bool { return message.SameAddress(a, *v.BillToEmail) }), err
}

// mailsInvoice reports whether the transaction mailed an invoice. The files of such a mail
// are the invoice itself.
func mailsInvoice(told []any) bool {
	return slices.ContainsFunc(told, func(t any) bool {
		e, ok := t.(event.Event)
		return ok && e.Type == "invoice.sent"
	})
}

// mailContent is the part of a message's event that matters here.
type mailContent struct {
	Status     string   `json:"status"`
	To         []string `json:"to"`
	CC         []string `json:"cc"`
	BCC        []string `json:"bcc"`
	Text       *string  `json:"text"`
	HTML       *string  `json:"html"`
	ThreadID   id.ID    `json:"threadId"`
	FileIDs    []id.ID  `json:"fileIds"`
	InvoiceIDs []id.ID  `json:"invoiceIds"`
}

// parseOutgoingMail reads the mail that an event sends; nil for an event that sends none.
func parseOutgoingMail(e event.Event) (*mailContent, error) {
	if !slices.Contains([]string{"message.created", "message.queued", "message.scheduled"}, e.Type) {
		return nil, nil
	}
	var m mailContent
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return nil, err
	}
	if m.Status != string(message.Queued) && m.Status != string(message.Scheduled) {
		return nil, nil
	}
	return &m, nil
}

// maxAddressesInText is how many different addresses the text of a mail may contain.
const maxAddressesInText = 10

// leakReason says why a mail must not leave; empty for one that may. Its recipients must be
// addresses that the organization has written to, those of the invoice's customer, or, if the
// agent read about nobody else, those who have sent mail in the same conversation; whoever was
// only copied in there does not count. It may carry no files but an
// invoice, and few addresses in its text.
func (m *mailContent) leakReason(ctx context.Context, c *op.Call, invoiceMail bool) (string, error) {
	own, err := m.loadOwnAddresses(ctx, c)
	if err != nil {
		return "", err
	}
	others := slices.DeleteFunc(slices.Concat(m.To, m.CC, m.BCC), func(a string) bool {
		return slices.ContainsFunc(own, func(o string) bool { return message.SameAddress(o, a) })
	})
	unknown, err := message.NeverWrittenToByInsiders(ctx, c.Tx, c.Org, others)
	if err != nil {
		return "", err
	}
	// Answering within the one conversation that the agent has read tells its people nothing new.
	r := c.Caller.Reading
	if r.Thread != "" && m.ThreadID == r.Thread && !r.Others {
		if unknown, err = message.NotSendersInThread(ctx, c.Tx, c.Org, string(m.ThreadID), unknown); err != nil {
			return "", err
		}
	}
	switch {
	case len(unknown) > 0:
		names := strings.Join(unknown, ", ")
		if len(names) > 200 {
			names = cut.Bytes(names, 200) + "…"
		}
		return "it writes to " + names + ", to whom this organization never wrote.", nil
	case len(m.InvoiceIDs) > 0 && len(others) > 0:
		return "an invoice goes to an address that is not its customer's.", nil
	case len(m.FileIDs) > 0 && !invoiceMail:
		return "the mail carries files.", nil
	case m.countAddresses() > maxAddressesInText:
		return "the mail tells of more than ten addresses.", nil
	}
	return "", nil
}

// loadOwnAddresses lists the addresses that the organization itself entered for the customer whose
// invoices a mail carries. With invoices of several customers, only addresses that all of them
// have remain.
func (m *mailContent) loadOwnAddresses(ctx context.Context, c *op.Call) (own []string, err error) {
	for i, v := range m.InvoiceIDs {
		list, err := invoice.OwnAddresses(ctx, c.Tx, c.Org, v)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			own = list
			continue
		}
		own = slices.DeleteFunc(own, func(a string) bool {
			return !slices.ContainsFunc(list, func(b string) bool { return message.SameAddress(a, b) })
		})
	}
	return own, nil
}

var addressPattern = regexp.MustCompile(`[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}`)

// countAddresses counts the different email addresses in the text. Many of them look like an export
// by mail.
func (m *mailContent) countAddresses() int {
	seen := map[string]bool{}
	for _, text := range []*string{m.Text, m.HTML} {
		if text == nil {
			continue
		}
		for _, a := range addressPattern.FindAllString(*text, 1000) {
			seen[strings.ToLower(a)] = true
		}
	}
	return len(seen)
}
