package guard

import (
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/kernel/event"

	"github.com/go-json-experiment/json"
)

// exitRule is a rule about events that open a way out of the organization, beside mail.
type exitRule struct {
	events             []string // types, or beginnings of types that end with a dot
	fields             []string // the rule applies only if one of these changes, or is set at creation; none for always
	onlyPaymentDetails bool     // it applies only if these fields hold what looks like payment details
	why                string   // what the refusal says
}

var exitRules = []exitRule{
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
		// A template with a key takes the place of a built-in one.
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
		events:             []string{"invoice.created", "invoice.updated"},
		fields:             []string{"lineItems"},
		onlyPaymentDetails: true,
		why:                "a line of the invoice holds what looks like payment details.",
	},
}

// exitReason is why an event opens a way out of the organization; empty for ordinary work.
func exitReason(e event.Event) string {
	for _, w := range exitRules {
		if w.coversEvent(e) {
			return w.why
		}
	}
	return ""
}

// coversEvent reports whether the rule applies to an event. An event whose data cannot be read is
// covered.
func (w *exitRule) coversEvent(e event.Event) bool {
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
		if w.onlyPaymentDetails { // an event does not have the former lines, so all present ones are searched
			return hasPaymentDetails(data[f])
		}
		_, changed := was[f]
		return changed || was == nil && data[f] != nil
	})
}

// paymentDetails matches what people write to say where to pay: long numbers, words for accounts, and
// addresses of pages and mail.
var paymentDetails = regexp.MustCompile(`(?i)(?:[0-9][ ./_-]?){9,}` +
	`|\b(?:iban|bic|swift|routing|sort code|account|konto|kontonummer|bankleitzahl|blz|paypal|wallet|bitcoin|btc)\b` +
	`|https?://|www\.|[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z]`)

// hasPaymentDetails reports whether the descriptions of line items look like payment details.
func hasPaymentDetails(lines any) bool {
	list, _ := lines.([]any)
	var texts []string
	for _, line := range list {
		m, _ := line.(map[string]any)
		text, _ := m["description"].(string)
		texts = append(texts, text)
	}
	all := strings.Join(texts, "\n")
	return paymentDetails.MatchString(all) || hasIBAN(all)
}

var ibanPattern = regexp.MustCompile(`[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}`)

// hasIBAN reports whether a text contains an IBAN (ISO 13616), however it is spaced or broken
// into lines. All letters and digits of the text are searched without what is between them;
// the check digits tell an IBAN from anything else.
func hasIBAN(text string) bool {
	plain := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, strings.ToUpper(text))
	for at := 0; at < len(plain); at++ {
		found := ibanPattern.FindStringIndex(plain[at:])
		if found == nil {
			return false
		}
		at += found[0]
		// The shortest IBAN has 15 characters. Where it ends is not known, so every length is tried.
		for n := 15; n <= found[1]-found[0]; n++ {
			if countDigits(plain[at:at+n]) >= 10 && hasValidChecksum(plain[at+4:at+n]+plain[at:at+4]) {
				return true
			}
		}
	}
	return false
}

// hasValidChecksum reports whether an IBAN, with its first four characters moved to the end, is 1
// modulo 97. Letters count as 10 to 35.
func hasValidChecksum(moved string) bool {
	rest := 0
	for _, r := range moved {
		if r >= 'A' {
			rest = (rest*100 + int(r-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(r-'0')) % 97
		}
	}
	return rest == 1
}

// countDigits counts the digits of a text of capital letters and digits.
func countDigits(text string) (n int) {
	for _, r := range text {
		if r <= '9' {
			n++
		}
	}
	return n
}
