package proposal

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/message"

	"github.com/go-json-experiment/json"
)

// Meter counts what an agent's call does against its limits, and refuses what is
// guarded, in the transaction of the effect.
func (s *Service) Meter(ctx context.Context, c *op.Call, told []any) error {
	var use account.Use
	for _, t := range told {
		switch t := t.(type) {
		case op.Charge:
			use.SpendCents += t.AmountCents
		case op.Announced:
			if err := s.meterEvent(ctx, c, event.Event{Type: t.Type, ResourceID: t.Resource}, &use); err != nil {
				return err
			}
		case event.Event:
			if c.Announces(t) {
				continue
			}
			if err := s.meterEvent(ctx, c, t, &use); err != nil {
				return err
			}
		}
	}
	if use == (account.Use{}) {
		return nil
	}
	return account.Reserve(ctx, c.Tx, c.Caller, c.Now, use)
}

// mail is what of a message matters here.
type mail struct {
	Status     string   `json:"status"`
	To         []string `json:"to"`
	CC         []string `json:"cc"`
	BCC        []string `json:"bcc"`
	Text       *string  `json:"text"`
	HTML       *string  `json:"html"`
	ThreadID   string   `json:"threadId"`
	FileIDs    []string `json:"fileIds"`
	InvoiceIDs []string `json:"invoiceIds"`
	Direction  string   `json:"direction"`
}

func (s *Service) meterEvent(ctx context.Context, c *op.Call, e event.Event, use *account.Use) error {
	switch {
	case strings.HasPrefix(e.Type, "domain.dns_record."):
		use.DNSChanges++
	case strings.HasSuffix(e.Type, ".deleted"):
		use.Deletions++
	}
	guarded := c.Caller.Guarded && c.Caller.ApprovedBy == ""
	if guarded {
		if why := harm(e); why != "" {
			return op.Guarded.Say("The agent has just read what strangers wrote, so a person must allow this: %s", why)
		}
	}
	if !strings.HasPrefix(e.Type, "message.") {
		return nil
	}
	var m mail
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return err
	}
	if kindOf(e, map[string]any{"status": m.Status}) != Send {
		return nil
	}
	to := slices.Concat(m.To, m.CC, m.BCC)
	strange, err := message.NeverWrittenTo(ctx, c.Tx, c.Org, to)
	if err != nil {
		return err
	}
	use.Messages += int64(len(to))
	use.NewRecipients += int64(len(strange))
	if !guarded {
		return nil
	}
	unknown, err := message.NotInThread(ctx, c.Tx, c.Org, m.ThreadID, strange)
	switch {
	case err != nil:
		return err
	case len(unknown) > 0:
		return op.Guarded.Say("The agent has just read what strangers wrote, so a person must allow this: "+
			"it writes to %s, to whom this organization never wrote.", cut(strings.Join(unknown, ", "), 200))
	case m.rows() > maxRowsOut:
		return op.Guarded.Say("The agent has just read what strangers wrote, so a person must allow this: "+
			"the mail holds %d addresses.", m.rows())
	case len(m.FileIDs) > 0 || len(m.InvoiceIDs) > 0:
		return op.Guarded.Say("The agent has just read what strangers wrote, so a person must allow this: " +
			"the mail carries files or invoices.")
	}
	return nil
}

// maxRowsOut is how many records a mail may tell of while the agent is guarded.
const maxRowsOut = 10

var anAddress = regexp.MustCompile(`[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}`)

// rows is how many different addresses the text tells of: an export by mail.
func (m *mail) rows() int {
	seen := map[string]bool{}
	for _, text := range []*string{m.Text, m.HTML} {
		if text == nil {
			continue
		}
		for _, a := range anAddress.FindAllString(*text, 1000) {
			seen[strings.ToLower(a)] = true
		}
	}
	return len(seen)
}

// harms are the events that may carry harm out, beside mail.
var harms = map[string]string{
	"webhook.created":           "a webhook sends data to another server.",
	"file.access_link.created":  "an access link makes a file public.",
	"domain.transfer_requested": "a domain leaves.",
	"domain.unlocked":           "a domain could leave.",
	"domain_contact.updated":    "the holder of a domain changes.",
	"automation.created":        "an automation acts by itself.",
	"automation.updated":        "an automation acts by itself.",
	"email_template.updated":    "a template may carry payment details.",
	"business.updated":          "the details of the business change.",
	"business.profile.updated":  "the details of the business change.",
}

// paymentFields are the fields in which people write where to pay.
var paymentFields = []string{"notes", "terms"}

// harm is why an event may carry harm out; empty for an ordinary one.
func harm(e event.Event) string {
	if strings.HasPrefix(e.Type, "domain.dns_record.") || strings.HasPrefix(e.Type, "domain.email.") {
		return "the DNS changes."
	}
	if e.Type == "webhook.updated" && mentions(e.Previous, []string{"url", "status", "events"}) {
		return harms["webhook.created"]
	}
	if e.Type == "invoice.updated" && mentions(e.Previous, paymentFields) ||
		e.Type == "invoice.created" && says(e.Data, paymentFields) {
		return "notes and terms of an invoice may carry payment details."
	}
	// A template with a key takes the place of a built-in one.
	if (e.Type == "email_template.created" || e.Type == "email_template.restored") &&
		says(e.Data, []string{"templateKey"}) {
		return harms["email_template.updated"]
	}
	return harms[e.Type]
}

// mentions reports whether an object names one of these fields.
func mentions(object []byte, names []string) bool {
	var fields map[string]any
	if json.Unmarshal(object, &fields) != nil {
		return false
	}
	return slices.ContainsFunc(names, func(n string) bool { _, ok := fields[n]; return ok })
}

// says reports whether an object has a value for one of these fields.
func says(object []byte, names []string) bool {
	var fields map[string]any
	if json.Unmarshal(object, &fields) != nil {
		return false
	}
	return slices.ContainsFunc(names, func(n string) bool { return fields[n] != nil })
}
