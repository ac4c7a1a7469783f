package desk

import (
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/op"
)

// The words for what can be allowed: to a key, a member or an agent.

// resourceWords are resources whose name does not follow from their key.
var resourceWords = map[string]string{"email_opt_ins": "Email opt-ins"}

// ResourceWord is what people call a resource of the permission table.
func ResourceWord(resource string) string {
	if w := resourceWords[resource]; w != "" {
		return w
	}
	return Capital(strings.ReplaceAll(resource, "_", " "))
}

// ResourceHelp says what a resource covers, where its name does not.
var ResourceHelp = map[string]string{
	"businesses": "profile, offerings, presences", "contacts": "emails, phone numbers, addresses",
	"customers": "and their transactions",
	"domains":   "registration, DNS, renewals", "files": "folders and access links",
	"properties": "custom fields and their values",
	"webhooks":   "and the event log", "invoices": "and payments", "messages": "and attachments",
}

// ActionWords are the columns of the permission table.
var ActionWords = map[op.Action]string{op.ActionRead: "See", op.ActionCreate: "Create", op.ActionUpdate: "Change",
	op.ActionDelete: "Delete"}

// Actions are its columns, from left to right.
var Actions = []op.Action{op.ActionRead, op.ActionCreate, op.ActionUpdate, op.ActionDelete}

// IsTool reports whether an agent can be allowed to call an operation.
func IsTool(o *op.Op) bool { return o.Doors&op.AgentDoor != 0 && !o.TakesStream() }

// ShortSummary says what an operation does, as briefly as a choice needs.
func ShortSummary(o *op.Op) string {
	text, _, _ := strings.Cut(strings.TrimSuffix(o.Summary, "."), ";")
	text, _, _ = strings.Cut(text, ": ")
	return strings.TrimSuffix(text, ", newest first")
}

// OperationWords is an operation in words, or its name if it no longer exists.
func (d *Desk) OperationWords(name string) string {
	if o := d.Catalog.Named(name); o != nil {
		return ShortSummary(o)
	}
	return name
}

// Unaccepted names the businesses that have yet to accept.
func Unaccepted(standings []account.Standing) (names []string) {
	for _, s := range standings {
		if s.AcceptedAt == nil {
			names = append(names, s.BusinessName)
		}
	}
	return names
}

// eventNouns have words of their own where spaces for underscores read badly.
var eventNouns = map[string]string{"api_key": "API key", "session": "", "payment_method": "card",
	"invite": "invitation", "user": "member"}

// EventWords says what happened: "Contact phone number created".
func EventWords(eventType string) string {
	noun, rest, _ := strings.Cut(eventType, ".")
	word, ok := eventNouns[noun]
	if !ok || word == "" {
		word = strings.ReplaceAll(noun, "_", " ")
	}
	return Capital(strings.TrimSpace(word + " " + strings.NewReplacer("_", " ", ".", " ").Replace(rest)))
}
