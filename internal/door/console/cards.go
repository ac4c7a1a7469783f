package console

import (
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"
)

const cardsPath = "/settings/cards"

// sandboxCards are the cards of the built-in payment provider.
var sandboxCards = []option{{"visa", "Visa 4242: every charge succeeds"}, {"declined", "Visa 0002: every charge is declined"},
	{"insufficient", "Visa 9995: insufficient funds"}, {"slow", "Visa 0077: the answer takes long"}}

type cardsData struct {
	Cards   sheet[account.Card]
	Form    *form
	Choices []option
	Default bool // one is charged
}

func (v *visit) cardsPage() error { return v.showCards(http.StatusOK, blank("test", "visa")) }

func (v *visit) showCards(status int, f *form) error {
	cards, err := list[account.Card](v, "payment_methods.list", nil)
	if err != nil {
		return err
	}
	d := cardsData{Cards: cards, Form: f, Choices: sandboxCards}
	for _, c := range cards.Rows {
		d.Default = d.Default || c.IsDefault
	}
	return v.show(status, "cards", view{Title: "Saved cards", Section: "settings", Tab: "cards", Crumbs: settingsCrumbs("Cards", cardsPath), Data: d})
}

func (v *visit) addCard() error {
	if err := v.do("payment_methods.create_test", fields{"test": v.value("test")}, nil); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showCards(status, f)
	}
	return v.done(cardsPath, "created")
}

func (v *visit) setDefaultCard() error {
	return v.act("payment_methods.set_default", cardsPath, "default")
}

func (v *visit) deleteCardPage() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	cards, err := all[account.Card](v, "payment_methods.list", nil)
	if err != nil {
		return err
	}
	for _, c := range cards {
		if c.ID != ref {
			continue
		}
		q := question{Title: "Delete the card ending in " + c.Last4, Section: "settings", Tab: "cards", Crumbs: settingsCrumbs("Cards", cardsPath, crumb{"Delete", ""}),
			Lead: "It can no longer be charged.", Button: "Delete card", Back: cardsPath}
		if c.IsDefault {
			q.Lost = []string{"It is the default card. Registrations and renewals fail until another one is made the default."}
		}
		return v.ask(q)
	}
	return fault.NotFound.New()
}

func (v *visit) deleteCard() error { return v.act("payment_methods.delete", cardsPath, "deleted") }
