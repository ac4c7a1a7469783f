package settings

import (
	"net/http"
	"net/url"

	"frontdesk/internal/account/card"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
)

const cardsPath = "/settings/cards"

// sandboxCards are the cards of the built-in payment provider.
var sandboxCards = []desk.Option{{Value: "visa", Text: "Visa 4242: every charge succeeds"},
	{Value: "declined", Text: "Visa 0002: every charge is declined"},
	{Value: "insufficient", Text: "Visa 9995: insufficient funds"}, {Value: "slow",
		Text: "Visa 0077: the answer is slow"}}

type cardsData struct {
	Cards   desk.Sheet[card.Card]
	Form    *desk.Typed
	Choices []desk.Option
	Default bool   // one of them is the default
	Outside bool   // a real provider takes the cards, on a page of its own
	Host    string // where that page is
}

func (room *Room) cardsPage(v *desk.Visit) error {
	return room.showCards(v, http.StatusOK, desk.NewTyped("test", "visa"))
}

func (room *Room) showCards(v *desk.Visit, status int, f *desk.Typed) error {
	cards, err := desk.ListSheet[card.Card](v, "payment_methods.list", nil)
	if err != nil {
		return err
	}
	d := cardsData{Cards: cards, Form: f, Choices: sandboxCards, Outside: room.CardsAt != ""}
	for _, c := range cards.Rows {
		d.Default = d.Default || c.IsDefault
	}
	if u, err := url.Parse(room.CardsAt); err == nil && d.Outside {
		d.Host = u.Host
		// The form's answer leads there, and Chrome applies form-action to that.
		v.FormTargets = desk.FormTarget(room.CardsAt)
	}
	return v.ShowView(status, "cards",
		desk.View{Title: "Saved cards", Section: "settings", Tab: "cards", Crumbs: settingsCrumbs("Cards", cardsPath),
			Data: d})
}

func (room *Room) addCard(v *desk.Visit) error {
	if room.CardsAt != "" {
		return room.addCardOutside(v)
	}
	if err := v.Do("payment_methods.create_test", desk.Fields{"test": v.Value("test")}, nil); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return room.showCards(v, status, f)
	}
	return v.Done(cardsPath, "created", nil)
}

// addCardOutside sends the browser to the payment provider's page.
func (room *Room) addCardOutside(v *desk.Visit) error {
	var s card.OpenSetup
	if err := v.Do("payment_methods.start_setup", desk.Fields{}, &s); err != nil {
		v.SetRetryAfter(err)
		logProviderFailure(v, err)
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return room.showCards(v, status, f)
	}
	v.FormTargets = desk.FormTarget(room.CardsAt)
	desk.SetHeaders(v.W, v.FormTargets)
	// The provider's adapter has checked where this address leads.
	http.Redirect(v.W, v.R, s.URL, http.StatusSeeOther)
	return nil
}

// savedCard is the page that the provider sends the browser back to. It may be
// loaded again: the card is saved only once.
func savedCard(v *desk.Visit) error {
	var saved card.Saved
	err := v.Do("payment_methods.finish_setup", desk.Fields{"page": v.R.URL.Query().Get("page")}, &saved)
	if err == nil && saved.Again {
		return v.Done(cardsPath, "samecard", nil)
	}
	if err == nil {
		return v.Done(cardsPath, "card", nil)
	}
	logProviderFailure(v, err)
	f := fault.FromError(err)
	d := cardReturn{Text: f.Sentence(), Back: cardsPath}
	switch f.Kind {
	case card.ProviderDown:
		d.Text = "The payment provider does not answer. If you saved the card there, it is not lost: try again in a " +
			"moment."
		d.Again = v.R.URL.RequestURI()
	case card.LimitReached:
		d.Again = v.R.URL.RequestURI()
	case card.SetupIncomplete, card.SetupUsed, fault.NotFound, fault.Invalid:
	default:
		return err
	}
	return v.ShowView(f.Status, "card-return",
		desk.View{Title: "The card is not saved", Section: "settings", Tab: "cards",
			Crumbs: settingsCrumbs("Cards", cardsPath, desk.Crumb{Text: "Save a card"}), Data: d})
}

// cardReturn says why nothing was saved. Again leads to another attempt.
type cardReturn struct{ Text, Again, Back string }

// logProviderFailure logs what the payment provider said for the operator. The
// visitor learns only that it does not work.
func logProviderFailure(v *desk.Visit, err error) {
	if fault.IsKind(err, card.ProviderDown) {
		v.Log.WarnContext(v.R.Context(), "the payment provider failed", "trace_id", v.ID, "path", v.R.Pattern, "err",
			err)
	}
}

func setDefaultCard(v *desk.Visit) error {
	return v.DoWithID("payment_methods.set_default", cardsPath, "default")
}

func deleteCardPage(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	cards, err := desk.ListFirst[card.Card](v, "payment_methods.list", nil)
	if err != nil {
		return err
	}
	for _, c := range cards {
		if c.ID != ref {
			continue
		}
		q := desk.Question{Title: "Delete the card ending in " + c.Last4, Section: "settings", Tab: "cards",
			Crumbs: settingsCrumbs("Cards", cardsPath, desk.Crumb{Text: "Delete"}),
			Lead:   "It can no longer be charged.", Button: "Delete card", Back: cardsPath}
		if c.IsDefault {
			q.Lost = []string{"It is the default card. The newest remaining card becomes the default; without one, " +
				"registrations and renewals fail."}
		}
		return v.Ask(q)
	}
	return fault.NotFound.New()
}

func deleteCard(v *desk.Visit) error {
	return v.DoWithID("payment_methods.delete", cardsPath, "deleted")
}
