package app

import (
	"frontdesk/internal/account"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/property"
)

// operations is everything the service can do.
func operations(accounts *account.Accounts, more []*op.Op) *op.Catalog {
	return op.NewCatalog(
		accounts.Operations(),
		business.Operations(accounts),
		contact.Operations(),
		customer.Operations(),
		property.Operations(),
		invoice.Operations(),
		more,
	)
}

// Describe lists the operations without opening anything, for the documents
// that are made from them.
func Describe() *op.Catalog { return operations(account.New(nil, nil, account.Config{}), nil) }
