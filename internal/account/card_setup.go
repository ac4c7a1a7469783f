package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// A real provider's card is entered on the provider's own page, never here. A
// setup is one visit to that page:
//
//	payment_methods.start_setup: creates a row, the customer and the page; the browser goes there
//	payment_methods.finish_setup: the browser is back; saves the card that the provider reports
//
// The browser brings only the page's id. It counts only when the row says that
// this organization opened that page, and the provider agrees.

var (
	// PaymentProviderDown refuses what needs the payment provider while that fails.
	PaymentProviderDown = fault.DefineKind("PAYMENT_PROVIDER_UNAVAILABLE", 503,
		"The payment provider does not answer as it should. Nothing was saved. Try again in a moment.")
	// CardSetupIncomplete refuses to finish a setup in which no card was saved.
	CardSetupIncomplete = fault.DefineKind("CARD_SETUP_INCOMPLETE", 409,
		"No card was saved at the payment provider. Start again from the cards page.")
	// CardSetupUsed refuses to save a card again that has been deleted since.
	CardSetupUsed = fault.DefineKind("CARD_SETUP_USED", 409,
		"This card was saved and has been deleted since. Start again to save it once more.")
)

// How often an organization may open the provider's page.
const (
	setupsPerWindow = 20
	setupWindow     = 10 * time.Minute
)

// ErrNoCustomer means that the provider does not know the customer, or no
// longer does.
var ErrNoCustomer = errors.New("account: the payment provider knows no such customer")

// CardPage is a page of the provider on which a card can be saved.
type CardPage struct {
	ID  string // the provider's
	URL string
}

// CardPageState is the outcome of such a page.
type CardPageState struct {
	Setup    id.ID // ours, as given when the page was created
	Customer string
	Card     *Card // nil until one is saved
}

// CardSetup is a visit to the provider's page.
type CardSetup struct {
	ID             id.ID      `json:"id"`
	CreatedAt      clock.Time `json:"createdAt"`
	OrganizationID id.ID      `json:"organizationId"`
	Provider       string     `json:"provider"`
}

// OpenCardSetup is a setup with the address where it continues.
type OpenCardSetup struct {
	CardSetup
	URL string `json:"url" max:"5000" doc:"the provider's page"`
}

// SavedCard is a card that came back from the provider's page.
type SavedCard struct {
	Card
	Again bool `json:"alreadySaved" doc:"the card was saved before; nothing changed"`
}

func (a *Accounts) cardSetupOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name:     "payment_methods.start_setup",
			Spends:   true,
			Summary:  "Open a page of the payment provider on which a card can be saved.",
			Resource: op.Account,
			Doors:    op.ConsoleDoor,
			Status:   201,
			Secret:   true,
			Events:   []string{"payment_method.setup_started"},
			Errors:   []*fault.Kind{TooManyCards, PaymentProviderDown},
			Example:  `{}`,
		}, a.startCardSetup),
		op.Flow(op.Spec{
			Name:     "payment_methods.finish_setup",
			Spends:   true,
			Summary:  "Save the card entered on the provider's page and make it the default.",
			Resource: op.Account,
			Doors:    op.ConsoleDoor,
			Status:   201,
			Events:   []string{"payment_method.created"},
			Errors:   []*fault.Kind{TooManyCards, PaymentProviderDown, CardSetupIncomplete, CardSetupUsed},
			Example:  `{"page": "cs_test_a1Ae6ClgOkjygKwrf9B3L6ITtUuZW4Xx9FivL6DZYoYFdfAefQxsYpJJd3"}`,
		}, a.finishCardSetup),
	}
}

// asProviderFault passes a fault on and turns any other error into PaymentProviderDown.
func asProviderFault(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	return PaymentProviderDown.Because(err)
}

// providerCustomer is the organization as the provider knows it.
type providerCustomer struct {
	ID         id.ID   `db:"id"`
	ProviderID *string `db:"provider_id"`
}

