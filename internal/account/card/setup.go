package card

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
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
	// ProviderDown refuses what needs the payment provider while that fails.
	ProviderDown = fault.DefineKind("PAYMENT_PROVIDER_UNAVAILABLE", 503,
		"The payment provider does not answer as it should. Nothing was saved. Try again in a moment.")
	// SetupIncomplete refuses to finish a setup in which no card was saved.
	SetupIncomplete = fault.DefineKind("CARD_SETUP_INCOMPLETE", 409,
		"No card was saved at the payment provider. Start again from the cards page.")
	// SetupUsed refuses to save a card again that has been deleted since.
	SetupUsed = fault.DefineKind("CARD_SETUP_USED", 409,
		"This card was saved and has been deleted since. Start again to save it once more.")
)

// payment_customers has the organizations as the providers know them, card_setups the
// visits to their pages.
var (
	_ = db.Declare("payment_customers", db.Life{})
	_ = db.Declare("card_setups", db.Life{
		Refs: []db.Ref{
			db.RefTo("user_id", "users", db.Keeps),
			db.RefTo("payment_method_id", "payment_methods", db.Keeps),
		},
		Expire: db.Expiry{After: func(r config.Retention) time.Duration { return r.Deleted }},
	})
)

// How often an organization may open the provider's page.
const (
	setupsPerWindow = 20
	setupWindow     = 10 * time.Minute
)

// ErrNoCustomer means that the provider does not know the customer, or no
// longer does.
var ErrNoCustomer = errors.New("card: the payment provider knows no such customer")

// Page is a page of the provider on which a card can be saved.
type Page struct {
	ID  string // the provider's
	URL string
}

// PageState is the outcome of such a page.
type PageState struct {
	Setup    id.ID // ours, as given when the page was created
	Customer string
	Card     *Card // nil until one is saved
}

// Setup is a visit to the provider's page.
type Setup struct {
	ID             id.ID      `json:"id"`
	CreatedAt      clock.Time `json:"createdAt"`
	OrganizationID id.ID      `json:"organizationId"`
	Provider       string     `json:"provider"`
}

// OpenSetup is a setup with the address where it continues.
type OpenSetup struct {
	Setup
	URL string `json:"url" max:"5000" doc:"the provider's page"`
}

// Saved is a card that came back from the provider's page.
type Saved struct {
	Card
	Again bool `json:"alreadySaved" doc:"the card was saved before; nothing changed"`
}

func (s *Service) setupOperations() []*op.Op {
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
			Errors:   []*fault.Kind{LimitReached, ProviderDown},
			Example:  `{}`,
		}, s.startSetup),
		op.Flow(op.Spec{
			Name:     "payment_methods.finish_setup",
			Spends:   true,
			Summary:  "Save the card entered on the provider's page and make it the default.",
			Resource: op.Account,
			Doors:    op.ConsoleDoor,
			Status:   201,
			Events:   []string{"payment_method.created"},
			Errors:   []*fault.Kind{LimitReached, ProviderDown, SetupIncomplete, SetupUsed},
			Example:  `{"page": "cs_test_a1Ae6ClgOkjygKwrf9B3L6ITtUuZW4Xx9FivL6DZYoYFdfAefQxsYpJJd3"}`,
		}, s.finishSetup),
	}
}

// asProviderFault passes a fault on and turns any other error into ProviderDown.
func asProviderFault(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	return ProviderDown.Because(err)
}

// providerCustomer is the organization as the provider knows it.
type providerCustomer struct {
	ID         id.ID   `db:"id"`
	ProviderID *string `db:"provider_id"`
}

