package guard

import (
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/kernel/event"

	"github.com/go-json-experiment/json"
)

// way is what opens a way out of the house, beside mail.
type way struct {
	events []string // types, or beginnings that end with a dot
	fields []string // it does only where one of these changes, or is there at first; none for always
	words  bool     // and only where these fields hold bank details
	why    string
}

var ways = []way{
	{
		events: []string{"webhook.created", "webhook.restored", "webhook.secret_rotated"},
		why:    "a webhook sends data to another server.",
	},
	{
		events: []string{"webhook.updated"},
		fields: []string{"url", "status", "events"},
		why:    "a webhook sends data to another server.",
	},
	{events: []string{"file.access_link.created"}, why: "an access link makes a file public."},
	{
		events: []string{"domain.dns_record.", "domain.email.", "domain.subdomain."},
		why:    "the DNS changes, and with it where mail and visitors go.",
	},
	{events: []string{"domain.transfer_requested", "domain.unlocked"}, why: "a domain could leave."},
	{events: []string{"domain_contact.updated"}, why: "the holder of a domain changes."},
	{
		events: []string{"automation.created", "automation.updated", "automation.restored"},
		why:    "an automation acts by itself.",
	},
	{
		events: []string{"automation_execution.created", "automation_execution.retried"},
		why:    "an automation runs, and may do what the agent may not.",
	},
	{events: []string{"email_template.updated"}, why: "a template may carry payment details."},
	{
		// One with a key takes the place of a built-in one.
		events: []string{"email_template.created", "email_template.restored"},
		fields: []string{"templateKey"},
		why:    "a template may carry payment details.",
	},
	{
		events: []string{"business.updated", "business.restored", "business.profile."},
		why:    "the details of the business change.",
	},
	{events: []string{"business.invoice_reminder."}, why: "a rule sends mail by itself."},
	{
		events: []string{"contact.email."},
		why:    "an address changes that mail and invoices go to.",
	},
	{
		events: []string{"contact.merged", "contact.unmerged"},
		why:    "addresses move to another contact, and mail and invoices with them.",
	},
	{
		events: []string{"contact.updated"},
		fields: []string{"emails"},
		why:    "an address changes that mail and invoices go to.",
	},
	{
		events: []string{"customer.updated"},
		fields: []string{"email", "contactId"},
		why:    "an address changes that mail and invoices go to.",
	},
	{
		events: []string{"invoice.created", "invoice.updated"},
		fields: []string{"notes", "terms"},
		why:    "notes and terms of an invoice may carry payment details.",
	},
	{
		events: []string{"invoice.created", "invoice.updated"},
		fields: []string{"lineItems"},
		words:  true,
		why:    "a line of the invoice holds what looks like payment details.",
	},
}

// wayOut is why an event opens a way out of the house; empty for ordinary work.
func wayOut(e event.Event) string {
	for _, w := range ways {
		if w.covers(e) {
			return w.why
		}
	}
	return ""
}

func (w *way) covers(e event.Event) bool {
	if !slices.ContainsFunc(w.events, func(t string) bool {
		return t == e.Type || strings.HasSuffix(t, ".") && strings.HasPrefix(e.Type, t)
	}) {
		return false
	}
	if len(w.fields) == 0 {
		return true
	}
	var data, was map[string]any
	if json.Unmarshal(e.Data, &data) != nil {
		return true // nobody knows what it holds
	}
	if len(e.Previous) > 0 && json.Unmarshal(e.Previous, &was) != nil {
		return true
	}
	return slices.ContainsFunc(w.fields, func(f string) bool {
		if w.words { // an event does not tell what the lines were before
			return bankDetails(data[f])
		}
		_, changed := was[f]
		return changed || was == nil && data[f] != nil
	})
}

// details is what people write where to pay: accounts and their names, addresses of
// pages and mail.
var details = regexp.MustCompile(`(?i)\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{2,4}){3,8}\b` +
	`|(?:[0-9][ -]?){8,}` +
	`|\b(?:iban|bic|swift|routing|sort code|account|konto|kontonummer|bankleitzahl|blz|paypal|wallet|bitcoin|btc)\b` +
	`|https?://|www\.|[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z]`)

// bankDetails reports whether the description of a line looks like payment details.
func bankDetails(lines any) bool {
	list, _ := lines.([]any)
	return slices.ContainsFunc(list, func(line any) bool {
		m, _ := line.(map[string]any)
		text, _ := m["description"].(string)
		return details.MatchString(text)
	})
}