func (a *Accounts) startCardSetup(ctx context.Context, c *op.Call, _ struct{}) (*OpenCardSetup, error) {
	provider := a.config.Cards
	if provider == nil {
		return nil,
			fault.BadInput.Say("Cards are saved in the sandbox here, because no payment provider is configured.")
	}
	if v := a.setupLimiter.Spend(c.Org, setupsPerWindow, setupWindow, c.Now.Std()); !v.OK {
		f := fault.RateLimited.Say("Too many card setups were started. Try again in %s.", waitInWords(v.Retry))
		f.RetryAfter = v.Retry
		return nil, f
	}
	s := &OpenCardSetup{CardSetup: CardSetup{ID: id.New(), CreatedAt: c.Now, OrganizationID: c.Org,
		Provider: provider.Name()}}
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lockAndRequireManager(ctx, c); err != nil {
			return err
		}
		if err := checkCardLimit(ctx, tx, c.Org); err != nil {
			return err
		}
		_, err := db.Exec(ctx, tx, `
			INSERT INTO card_setups (id, organization_id, created_at, user_id, provider)
			VALUES ($1, $2, $3, $4, $5)`,
			s.ID, c.Org, c.Now, c.Caller.ActorIDOrNil(), s.Provider)
		return err
	})
	if err != nil {
		return nil, err
	}
	who, page, err := a.openCardPage(ctx, c, s)
	if err != nil {
		return nil, err
	}
	s.URL = page.URL
	return op.Finish(ctx, c, func(ctx context.Context) (*OpenCardSetup, error) {
		_, err := db.Exec(ctx, c.Tx, `
			UPDATE card_setups
			SET provider_customer = $3, provider_id = $4
			WHERE organization_id = $1 AND id = $2`, c.Org, s.ID, who, page.ID)
		if err != nil {
			return nil, err
		}
		return s, c.Emit("payment_method.setup_started", s.ID, &s.CardSetup)
	})
}

// openCardPage creates the page. When the provider no longer knows the customer,
// because somebody deleted it there or the account changed, a new one replaces
// it, once.
func (a *Accounts) openCardPage(ctx context.Context, c *op.Call, s *OpenCardSetup) (who string, page *CardPage,
	err error) {
	for attempt := 1; ; attempt++ {
		known, err := a.ensureCardCustomer(ctx, c)
		if err != nil {
			return "", nil, err
		}
		page, err := a.config.Cards.OpenCardPage(ctx, fmt.Sprintf("%s-%d", s.ID, attempt),
			CardPageRequest{Setup: s.ID, Customer: *known.ProviderID,
				Done:     a.config.BaseURL + "/settings/cards/saved?page=",
				Canceled: a.config.BaseURL + "/settings/cards?done=nocard"})
		if err == nil {
			return *known.ProviderID, page, nil
		}
		if !errors.Is(err, ErrNoCustomer) || attempt > 1 {
			return "", nil, asProviderFault(err)
		}
		err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, `
				UPDATE payment_customers
				SET deleted_at = $3, updated_at = $3
				WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL`, c.Org, known.ID, c.Now)
			return err
		})
		if err != nil {
			return "", nil, err
		}
	}
}

// ensureCardCustomer finds or creates the organization's customer. Concurrent calls
// create only one, because the row's id is the provider's idempotency key.
func (a *Accounts) ensureCardCustomer(ctx context.Context, c *op.Call) (known providerCustomer, err error) {
	name, provider := "", a.config.Cards
	err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			INSERT INTO payment_customers (id, organization_id, created_at, updated_at, provider)
			VALUES ($1, $2, $3, $3, $4)
			ON CONFLICT (organization_id, provider)
			WHERE deleted_at IS NULL DO NOTHING`, id.New(), c.Org, c.Now, provider.Name())
		if err != nil {
			return err
		}
		if known, err = db.QueryOne[providerCustomer](ctx, tx, `
			SELECT id, provider_id
			FROM payment_customers
			WHERE organization_id = $1 AND provider = $2 AND deleted_at IS NULL`, c.Org, provider.Name()); err != nil {
			return err
		}
		name, err = db.QueryOne[string](ctx, tx, "SELECT name FROM organizations WHERE id = $1", c.Org)
		return err
	})
	if err != nil || known.ProviderID != nil {
		return known, err
	}
	made, err := provider.CreateCustomer(ctx, string(known.ID), name)
	if err != nil {
		return known, asProviderFault(err)
	}
	known.ProviderID = &made
	return known, c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			UPDATE payment_customers
			SET provider_id = $3, updated_at = $4
			WHERE organization_id = $1 AND id = $2`, c.Org, known.ID, made, c.Now)
		return err
	})
}