func (s *Service) startSetup(ctx context.Context, c *op.Call, _ struct{}) (*OpenSetup, error) {
	provider := s.config.Provider
	if provider == nil {
		return nil,
			fault.BadInput.Say("Cards are saved in the sandbox here, because no payment provider is configured.")
	}
	if v := s.setups.Spend(c.Org, setupsPerWindow, setupWindow, c.Now.Std()); !v.OK {
		f := fault.RateLimited.Say("Too many card setups were started. Try again in %s.", limit.WaitInWords(v.Retry))
		f.RetryAfter = v.Retry
		return nil, f
	}
	out := &OpenSetup{Setup: Setup{ID: id.New(), CreatedAt: c.Now, OrganizationID: c.Org,
		Provider: provider.Name()}}
	err := c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := account.LockAndRequireManager(ctx, c); err != nil {
			return err
		}
		if err := checkCardLimit(ctx, tx, c.Org); err != nil {
			return err
		}
		_, err := db.Exec(ctx, tx, `
			INSERT INTO card_setups (id, organization_id, created_at, user_id, provider)
			VALUES ($1, $2, $3, $4, $5)`,
			out.ID, c.Org, c.Now, c.Caller.ActorIDOrNil(), out.Provider)
		return err
	})
	if err != nil {
		return nil, err
	}
	who, page, err := s.openPage(ctx, c, out.ID)
	if err != nil {
		return nil, err
	}
	out.URL = page.URL
	return op.Finish(ctx, c, func(ctx context.Context) (*OpenSetup, error) {
		_, err := db.Exec(ctx, c.Tx, `
			UPDATE card_setups
			SET provider_customer = $3, provider_id = $4
			WHERE organization_id = $1 AND id = $2`, c.Org, out.ID, who, page.ID)
		if err != nil {
			return nil, err
		}
		return out, c.Emit("payment_method.setup_started", out.ID, &out.Setup)
	})
}

// openPage creates the page. When the provider no longer knows the customer,
// because somebody deleted it there or the account changed, a new one replaces
// it, once.
func (s *Service) openPage(ctx context.Context, c *op.Call, setup id.ID) (who string, page *Page, err error) {
	for attempt := 1; ; attempt++ {
		known, err := s.ensureCustomer(ctx, c)
		if err != nil {
			return "", nil, err
		}
		page, err := s.config.Provider.OpenCardPage(ctx, fmt.Sprintf("%s-%d", setup, attempt),
			PageRequest{Setup: setup, Customer: *known.ProviderID,
				Done:     s.config.BaseURL + "/settings/cards/saved?page=",
				Canceled: s.config.BaseURL + "/settings/cards?done=nocard"})
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

// ensureCustomer finds or creates the organization's customer. Concurrent calls
// create only one, because the row's id is the provider's idempotency key.
func (s *Service) ensureCustomer(ctx context.Context, c *op.Call) (known providerCustomer, err error) {
	name, provider := "", s.config.Provider
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

type setupFinish struct {
	Page string `json:"page" min:"1" doc:"the provider's id of its page"`
}

// setupRow is a stored setup.
type setupRow struct {
	ID       id.ID   `db:"id"`
	Customer *string `db:"provider_customer"`
	Card     *id.ID  `db:"payment_method_id"`
}

const setupQuery = `
	SELECT id, provider_customer, payment_method_id
	FROM card_setups
	WHERE organization_id = $1 AND provider = $2 AND provider_id = $3`

// setupNotFound is the same answer for a page that nobody opened, that another
// organization opened, and that the provider describes differently.
func setupNotFound() error {
	return fault.NotFound.Say("No card setup was started here with this address. Start again from the cards page.")
}

func (s *Service) finishSetup(ctx context.Context, c *op.Call, in setupFinish) (*Saved, error) {
	provider := s.config.Provider
	if provider == nil {
		return nil, setupNotFound()
	}
	var row setupRow
	var saved *Saved
	find := func(ctx context.Context, tx *db.Tx) (err error) {
		saved = nil
		row, err = db.QueryOne[setupRow](ctx, tx, setupQuery, c.Org, provider.Name(), in.Page)
		if errors.Is(err, db.ErrNoRow) {
			return setupNotFound()
		}
		if err != nil || row.Card == nil {
			return err
		}
		saved, err = loadSaved(ctx, tx, c.Org, *row.Card)
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
		return nil, SetupIncomplete.New()
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Saved, error) {
		if err := account.LockAndRequireManager(ctx, c); err != nil {
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
		if _, err := s.insertCard(ctx, c, &card); err != nil {
			return nil, err
		}
		_, err := db.Exec(ctx, c.Tx, `
			UPDATE card_setups
			SET payment_method_id = $3
			WHERE organization_id = $1 AND id = $2`,
			c.Org, row.ID, card.ID)
		return &Saved{Card: card}, err
	})
}

// loadSaved reads the card that a setup saved before.
func loadSaved(ctx context.Context, tx *db.Tx, org, card id.ID) (*Saved, error) {
	v, err := cards.Get(ctx, tx, org, card)
	if fault.IsKind(err, fault.NotFound) {
		return nil, SetupUsed.New()
	}
	if err != nil {
		return nil, err
	}
	return &Saved{Card: *v, Again: true}, nil
}
