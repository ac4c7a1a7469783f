package app

import (
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/adapter/mailbox"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/optin"
	"frontdesk/internal/resource/property"
	"frontdesk/internal/resource/task"
	"frontdesk/internal/resource/template"
	"frontdesk/internal/resource/webhook"
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
		invoice.Operations(invoice.Post{Files: a.Files, Messages: a.Messages}),
		a.Domains.Operations(),
		a.Zones.Operations(),
		a.Webhooks.Operations(),
		a.Automations.Operations(),
		more,
	).Also(slices.Concat(happenings, message.Happenings)...)
}

// happenings are the events that no operation emits.
var happenings = []op.Happening{
	{Type: "agent.connected", Resource: op.Account, When: "a client takes up the grant that a user gave it"},
	{Type: "agent.disconnected", Resource: op.Account, When: "a client's access to an agent ends"},
	{Type: automation.FailedEvent, Resource: "automations", When: "an execution of an automation fails"},
	{Type: "invoice.overdue", When: "`dueAt` of an open invoice passes"},
	{Type: "domain.created", When: "a registration succeeds"},
	{Type: "domain.expired", When: "expiresAt passes"},
	{Type: "domain.renewal_failed", When: "a domain could not renew itself; the data has errorCode and errorMessage too"},
	{Type: "domain.renewed", When: "a renewal succeeds"},
	{Type: "domain.unverified",
		When: "the proof of a domain is gone, another organization proved it, or registered the name above it"},
	{Type: "domain.transferred", When: "a domain has left for another registrar"},
	{Type: "domain_contact.created", Resource: "domains", When: "a registration succeeds that brought its own contact"},
	{Type: "operation.created", Resource: "domains", When: "a registration or renewal is paid for, also one that a domain orders itself"},
	{Type: "operation.failed", Resource: "domains", When: "a registration or renewal fails and is refunded"},
	{Type: "operation.started", Resource: "domains", When: "the work on a registration or renewal begins"},
	{Type: "operation.succeeded", Resource: "domains", When: "a registration or renewal succeeds"},
	{Type: "organization.exported", Resource: op.Account, When: "the operator exports an organization"},
	{Type: "webhook.disabled", When: "an endpoint answers 410, or nothing came through to it for three days"},
}

// Describe lists the operations without opening anything, for the documents
// that are made from them.
func Describe() *op.Catalog {
	return (&App{
		Accounts:    account.New(nil, nil, account.Config{}),
		Links:       optin.NewLinks(""),
		Files:       file.New(nil, nil, nil, nil, file.Config{}),
		Domains:     domain.New(domain.Config{}),
		Zones:       domain.NewZones(domain.ZonesConfig{}),
		Messages:    &message.Messages{},
		Webhooks:    webhook.New(nil, nil, nil, webhook.Config{}),
		Automations: automation.New(nil, nil, nil, nil, nil, nil, nil),
	}).operations(nil)
}