type cardSetupFinish struct {
	Page string `json:"page" min:"1" doc:"the provider's id of its page"`
}

// cardSetupRow is a stored setup.
type cardSetupRow struct {
	ID       id.ID   `db:"id"`
	Customer *string `db:"provider_customer"`
	Card     *id.ID  `db:"payment_method_id"`
}

const cardSetupQuery = `
	SELECT id, provider_customer, payment_method_id
	FROM card_setups
	WHERE organization_id = $1 AND provider = $2 AND provider_id = $3`

// setupNotFound is the same answer for a page that nobody opened, that another
// organization opened, and that the provider describes differently.
func setupNotFound() error {
	return fault.NotFound.Say("No card setup was started here with this address. Start again from the cards page.")
}

func (a *Accounts) finishCardSetup(ctx context.Context, c *op.Call, in cardSetupFinish) (*SavedCard, error) {
	provider := a.config.Cards
	if provider == nil {
		return nil, setupNotFound()
	}
	var row cardSetupRow
	var saved *SavedCard
	find := func(ctx context.Context, tx *db.Tx) (err error) {
		saved = nil
		row, err = db.QueryOne[cardSetupRow](ctx, tx, cardSetupQuery, c.Org, provider.Name(), in.Page)
		if errors.Is(err, db.ErrNoRow) {
			return setupNotFound()
		}
		if err != nil || row.Card == nil {
			return err
		}
		saved, err = loadSavedCard(ctx, tx, c.Org, *row.Card)
		return err
	}
	if err := c.Read(ctx, find); err != nil || saved != nil {
		return saved, err
	}
	page, err := provider.ReadCardPage(ctx, in.Page)
	if err != nil {
		return nil, asProviderFault(err)
	}
	if page.Setup != row.ID || row.Customer == nil || page.Customer != *row.Customer {
		return nil, setupNotFound()
	}
	if page.Card == nil {
		return nil, CardSetupIncomplete.New()
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*SavedCard, error) {
		if err := lockAndRequireManager(ctx, c); err != nil {
			return nil, err
		}
		// Look again under the lock: the browser may have come back twice at once.
		if err := find(ctx, c.Tx); err != nil || saved != nil {
			return saved, err
		}
		if err := clearDefaultCard(ctx, c); err != nil {
			return nil, err
		}
		card := *page.Card
		card.Record, card.IsDefault = c.NewRecord(), true
		if _, err := a.insertCard(ctx, c, &card); err != nil {
			return nil, err
		}
		_, err := db.Exec(ctx, c.Tx, `
			UPDATE card_setups
			SET payment_method_id = $3
			WHERE organization_id = $1 AND id = $2`,
			c.Org, row.ID, card.ID)
		return &SavedCard{Card: card}, err
	})
}

// loadSavedCard reads the card that a setup saved before.
func loadSavedCard(ctx context.Context, tx *db.Tx, org, card id.ID) (*SavedCard, error) {
	v, err := cards.Get(ctx, tx, org, card)
	if fault.IsKind(err, fault.NotFound) {
		return nil, CardSetupUsed.New()
	}
	if err != nil {
		return nil, err
	}
	return &SavedCard{Card: *v, Again: true}, nil
}
