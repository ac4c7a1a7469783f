package console

import (
	"net/http"
	"net/url"

	"frontdesk/internal/account/card"
	"frontdesk/internal/kernel/fault"
)

const cardsPath = "/settings/cards"

// sandboxCards are the cards of the built-in payment provider.
var sandboxCards = []option{{"visa", "Visa 4242: every charge succeeds"},
	{"declined", "Visa 0002: every charge is declined"},
	{"insufficient", "Visa 9995: insufficient funds"}, {"slow", "Visa 0077: the answer is slow"}}

type cardsData struct {
	Cards   sheet[card.Card]
	Form    *form
	Choices []option
	Default bool   // one of them is the default
	Outside bool   // a real provider takes the cards, on a page of its own
	Host    string // where that page is
}

func (v *visit) cardsPage() error { return v.showCards(http.StatusOK, blank("test", "visa")) }

func (v *visit) showCards(status int, f *form) error {
	cards, err := listPage[card.Card](v, "payment_methods.list", nil)
	if err != nil {
		return err
	}
	d := cardsData{Cards: cards, Form: f, Choices: sandboxCards, Outside: v.CardsAt != ""}
	for _, c := range cards.Rows {
		d.Default = d.Default || c.IsDefault
	}
	if u, err := url.Parse(v.CardsAt); err == nil && d.Outside {
		d.Host = u.Host
		// The form's answer leads there, and Chrome applies form-action to that.
		v.policy = formTarget(v.CardsAt)
	}
	return v.show(status, "cards",
		view{Title: "Saved cards", Section: "settings", Tab: "cards", Crumbs: settingsCrumbs("Cards", cardsPath),
			Data: d})
}

func (v *visit) addCard() error {
	if v.CardsAt != "" {
		return v.addCardOutside()
	}
	if err := v.do("payment_methods.create_test", fields{"test": v.value("test")}, nil); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showCards(status, f)
	}
	return v.done(cardsPath, "created")
}

// addCardOutside sends the browser to the payment provider's page.
func (v *visit) addCardOutside() error {
	var s card.OpenSetup
	if err := v.do("payment_methods.start_setup", fields{}, &s); err != nil {
		v.setRetryAfter(err)
		v.logProviderFailure(err)
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showCards(status, f)
	}
	v.policy = formTarget(v.CardsAt)
	v.setHeaders()
	// The provider's adapter has checked where this address leads.
	http.Redirect(v.w, v.r, s.URL, http.StatusSeeOther)
	return nil
}

// savedCard is the page that the provider sends the browser back to. It may be
// loaded again: the card is saved only once.
func (v *visit) savedCard() error {
	var saved card.Saved
	err := v.do("payment_methods.finish_setup", fields{"page": v.r.URL.Query().Get("page")}, &saved)
	if err == nil && saved.Again {
		return v.done(cardsPath, "samecard")
	}
	if err == nil {
		return v.done(cardsPath, "card")
	}
	v.logProviderFailure(err)
	f := fault.FromError(err)
	d := cardReturn{Text: f.Sentence(), Back: cardsPath}
	switch f.Kind {
	case card.ProviderDown:
		d.Text = "The payment provider does not answer. If you saved the card there, it is not lost: try again in a " +
			"moment."
		d.Again = v.r.URL.RequestURI()
	case card.LimitReached:
		d.Again = v.r.URL.RequestURI()
	case card.SetupIncomplete, card.SetupUsed, fault.NotFound, fault.Invalid:
	default:
		return err
	}
	return v.show(f.Status, "card-return",
		view{Title: "The card is not saved", Section: "settings", Tab: "cards",
			Crumbs: settingsCrumbs("Cards", cardsPath, crumb{"Save a card", ""}), Data: d})
}

// cardReturn says why nothing was saved. Again leads to another attempt.
type cardReturn struct{ Text, Again, Back string }

// logProviderFailure logs what the payment provider said for the operator. The
// visitor learns only that it does not work.
func (v *visit) logProviderFailure(err error) {
	if fault.IsKind(err, card.ProviderDown) {
		v.Log.WarnContext(v.r.Context(), "the payment provider failed", "trace_id", v.id, "path", v.route(), "err", err)
	}
}

func (v *visit) setDefaultCard() error {
	return v.act("payment_methods.set_default", cardsPath, "default")
}

func (v *visit) deleteCardPage() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	cards, err := listFirst[card.Card](v, "payment_methods.list", nil)
	if err != nil {
		return err
	}
	for _, c := range cards {
		if c.ID != ref {
			continue
		}
		q := question{Title: "Delete the card ending in " + c.Last4, Section: "settings", Tab: "cards",
			Crumbs: settingsCrumbs("Cards", cardsPath, crumb{"Delete", ""}),
			Lead:   "It can no longer be charged.", Button: "Delete card", Back: cardsPath}
		if c.IsDefault {
			q.Lost = []string{"It is the default card. The newest remaining card becomes the default; without one, " +
				"registrations and renewals fail."}
		}
		return v.ask(q)
	}
	return fault.NotFound.New()
}

func (v *visit) deleteCard() error { return v.act("payment_methods.delete", cardsPath, "deleted") }
