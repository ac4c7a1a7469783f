package app

import (
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/account/card"
	"frontdesk/internal/adapter/mailbox"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/draft"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/filetext"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/notification"
	"frontdesk/internal/resource/optin"
	"frontdesk/internal/resource/property"
	"frontdesk/internal/resource/proposal"
	"frontdesk/internal/resource/report"
	"frontdesk/internal/resource/task"
	"frontdesk/internal/resource/template"
	"frontdesk/internal/resource/transfer"
	"frontdesk/internal/resource/view"
	"frontdesk/internal/resource/webhook"
)

// fillCatalog fills the catalog with everything the service can do, with the events
// that happen without an operation, and with the error for a malformed id where it is
// not the usual one.
func (a *App) fillCatalog(more []*op.Op) *op.Catalog {
	return a.Catalog.Add(
		a.Accounts.Operations(),
		a.Agents.Operations(),
		a.Cards.Operations(),
		a.Departures.Operations(),
		business.New(business.Config{Accounts: a.Accounts}).Operations(),
		contact.Operations(),
		customer.Operations(),
		a.Files.Operations(),
		property.Operations(),
		eventlog.Operations(),
		draft.Operations(),
		a.Messages.Operations(),
		filetext.New(a.Files).Operations(),
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
		report.Operations(),
		view.New(a.Catalog).Operations(),
		a.Notifications.Operations(),
		more,
	).AddBackgroundEvents(slices.Concat(account.Happenings, automation.Happenings, domain.Happenings,
		invoice.Happenings, message.Happenings, proposal.Happenings, transfer.Happenings, webhook.Happenings)...).
		SetBadIDFault("/v1/contacts", contact.InvalidID).
		SetBadIDFault("/v1/businesses", business.InvalidID).
		SetBadIDFault("/v1/messages", message.InvalidID)
}

// Describe lists the operations without opening anything, for the documents and
// clients that are generated from them. Empty services declare the same operations.
func Describe() *op.Catalog {
	return (&App{
		Catalog:     op.NewCatalog(),
		Accounts:    &account.Accounts{},
		Agents:      &agent.Service{},
		Cards:       &card.Service{},
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

		Notifications: &notification.Service{},
	}).fillCatalog(nil)
}
