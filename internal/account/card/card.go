// Package card holds the organization's saved payment methods, of which one is the
// default: the one that is charged. A real payment provider keeps the cards, and they
// are entered on its pages (setup.go, detach.go); without one there are sandbox cards,
// whose names say what happens when they are charged. Start reading at Service in this
// file. Charging is not done here: package domain does it, with LoadDefault.
package card

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
)

// Card is a saved payment method of the organization.
type Card struct {
	op.Record
	Brand      string `json:"brand"`
	Last4      string `json:"last4"`
	ExpMonth   int    `json:"expMonth"`
	ExpYear    int    `json:"expYear"`
	IsDefault  bool   `json:"isDefault"`
	Provider   string `json:"provider"`
	ProviderID string `json:"-" db:"provider_id"`
	// ProviderCustomer is the provider's id of the card's owner.
	ProviderCustomer *string `json:"-" db:"provider_customer"`
}

var cards = db.NewTable[Card]("payment_methods", db.Life{Noun: "payment method", ExternalText: db.NoExternalText})

// sandboxCards are the cards of the built-in payment provider, with their last
// four digits. The name says what happens when a card is charged.
var sandboxCards = map[string]string{"visa": "4242", "declined": "0002", "insufficient": "9995", "slow": "0077"}

// maxCards is how many cards an organization can save.
const maxCards = 20

// LimitReached refuses a card beyond maxCards.
var LimitReached = fault.DefineKind("PAYMENT_METHOD_LIMIT_REACHED", 409,
	"An organization has at most 20 saved cards. Delete one first.")

// Provider is the part of a real payment provider that saves cards. The
// same key means the same request.
type Provider interface {
	Name() string
	// Card reads a card that a customer saved at the provider.
	Card(ctx context.Context, customer, card string) (*Card, error)
	// CreateCustomer creates a customer to save cards for.
	CreateCustomer(ctx context.Context, key, name string) (string, error)
	// OpenCardPage creates a page on which a card can be saved. It returns
	// ErrNoCustomer when the provider does not know the customer.
	OpenCardPage(ctx context.Context, key string, q PageRequest) (*Page, error)
	// ReadCardPage reads the outcome of a page.
	ReadCardPage(ctx context.Context, page string) (*PageState, error)
	// DetachCard makes a card unusable. Detaching it again is no error.
	DetachCard(ctx context.Context, card string) error
}

// PageRequest says whom a page is for and where it returns to.
type PageRequest struct {
	Setup    id.ID
	Customer string
	Done     string // the provider appends the page's id
	Canceled string
}

// Config is what cards need. DB and Jobs are required.
type Config struct {
	DB   *db.DB
	Jobs *job.Queue
	// Provider is the real payment provider, which saves the cards. When it is nil,
	// sandbox cards are charged.
	Provider Provider
	// BaseURL is the console's address, to which the provider's pages return.
	BaseURL string
}

// Service is the package's state: what it was given, and how often each organization
// has opened the provider's page.
type Service struct {
	config Config
	setups limit.Limiter[id.ID]
}

// New returns the cards of a database. It panics when a required field is missing.
func New(c Config) *Service {
	config.RequireFields(c, "DB", "Jobs")
	return &Service{config: c}
}

// Operations lists the operations on cards.
func (s *Service) Operations() []*op.Op {
	return append(s.cardOperations(), s.setupOperations()...)
}

func (s *Service) cardOperations() []*op.Op {
	const one = `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`
	return []*op.Op{
		account.WriteByManager(op.Spec{
			Name:     "payment_methods.create_test",
			Spends:   true,
			Summary:  "Save a sandbox card and make it the default.",
			Resource: op.Account,
			Doors:    account.Doors,
			Status:   201,
			Events:   []string{"payment_method.created"},
			Errors:   []*fault.Kind{LimitReached},
			Example:  `{"test": "visa"}`,
		}, s.addTestCard),
		op.Flow(op.Spec{
			Name:     "payment_methods.create",
			Spends:   true,
			Summary:  "Save a card that the payment provider knows, and make it the default.",
			Resource: op.Account,
			Doors:    op.AdminDoor,
			Status:   201,
			Events:   []string{"payment_method.created"},
			Errors:   []*fault.Kind{LimitReached},
			Example:  `{"customer": "cus_NffrFeUfNV2Hib", "card": "pm_1MqLiJLkdIwHu7ixUEgbFdYF"}`,
		}, s.addProviderCard),
		op.Read(op.Spec{
			Name:     "payment_methods.list",
			Summary:  "List the saved cards.",
			Resource: op.Account,
			Doors:    account.Doors,
			Example:  `{}`,
		}, s.listCards),
		account.WriteByManager(op.Spec{
			Name:     "payment_methods.set_default",
			Spends:   true,
			Summary:  "Make a saved card the default, the one that is charged.",
			Resource: op.Account,
			Doors:    account.Doors,
			Events:   []string{"payment_method.updated"},
			Example:  one,
		}, s.setDefaultCard),
		account.WriteByManager(op.Spec{
			Name:     "payment_methods.delete",
			Summary:  "Delete a saved card. If it was the default, the newest remaining card becomes the default.",
			Resource: op.Account,
			Doors:    account.Doors,
			Status:   204,
			Events:   []string{"payment_method.deleted", "payment_method.updated"},
			Example:  one,
		}, s.deleteCard),
	}
}

