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
	"frontdesk/internal/resource/proposal"
	"frontdesk/internal/resource/task"
	"frontdesk/internal/resource/template"
	"frontdesk/internal/resource/transfer"
	"frontdesk/internal/resource/webhook"
)

// operations fills the catalog with everything the service can do.
func (a *App) operations(more []*op.Op) *op.Catalog {
	return a.Catalog.Add(
		a.Accounts.Operations(),
		a.Departures.Operations(),
		business.New(business.Config{Accounts: a.Accounts}).Operations(),
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
		a.Invoices.Operations(),
		a.Domains.Operations(),
		a.Webhooks.Operations(),
		a.Automations.Operations(),
		a.Imports.Operations(),
		a.Proposals.Operations(),
		more,
	).Also(slices.Concat(happenings, message.Happenings, transfer.Happenings, proposal.Happenings)...).
		BadID("/v1/contacts", contact.InvalidID).
		BadID("/v1/businesses", business.InvalidID).
		BadID("/v1/messages", message.InvalidID)
}

// happenings are the events that no operation emits.
var happenings = []op.Happening{
	{Type: "agent.connected", Resource: op.Account, When: "a client starts to use the access that a user granted it"},
	{Type: "agent.disconnected", Resource: op.Account, When: "a client's access to an agent ends"},
	{Type: automation.FailedEvent, Resource: "automations", When: "an execution of an automation fails"},
	{Type: "invoice.reminded", When: "a reminder of an invoice is sent by a rule of its business"},
	{Type: "invoice.overdue", When: "`dueAt` of an open invoice passes"},
	{Type: "domain.created", When: "a registration succeeds"},
	{Type: "domain.expired", When: "`expiresAt` of a domain passes"},
	{Type: "domain.renewal_failed",
		When: "an automatic renewal fails; the data also has errorCode and errorMessage"},
	{Type: "domain.renewed", When: "a renewal succeeds"},
	{Type: "domain.unverified",
		When: "a domain's proof is gone, or another organization has proven the domain or registered its parent"},
	{Type: "domain.transferred", When: "a domain has moved to another registrar"},
	{Type: "domain_contact.created", Resource: "domains", When: "a registration with a contact of its own succeeds"},
	{Type: "operation.created", Resource: "domains",
		When: "a registration or renewal is paid for, automatic renewals included"},
	{Type: "operation.failed", Resource: "domains", When: "a registration or renewal fails and is refunded"},
	{Type: "operation.started", Resource: "domains", When: "the work on a registration or renewal begins"},
	{Type: "operation.succeeded", Resource: "domains", When: "a registration or renewal succeeds"},
	{Type: "organization.exported", Resource: op.Account, When: "the operator exports an organization"},
	{Type: "webhook.disabled", When: "an endpoint answers 410, or no delivery to it succeeds for three days"},
}

// Describe lists the operations without opening anything, for the documents
// generated from them. Empty services have the same operations.
func Describe() *op.Catalog {
	return (&App{
		Catalog:     op.NewCatalog(),
		Accounts:    &account.Accounts{},
		Departures:  &account.Departures{},
		Links:       &optin.Links{},
		Files:       &file.Store{},
		Domains:     &domain.Domains{},
		Messages:    &message.Messages{},
		Invoices:    &invoice.Service{},
		Webhooks:    &webhook.Service{},
		Automations: &automation.Service{},
		Imports:     &transfer.Service{},
		Proposals:   &proposal.Service{},
	}).operations(nil)
}
