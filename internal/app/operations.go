package app

import (
	"frontdesk/internal/account"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/optin"
	"frontdesk/internal/resource/property"
	"frontdesk/internal/resource/task"
	"frontdesk/internal/resource/template"
)

// operations is everything the service can do.
func (a *App) operations(more []*op.Op) *op.Catalog {
	return op.NewCatalog(
		a.Accounts.Operations(),
		business.Operations(a.Accounts),
		contact.Operations(),
		customer.Operations(),
		a.Files.Operations(),
		property.Operations(),
		eventlog.Operations(),
		task.Operations(),
		template.Operations(),
		a.Links.Operations(),
		invoice.Operations(),
		a.Automations.Operations(),
		more,
	).Also(happenings...)
}

// happenings are the events that no operation emits.
var happenings = []op.Happening{
	{Type: "agent.connected", When: "a client takes up the grant that a user gave it"},
	{Type: "agent.disconnected", When: "a client's access to an agent ends"},
	{Type: automation.FailedEvent, When: "an execution of an automation fails"},
	{Type: "invoice.overdue", When: "`dueAt` of an open invoice passes"},
	{Type: "organization.exported", When: "the operator exports an organization"},
}

// Describe lists the operations without opening anything, for the documents
// that are made from them.
func Describe() *op.Catalog {
	return (&App{
		Accounts:    account.New(nil, nil, account.Config{}),
		Links:       optin.NewLinks(""),
		Files:       file.New(nil, nil, nil, nil, file.Config{}),
		Automations: automation.New(nil, nil, nil, nil, nil, nil, nil),
	}).operations(nil)
}
