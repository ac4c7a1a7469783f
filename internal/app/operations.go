package app

import (
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/adapter/mailbox"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/message"
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
		a.Messages.Operations(),
		mailbox.Operations(),
		task.Operations(),
		template.Operations(),
		a.Links.Operations(),
		more,
	).Also(slices.Concat(happenings, message.Happenings)...)
}

// happenings are the events that no operation emits.
var happenings = []op.Happening{
	{Type: "agent.connected", When: "a client takes up the grant that a user gave it"},
	{Type: "agent.disconnected", When: "a client's access to an agent ends"},
	{Type: "organization.exported", When: "the operator exports an organization"},
}

// Describe lists the operations without opening anything, for the documents
// that are made from them.
func Describe() *op.Catalog {
	return (&App{
		Accounts: account.New(nil, nil, account.Config{}),
		Links:    optin.NewLinks(""),
		Files:    file.New(nil, nil, nil, nil, file.Config{}),
		Messages: &message.Messages{},
	}).operations(nil)
}