type cardTest struct {
	Test string `json:"test" enum:"visa,declined,insufficient,slow"`
}

func (s *Service) addTestCard(ctx context.Context, c *op.Call, in cardTest) (*Card, error) {
	if s.config.Provider != nil {
		return nil, fault.Field("test",
			"Sandbox cards are not accepted here, because a real payment provider is configured")
	}
	if err := clearDefaultCard(ctx, c); err != nil {
		return nil, err
	}
	card := &Card{Record: c.NewRecord(), Brand: "visa", Last4: sandboxCards[in.Test], ExpMonth: 12,
		ExpYear:   c.Now.Std().Year() + 3,
		IsDefault: true, Provider: "sandbox", ProviderID: "card_" + in.Test}
	return s.insertCard(ctx, c, card)
}

// insertCard saves a card. The caller has locked the organization, which makes
// the limit hold.
func (s *Service) insertCard(ctx context.Context, c *op.Call, card *Card) (*Card, error) {
	if err := checkCardLimit(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	if err := cards.Insert(ctx, c.Tx, card); err != nil {
		return nil, err
	}
	return card, c.Emit("payment_method.created", card.ID, card)
}

func checkCardLimit(ctx context.Context, tx *db.Tx, org id.ID) error {
	n, err := Count(ctx, tx, org)
	if err == nil && n >= maxCards {
		return LimitReached.New()
	}
	return err
}

type cardAdd struct {
	Customer string `json:"customer" min:"1" doc:"the provider's id of the card's owner"`
	Card     string `json:"card" min:"1" doc:"the provider's id of the card"`
}

func (s *Service) addProviderCard(ctx context.Context, c *op.Call, in cardAdd) (*Card, error) {
	if s.config.Provider == nil {
		return nil, fault.Field("card", "No payment provider is configured; choose one with --payments-provider")
	}
	found, err := s.config.Provider.Card(ctx, in.Customer, in.Card)
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Card, error) {
		if err := clearDefaultCard(ctx, c); err != nil {
			return nil, err
		}
		card := *found
		card.Record, card.IsDefault = c.NewRecord(), true
		return s.insertCard(ctx, c, &card)
	})
}

// clearDefaultCard makes room for another default card. It locks the organization,
// so that two calls at once do not leave it with two defaults.
func clearDefaultCard(ctx context.Context, c *op.Call) error {
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return db.AsNotFound(err, "organization")
	}
	_, err := db.Exec(ctx, c.Tx, `
		UPDATE payment_methods
		SET is_default = FALSE, updated_at = $2
		WHERE organization_id = $1 AND is_default AND deleted_at IS NULL`, c.Org, c.Now)
	return err
}

func (s *Service) setDefaultCard(ctx context.Context, c *op.Call, in byID) (*Card, error) {
	if err := clearDefaultCard(ctx, c); err != nil {
		return nil, err
	}
	card, err := cards.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	card.IsDefault, card.UpdatedAt = true, c.Now
	if err := cards.Save(ctx, c.Tx, card); err != nil {
		return nil, err
	}
	return card, c.Emit("payment_method.updated", card.ID, card)
}

func (s *Service) deleteCard(ctx context.Context, c *op.Call, in byID) (op.Nothing, error) {
	card, err := cards.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := s.enqueueCardDetach(ctx, c.Tx, card); err != nil {
		return op.Nothing{}, err
	}
	if err := c.Emit("payment_method.deleted", card.ID, card); err != nil || !card.IsDefault {
		return op.Nothing{}, err
	}
	return op.Nothing{}, promoteNewestCard(ctx, c)
}

// promoteNewestCard makes the newest card the default, if there is one.
func promoteNewestCard(ctx context.Context, c *op.Call) error {
	rows, err := cards.List(ctx, c.Tx, db.InOrganization(c.Org), db.Page{Limit: 1})
	if err != nil || len(rows) == 0 {
		return err
	}
	next := &rows[0]
	next.IsDefault, next.UpdatedAt = true, c.Now
	if err := cards.Save(ctx, c.Tx, next); err != nil {
		return err
	}
	return c.Emit("payment_method.updated", next.ID, next)
}

// Count counts the saved cards of an organization.
func Count(ctx context.Context, tx *db.Tx, org id.ID) (int, error) {
	return cards.Count(ctx, tx, db.InOrganization(org))
}

// LoadDefault returns the card that is charged, or nil.
func LoadDefault(ctx context.Context, tx *db.Tx, org id.ID) (*Card, error) {
	card, err := cards.Find(ctx, tx, db.InOrganization(org).And("is_default"))
	if fault.IsKind(err, fault.NotFound) {
		return nil, nil
	}
	return card, err
}

// byID names one card.
type byID struct {
	ID id.ID `json:"id"`
}

type cardList struct{ op.Page }

func (s *Service) listCards(ctx context.Context, c *op.Call, in cardList) (*op.List[Card], error) {
	rows, err := cards.List(ctx, c.Tx, db.InOrganization(c.Org), in.ToDBPage())
	return op.NewList(in.Page, rows), err
}
