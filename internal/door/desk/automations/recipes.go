package automations

import (
	"slices"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json"
)

// recipe is an automation to begin with: what the editor opens with, as automations.create takes it.
type recipeText struct{ slug, group, does, input string }

var recipes = []recipeText{
	{"thank-for-payment", "Money", "Writes to the customer when an invoice is paid.", `{
		"name": "Thank for a payment", "trigger": {"kind": "event", "event": "invoice.paid"},
		"condition": "event.data.billToEmail != null",
		"steps": [{"operation": "messages.create", "input": {"to": "{{ event.data.billToEmail }}",
			"subject": "Thank you: invoice {{ event.data.invoiceNumber }} is paid",
			"text": "Dear {{ event.data.billToName | default: \"customer\" }},\n\nthank you. Your payment of ` +
		`invoice {{ event.data.invoiceNumber }} has arrived.",
			"customerId": "{{ event.data.customerId }}", "letterhead": true}}]}`},
	{"ask-about-overdue", "Money", "Makes a task to call when an invoice gets overdue.", `{
		"name": "Ask about overdue invoices", "trigger": {"kind": "event", "event": "invoice.overdue"},
		"steps": [{"operation": "tasks.create", "input": {
			"title": "Ask {{ event.data.billToName | default: \"the customer\" }} about invoice ` +
		`{{ event.data.invoiceNumber }}", "priority": "high",
			"customerId": "{{ event.data.customerId }}"}}]}`},
	{"monthly-books", "Money", "Makes a task on the 1st of every month.", `{
		"name": "Books of the month", "trigger": {"kind": "schedule", "cron": "0 9 1 * *"},
		"steps": [{"operation": "tasks.create", "input": {"title": "Send last month to the accountant",
			"description": "The page Money has the taxes by quarter, each as a file."}}]}`},
	{"greet-contact", "People", "Prepares a first mail to everybody new. You read it and send it.", `{
		"name": "Greet new contacts", "trigger": {"kind": "event", "event": "contact.created"},
		"condition": "size(event.data.emails) > 0",
		"steps": [{"operation": "messages.create", "input": {"to": "{{ event.data.emails.0.email }}",
			"subject": "It is good to have met you",
			"text": "Dear {{ event.data.firstName | default: \"friend\" }},\n\nthis is how you reach us: ` +
		`just answer this mail.", "contactId": "{{ event.resourceId }}", "draft": true, "letterhead": true}}]}`},
	{"call-contact", "People", "Makes a task to get in touch with everybody new.", `{
		"name": "Get in touch with new contacts", "trigger": {"kind": "event", "event": "contact.created"},
		"steps": [{"operation": "tasks.create", "input": {
			"title": "Get in touch with {{ event.data.firstName | default: \"the new contact\" }}",
			"contactId": "{{ event.resourceId }}"}}]}`},
	{"welcome-customer", "People", "Makes a task when somebody becomes a customer.", `{
		"name": "Welcome new customers", "trigger": {"kind": "event", "event": "customer.created"},
		"steps": [{"operation": "tasks.create", "input": {"title": "Thank {{ event.data.name }} for their trust",
			"customerId": "{{ event.resourceId }}"}}]}`},
	{"returned-mail", "Mail", "Makes a task when a mail comes back.", `{
		"name": "Look after returned mail", "trigger": {"kind": "event", "event": "message.bounced"},
		"steps": [{"operation": "tasks.create", "input": {
			"title": "Find another address: {{ event.data.subject | default: \"a mail\" }} came back",
			"priority": "high", "contactId": "{{ event.data.contactId }}"}}]}`},
	{"plan-week", "Time", "Makes a task every Monday morning.", `{
		"name": "Plan the week", "trigger": {"kind": "schedule", "cron": "0 8 * * 1"},
		"steps": [{"operation": "tasks.create", "input": {"title": "Plan the week",
			"description": "Who waits for an answer, who owes, what is due."}}]}`},
}

// recipe is the recipe of a name, as an automation.
func recipe(slug string) (*shownAutomation, error) {
	i := slices.IndexFunc(recipes, func(r recipeText) bool { return r.slug == slug })
	if i < 0 {
		return nil, fault.NotFound.New()
	}
	a := &automation.Automation{}
	return (*shownAutomation)(a), json.Unmarshal([]byte(recipes[i].input), a)
}

// shownRecipe is a recipe as the page offers it.
type shownRecipe struct {
	Name, Does, Starts, Path string
}

type recipeGroup struct {
	Label   string
	Recipes []shownRecipe
}

// recipesFor are the recipes whose steps the visitor may take, by group.
func recipesFor(v *desk.Visit) (groups []recipeGroup) {
	for _, r := range recipes {
		a, err := recipe(r.slug)
		if err != nil || slices.ContainsFunc(a.Steps, func(s automation.Step) bool { return !v.May(s.Operation) }) {
			continue
		}
		if n := len(groups); n == 0 || groups[n-1].Label != r.group {
			groups = append(groups, recipeGroup{Label: r.group})
		}
		last := &groups[len(groups)-1]
		last.Recipes = append(last.Recipes, shownRecipe{a.Name, r.does, a.Starts(), "/automations/new?recipe=" +
			r.slug})
	}
	return groups
}
